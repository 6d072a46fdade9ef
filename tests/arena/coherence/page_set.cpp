// SPDX-License-Identifier: MIT
#include "libptsched/arena/coherence/page_set.hpp"

#include "tests/arena/coherence/cases.hpp"

#include <random>
#include <set>

using namespace test;
using arena::PageRun;
using arena::PageSet;

namespace {

void empty_and_full()
{
    for (const std::size_t pages : {1, 63, 64, 65, 200}) {
        PageSet set(pages);
        CHECK(set.empty());
        CHECK_EQ(set.next(0), pages);
        CHECK_EQ((~set).count(), pages);
        set.add({0, pages});
        CHECK_EQ(set.count(), pages);
        CHECK(set.runs() == arena::PageRuns({PageRun{0, pages}}));
        CHECK_EQ(set.next_missing(0), pages);
        CHECK((~set).empty());
    }
}

void runs_are_joined()
{
    PageSet set(300);
    set.add({60, 10});
    set.add({70, 130});
    set.add({299, 1});
    set.remove({100, 1});
    CHECK(set.runs() == arena::PageRuns({PageRun{60, 40}, PageRun{101, 99}, PageRun{299, 1}}));
    CHECK(set.has(60) && !set.has(59) && !set.has(100) && set.has(101));
}

PageSet set_of(const std::set<std::size_t> &pages, std::size_t count)
{
    PageSet set(count);
    for (const std::size_t page : pages)
        set.add({page, 1});
    return set;
}

/* Against sets of numbers. */
void as_sets()
{
    std::mt19937 random(7);
    for (int round = 0; round < 200; round++) {
        const std::size_t count = 1 + random() % 300;
        std::set<std::size_t> one, other, both, either, less;
        for (std::size_t page = 0; page < count; page++) {
            const bool in_one = random() % 3 == 0, in_other = random() % 3 == 0;
            if (in_one)
                one.insert(page);
            if (in_other)
                other.insert(page);
            if (in_one && in_other)
                both.insert(page);
            if (in_one || in_other)
                either.insert(page);
            if (in_one && !in_other)
                less.insert(page);
        }
        const PageSet a = set_of(one, count), b = set_of(other, count);
        CHECK((a & b) == set_of(both, count));
        CHECK((a | b) == set_of(either, count));
        CHECK((a - b) == set_of(less, count));
        CHECK_EQ(a.count(), one.size());
        const std::size_t from = random() % count;
        const auto next = one.lower_bound(from);
        CHECK_EQ(a.next(from), next == one.end() ? count : *next);
    }
}

} // namespace

std::vector<tap::Case> test::page_set_cases()
{
    return {{"sets of pages: none and all", empty_and_full},
            {"sets of pages: runs", runs_are_joined},
            {"sets of pages: as sets of numbers", as_sets}};
}
