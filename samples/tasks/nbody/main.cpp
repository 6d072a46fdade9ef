// SPDX-License-Identifier: MIT
/* Bodies that attract each other: much is computed of little data. */
#include "samples/tasks/nbody/problem.hpp"

using namespace ptsched;

namespace {

struct Numbers {
    unsigned bodies = 65536, blocks = 8, steps = 10;
};

void run(const Numbers &numbers, const samples::Modes &modes, const samples::Settings &settings,
         samples::Report &report)
{
    if (!numbers.blocks || numbers.bodies % (numbers.blocks * nbody::threads))
        throw Error("--bodies must be a multiple of " + std::to_string(nbody::threads) + " times --blocks");
    samples::check_and_measure<nbody::Problem>(
        settings, report, "nbody", nbody::Shape{2 * nbody::threads, nbody::threads, 2},
        nbody::Shape{numbers.bodies, numbers.bodies / numbers.blocks, numbers.steps}, [&](nbody::Problem &problem) {
            return modes.ways([&] { return nbody::by_hand(problem, settings.module); },
                              [&](tasks::Memory memory) { return nbody::by_tasks(problem, settings.module, memory); });
        });
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
