// SPDX-License-Identifier: MIT
/* What is left of a file whose store fails in the middle of something. */
#include "tests/encfs/encfs_test.hpp"

#include <system_error>
#include <utility>

namespace test {

namespace {

/* Memory that fails once, at the call that is chosen; of a write it does some whole sectors first. */
class Failing final : public Memory {
public:
    void read(std::uint64_t at, Bytes to) const override
    {
        fail_if_chosen();
        Memory::read(at, to);
    }
    void write(std::uint64_t at, ConstBytes from) override
    {
        const bool fails = is_chosen();
        Memory::write(at, from.first(fails ? std::min(from.size(), sectors_written_ * sector_bytes) : from.size()));
        if (fails)
            fail();
    }
    void resize(std::uint64_t size) override
    {
        fail_if_chosen();
        Memory::resize(size);
    }
    void punch(std::uint64_t at, std::uint64_t bytes) override
    {
        fail_if_chosen();
        Memory::punch(at, bytes);
    }
    /* The call after so many others. */
    void fail_after(std::uint64_t calls, std::size_t sectors_written)
    {
        left_ = calls;
        sectors_written_ = sectors_written;
        has_failed_ = false;
    }
    /* From now on it does not. Whether it has. */
    bool end_failing() { return std::exchange(has_failed_, true); }

private:
    bool is_chosen() const { return !has_failed_ && left_-- == 0; }
    void fail() const
    {
        has_failed_ = true;
        throw std::system_error(EIO, std::generic_category());
    }
    void fail_if_chosen() const
    {
        if (is_chosen())
            fail();
    }

    mutable std::uint64_t left_ = UINT64_MAX;
    mutable bool has_failed_ = false;
    std::size_t sectors_written_ = 0;
};

/* Sectors of @found, up to its end, that are neither those of @before nor those of @after. */
std::size_t foreign_sectors(const std::vector<std::byte> &found, std::vector<std::byte> before,
                            std::vector<std::byte> after)
{
    std::size_t foreign = 0;
    before.resize(found.size());
    after.resize(found.size());
    for (std::size_t at = 0; at < found.size(); at += sector_bytes) {
        const auto is_that_of = [&](const std::vector<std::byte> &file) {
            const std::size_t bytes = std::min(sector_bytes, found.size() - at);
            return std::memcmp(found.data() + at, file.data() + at, bytes) == 0;
        };
        foreign += !is_that_of(before) && !is_that_of(after);
    }
    return foreign;
}

/* @change, with an error at each call of the store in turn, until there is none. */
void try_change(const Change &change, const std::vector<std::byte> &before, Random &random)
{
    std::vector<std::byte> after = before;
    change.make(after);
    bool has_failed = true;
    for (std::uint64_t calls = 0; has_failed && !tap::failed_here; calls++) {
        Failing store;
        std::shared_mutex lock;
        StoredFile(store, volume(), engine(), lock).write(0, before);
        StoredFile file(store, volume(), engine(), lock);
        store.fail_after(calls, random.below(3));
        const auto make = [&] { change.make(file); };
        bool is_told = false;
        try {
            make();
        } catch (const std::system_error &error) {
            is_told = error.code().value() == EIO;
        }
        has_failed = store.end_failing();
        CHECK_EQ(is_told, has_failed);
        const std::vector<std::byte> left = content_of(file);
        CHECK(left.size() >= std::min(before.size(), after.size()));
        CHECK(left.size() <= std::max(before.size(), after.size()));
        if (has_failed && change.kind == Change::write)
            CHECK_EQ(left.size(), before.size());
        CHECK_EQ(foreign_sectors(left, before, after), std::size_t{0});
        /* Neither the file nor the open one is the worse for it. */
        make();
        CHECK(content_of(file) == after);
        StoredFile again(store, volume(), engine(), lock);
        CHECK(content_of(again) == after);
    }
}

void the_store_fails_once()
{
    constexpr std::uint64_t sectors = 4;
    for (unsigned seed = 0; seed < 200 && !tap::failed_here; seed++) {
        Random random(seed);
        const std::vector<std::byte> before = random.bytes(random.place(sectors) + 1);
        try_change(Change::any(random, sectors), before, random);
        if (tap::failed_here)
            std::printf("# seed %u\n", seed);
    }
}

void what_cannot_be_read_is_an_error()
{
    Failing store;
    std::shared_mutex lock;
    const std::vector<std::byte> model = Random(1).bytes(3 * sector_bytes);
    StoredFile(store, volume(), engine(), lock).write(0, model);
    for (std::uint64_t calls = 0; calls < 2; calls++) {
        StoredFile file(store, volume(), engine(), lock);
        store.fail_after(calls, 0);
        CHECK(refused([&] { file.read(5, sector_bytes); }, {"Input/output error"}));
        CHECK(content_of(file) == model);
    }
}

} // namespace

std::vector<tap::Case> error_cases()
{
    return {{"a store that fails once leaves each sector as before or after, and all goes on", the_store_fails_once},
            {"what cannot be read is an error, once", what_cannot_be_read_is_an_error}};
}

} // namespace test
