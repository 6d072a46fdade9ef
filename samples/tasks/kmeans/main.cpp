// SPDX-License-Identifier: MIT
/* K-means: iterations over the same samples, with little that goes from one to the next. */
#include "samples/tasks/kmeans/problem.hpp"

using namespace ptsched;

namespace {

struct Numbers {
    unsigned block = 1U << 20, blocks = 8, iterations = 20;
};

void run(const Numbers &numbers, const samples::Modes &modes, const samples::Settings &settings,
         samples::Report &report)
{
    if (numbers.blocks > kmeans::Parts::most)
        throw Error("--blocks can be " + std::to_string(kmeans::Parts::most) + " at most");
    samples::check_and_measure<kmeans::Problem>(
        settings, report, "kmeans", kmeans::Shape{300, 3, 2},
        kmeans::Shape{numbers.block, numbers.blocks, numbers.iterations}, [&](kmeans::Problem &problem) {
            return modes.ways([&] { return kmeans::by_hand(problem, settings.module); },
                              [&](tasks::Memory memory) { return kmeans::by_tasks(problem, settings.module, memory); });
        });
}

} // namespace

int main(int argc, char **argv)
{
    Numbers numbers;
    samples::Modes modes;
    return samples::run_program(argc, argv, "tasks-kmeans", "Finds clusters of samples, on the first GPU.",
                                [&](const auto &settings, auto &report) { run(numbers, modes, settings, report); },
                                {{"--block", &numbers.block, "samples in one"},
                                 {"--blocks", &numbers.blocks, "of samples"},
                                 {"--iterations", &numbers.iterations, "over all of them"},
                                 modes.choice()});
}
