// SPDX-License-Identifier: MIT
/* K-means: iterations over the same samples, with little that goes from one to the next. */
#include "samples/tasks/kmeans/problem.hpp"

using namespace ptsched;

namespace {

struct Numbers {
    unsigned block = 1U << 20, blocks = 8, iterations = 20;
};

std::vector<samples::NamedWay> ways(kmeans::Problem &problem, const samples::Settings &settings,
                                    const samples::Modes &modes)
{
    std::vector<samples::NamedWay> all{{"hand", [&] { return kmeans::by_hand(problem, settings.module); }}};
    modes.add(all, [&](tasks::Memory memory) { return kmeans::by_tasks(problem, settings.module, memory); });
    return all;
}

void run(const Numbers &numbers, const samples::Modes &modes, const samples::Settings &settings,
         samples::Report &report)
{
    kmeans::Problem small({300, 3, 2});
    samples::check_ways(ways(small, settings, modes));
    if (settings.check)
        return;
    kmeans::Problem problem({numbers.block, numbers.blocks, numbers.iterations});
    samples::measure_ways(settings, report, "kmeans", ways(problem, settings, modes));
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
