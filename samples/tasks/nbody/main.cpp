// SPDX-License-Identifier: MIT
/* Bodies that attract each other: much is computed of little data. */
#include "samples/tasks/nbody/problem.hpp"

using namespace ptsched;

namespace {

struct Numbers {
    unsigned bodies = 65536, blocks = 8, steps = 10;
};

std::vector<samples::NamedWay> ways(nbody::Problem &problem, const samples::Settings &settings,
                                    const samples::Modes &modes)
{
    std::vector<samples::NamedWay> all{{"hand", [&] { return nbody::by_hand(problem, settings.module); }}};
    modes.add(all, [&](tasks::Memory memory) { return nbody::by_tasks(problem, settings.module, memory); });
    return all;
}

void run(const Numbers &numbers, const samples::Modes &modes, const samples::Settings &settings,
         samples::Report &report)
{
    if (!numbers.blocks || numbers.bodies % (numbers.blocks * nbody::threads))
        throw Error("--bodies must be a multiple of " + std::to_string(nbody::threads) + " times --blocks");
    nbody::Problem small({2 * nbody::threads, nbody::threads, 2});
    samples::check_ways(ways(small, settings, modes));
    if (settings.check)
        return;
    nbody::Problem problem({numbers.bodies, numbers.bodies / numbers.blocks, numbers.steps});
    samples::measure_ways(settings, report, "nbody", ways(problem, settings, modes));
}

} // namespace

int main(int argc, char **argv)
{
    Numbers numbers;
    samples::Modes modes;
    return samples::run_program(argc, argv, "tasks-nbody", "Moves bodies that attract each other, on the first GPU.",
                                [&](const auto &settings, auto &report) { run(numbers, modes, settings, report); },
                                {{"--bodies", &numbers.bodies, "that there are"},
                                 {"--blocks", &numbers.blocks, "of bodies, of which each attracts each by a task"},
                                 {"--steps", &numbers.steps, "in time"},
                                 modes.choice()});
}
