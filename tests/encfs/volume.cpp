// SPDX-License-Identifier: MIT
/* Folders that a passphrase opens. */
#include "tests/encfs/encfs_test.hpp"

#include <fstream>
#include <sys/stat.h>

namespace test {

namespace {

std::string content_of(const std::filesystem::path &file)
{
    std::ifstream from(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(from), {}};
}

bool same_keys(const Volume &one, const Volume &other)
{
    return std::ranges::equal(one.key_for("a", text("b"), 32).bytes(), other.key_for("a", text("b"), 32).bytes());
}

void made_and_opened()
{
    Folder folder;
    const Volume made = Volume::create(folder.path(), text("right"), fast);
    CHECK(same_keys(made, Volume::open(folder.path(), text("right"))));
    CHECK(refused([&] { Volume::open(folder.path(), text("wrong")); }, {"passphrase", folder.path().string()}));
    CHECK(refused([&] { Volume::create(folder.path(), text("right"), fast); }, {"already"}));
    struct stat status;
    CHECK_EQ(stat((folder.path() / header_name).c_str(), &status), 0);
    CHECK_EQ(status.st_mode & 0777u, 0600u);
    CHECK(std::filesystem::is_directory(folder.path() / files_name));
    CHECK(!std::ranges::equal(made.key_for("a", text("b"), 32).bytes(), made.key_for("a", text("c"), 32).bytes()));
    CHECK(!std::ranges::equal(made.key_for("a", text("b"), 32).bytes(), made.key_for("b", text("b"), 32).bytes()));
}

void two_are_different()
{
    Folder one, other;
    CHECK(!same_keys(Volume::create(one.path(), text("the same"), fast),
                     Volume::create(other.path(), text("the same"), fast)));
}

void none_there()
{
    Folder folder;
    CHECK(refused([&] { Volume::open(folder.path(), text("x")); }, {"no encrypted folder", "init"}));
    CHECK(refused([&] { Volume::change_passphrase(folder.path(), text("x"), text("y")); }, {"no encrypted folder"}));
    CHECK(refused([&] { Volume::create(folder.path() / "none", text("x"), fast); }, {"none", "No such file"}));
}

void another_passphrase()
{
    Folder folder;
    const Volume made = Volume::create(folder.path(), text("old"), fast);
    CHECK(refused([&] { Volume::change_passphrase(folder.path(), text("wrong"), text("new")); }, {"passphrase"}));
    CHECK(same_keys(made, Volume::open(folder.path(), text("old"))));
    Volume::change_passphrase(folder.path(), text("old"), text("new"));
    CHECK(same_keys(made, Volume::open(folder.path(), text("new"))));
    CHECK(refused([&] { Volume::open(folder.path(), text("old")); }, {"passphrase"}));
    CHECK_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), std::ptrdiff_t{2});
}

/* Whatever is wrong with it, that is said; the passphrase is not. */
void damaged()
{
    Folder folder;
    Volume::create(folder.path(), text("right"), fast);
    const std::filesystem::path file = folder.path() / header_name;
    const std::string whole = content_of(file);
    Random random(2);
    for (std::size_t i = 0; i < whole.size(); i++) {
        std::string wrong = whole;
        if (random.coin())
            wrong[i] = static_cast<char>(wrong[i] ^ (1 << random.below(7)));
        else
            wrong.resize(i);
        std::ofstream(file, std::ios::binary) << wrong;
        bool is_same = false;
        try {
            is_same = same_keys(Volume::open(folder.path(), text("right")), volume());
        } catch (const std::exception &error) {
            CHECK(std::strstr(error.what(), "damaged") != nullptr);
            continue;
        }
        /* Space that means nothing is another one. */
        CHECK(!is_same && std::isspace(static_cast<unsigned char>(whole[i])));
    }
}

void headers_of_files()
{
    const FileHeader header = make_file_header(volume()), other = make_file_header(volume());
    const Secret key = key_of_file(volume(), header);
    CHECK_EQ(key.bytes().size(), key_bytes);
    CHECK(!std::ranges::equal(key.bytes(), key_of_file(volume(), other).bytes()));
    Folder folder;
    const Volume stranger = Volume::create(folder.path(), text("of the tests"), fast);
    CHECK(refused([&] { key_of_file(stranger, header); }, {"another encrypted folder"}));
    FileHeader wrong = header;
    wrong[7] = std::byte{2};
    CHECK(refused([&] { key_of_file(volume(), wrong); }, {"version 2", "version 1"}));
    for (std::size_t i = 0; i < 72; i++) {
        wrong = header;
        wrong[i] ^= std::byte{0x40};
        CHECK(refused([&] { key_of_file(volume(), wrong); }, {i == 7 ? "version" : "damaged"}));
    }
}

} // namespace

std::vector<tap::Case> volume_cases()
{
    return {{"a folder is made and opened", made_and_opened},
            {"two folders of one passphrase have different keys", two_are_different},
            {"a folder that is none", none_there},
            {"another passphrase", another_passphrase},
            {"a header that is damaged anywhere", damaged},
            {"headers of files", headers_of_files}};
}

} // namespace test
