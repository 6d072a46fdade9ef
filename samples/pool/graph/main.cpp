// SPDX-License-Identifier: MIT
/*
 * A ptask graph of tiny tasks, chains beside each other, whose tasks are launches, launches that the graph makes CUDA
 * graphs of, or tasks in the slots of a pool.
 */
#include "samples/common/program.hpp"
#include "samples/pool/graph/tasks.h"
#include <ptsched/pool/device.hpp>
#include <ptsched/ptask/graph.hpp>

#include <chrono>
#include <cstdio>

using namespace ptsched;

namespace {

using Clock = std::chrono::steady_clock;
using Slots = pool::TaskDevice<Scale>;

constexpr unsigned numbers = 64;
constexpr float by = 0.5F;

struct Size {
    unsigned chains, tasks; /* of each chain */
    unsigned rounds;
};

/* What numbers that were @x are behind a chain. */
float expected(float x, unsigned tasks)
{
    for (unsigned i = 0; i < tasks; i++)
        x = by * x + 1;
    return x;
}

class Chains {
public:
    /* Without @slots, by launches. */
    Chains(const samples::Settings &settings, const Size &size, const Slots *slots, ptask::Lower lower)
        : size_(size), graph_({.lower = lower, .devices = {"0"}})
    {
        for (unsigned chain = 0; chain < size.chains; chain++) {
            ptask::Task *last = nullptr;
            for (unsigned i = 0; i < size.tasks; i++) {
                const std::string name = std::to_string(chain) + "." + std::to_string(i);
                ptask::Task &task = add(settings, name, slots);
                if (last)
                    graph_.connect((*last)["y"], task["x"]);
                else
                    inputs_.push_back(&graph_.input(task["x"]));
                last = &task;
            }
            outputs_.push_back(&graph_.output((*last)["y"]));
        }
        graph_.run();
    }

    /* Each chain gets a block, and all that comes out is looked at. Returns seconds. Throws Error if it is wrong. */
    double round()
    {
        const std::vector<float> values(numbers, 3);
        const auto begin = Clock::now();
        for (unsigned i = 0; i < size_.rounds; i++) {
            for (ptask::Input *input : inputs_)
                input->push(ptask::Datablock::of(values));
            for (ptask::Output *output : outputs_)
                for (const float value : output->pull<float>())
                    if (value != expected(3, size_.tasks))
                        throw Error("a number is " + std::to_string(value) + " behind its chain, not " +
                                    std::to_string(expected(3, size_.tasks)));
        }
        return std::chrono::duration<double>(Clock::now() - begin).count();
    }

private:
    ptask::Task &add(const samples::Settings &settings, const std::string &name, const Slots *slots)
    {
        static const auto vector = ptask::Template::of<float>(numbers);
        const std::vector<ptask::PortOptions> ports{ptask::in("x", vector), ptask::out("y", vector),
                                                    ptask::constant("n", numbers), ptask::constant("by", by)};
        if (!slots)
            return graph_.cuda(name, {settings.module, "scale_launch", ptask::Geometry{{1, 1, 1}, {32, 1, 1}}}, ports);
        return graph_.kernel(
            name, {{&slots->device()}, slots->kernel<&Scale::x, &Scale::y, &Scale::n, &Scale::by>(), "scale", "slots"},
            ports);
    }

    const Size size_;
    ptask::Graph graph_;
    std::vector<ptask::Input *> inputs_;
    std::vector<ptask::Output *> outputs_;
};

/* Microseconds for each task. */
samples::Spread measure(Chains &&chains, const samples::Settings &settings, const Size &size)
{
    std::vector<double> found;
    /* The first round has what is done once. */
    for (unsigned round = 0; round <= settings.rounds(); round++) {
        const double seconds = chains.round();
        if (round)
            found.push_back(seconds * 1e6 / (size.chains * size.tasks * size.rounds));
    }
    return samples::spread_of(found);
}

void compare(const samples::Settings &settings, const Slots &slots, const Size &size, samples::Report &report)
{
    const std::string name = "graph/" + std::to_string(size.chains) + "x" + std::to_string(size.tasks);
    const samples::Spread launches = measure({settings, size, nullptr, ptask::Lower::never}, settings, size);
    const samples::Spread lowered = measure({settings, size, nullptr, ptask::Lower::automatic}, settings, size);
    const samples::Spread in_slots = measure({settings, size, &slots, ptask::Lower::never}, settings, size);
    report.record(name + "/launches_us", launches, "us a task");
    report.record(name + "/cuda-graphs_us", lowered, "us a task",
                  "launches, where the graph makes CUDA graphs of them");
    report.record(name + "/slots_us", in_slots, "us a task");
    report.record(name + "/launches-over-slots", launches.median / in_slots.median, "");
}

void run(const samples::Settings &settings, samples::Report &report)
{
    device::Device &gpu = samples::first_gpu();
    pool::Options options{
        .kernel = [module =
                       settings.module](device::Device &one) { return device::cuda_code(one, module, "scale_tasks"); },
        .threads = 32,
        .blocks = settings.check ? 4U : 64U,
    };
    const Slots slots(gpu, options);
    if (settings.check) {
        const Size size{3, 4, 5};
        Chains(settings, size, nullptr, ptask::Lower::automatic).round();
        Chains(settings, size, &slots, ptask::Lower::never).round();
        return;
    }
    std::printf("graphs of tiny tasks on %s, chains x tasks of each: median (least to most)\n", gpu.name().c_str());
    const unsigned rounds = settings.quick ? 50 : 1000;
    for (const auto &[chains, tasks] : {std::pair(1U, 8U), {8U, 8U}, {64U, 8U}, {256U, 1U}})
        compare(settings, slots, {chains, tasks, rounds}, report);
}

} // namespace

int main(int argc, char **argv)
{
    return samples::run_program(argc, argv, "pool-graph",
                                "Measures what a task of a ptask graph costs as a launch, and in a slot of a pool.",
                                run);
}
