// SPDX-License-Identifier: MIT
/* y += a x: as much is copied as it can be, and little computed. */
#include "samples/tasks/saxpy/problem.hpp"

using namespace ptsched;

namespace {

/* Times 2^20 elements. */
struct Numbers {
    unsigned count = 256, block = 4;
};

void run(const Numbers &numbers, const samples::Modes &modes, const samples::Settings &settings,
         samples::Report &report)
{
    if (!numbers.block || numbers.count % numbers.block)
        throw Error("--count must be a multiple of --block");
    samples::check_and_measure<saxpy::Problem>(
        settings, report, "saxpy", saxpy::Shape{4096, 1024},
        saxpy::Shape{std::size_t{numbers.count} << 20, std::size_t{numbers.block} << 20}, [&](saxpy::Problem &problem) {
            return modes.ways([&] { return saxpy::by_hand(problem, settings.module); },
                              [&](tasks::Memory memory) { return saxpy::by_tasks(problem, settings.module, memory); });
        });
}

} // namespace

int main(int argc, char **argv)
{
    Numbers numbers;
    samples::Modes modes;
    return samples::run_program(argc, argv, "tasks-saxpy", "Adds a multiple of a vector to another, on the first GPU.",
                                [&](const auto &settings, auto &report) { run(numbers, modes, settings, report); },
                                {{"--count", &numbers.count, "elements, times 2^20"},
                                 {"--block", &numbers.block, "elements that are copied and added at once, times 2^20"},
                                 modes.choice()});
}
