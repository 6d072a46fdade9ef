// SPDX-License-Identifier: MIT
/*
 * bench-gpu-side [TASKS]: what giving a GPU a task costs the host, with a driver whose calls do nothing: the time in
 * ns, and how many of the driver's calls it made. The function is empty.
 */
#include "libptsched/tasks/gpu/side.hpp"
#include "tests/driver_calls.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>

using namespace ptsched::tasks;

namespace {

using Clock = std::chrono::steady_clock;

struct Listener final : GpuListener {
    void given(Task &) override {}
    void ended(Task &, std::exception_ptr failure) override
    {
        if (failure)
            std::rethrow_exception(failure);
        count++;
    }
    void release(Task &) override {}
    void is_home(Task &, std::exception_ptr) override {}
    void wake() override {}
    Trace *trace() override { return nullptr; }
    unsigned long count = 0;
};

constexpr Function empty{0, 1, nullptr, nullptr, nullptr, [](void *, const Call &) {}};

/* @together: tasks that are ready at once. @after: on how many of the ones before each depends. */
void measure(const char *name, unsigned count, unsigned together, unsigned accesses, std::vector<unsigned> after)
{
    constexpr int rounds = 7;
    constexpr std::size_t ranges = 64;
    Options options;
    options.devices = {ptsched::device::gpus().at(0)};
    Listener listener;
    auto side = GpuSide::make(options, listener);
    std::vector<char> memory(ranges * 1024);
    double best = 1e18;
    unsigned long calls = 0, waits = 0;
    for (int round = 0; round < rounds; round++) {
        std::deque<Task> tasks(count);
        for (unsigned i = 0; i < count; i++) {
            tasks[i].function = &empty;
            for (unsigned k = 0; k < accesses; k++)
                tasks[i].own_accesses[k] = in(&memory[(i * 7 + k * 13) % ranges * 1024], 1024);
            if (accesses)
                tasks[i].own_accesses[accesses - 1].mode = Mode::inout;
            tasks[i].access_count = accesses;
        }
        listener.count = 0;
        State before, now;
        side->count(before);
        calls = driver_calls();
        const auto start = Clock::now();
        for (unsigned i = 0; i < count; i++) {
            for (const unsigned distance : after)
                if (i >= distance)
                    tasks[i].add_edge().after = tasks[i - distance].position;
            side->ready(tasks[i]);
            if ((i + 1) % together == 0)
                while (!tasks[i].position.stream)
                    side->serve();
        }
        while (side->is_busy())
            side->serve();
        const std::chrono::duration<double, std::nano> time = Clock::now() - start;
        calls = driver_calls() - calls;
        best = std::min(best, time.count() / count);
        side->count(now);
        waits = now.stream_waits - before.stream_waits;
        while (!side->bring_home(nullptr))
            ;
    }
    std::printf("%-52s %8.1f ns  %5.2f driver calls  %4.2f waits\n", name, best, static_cast<double>(calls) / count,
                static_cast<double>(waits) / count);
}

} // namespace

int main(int argc, char **argv)
{
    const unsigned count = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 20000;
    measure("alone, no accesses", count, 1, 0, {});
    measure("64 together, no accesses", count, 64, 0, {});
    measure("64 together, two accesses", count, 64, 2, {});
    measure("alone, two accesses, after the one before", count, 1, 2, {1});
    measure("alone, two accesses, after two before", count, 1, 2, {1, 2});
    measure("16 together, two accesses, after two before", count, 16, 2, {16, 17});
    return 0;
}
