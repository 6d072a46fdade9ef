// SPDX-License-Identifier: MIT
/* Files in plain text above, in sectors beneath. */
#include "tests/encfs/encfs_test.hpp"

#include <atomic>
#include <thread>

namespace test {

namespace {

constexpr std::uint64_t few_sectors = 6;

/* With a lock of its own. */
struct Opened {
    explicit Opened(Backing &backing) : file(backing, volume(), engine(), lock) {}
    std::shared_mutex lock;
    StoredFile file;
};

bool holds(StoredFile &file, const std::vector<std::byte> &model)
{
    if (file.size() != model.size())
        return false;
    const Content content = file.read(0, model.size() + 5);
    return std::ranges::equal(content.bytes, model);
}

void sizes()
{
    for (std::uint64_t size : {0ul, 1ul, 15ul, 16ul, 4095ul, 4096ul, 4097ul, 8191ul, 8192ul, 1000000ul, most_size})
        CHECK_EQ(plain_size(stored_size(size)), size);
    for (std::uint64_t stored = 0; stored < 5 * sector_bytes; stored++) {
        const std::uint64_t size = plain_size(stored);
        CHECK(stored_at(size / sector_bytes) <= std::max<std::uint64_t>(stored, header_bytes));
        CHECK(size <= stored);
    }
}

/* Any order of changes does to a file what it does to a vector; and a file that is opened anew is the same. */
void random_changes()
{
    for (unsigned seed = 0; seed < 60; seed++) {
        Random random(seed);
        Memory memory;
        std::vector<std::byte> model;
        auto opened = std::make_unique<Opened>(memory);
        for (int i = 0; i < 60; i++) {
            const Change change = Change::any(random, few_sectors);
            change.make(opened->file);
            change.make(model);
            if (!CHECK(holds(opened->file, model)))
                return;
            const std::uint64_t at = random.place(few_sectors), bytes = random.below(2 * sector_bytes);
            const Content part = opened->file.read(at, bytes);
            const std::uint64_t end = std::min<std::uint64_t>(at + bytes, model.size());
            CHECK_EQ(part.bytes.size(), at < end ? end - at : 0);
            CHECK(part.bytes.empty() ||
                  std::equal(part.bytes.begin(), part.bytes.end(), model.begin() + static_cast<std::ptrdiff_t>(at)));
            if (random.below(8) == 0)
                opened = std::make_unique<Opened>(memory);
        }
    }
}

bool contains(const std::vector<std::byte> &all, ConstBytes part)
{
    return std::search(all.begin(), all.end(), part.begin(), part.end()) != all.end();
}

/* Neither what is written nor that two parts of it are the same can be seen. */
void nothing_in_clear()
{
    Memory memory;
    Opened opened(memory);
    const std::vector<std::byte> same(4 * sector_bytes, std::byte{'x'});
    opened.file.write(0, same);
    CHECK(!contains(memory.bytes(), ConstBytes(same).first(16)));
    const ConstBytes stored = ConstBytes(memory.bytes()).subspan(header_bytes);
    for (std::size_t i = 1; i < 4; i++)
        CHECK(!std::ranges::equal(stored.first(sector_bytes), stored.subspan(i * sector_bytes, sector_bytes)));
    Memory other;
    Opened again(other);
    again.file.write(0, same);
    CHECK(!std::ranges::equal(stored, ConstBytes(other.bytes()).subspan(header_bytes)));
}

void holes()
{
    Memory memory;
    Opened opened(memory);
    opened.file.write(3 * sector_bytes, text("behind a hole"));
    const ConstBytes stored = ConstBytes(memory.bytes()).subspan(header_bytes, 3 * sector_bytes);
    CHECK(std::ranges::all_of(stored, [](std::byte byte) { return byte == std::byte{0}; }));
    const Content content = opened.file.read(0, 3 * sector_bytes);
    CHECK(std::ranges::all_of(content.bytes, [](std::byte byte) { return byte == std::byte{0}; }));
}

/* What a file had behind its end does not come back when it grows again. */
void nothing_comes_back()
{
    Memory memory;
    Opened opened(memory);
    opened.file.write(0, std::vector<std::byte>(2 * sector_bytes, std::byte{1}));
    opened.file.resize(100);
    opened.file.resize(2 * sector_bytes);
    const Content content = opened.file.read(100, 2 * sector_bytes);
    CHECK_EQ(content.bytes.size(), 2 * sector_bytes - 100);
    CHECK(std::ranges::all_of(content.bytes, [](std::byte byte) { return byte == std::byte{0}; }));
}

void too_large()
{
    Memory memory;
    Opened opened(memory);
    CHECK(refused([&] { opened.file.write(most_size, text("xx")); }, {"File too large"}));
    CHECK(refused([&] { opened.file.resize(most_size + 1); }, {"File too large"}));
    CHECK_EQ(memory.size(), std::uint64_t{0});
}

void damaged_header()
{
    Memory memory;
    Opened(memory).file.write(0, text("something"));
    memory.bytes()[20] ^= std::byte{1};
    Opened opened(memory);
    CHECK(refused([&] { opened.file.read(0, 9); }, {"header is damaged"}));
    const std::vector<std::byte> before = memory.bytes();
    CHECK(refused([&] { opened.file.write(0, text("else")); }, {"header is damaged"}));
    CHECK(memory.bytes() == before);
}

/* Memory of which there is an end. */
class Small final : public Memory {
public:
    void write(std::uint64_t at, ConstBytes from) override
    {
        if (at + from.size() > most)
            throw std::system_error(ENOSPC, std::generic_category());
        Memory::write(at, from);
    }
    std::uint64_t most = header_bytes + 2 * sector_bytes;
};

/* What there is no room for leaves a file as it was. */
void no_room()
{
    Small memory;
    Opened opened(memory);
    const std::vector<std::byte> model = Random(3).bytes(100);
    opened.file.write(0, model);
    CHECK(refused([&] { opened.file.write(50, std::vector<std::byte>(3 * sector_bytes)); }, {"No space left"}));
    CHECK(holds(opened.file, model));
    CHECK(refused([&] { opened.file.write(9 * sector_bytes, text("x")); }, {"No space left"}));
    CHECK(holds(opened.file, model));
}

/* Sizes that it has had. */
class Remembering final : public Memory {
public:
    void resize(std::uint64_t size) override
    {
        Memory::resize(size);
        sizes.push_back(plain_size(size));
    }
    std::vector<std::uint64_t> sizes;
};

/* On its way to a size it has none that is above both, which could be seen, or found after a crash. */
void sizes_between()
{
    Random random(5);
    Remembering memory;
    Opened opened(memory);
    for (int i = 0; i < 300; i++) {
        const std::uint64_t before = opened.file.size(), after = random.place(few_sectors);
        memory.sizes.clear();
        opened.file.resize(after);
        CHECK_EQ(opened.file.size(), after);
        for (const std::uint64_t size : memory.sizes)
            CHECK(size >= std::min(before, after) && size <= std::max(before, after));
    }
}

/* What makes it larger makes it no shorter. */
void extends()
{
    Memory memory;
    Opened opened(memory);
    opened.file.write(0, text("something"));
    opened.file.extend(5);
    CHECK_EQ(opened.file.size(), std::uint64_t{9});
    opened.file.extend(sector_bytes + 1);
    CHECK_EQ(opened.file.size(), sector_bytes + 1);
    CHECK(refused([&] { opened.file.extend(most_size + 1); }, {"File too large"}));
}

/* Who reads beside a writer gets a sector as it was, or as it is now; a byte of each tells. */
void readers_beside_writers()
{
    Memory memory;
    std::shared_mutex lock;
    StoredFile writes(memory, volume(), engine(), lock), reads(memory, volume(), engine(), lock);
    writes.write(0, std::vector<std::byte>(2 * sector_bytes, std::byte{0}));
    std::atomic<bool> ends{false}, is_torn{false};
    std::jthread reader([&] {
        while (!ends) {
            const Content content = reads.read(sector_bytes / 2, sector_bytes);
            is_torn = is_torn ||
                      !std::ranges::all_of(content.bytes, [&](std::byte byte) { return byte == content.bytes[0]; });
        }
    });
    for (int i = 1; i < 100; i++)
        writes.write(0, std::vector<std::byte>(2 * sector_bytes, static_cast<std::byte>(i)));
    ends = true;
    reader.join();
    CHECK(!is_torn);
}

} // namespace

std::vector<tap::Case> store_cases()
{
    return {{"sizes are stored and found again", sizes},
            {"random changes", random_changes},
            {"nothing is in clear", nothing_in_clear},
            {"holes stay holes", holes},
            {"what was cut does not come back", nothing_comes_back},
            {"a file that would be too large", too_large},
            {"a file whose header is damaged", damaged_header},
            {"no room for more", no_room},
            {"no size that is above the ones before and after", sizes_between},
            {"no file is shorter than before", extends},
            {"readers beside writers", readers_beside_writers}};
}

} // namespace test
