// SPDX-License-Identifier: MIT
/* The temperature of a chip: each step reads and writes all of it, and computes little. */
#include "samples/tasks/hotspot/problem.hpp"

using namespace ptsched;

namespace {

struct Numbers {
    unsigned side = 8192, bands = 4, steps = 60;
};

void run(const Numbers &numbers, const samples::Modes &modes, const samples::Settings &settings,
         samples::Report &report)
{
    if (!numbers.bands || numbers.side % numbers.bands)
        throw Error("--side must be a multiple of --bands");
    samples::check_and_measure<hotspot::Problem>(
        settings, report, "hotspot", hotspot::Shape{48, 3, 3},
        hotspot::Shape{numbers.side, numbers.bands, numbers.steps}, [&](hotspot::Problem &problem) {
            return modes.ways(
                [&] { return hotspot::by_hand(problem, settings.module); },
                [&](tasks::Memory memory) { return hotspot::by_tasks(problem, settings.module, memory); });
        });
}

} // namespace

int main(int argc, char **argv)
{
    Numbers numbers;
    samples::Modes modes;
    return samples::run_program(argc, argv, "tasks-hotspot",
                                "Computes a chip's temperature from its power, on the first GPU.",
                                [&](const auto &settings, auto &report) { run(numbers, modes, settings, report); },
                                {{"--side", &numbers.side, "rows and columns of cells"},
                                 {"--bands", &numbers.bands, "of rows, each of which has a task in each step"},
                                 {"--steps", &numbers.steps, "in time"},
                                 modes.choice()});
}
