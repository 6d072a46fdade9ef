// SPDX-License-Identifier: MIT
/* What is left of a file after a crash at any point. */
#include "tests/encfs/encfs_test.hpp"

#include <map>

namespace test {

namespace {

/*
 * A disk that has what was synced, and any part of what was done to it since: pages of 4096 bytes, each written whole
 * or not at all, in any order but that of one page's own; and sizes in their order, up to one of them.
 */
class Disk final : public Memory {
public:
    void write(std::uint64_t at, ConstBytes from) override
    {
        if (at + from.size() > size())
            resize(at + from.size());
        Memory::write(at, from);
        for (; !from.empty(); at += sector_bytes, from = from.subspan(std::min(from.size(), sector_bytes)))
            log_.push_back(
                {at,
                 {from.begin(), from.begin() + static_cast<std::ptrdiff_t>(std::min(from.size(), sector_bytes))},
                 0});
    }
    void resize(std::uint64_t size) override
    {
        Memory::resize(size);
        log_.push_back({0, {}, size});
        sizes_++;
    }
    void punch(std::uint64_t at, std::uint64_t bytes) override
    {
        Memory::punch(at, bytes);
        for (const std::uint64_t end = at + bytes; at < end; at += sector_bytes)
            log_.push_back({at, std::vector<std::byte>(sector_bytes), 0});
    }
    void sync()
    {
        synced_ = *static_cast<Memory *>(this);
        log_.clear();
        sizes_ = 0;
    }
    Memory after_crash(Random &random) const
    {
        Memory left = synced_;
        std::uint64_t sizes = random.below(sizes_ + 1);
        for (const Entry &entry : log_) {
            if (entry.page.empty() ? sizes > 0 : random.coin()) {
                if (entry.page.empty())
                    left.resize(entry.size);
                else if (entry.at < left.size())
                    write_page(left, entry);
            }
            sizes -= entry.page.empty() && sizes > 0;
        }
        return left;
    }

private:
    struct Entry {
        std::uint64_t at;
        std::vector<std::byte> page; /* empty: it is a size */
        std::uint64_t size;
    };
    static void write_page(Memory &to, const Entry &entry)
    {
        to.write(entry.at,
                 ConstBytes(entry.page).first(std::min<std::uint64_t>(entry.page.size(), to.size() - entry.at)));
    }

    Memory synced_;
    std::vector<Entry> log_;
    std::uint64_t sizes_ = 0;
};

using Sector = std::vector<std::byte>;

Sector sector_of(const std::vector<std::byte> &file, std::uint64_t number)
{
    Sector sector(sector_bytes);
    const std::size_t at = number * sector_bytes;
    if (at < file.size())
        std::copy_n(file.begin() + static_cast<std::ptrdiff_t>(at), std::min(sector_bytes, file.size() - at),
                    sector.begin());
    return sector;
}

/* Whether @found may be what is left, up to the end of the file, of a sector that has been all of these. */
bool may_be(const Sector &found, std::size_t bytes, const std::vector<Sector> &versions)
{
    /* It is zero where a file has grown that far and what was written there is lost. */
    return std::all_of(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(bytes),
                       [](std::byte byte) { return byte == std::byte{0}; }) ||
           std::ranges::any_of(versions, [&](const Sector &version) {
               return std::equal(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(bytes), version.begin());
           });
}

void power_is_cut()
{
    constexpr std::uint64_t sectors = 5;
    for (unsigned seed = 0; seed < 300; seed++) {
        Random random(seed);
        Disk disk;
        std::shared_mutex lock;
        StoredFile file(disk, volume(), engine(), lock);
        std::vector<std::byte> model = random.bytes(random.place(sectors) + 1);
        file.write(0, model);
        disk.sync();
        std::map<std::uint64_t, std::vector<Sector>> versions;
        const auto remember = [&] {
            for (std::uint64_t i = 0; i < sectors + 4; i++)
                versions[i].push_back(sector_of(model, i));
        };
        const std::vector<std::byte> synced = model;
        remember();
        std::vector<bool> is_touched(sectors + 4);
        for (std::uint64_t i = random.below(6) + 1; i > 0; i--) {
            const Change change = Change::any(random, sectors);
            change.make(file);
            const std::vector<std::byte> before = model;
            change.make(model);
            remember();
            for (std::uint64_t j = 0; j < is_touched.size(); j++)
                is_touched[j] = is_touched[j] || versions[j].back() != versions[j][versions[j].size() - 2] ||
                                sectors_of(model.size()) != sectors_of(before.size()) || model.size() != before.size();
        }
        Memory left = disk.after_crash(random);
        StoredFile again(left, volume(), engine(), lock);
        const std::vector<std::byte> all = content_of(again);
        for (std::uint64_t i = 0; i < sectors_of(all.size()); i++) {
            const std::size_t bytes = std::min<std::size_t>(sector_bytes, all.size() - i * sector_bytes);
            CHECK(may_be(sector_of(all, i), bytes, versions[i]));
            if (!is_touched.at(i))
                CHECK(sector_of(all, i) == sector_of(synced, i));
        }
        if (tap::failed_here) {
            std::printf("# seed %u\n", seed);
            return;
        }
    }
}

bool reads_as_zeros(StoredFile &file)
{
    const std::vector<std::byte> content = content_of(file);
    return std::ranges::count(content, std::byte{0}) == static_cast<std::ptrdiff_t>(content.size());
}

/* A file that was never synced, of which the size is left, and not the header. */
void the_header_is_lost()
{
    for (const bool has_sectors : {false, true}) {
        Memory left;
        std::shared_mutex lock;
        StoredFile(left, volume(), engine(), lock).write(0, Random(1).bytes(2 * sector_bytes));
        std::fill_n(left.bytes().begin(), has_sectors ? header_bytes : left.size(), std::byte{0});
        StoredFile file(left, volume(), engine(), lock);
        const auto append = [&] { file.write(file.size(), text("more")); };
        CHECK(refused([&] { file.read(0, 1); }, {"header is damaged"}));
        if (has_sectors) {
            CHECK(refused(append, {"header is damaged"}));
            file.resize(0);
        }
        append();
        const Content content = file.read(file.size() - 4, 4);
        CHECK(std::ranges::equal(content.bytes, text("more")));
        file.resize(file.size() - 4);
        CHECK(reads_as_zeros(file));
    }
}

/* What can be read of a new file was written, or is zero; it can be written after it was cut to nothing. */
void power_is_cut_when_it_is_new()
{
    for (unsigned seed = 0; seed < 300 && !tap::failed_here; seed++) {
        Random random(seed);
        Disk disk;
        std::shared_mutex lock;
        const std::vector<std::byte> model = random.bytes(3 * sector_bytes);
        StoredFile(disk, volume(), engine(), lock).write(0, model);
        Memory left = disk.after_crash(random);
        StoredFile file(left, volume(), engine(), lock);
        try {
            const std::vector<std::byte> found = content_of(file);
            for (std::uint64_t i = 0; i < sectors_of(found.size()); i++)
                CHECK(may_be(sector_of(found, i), sector_bytes, {sector_of(model, i)}));
        } catch (const ptsched::Error &) {
            /* Its header is lost. */
            CHECK(left.bytes()[0] == std::byte{0});
        }
        file.resize(0);
        file.write(0, model);
        StoredFile again(left, volume(), engine(), lock);
        CHECK(content_of(again) == model);
        if (tap::failed_here)
            std::printf("# seed %u\n", seed);
    }
}

/* Nothing is kept back: who has synced a file finds it. */
void what_is_synced_is_there()
{
    for (unsigned seed = 0; seed < 50; seed++) {
        Random random(seed);
        Disk disk;
        std::shared_mutex lock;
        StoredFile file(disk, volume(), engine(), lock);
        std::vector<std::byte> model;
        for (int i = 0; i < 5; i++) {
            const Change change = Change::any(random, 4);
            change.make(file);
            change.make(model);
        }
        disk.sync();
        Memory left = disk.after_crash(random);
        StoredFile again(left, volume(), engine(), lock);
        CHECK_EQ(again.size(), model.size());
        CHECK(std::ranges::equal(again.read(0, model.size()).bytes, model));
    }
}

} // namespace

std::vector<tap::Case> crash_cases()
{
    return {{"a crash at any point leaves each sector as it was once", power_is_cut},
            {"a header that is lost is an error to who reads, and the file can be used again", the_header_is_lost},
            {"a crash at any point of a new file", power_is_cut_when_it_is_new},
            {"what is synced is there after a crash", what_is_synced_is_there}};
}

} // namespace test
