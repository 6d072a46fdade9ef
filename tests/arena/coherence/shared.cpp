// SPDX-License-Identifier: MIT
/* Regions without an owner: what is written before a release is found after an acquire. */
#include "tests/arena/coherence/cases.hpp"

#include <unistd.h>

using namespace test;
using arena::Party;
using arena::Stretch;

namespace {

void release(Bench &bench, Party party)
{
    bench.coherence.release(bench.region, party);
}

void acquire(Bench &bench, Party party)
{
    bench.coherence.acquire(bench.region, party);
}

void to_and_fro()
{
    Bench bench(8);
    bench.host(2) = 5;
    release(bench, Party::host);
    acquire(bench, Party::gpus);
    CHECK_EQ(std::uint32_t{bench.kernel(2)}, 5U);
    CHECK_EQ(std::uint32_t{bench.kernel(3)}, 0U);
    bench.kernel(2) = 6;
    bench.kernel(3) = 7;
    release(bench, Party::gpus);
    acquire(bench, Party::host);
    CHECK_EQ(std::uint32_t{bench.host(2)}, 6U);
    CHECK_EQ(std::uint32_t{bench.host(3)}, 7U);
    CHECK_EQ(bench.coherence.state().to_gpus, std::uint64_t{8});
}

/* Words of one page, of both sides at the same time, in all orders of release. */
void words_of_a_page()
{
    for (const bool host_first : {true, false}) {
        Bench bench(1);
        acquire(bench, Party::gpus);
        const auto host = [&](std::size_t word) -> volatile std::uint32_t &
        {
            return bench.memories.host(4 * word);
        };
        const auto kernel = [&](std::size_t word) -> volatile std::uint32_t &
        {
            return bench.memories.kernel(4 * word);
        };
        for (std::size_t word = 0; word < 1000; word++)
            (word % 2 ? host(word) : kernel(word)) = static_cast<std::uint32_t>(word + 1);
        release(bench, host_first ? Party::host : Party::gpus);
        release(bench, host_first ? Party::gpus : Party::host);
        acquire(bench, Party::gpus);
        acquire(bench, Party::host);
        unsigned wrong = 0;
        for (std::size_t word = 0; word < 1000; word++)
            wrong += (host(word) != word + 1) + (kernel(word) != word + 1);
        CHECK_EQ(wrong, 0U);
    }
}

/* What a GPU has written and not released stays when it acquires. */
void unreleased_words_stay()
{
    Bench bench(1);
    acquire(bench, Party::gpus);
    bench.memories.kernel(8) = 1;
    bench.memories.host(12) = 2;
    release(bench, Party::host);
    acquire(bench, Party::gpus);
    CHECK_EQ(std::uint32_t{bench.memories.kernel(8)}, 1U);
    CHECK_EQ(std::uint32_t{bench.memories.kernel(12)}, 2U);
    release(bench, Party::gpus);
    acquire(bench, Party::host);
    CHECK_EQ(std::uint32_t{bench.memories.host(8)}, 1U);
}

/* Of what GPUs alone use, nothing comes to the host. */
void stays_on_gpus()
{
    Bench bench(64);
    acquire(bench, Party::gpus);
    for (unsigned round = 1; round < 5; round++) {
        for (unsigned page = 0; page < 64; page++)
            bench.kernel(page) = round;
        release(bench, Party::gpus);
        acquire(bench, Party::gpus);
    }
    CHECK_EQ(bench.coherence.state().to_host, std::uint64_t{0});
    CHECK_EQ(bench.side->counts.brought_pages, 64U);
    acquire(bench, Party::host);
    CHECK_EQ(bench.coherence.state().to_host, std::uint64_t{0});
    CHECK_EQ(std::uint32_t{bench.host(63)}, 4U);
    CHECK_EQ(bench.coherence.state().to_host, std::uint64_t{1});
}

/* Few pages come with the acquire, without a fault that needs a GPU. */
void few_come_at_once()
{
    Bench bench(64);
    acquire(bench, Party::gpus);
    bench.kernel(3) = 1;
    bench.kernel(9) = 2;
    release(bench, Party::gpus);
    acquire(bench, Party::host);
    CHECK_EQ(bench.coherence.state().to_host, std::uint64_t{2});
    CHECK_EQ(bench.side->counts.sends, 1U);
    CHECK_EQ(std::uint32_t{bench.host(3)}, 1U);
    CHECK_EQ(std::uint32_t{bench.host(9)}, 2U);
}

void nothing_changed_costs_nothing()
{
    Bench bench(64);
    acquire(bench, Party::gpus);
    const FakeGpuSide::Counts before = bench.side->counts;
    release(bench, Party::host);
    acquire(bench, Party::gpus);
    acquire(bench, Party::host);
    bench.coherence.release(bench.region, Party::gpus, std::span<const Stretch>());
    CHECK_EQ(bench.side->counts.finishes, before.finishes);
    CHECK_EQ(bench.side->counts.compares, before.compares);
}

void declared_writes()
{
    Bench bench(64);
    acquire(bench, Party::gpus);
    bench.kernel(5) = 1;
    bench.kernel(6) = 2;
    bench.kernel(40) = 3;
    const Stretch writes[] = {{5 * page_bytes, page_bytes + 4}, {40 * page_bytes, 4}};
    bench.coherence.release(bench.region, Party::gpus, writes);
    CHECK_EQ(bench.side->counts.compares, 0U);
    acquire(bench, Party::host);
    CHECK_EQ(bench.coherence.state().to_host, std::uint64_t{3});
    CHECK_EQ(std::uint32_t{bench.host(5)}, 1U);
    CHECK_EQ(std::uint32_t{bench.host(6)}, 2U);
    CHECK_EQ(std::uint32_t{bench.host(40)}, 3U);
    /* Where the host writes, too, words are looked for. */
    bench.memories.host(5 * page_bytes + 4) = 4;
    bench.kernel(5) = 5;
    bench.coherence.release(bench.region, Party::gpus, writes);
    CHECK_EQ(bench.side->counts.compared_pages, 1U);
    CHECK_EQ(std::uint32_t{bench.host(5)}, 5U);
    CHECK_EQ(std::uint32_t{bench.memories.host(5 * page_bytes + 4)}, 4U);
}

/* Pages in several places, of which some come later. */
void extents()
{
    FakeMemories memories(64);
    arena::Coherence coherence(memories, {}, std::make_unique<FakeGpuSide>(memories));
    arena::Region &one = coherence.add({}), &other = coherence.add({});
    coherence.grow(one, {4 * page_bytes, 4 * page_bytes});
    coherence.grow(other, {8 * page_bytes, 8 * page_bytes});
    coherence.acquire(one, Party::gpus);
    coherence.grow(one, {32 * page_bytes, 32 * page_bytes});
    memories.host(5 * page_bytes) = 1;
    memories.host(40 * page_bytes) = 2;
    memories.host(9 * page_bytes) = 3;
    coherence.release(one, Party::host);
    coherence.acquire(one, Party::gpus);
    CHECK_EQ(std::uint32_t{memories.kernel(5 * page_bytes)}, 1U);
    CHECK_EQ(std::uint32_t{memories.kernel(40 * page_bytes)}, 2U);
    CHECK_EQ(std::uint32_t{memories.kernel(63 * page_bytes)}, 0U);
    CHECK(memories.kernel(9 * page_bytes) != 3);
    coherence.release(other, Party::host);
    coherence.acquire(other, Party::gpus);
    CHECK_EQ(std::uint32_t{memories.kernel(9 * page_bytes)}, 3U);
}

/* The kernel does not fault: what a call of it is to read or write is opened before. */
void opened_for_calls()
{
    Bench bench(64);
    acquire(bench, Party::gpus);
    for (unsigned page = 0; page < 64; page++)
        bench.kernel(page) = page + 1;
    release(bench, Party::gpus);
    int ends[2];
    CHECK_EQ(pipe(ends), 0);
    std::byte *const at = bench.memories.view() + 20 * page_bytes;
    CHECK(write(ends[1], at, 4) < 0);
    bench.coherence.open(bench.region, {20 * page_bytes + 100, 30 * page_bytes}, false);
    CHECK_EQ(bench.coherence.state().to_host, std::uint64_t{31});
    CHECK_EQ(write(ends[1], at, 4), ssize_t{4});
    std::byte *const other = at + 30 * page_bytes;
    CHECK(read(ends[0], other, 4) < 0);
    bench.coherence.open(bench.region, {50 * page_bytes, 4}, true);
    CHECK_EQ(read(ends[0], other, 4), ssize_t{4});
    CHECK_EQ(std::uint32_t{bench.host(50)}, 21U);
    CHECK_EQ(bench.coherence.state().read_faults + bench.coherence.state().write_faults, std::uint64_t{0});
    close(ends[0]);
    close(ends[1]);
    release(bench, Party::host);
    acquire(bench, Party::gpus);
    CHECK_EQ(std::uint32_t{bench.kernel(50)}, 21U);
}

/* Nobody has a turn for nothing, and all that GPUs do is in one; also what comes with a fault. */
void turns()
{
    unsigned begun = 0, now = 0;
    arena::Coherence::Options options;
    std::function<void()> beside;
    options.turn = [&] {
        begun++;
        now++;
        if (beside)
            beside();
        return std::shared_ptr<const void>(&now, [](unsigned *count) { --*count; });
    };
    Bench bench(64, {}, options);
    bench.host(1) = 1;
    release(bench, Party::host);
    CHECK_EQ(begun, 0U);
    acquire(bench, Party::gpus);
    CHECK_EQ(begun, 1U);
    acquire(bench, Party::gpus);
    CHECK_EQ(begun, 1U);
    for (unsigned page = 0; page < 64; page++)
        bench.kernel(page) = 2;
    release(bench, Party::gpus);
    CHECK_EQ(begun, 2U);
    CHECK_EQ(std::uint32_t{bench.host(1)}, 2U);
    CHECK_EQ(begun, 3U);
    CHECK_EQ(now, 0U);
    /* While somebody waits for a turn, the host goes on with the same region. */
    bench.coherence.open(bench.region, {0, 64 * page_bytes}, false);
    beside = [&] { bench.host(40) = 4; };
    bench.coherence.take_ownership(bench.region, Party::gpus);
    CHECK_EQ(begun, 5U);
    CHECK_EQ(std::uint32_t{bench.kernel(40)}, 4U);
    CHECK_EQ(now, 0U);
}

void what_is_no_page()
{
    FakeMemories memories(8);
    arena::Coherence coherence(memories, {}, std::make_unique<FakeGpuSide>(memories));
    arena::Region &region = coherence.add({});
    CHECK(contains(error_of([&] { coherence.grow(region, {0, 100}); }), "whole pages of 65536 bytes, not by 100"));
    CHECK(contains(error_of([&] { coherence.grow(region, {100, page_bytes}); }), "whole pages"));
    CHECK(contains(error_of([&] { coherence.grow(region, {0, 0}); }), "whole pages"));
    CHECK(contains(error_of([&] { coherence.grow(region, {7 * page_bytes, 2 * page_bytes}); }), "has none at 458752"));
}

/* Twins are given back, and what cannot have one stays whole on the host. */
void no_room_for_twins()
{
    Bench bench(8);
    bench.host(1) = 1;
    bench.side->has_room = false;
    CHECK(contains(error_of([&] { acquire(bench, Party::gpus); }), "no room"));
    CHECK(contains(error_of([&] { bench.coherence.take_ownership(bench.region, Party::gpus); }), "no room"));
    CHECK(!bench.coherence.owner(bench.region));
    bench.host(1) = 2;
    bench.side->has_room = true;
    release(bench, Party::host);
    acquire(bench, Party::gpus);
    CHECK_EQ(std::uint32_t{bench.kernel(1)}, 2U);
    CHECK_EQ(bench.side->twin_bytes, 8 * page_bytes);
    bench.coherence.remove(bench.region);
    CHECK_EQ(bench.side->twin_bytes, std::size_t{0});
}

void a_gpu_fails()
{
    Bench bench(8);
    acquire(bench, Party::gpus);
    bench.side->fails = true;
    CHECK(contains(error_of([&] { release(bench, Party::gpus); }), "the GPU is gone"));
}

} // namespace

std::vector<tap::Case> test::shared_cases()
{
    return {{"shared: from one side to the other, and back", to_and_fro},
            {"shared: words of one page", words_of_a_page},
            {"shared: words that were not released stay", unreleased_words_stay},
            {"shared: what GPUs alone use stays there", stays_on_gpus},
            {"shared: few pages come at once", few_come_at_once},
            {"shared: where nothing was changed nothing is done", nothing_changed_costs_nothing},
            {"shared: declared writes", declared_writes},
            {"shared: pages in several places", extents},
            {"shared: opened for calls of the kernel", opened_for_calls},
            {"shared: GPUs work in turns", turns},
            {"shared: what is no page of the window", what_is_no_page},
            {"shared: no room for twins", no_room_for_twins},
            {"shared: a GPU fails", a_gpu_fails}};
}
