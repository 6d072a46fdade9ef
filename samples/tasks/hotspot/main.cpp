// SPDX-License-Identifier: MIT
/* The temperature of a chip: each step reads and writes all of it, and computes little. */
#include "samples/tasks/hotspot/problem.hpp"

using namespace ptsched;

namespace {

struct Numbers {
    unsigned side = 8192, bands = 4, steps = 60;
};

std::vector<samples::NamedWay> ways(hotspot::Problem &problem, const samples::Settings &settings,
                                    const samples::Modes &modes)
{
    std::vector<samples::NamedWay> all{{"hand", [&] { return hotspot::by_hand(problem, settings.module); }}};
    modes.add(all, [&](tasks::Memory memory) { return hotspot::by_tasks(problem, settings.module, memory); });
    return all;
}

void run(const Numbers &numbers, const samples::Modes &modes, const samples::Settings &settings,
         samples::Report &report)
{
    if (!numbers.bands || numbers.side % numbers.bands)
        throw Error("--side must be a multiple of --bands");
    hotspot::Problem small({48, 3, 3});
    samples::check_ways(ways(small, settings, modes));
    if (settings.check)
        return;
    hotspot::Problem problem({numbers.side, numbers.bands, numbers.steps});
    samples::measure_ways(settings, report, "hotspot", ways(problem, settings, modes));
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
