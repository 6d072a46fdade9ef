// SPDX-License-Identifier: MIT
/* Heat in a plate: a wave of tiles goes over it, and the next one behind it. */
#include "samples/tasks/heat/problem.hpp"

#include <cstdlib>

using namespace ptsched;

namespace {

struct Numbers {
    unsigned tile = 512, tiles = 12, sweeps = 20;
};

void run(const Numbers &numbers, const samples::Modes &modes, const samples::Settings &settings,
         samples::Report &report)
{
    if (!numbers.tile || numbers.tile > 1024)
        throw Error("--tile must be from 1 to 1024, the threads of a thread block");
    samples::check_and_measure<heat::Problem>(
        settings, report, "heat", heat::Shape{8, 3, 3}, heat::Shape{numbers.tile, numbers.tiles, numbers.sweeps},
        [&](heat::Problem &problem) {
            return modes.ways([&] { return heat::by_hand(problem, settings.module); },
                              [&](tasks::Memory memory) { return heat::by_tasks(problem, settings.module, memory); });
        });
}

} // namespace

int main(int argc, char **argv)
{
    /* More streams at once than the driver has connections to the GPU for, if it is not told. */
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", std::to_string(heat::streams).c_str(), 0);
    Numbers numbers;
    samples::Modes modes;
    return samples::run_program(argc, argv, "tasks-heat",
                                "Iterates Gauss and Seidel's way on a plate, on the first GPU.",
                                [&](const auto &settings, auto &report) { run(numbers, modes, settings, report); },
                                {{"--tile", &numbers.tile, "rows and columns of one"},
                                 {"--tiles", &numbers.tiles, "in a row of them, and rows"},
                                 {"--sweeps", &numbers.sweeps, "over all of them"},
                                 modes.choice()});
}
