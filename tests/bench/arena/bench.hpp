/* SPDX-License-Identifier: MIT */
/* What it costs to keep an arena coherent, against copies in the same run. */
#ifndef TEST_BENCH_ARENA_BENCH_HPP
#define TEST_BENCH_ARENA_BENCH_HPP

#include "libptsched/arena/coherence/coherence.hpp"
#include "samples/common/program.hpp"
#include "tests/arena/coherence/two_memories.hpp"

#include <chrono>

namespace ptsched::bench_arena {

using samples::Report;
using samples::Settings;
using test::page_bytes;

/* A window on the first GPU with memory of so many pages, and kernels that write there. */
class Bench {
public:
    /* Throws Error if there is no GPU. */
    Bench(const Settings &settings, std::size_t pages);

    std::size_t pages() const { return memories.bytes() / page_bytes; }
    /* As a kernel: one word of each of these, or every so many of all; the host: the same. Waits. */
    void touch_on_gpu(const std::vector<unsigned> &which, std::uint32_t value);
    void change_on_gpu(unsigned every, std::uint32_t value);
    void touch_on_host(const std::vector<unsigned> &which, std::uint32_t value);
    /* Throws Error unless touch_on_gpu() or touch_on_host() of these has come there. */
    void check_gpu(const std::vector<unsigned> &which, std::uint32_t value);
    void check_host(const std::vector<unsigned> &which, std::uint32_t value);

    const bool check;
    const unsigned rounds;
    test::TwoMemories memories;
    device::Device &gpu;
    const std::unique_ptr<device::Queue> queue;

private:
    std::uint32_t *word_of(std::byte *memory, std::size_t page, std::size_t i) const;

    const std::unique_ptr<device::Code> touch_, change_;
    device::Allocation listed_;
};

/* In microseconds. */
template <typename Function> double time_of(Function function)
{
    const auto begin = std::chrono::steady_clock::now();
    function();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

/* What @time is of @against, by the medians. */
double ratio_of(const std::vector<double> &time, const std::vector<double> &against);

void measure_differences(const Settings &settings, Report &report);
void measure_hand_over(const Settings &settings, Report &report);
void measure_faults(const Settings &settings, Report &report);

} // namespace ptsched::bench_arena

#endif /* TEST_BENCH_ARENA_BENCH_HPP */
