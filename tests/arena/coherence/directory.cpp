// SPDX-License-Identifier: MIT
#include "libptsched/arena/coherence/directory.hpp"

#include "tests/arena/coherence/cases.hpp"

using namespace test;
using arena::Directory;
using arena::PageRun;
using arena::PageSet;
using arena::Party;
using arena::Rights;

namespace {

PageSet pages(const Directory &directory, PageRun run)
{
    PageSet set(directory.pages());
    set.add(run);
    return set;
}

void at_first()
{
    Directory directory(10);
    CHECK(directory.home(3) == Party::host);
    CHECK(directory.rights(3) == Rights::none);
    CHECK(directory.is_pristine(3) && !directory.is_based(3) && !directory.is_written(3));
    CHECK_EQ(directory.version(3), 0U);
    CHECK_EQ(directory.stale_on_gpus().count(), std::size_t{10});
    CHECK_EQ(directory.to_fetch(3).count, std::size_t{0});
}

void host_writes()
{
    Directory directory(10);
    directory.brought(pages(directory, {0, 10}));
    CHECK(directory.grant(4, false) == (PageRun{4, 1}));
    CHECK(directory.rights(4) == Rights::read);
    CHECK(directory.grant(4, true) == (PageRun{4, 1}));
    CHECK(directory.rights(4) == Rights::write);
    CHECK(directory.is_written(4) && !directory.is_pristine(4));
    /* Somebody else was faster. */
    CHECK_EQ(directory.grant(4, true).count, std::size_t{0});
    CHECK(directory.is_on_gpus(4));
    CHECK(directory.settle(directory.written()) == pages(directory, {4, 1}));
    CHECK(directory.rights(4) == Rights::read);
    CHECK_EQ(directory.version(4), 1U);
    CHECK(directory.stale_on_gpus() == pages(directory, {4, 1}));
    CHECK_EQ(directory.version(5), 0U);
}

/* Of what the host was allowed to write, not all has been changed. */
void host_writes_the_same()
{
    Directory directory(10);
    directory.brought(pages(directory, {0, 10}));
    directory.grant(4, true);
    directory.grant(6, true);
    CHECK_EQ(directory.settle(pages(directory, {6, 1})).count(), std::size_t{2});
    CHECK(directory.is_on_gpus(4) && !directory.is_on_gpus(6));
    CHECK_EQ(directory.version(4), 0U);
}

void gpus_write()
{
    Directory directory(10);
    directory.brought(pages(directory, {0, 10}));
    directory.grant(2, false);
    directory.grant(5, true);
    CHECK(directory.apart(directory.based()) == pages(directory, {5, 1}));
    const PageSet closed = directory.left_on_gpus(pages(directory, {1, 3}));
    CHECK(closed == pages(directory, {2, 1}));
    CHECK(directory.home(2) == Party::gpus);
    CHECK(directory.rights(2) == Rights::none);
    CHECK_EQ(directory.version(2), 1U);
    directory.applied(pages(directory, {5, 1}));
    CHECK(directory.home(5) == Party::host);
    CHECK(directory.rights(5) == Rights::write);
    CHECK_EQ(directory.version(5), 1U);
    CHECK(directory.stale_on_host() == pages(directory, {1, 3}));
    directory.fetched({1, 3});
    CHECK(directory.stale_on_host().empty());
    CHECK(directory.home(2) == Party::host && directory.is_on_gpus(2));
}

/* What the host has released is not where GPUs have it: words of both are to be found on that page. */
void both_write()
{
    Directory directory(4);
    directory.brought(pages(directory, {0, 4}));
    directory.grant(1, true);
    directory.settle(directory.written());
    CHECK(directory.apart(directory.based()) == pages(directory, {1, 1}));
}

void runs_grow()
{
    Directory directory(400);
    std::vector<std::size_t> counts;
    for (std::size_t page = 0; page < 400;) {
        const PageRun run = directory.grant(page, true);
        CHECK_EQ(run.first, page);
        if (!CHECK(run.count > 0))
            return;
        counts.push_back(run.count);
        page = run.end();
    }
    CHECK(counts == std::vector<std::size_t>({1, 2, 4, 25, 64, 64, 64, 64, 64, 48}));
}

/* Of the window, not of the arena. */
void long_runs_end_with_large_pages()
{
    Directory directory(400, 5);
    for (const PageRun &run : std::vector<PageRun>({{0, 1}, {1, 2}, {3, 4}, {7, 20}, {27, 64}}))
        CHECK(directory.grant(run.first, true) == run);
}

void runs_end_with_the_order()
{
    Directory directory(400);
    directory.grant(0, true);
    CHECK_EQ(directory.grant(1, true).count, std::size_t{2});
    CHECK_EQ(directory.grant(100, true).count, std::size_t{1});
    CHECK_EQ(directory.grant(50, true).count, std::size_t{1});
    CHECK_EQ(directory.grant(51, true).count, std::size_t{2});
    /* Up to what is open already. */
    CHECK_EQ(directory.grant(99, true).count, std::size_t{1});
    CHECK_EQ(directory.grant(98, true).count, std::size_t{1});
}

/* Of several threads, each at its own place, in turn. */
void runs_grow_side_by_side()
{
    constexpr std::size_t threads = 16, each = 192;
    Directory directory(threads * each);
    std::vector<std::size_t> next(threads);
    for (std::size_t i = 0; i < threads; i++)
        next[i] = i * each;
    std::size_t grants = 0;
    for (bool some = true; some;) {
        some = false;
        for (std::size_t i = 0; i < threads; i++) {
            if (next[i] >= (i + 1) * each)
                continue;
            next[i] += directory.grant(next[i], true).count;
            grants++;
            some = true;
        }
    }
    /* 1 + 2 + 4 pages, 25 to the end of a large one, 64 + 64, and the other 32. */
    CHECK_EQ(grants, 7 * threads);
}

void fetches_grow()
{
    Directory directory(40);
    directory.brought(pages(directory, {0, 40}));
    directory.left_on_gpus(pages(directory, {0, 20}));
    std::vector<std::size_t> counts;
    for (std::size_t page = 0; page < 20;) {
        const PageRun run = directory.to_fetch(page);
        if (!CHECK(run.count > 0))
            return;
        counts.push_back(run.count);
        directory.fetched(run);
        page = run.end();
    }
    CHECK(counts == std::vector<std::size_t>({1, 2, 4, 8, 5}));
    CHECK_EQ(directory.to_fetch(20).count, std::size_t{0});
}

/* Of pages that are not on the host none is opened. */
void only_what_is_there_is_opened()
{
    Directory directory(8);
    directory.brought(pages(directory, {0, 8}));
    directory.left_on_gpus(pages(directory, {2, 1}));
    directory.grant(0, false);
    CHECK(directory.grant(1, false) == (PageRun{1, 1}));
    CHECK_EQ(directory.grant(2, false).count, std::size_t{0});
}

/* What the host has used, given away and got back. */
void give_away(Directory &directory)
{
    directory.remember();
    directory.settle(directory.written());
    directory.close(pages(directory, {0, directory.pages()}));
    directory.brought(directory.stale_on_gpus());
}

void expects_reads()
{
    Directory directory(200);
    directory.grant(pages(directory, {10, 100}), false);
    directory.grant(pages(directory, {150, 15}), false);
    directory.grant(pages(directory, {170, 20}), true);
    give_away(directory);
    /* Short runs are not worth it. */
    CHECK(directory.open_expected() == (pages(directory, {10, 100}) | pages(directory, {170, 20})));
    CHECK(directory.rights(10) == Rights::read && directory.rights(150) == Rights::none);
}

/* What was written twice is opened as a whole when it is written again; and page by page now and then, to see. */
void habits_of_writing()
{
    Directory directory(100);
    std::vector<PageRun> granted;
    for (int round = 0; round < 7; round++) {
        directory.open_expected();
        granted.push_back(directory.grant(40, true));
        directory.grant(pages(directory, {20, 60}), true);
        give_away(directory);
    }
    const PageRun one{40, 1}, all{20, 60};
    CHECK(granted == std::vector<PageRun>({one, one, all, all, all, one, all}));
}

/* Nor is what GPUs have opened, or what is open already. */
void habits_end_where_nothing_is()
{
    Directory directory(100);
    for (int round = 0; round < 2; round++) {
        directory.open_expected();
        directory.grant(pages(directory, {0, 100}), true);
        give_away(directory);
    }
    directory.left_on_gpus(pages(directory, {70, 5}));
    directory.open_expected();
    directory.grant(pages(directory, {30, 1}), true);
    CHECK(directory.grant(50, true) == (PageRun{31, 39}));
    CHECK_EQ(directory.grant(72, true).count, std::size_t{0});
}

/* What is opened says nothing of what is used: it stays closed now and then, longer where most is used. */
void looks_now_and_then()
{
    Directory directory(100);
    std::vector<unsigned> opened(1);
    directory.grant(pages(directory, {0, 100}), false);
    while (opened.size() < 4) {
        give_away(directory);
        if (directory.open_expected().empty()) {
            directory.grant(pages(directory, {0, 50}), false);
            opened.push_back(0);
        } else {
            opened.back()++;
        }
    }
    CHECK(opened == std::vector<unsigned>({4, 8, 16, 0}));
}

/* What is seldom touched stays closed, until most of it is. */
void expects_what_is_used()
{
    Directory directory(100);
    for (int round = 0; round < 40; round++) {
        directory.grant(pages(directory, {20, 49}), round > 20);
        give_away(directory);
        CHECK(directory.open_expected().empty());
    }
    directory.grant(pages(directory, {20, 50}), false);
    give_away(directory);
    CHECK(directory.open_expected() == pages(directory, {20, 50}));
}

void expects_what_is_there()
{
    Directory directory(100);
    directory.grant(pages(directory, {0, 100}), false);
    give_away(directory);
    directory.left_on_gpus(pages(directory, {30, 10}));
    CHECK(directory.open_expected() == (pages(directory, {0, 30}) | pages(directory, {40, 60})));
}

} // namespace

std::vector<tap::Case> test::directory_cases()
{
    return {{"directory: a new one", at_first},
            {"directory: the host writes", host_writes},
            {"directory: the host writes what was there", host_writes_the_same},
            {"directory: GPUs write", gpus_write},
            {"directory: both write", both_write},
            {"directory: runs grow", runs_grow},
            {"directory: runs are for what is in order", runs_end_with_the_order},
            {"directory: long runs end where large pages do", long_runs_end_with_large_pages},
            {"directory: runs of several threads grow", runs_grow_side_by_side},
            {"directory: fetches grow", fetches_grow},
            {"directory: what is not there stays closed", only_what_is_there_is_opened},
            {"directory: what was read is expected to be", expects_reads},
            {"directory: what is written again and again is opened at once", habits_of_writing},
            {"directory: a habit ends where nothing is to be opened", habits_end_where_nothing_is},
            {"directory: it is looked now and then what is used", looks_now_and_then},
            {"directory: what is seldom used stays closed", expects_what_is_used},
            {"directory: what is not there is not opened", expects_what_is_there}};
}
