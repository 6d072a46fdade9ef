// SPDX-License-Identifier: MIT
/*
 * What a run of a ptask costs the host, with a driver that does nothing: usage: bench-invocation [RUNS]. A ring of
 * tasks, each with two inputs and two outputs that the one before it has written, goes round by itself.
 */
#include <ptsched/ptask/graph.hpp>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <thread>

using namespace ptsched::ptask;

namespace {

const auto form = Template::of<float>(64);

/* Two blocks go round, on one device, and a task runs for each step of theirs. */
class RingOfTasks {
public:
    RingOfTasks(unsigned tasks, bool in_place, Lower lower)
        : graph_({.moving = {.bytes_per_second = 1}, .lower = lower})
    {
        const std::vector<float> zeros(64);
        for (unsigned i = 0; i < tasks; i++) {
            std::vector<PortOptions> ports;
            for (const char *name : {"a", "b"})
                ports.push_back(in_place ? inout(name, form) : in(name, form));
            if (!i)
                for (PortOptions &port : ports)
                    port.initial = Datablock::of(std::span(zeros));
            for (const char *name : {"c", "d"})
                if (!in_place)
                    ports.push_back(out(name, form));
            tasks_.push_back(&graph_.cuda("task" + std::to_string(i), {"null", "null", Geometry{}}, ports));
        }
        for (unsigned i = 0; i < tasks; i++) {
            Task &task = *tasks_[i], &next = *tasks_[(i + 1) % tasks];
            graph_.connect(task[in_place ? "a" : "c"], next["a"], 1);
            graph_.connect(task[in_place ? "b" : "d"], next["b"], 1);
        }
    }

    /* Nanoseconds of the processor for each of as many runs. */
    double run(std::uint64_t runs)
    {
        Task &first = *tasks_[0];
        const std::uint64_t rounds = runs / tasks_.size() + 1;
        auto wait = [&](std::uint64_t until) {
            while (first.completed() < until)
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            return std::clock();
        };
        graph_.run();
        const std::clock_t began = wait(rounds / 4 + 1);
        const std::uint64_t before = first.completed();
        const std::clock_t ended = wait(before + rounds);
        const std::uint64_t done = (first.completed() - before) * tasks_.size();
        graph_.stop();
        return static_cast<double>(ended - began) * (1e9 / CLOCKS_PER_SEC) / static_cast<double>(done);
    }

private:
    Graph graph_;
    std::vector<Task *> tasks_;
};

void compare(Lower lower, bool in_place, std::uint64_t runs)
{
    double few = 0;
    for (unsigned tasks : {10u, 1000u, 10000u}) {
        double ns = RingOfTasks(tasks, in_place, lower).run(runs);
        few = few > 0 ? few : ns;
        std::printf("%-8s %-10s %6u tasks: %7.0f ns per run, %.2f of what 10 tasks cost\n",
                    lower == Lower::never ? "single" : "lowered", in_place ? "in place" : "new blocks", tasks, ns,
                    ns / few);
    }
}

} // namespace

int main(int argc, char **argv)
{
    const long runs = argc > 1 ? std::atol(argv[1]) : 1000000;

    if (runs <= 0 || argc > 2) {
        std::fprintf(stderr, "usage: bench-invocation [RUNS], a positive number\n");
        return 2;
    }
    for (Lower lower : {Lower::never, Lower::always})
        for (bool in_place : {false, true})
            compare(lower, in_place, static_cast<std::uint64_t>(runs));
    return 0;
}
