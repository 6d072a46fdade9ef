// SPDX-License-Identifier: MIT
/*
 * bench-device [ROUNDS]: what the device layer costs the host, with a driver whose calls do nothing. For each call: the
 * time in ns, and how many of the driver's calls it made.
 */
#include "tests/driver_calls.hpp"
#include <ptsched/device/access.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <thread>

using namespace ptsched::device;

namespace {

using Clock = std::chrono::steady_clock;

/* The fastest of several rounds of @count. */
template <typename Function> void measure(const char *name, unsigned count, Function function)
{
    constexpr int rounds = 7;
    double best = 1e18;
    unsigned long calls = 0;

    for (int round = 0; round < rounds; round++) {
        calls = driver_calls();
        auto start = Clock::now();
        for (unsigned i = 0; i < count; i++)
            function();
        std::chrono::duration<double, std::nano> time = Clock::now() - start;
        calls = driver_calls() - calls;
        best = std::min(best, time.count() / count);
    }
    std::printf("%-44s %8.1f ns  %5.2f driver calls\n", name, best, static_cast<double>(calls) / count);
}

struct Bench {
    explicit Bench(unsigned count, Device &gpu)
        : count(count), gpu(gpu), queue(gpu.make_queue()), other(gpu.make_queue()), code(cuda_code(gpu, "", ""))
    {
    }

    /* Two inputs and one output, as a ptask in the middle of a graph. */
    void invocation(Queue &by)
    {
        DatablockPtr out = Datablock::empty(1024);
        const Access::Item items[] = {Access::reads(*a), Access::reads(*b), Access::writes(*out)};
        Address addresses[3];
        Access access(gpu, by, items, addresses);
        void *values[] = {&addresses[0], &addresses[1], &addresses[2]};
        arguments.assign(values, values + 3);
        by.run(*code, {}, arguments);
        access.given(by.mark());
        a = std::move(out);
    }

    void calls()
    {
        auto marker = queue->mark();
        measure("mark", count, [&] { queue->mark(); });
        measure("mark, reached", count, [&] { queue->mark()->reached(); });
        measure("after", count, [&] { other->after(marker); });
        measure("run", count, [&] { queue->run(*code, {}, arguments); });
        measure("allocate and release", count, [&] { gpu.release(gpu.allocate(1024), 1024); });
        measure("a datablock: produce, written, gone", count, [&] {
            auto block = Datablock::empty(1024);
            block->produce(gpu, *queue);
            block->written(marker);
        });
        measure("use, where it is", count, [&] { a->use(gpu, *queue); });
        auto fresh = Datablock::of("abcd", 4);
        fresh->use(gpu, *queue);
        measure("use, in another queue", count, [&] { fresh->use(gpu, *other); });
        measure("Datablock::of, 4 bytes", count, [&] { Datablock::of("abcd", 4); });
        measure("run of 2 inputs and 1 output, one queue", count, [&] { invocation(*queue); });
        measure("run of 2 inputs and 1 output, queues in turn", count, [&] {
            turn = !turn;
            invocation(turn ? *queue : *other);
        });
    }

    unsigned count;
    Device &gpu;
    std::unique_ptr<Queue> queue, other;
    std::unique_ptr<Code> code;
    DatablockPtr a = Datablock::of("abcd", 4), b = Datablock::of("efgh", 4);
    std::vector<void *> arguments;
    bool turn = false;
};

} // namespace

int main(int argc, char **argv)
{
    const long count = argc > 1 ? std::atol(argv[1]) : 200000;

    if (count <= 0 || argc > 2) {
        std::fprintf(stderr, "usage: bench-device [ROUNDS], a positive number\n");
        return 2;
    }
    if (gpus().empty()) {
        std::fprintf(stderr, "bench-device: no GPU, not even one that does nothing\n");
        return 1;
    }
    /* What programs with one thread do not pay is paid. */
    std::promise<void> end;
    std::thread other([waiting = end.get_future()] { waiting.wait(); });
    std::printf("# in a thread that has other contexts, too\n");
    Bench(static_cast<unsigned>(count), *gpus()[0]).calls();
    std::printf("# in a thread that has been adopted\n");
    adopt_thread();
    Bench(static_cast<unsigned>(count), *gpus()[0]).calls();
    end.set_value();
    other.join();
    return 0;
}
