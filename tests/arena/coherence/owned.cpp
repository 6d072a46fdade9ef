// SPDX-License-Identifier: MIT
/* Regions that one side owns, and their hand-over. */
#include "tests/arena/coherence/cases.hpp"

using namespace test;
using arena::Party;
using arena::Stretch;

namespace {

void take(Bench &bench, Party party, arena::Declared writes = {})
{
    bench.coherence.take_ownership(bench.region, party, writes);
}

void hand_over()
{
    Bench bench(64, Party::host);
    CHECK(bench.coherence.owner(bench.region) == Party::host);
    for (unsigned page = 0; page < 64; page++)
        bench.host(page) = page + 1;
    take(bench, Party::gpus);
    CHECK(bench.coherence.owner(bench.region) == Party::gpus);
    unsigned wrong = 0;
    for (unsigned page = 0; page < 64; page++) {
        wrong += bench.kernel(page) != page + 1;
        bench.kernel(page) = page + 2;
    }
    take(bench, Party::host);
    for (unsigned page = 0; page < 64; page++)
        wrong += bench.host(page) != page + 2;
    CHECK_EQ(wrong, 0U);
    const arena::CoherenceState state = bench.coherence.state();
    CHECK_EQ(state.twins, std::uint64_t{0});
    CHECK_EQ(state.different_words, std::uint64_t{0});
    /* In one copy each. */
    CHECK_EQ(bench.side->counts.fills, 1U);
    CHECK_EQ(bench.side->counts.fetches, 1U);
    CHECK_EQ(bench.side->counts.sends + bench.side->counts.brings, 0U);
}

/* Of many pages few have changed: no others go, and those by one kernel. */
void what_changed_goes()
{
    Bench bench(256, Party::host);
    for (unsigned page = 0; page < 256; page++)
        bench.host(page) = 1;
    /* The second time all is expected to be written once more. */
    for (int round = 0; round < 2; round++) {
        take(bench, Party::gpus);
        take(bench, Party::host);
    }
    const FakeGpuSide::Counts before = bench.side->counts;
    for (const unsigned page : {200U, 20U, 90U})
        bench.host(page) = 2;
    take(bench, Party::gpus);
    CHECK_EQ(bench.side->counts.brings, before.brings + 1);
    CHECK_EQ(bench.side->counts.brought_pages, before.brought_pages + 3);
    CHECK_EQ(bench.side->counts.fills, before.fills);
    CHECK_EQ(bench.side->counts.finishes, before.finishes + 1);
    for (const unsigned page : {200U, 20U, 90U})
        CHECK_EQ(std::uint32_t{bench.kernel(page)}, 2U);
    for (const unsigned page : {1U, 100U})
        bench.kernel(page) = 3;
    take(bench, Party::host);
    CHECK_EQ(bench.side->counts.sends, before.sends + 1);
    CHECK_EQ(bench.side->counts.sent_pages, before.sent_pages + 2);
    CHECK_EQ(bench.side->counts.fetches, before.fetches);
    CHECK_EQ(std::uint32_t{bench.host(100)}, 3U);
    CHECK_EQ(std::uint32_t{bench.host(1)}, 3U);
}

void declared_writes_go()
{
    Bench bench(256, Party::gpus);
    bench.kernel(7) = 1;
    bench.kernel(100) = 2;
    const Stretch writes[] = {{7 * page_bytes, 4}, {100 * page_bytes, 4}};
    take(bench, Party::host, writes);
    CHECK_EQ(bench.side->counts.compares, 0U);
    CHECK_EQ(bench.side->counts.sent_pages, 4U); /* to the twin, and from there */
    CHECK_EQ(std::uint32_t{bench.host(7)}, 1U);
    CHECK_EQ(std::uint32_t{bench.host(100)}, 2U);
    CHECK_EQ(std::uint32_t{bench.host(8)}, 0U);
}

/* Rights are taken at once from pages between which none has any. */
void closes_what_was_open()
{
    Bench bench(256, Party::host);
    bench.host(7) = 1;
    bench.host(100) = 1;
    const unsigned before = bench.memories.protects;
    take(bench, Party::gpus);
    CHECK_EQ(bench.memories.protects, before + 1);
}

/* What the host has written twice before is open when it writes it again: it faults once. */
void used_again()
{
    Bench bench(256, Party::host);
    const auto state = [&] { return bench.coherence.state(); };
    const auto write_all = [&] {
        const std::uint64_t before = state().write_faults;
        for (unsigned page = 0; page < 256; page++)
            bench.host(page) = bench.host(page) + 1;
        return state().write_faults - before;
    };
    for (int round = 0; round < 2; round++) {
        CHECK(write_all() > 1);
        take(bench, Party::gpus);
        bench.kernel(7) = 5;
        take(bench, Party::host);
    }
    const std::uint64_t reads = state().read_faults;
    CHECK_EQ(write_all(), 1U);
    CHECK_EQ(state().read_faults, reads);
    take(bench, Party::gpus);
    CHECK_EQ(std::uint32_t{bench.kernel(7)}, 6U);
    CHECK_EQ(std::uint32_t{bench.kernel(255)}, 3U);
    /* It is not known what of it was written: all goes. */
    take(bench, Party::host);
    bench.host(9) = 3;
    const std::uint64_t before = state().to_gpus;
    take(bench, Party::gpus);
    CHECK_EQ(state().to_gpus, before + 256);
}

void a_gpu_fails()
{
    Bench bench(64, Party::gpus);
    bench.kernel(1) = 1;
    bench.side->fails = true;
    CHECK(contains(error_of([&] { take(bench, Party::host); }), "the GPU is gone"));
    CHECK(bench.coherence.owner(bench.region) == Party::gpus);
}

void host_uses_what_gpus_own()
{
    Bench bench(64, Party::gpus);
    bench.kernel(3) = 5;
    bench.kernel(50) = 6;
    CHECK_EQ(std::uint32_t{bench.host(3)}, 5U);
    CHECK(!bench.coherence.owner(bench.region));
    CHECK_EQ(bench.coherence.state().made_shared, std::uint64_t{1});
    /* Only what is touched has come. */
    CHECK_EQ(bench.coherence.state().to_host, std::uint64_t{1});
    CHECK_EQ(std::uint32_t{bench.host(50)}, 6U);
    bench.host(3) = 7;
    bench.coherence.release(bench.region, Party::host);
    bench.coherence.access(bench.region, Party::gpus);
    CHECK_EQ(bench.coherence.state().made_shared, std::uint64_t{1});
    CHECK_EQ(std::uint32_t{bench.kernel(3)}, 7U);
}

void gpus_use_what_the_host_owns()
{
    Bench bench(64, Party::host);
    bench.host(3) = 5;
    /* What is no use of it changes nothing. */
    bench.coherence.acquire(bench.region, Party::gpus);
    bench.coherence.release(bench.region, Party::gpus);
    CHECK(bench.coherence.owner(bench.region) == Party::host);
    bench.coherence.access(bench.region, Party::gpus);
    CHECK(!bench.coherence.owner(bench.region));
    CHECK_EQ(std::uint32_t{bench.kernel(3)}, 5U);
    bench.host(4) = 6;
    bench.coherence.release(bench.region, Party::host);
    bench.coherence.acquire(bench.region, Party::gpus);
    CHECK_EQ(std::uint32_t{bench.kernel(4)}, 6U);
}

void given_up()
{
    Bench bench(64, Party::gpus);
    bench.kernel(3) = 5;
    bench.coherence.give_up(bench.region);
    CHECK(!bench.coherence.owner(bench.region));
    CHECK_EQ(std::uint32_t{bench.host(3)}, 5U);
    take(bench, Party::host);
    bench.host(3) = 6;
    bench.coherence.give_up(bench.region);
    bench.coherence.acquire(bench.region, Party::gpus);
    CHECK_EQ(std::uint32_t{bench.kernel(3)}, 6U);
}

/* Taking what is shared releases for the other side, words of one page included. */
void taken_from_shared()
{
    for (const Party party : {Party::host, Party::gpus}) {
        Bench bench(4);
        bench.coherence.acquire(bench.region, Party::gpus);
        bench.memories.host(4) = 1;
        bench.memories.kernel(8) = 2;
        take(bench, party);
        CHECK(bench.coherence.owner(bench.region) == party);
        const auto word = [&](std::size_t offset) -> std::uint32_t {
            return party == Party::host ? bench.memories.host(offset) : bench.memories.kernel(offset);
        };
        CHECK_EQ(word(4), 1U);
        CHECK_EQ(word(8), 2U);
    }
}

void taken_twice()
{
    Bench bench(64, Party::host);
    bench.host(1) = 1;
    take(bench, Party::host);
    CHECK_EQ(bench.side->counts.finishes, 0U);
    take(bench, Party::gpus);
    const unsigned before = bench.side->counts.finishes;
    take(bench, Party::gpus);
    CHECK_EQ(bench.side->counts.finishes, before);
}

/* GPUs find pages that come to a region that they own. */
void grows_for_gpus()
{
    FakeMemories memories(64);
    arena::Coherence coherence(memories, {}, std::make_unique<FakeGpuSide>(memories));
    arena::Region &region = coherence.add(Party::gpus);
    coherence.grow(region, {0, 8 * page_bytes});
    CHECK_EQ(std::uint32_t{memories.kernel(7 * page_bytes)}, 0U);
    memories.kernel(0) = 1;
    coherence.grow(region, {8 * page_bytes, 8 * page_bytes});
    CHECK_EQ(std::uint32_t{memories.kernel(15 * page_bytes)}, 0U);
    CHECK(coherence.owner(region) == Party::gpus);
    memories.kernel(9 * page_bytes) = 2;
    coherence.take_ownership(region, Party::host);
    CHECK_EQ(std::uint32_t{memories.host(0)}, 1U);
    CHECK_EQ(std::uint32_t{memories.host(9 * page_bytes)}, 2U);
}

} // namespace

std::vector<tap::Case> test::owned_cases()
{
    return {{"owned: all is handed over in one copy", hand_over},
            {"owned: what changed is handed over", what_changed_goes},
            {"owned: what is declared is handed over", declared_writes_go},
            {"owned: what was open is closed", closes_what_was_open},
            {"owned: what was used is open again", used_again},
            {"owned: a GPU fails", a_gpu_fails},
            {"owned: the host uses what GPUs own", host_uses_what_gpus_own},
            {"owned: GPUs use what the host owns", gpus_use_what_the_host_owns},
            {"owned: given up", given_up},
            {"owned: taken from both", taken_from_shared},
            {"owned: taken by who has it", taken_twice},
            {"owned: it grows where GPUs own it", grows_for_gpus}};
}
