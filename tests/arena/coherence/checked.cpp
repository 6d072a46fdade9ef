// SPDX-License-Identifier: MIT
/* The same word, written by both sides between two synchronisations. */
#include "tests/arena/coherence/cases.hpp"

using namespace test;
using arena::Party;

namespace {

arena::Coherence::Options checked()
{
    arena::Coherence::Options options;
    options.checked = true;
    options.describe = [](std::size_t offset) { return "block " + std::to_string(offset / 256); };
    return options;
}

std::string error_of_release(Bench &bench, Party party)
{
    return error_of([&] { bench.coherence.release(bench.region, party); });
}

/* Both have written; @first releases before. */
void both_before_a_release(Party first)
{
    const Party second = first == Party::host ? Party::gpus : Party::host;
    Bench bench(4, {}, checked());
    bench.coherence.acquire(bench.region, Party::gpus);
    constexpr std::size_t at = page_bytes + 512;
    bench.memories.host(at) = 1;
    bench.memories.kernel(at) = 2;
    std::string error = error_of_release(bench, first);
    /* GPUs find out when they release; and the host, unless it has been told. */
    if (error.empty())
        error = error_of_release(bench, second);
    char address[32];
    std::snprintf(address, sizeof(address), "%p", static_cast<void *>(bench.memories.view() + at));
    CHECK(contains(error, address));
    CHECK(contains(error, "block 258"));
    CHECK(contains(error, "both written"));
    /* It is told once. */
    CHECK(error_of_release(bench, Party::gpus).empty());
}

void host_writes_what_gpus_released()
{
    Bench bench(4, {}, checked());
    bench.coherence.acquire(bench.region, Party::gpus);
    bench.memories.host(4) = 1;
    bench.memories.kernel(8) = 2;
    CHECK(error_of_release(bench, Party::gpus).empty());
    bench.memories.host(8) = 3;
    CHECK(contains(error_of_release(bench, Party::host), "both written"));
}

void gpus_write_what_the_host_released()
{
    Bench bench(4, {}, checked());
    bench.coherence.acquire(bench.region, Party::gpus);
    bench.memories.host(8) = 1;
    CHECK(error_of_release(bench, Party::host).empty());
    bench.memories.kernel(8) = 2;
    CHECK(contains(error_of_release(bench, Party::gpus), "both written"));
}

/* Found also where the GPU takes the host's before it releases its own. */
void lost_by_an_acquire()
{
    Bench bench(4, {}, checked());
    bench.coherence.acquire(bench.region, Party::gpus);
    bench.memories.host(8) = 1;
    CHECK(error_of_release(bench, Party::host).empty());
    bench.memories.kernel(8) = 2;
    CHECK(contains(error_of([&] { bench.coherence.acquire(bench.region, Party::gpus); }), "both written"));
}

void one_after_the_other()
{
    Bench bench(4, {}, checked());
    for (std::uint32_t round = 1; round < 10; round++) {
        bench.coherence.acquire(bench.region, Party::host);
        bench.memories.host(8) = 2 * round;
        CHECK(error_of_release(bench, Party::host).empty());
        bench.coherence.acquire(bench.region, Party::gpus);
        CHECK_EQ(std::uint32_t{bench.memories.kernel(8)}, 2 * round);
        bench.memories.kernel(8) = 2 * round + 1;
        CHECK(error_of_release(bench, Party::gpus).empty());
    }
}

/* Neighbours are no race. */
void words_side_by_side()
{
    Bench bench(4, {}, checked());
    bench.coherence.acquire(bench.region, Party::gpus);
    for (std::size_t word = 0; word < 64; word++)
        (word % 2 ? bench.memories.host(4 * word) : bench.memories.kernel(4 * word)) = 1;
    CHECK(error_of_release(bench, Party::gpus).empty());
    CHECK(error_of_release(bench, Party::host).empty());
    CHECK(bench.coherence.state().twins == 1);
}

/* What the host has not released does not go to GPUs: else they would be told of what they may not see. */
void unreleased_stays_on_the_host()
{
    Bench bench(4, {}, checked());
    bench.memories.host(4) = 1;
    bench.coherence.release(bench.region, Party::host);
    bench.memories.host(4) = 2;
    bench.coherence.acquire(bench.region, Party::gpus);
    CHECK_EQ(std::uint32_t{bench.memories.kernel(4)}, 1U);
    bench.coherence.release(bench.region, Party::host);
    bench.coherence.acquire(bench.region, Party::gpus);
    CHECK_EQ(std::uint32_t{bench.memories.kernel(4)}, 2U);
}

void many_are_cut()
{
    Bench bench(1, {}, checked());
    bench.coherence.acquire(bench.region, Party::gpus);
    for (std::size_t word = 0; word < 100; word++) {
        bench.memories.host(4 * word) = 1;
        bench.memories.kernel(4 * word) = 2;
    }
    CHECK(contains(error_of_release(bench, Party::gpus), "and 92 more"));
}

} // namespace

std::vector<tap::Case> test::checked_cases()
{
    return {{"races: the host releases first", [] { both_before_a_release(Party::host); }},
            {"races: GPUs release first", [] { both_before_a_release(Party::gpus); }},
            {"races: the host writes what GPUs have released", host_writes_what_gpus_released},
            {"races: GPUs write what the host has released", gpus_write_what_the_host_released},
            {"races: found by an acquire", lost_by_an_acquire},
            {"races: none where one comes after the other", one_after_the_other},
            {"races: none between neighbours", words_side_by_side},
            {"races: what was not released is not seen", unreleased_stays_on_the_host},
            {"races: many are cut", many_are_cut}};
}
