// SPDX-License-Identifier: MIT
/* The pages of a window, without a window: where they are taken from, and that they come back. */
#include "libptsched/arena/window/pages.hpp"

#include "tests/arena/cases.hpp"

#include <algorithm>
#include <cstring>
#include <random>

using namespace test;
using arena::End;
using arena::page_bytes;
using arena::PageRange;

namespace {

constexpr std::size_t pages = 64, unit = 4 * page_bytes;

/* Notes what was made. */
class Ground final : public arena::Ground {
public:
    std::byte *begin() override { return begin_; }
    std::size_t bytes() const override { return pages * page_bytes; }
    std::size_t unit() const override { return ::unit; }
    void make(std::size_t offset, std::size_t bytes) override
    {
        if (fails)
            throw arena::OutOfMemory("no memory, says the test");
        for (std::size_t i = offset / ::unit; i < (offset + bytes) / ::unit; i++)
            twice = twice || std::exchange(made.at(i), 1) != 0;
    }
    void clear(std::size_t offset, std::size_t bytes) override { std::memset(begin_ + offset, 0, bytes); }

    std::vector<char> made = std::vector<char>(pages * page_bytes / ::unit);
    bool twice = false, fails = false;

private:
    std::vector<std::byte> memory_ = std::vector<std::byte>((pages + 1) * page_bytes);
    std::byte *begin_ = memory_.data() + (-reinterpret_cast<std::uintptr_t>(memory_.data()) & (page_bytes - 1));
};

void from_both_ends()
{
    Ground ground;
    arena::Pages all(ground);
    const PageRange first = all.take(1, 1, End::low), last = all.take(page_bytes + 1, 1, End::high);
    CHECK(first.begin == ground.begin() && first.bytes == page_bytes);
    CHECK(last.begin + last.bytes == ground.begin() + ground.bytes() && last.bytes == 2 * page_bytes);
    CHECK_EQ(all.made(), 2 * unit);
    /* What there is memory for is taken first, and then the middle. */
    CHECK(all.take(3 * page_bytes, 1, End::low).begin == first.begin + page_bytes);
    CHECK_EQ(all.made(), 2 * unit);
    const PageRange middle = all.take((pages - 8) * page_bytes, 1, End::low);
    CHECK(middle.begin == ground.begin() + unit);
    CHECK_EQ(all.made(), ground.bytes());
    CHECK(refused([&] { all.take(3 * page_bytes, 1, End::low); }, {"no addresses left", "Options::bytes"}));
    /* What the other end has is taken last. */
    CHECK(all.take(2 * page_bytes, 1, End::low).begin == last.begin - 2 * page_bytes);
    CHECK(refused([&] { all.take(ground.bytes() + 1, 1, End::low); }, {std::to_string(ground.bytes())}));
    CHECK(!ground.twice);
}

void comes_back_empty()
{
    Ground ground;
    arena::Pages all(ground);
    const PageRange range = all.take(3 * page_bytes, 1, End::low);
    std::memset(range.begin, 1, range.bytes);
    all.give_back(range);
    const PageRange again = all.take(4 * page_bytes, 1, End::low);
    CHECK(again.begin == range.begin);
    CHECK(std::all_of(again.begin, again.begin + again.bytes, [](std::byte one) { return one == std::byte{0}; }));
    CHECK_EQ(all.made(), unit);
}

void aligned()
{
    Ground ground;
    arena::Pages all(ground);
    const PageRange small = all.take(1, 1, End::low);
    for (const End end : {End::low, End::high}) {
        const PageRange range = all.take(page_bytes, 8 * page_bytes, end);
        CHECK(reinterpret_cast<std::uintptr_t>(range.begin) % (8 * page_bytes) == 0);
        CHECK(range.begin != small.begin);
    }
}

void without_memory()
{
    Ground ground;
    arena::Pages all(ground);
    ground.fails = true;
    CHECK(refused([&] { all.take(1, 1, End::low); }, {"says the test"}));
    CHECK_EQ(all.made(), 0u);
    ground.fails = false;
    CHECK(all.take(1, 1, End::low).begin == ground.begin());
}

/* None is given out twice, and in the end all are there again. */
void at_random()
{
    Ground ground;
    arena::Pages all(ground);
    std::mt19937 random(7);
    std::vector<PageRange> taken;
    std::vector<char> used(pages);
    auto mark = [&](const PageRange &range, char value) {
        const auto first = static_cast<std::size_t>(range.begin - ground.begin()) / page_bytes;
        for (std::size_t i = 0; i < range.bytes / page_bytes; i++)
            CHECK(std::exchange(used.at(first + i), value) != value);
    };
    for (int i = 0; i < 3000; i++) {
        if (random() % 2 && !taken.empty()) {
            std::swap(taken[random() % taken.size()], taken.back());
            mark(taken.back(), 0);
            all.give_back(taken.back());
            taken.pop_back();
            continue;
        }
        try {
            const std::size_t alignment = page_bytes << random() % 3;
            taken.push_back(all.take(1 + random() % (5 * page_bytes), alignment, random() % 2 ? End::low : End::high));
            CHECK(reinterpret_cast<std::uintptr_t>(taken.back().begin) % alignment == 0);
            mark(taken.back(), 1);
        } catch (const arena::Error &) {
            CHECK(taken.size() > 4);
        }
    }
    for (const PageRange &range : taken)
        all.give_back(range);
    CHECK(!ground.twice);
    /* All that each end has is in one piece again. */
    CHECK_EQ(all.made(), ground.bytes());
    std::size_t low = 0;
    while (low < pages && all.take(page_bytes, 1, End::low).begin == ground.begin() + low * page_bytes)
        low++;
    CHECK_EQ(low, pages);
}

} // namespace

std::vector<tap::Case> test::pages_cases()
{
    return {
        {"pages come from both ends", from_both_ends},
        {"pages come back empty", comes_back_empty},
        {"pages at multiples", aligned},
        {"pages without memory", without_memory},
        {"pages at random", at_random},
    };
}
