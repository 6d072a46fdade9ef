// SPDX-License-Identifier: MIT
#include "samples/tasks/taskbench/metg.hpp"

#include <chrono>
#include <cmath>

namespace ptsched::taskbench {

namespace {

constexpr double wanted = 0.5, long_task_seconds = 0.002;

double seconds_of(Runner &runner, const Grid &grid, unsigned long iterations)
{
    using Clock = std::chrono::steady_clock;
    runner.prepare(grid, iterations);
    const auto begin = Clock::now();
    runner.run(grid, iterations);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    runner.check(grid);
    return seconds;
}

/* So many that the grid takes as long as is wanted. */
unsigned steps_for(Runner &runner, Grid grid, unsigned long iterations, const Effort &effort)
{
    for (grid.steps = 50;; grid.steps *= 2) {
        const double seconds = seconds_of(runner, grid, iterations);
        if (seconds >= effort.seconds || 2 * grid.steps > effort.most_steps)
            return grid.steps;
    }
}

/* For each task and lane, in seconds; in order, least first. */
std::vector<double> granularities(Runner &runner, Grid grid, unsigned long iterations, const Effort &effort)
{
    grid.steps = steps_for(runner, grid, iterations, effort);
    std::vector<double> found;
    for (unsigned round = 0; round < effort.rounds; round++)
        found.push_back(seconds_of(runner, grid, iterations) * runner.lanes() / static_cast<double>(grid.tasks()));
    std::sort(found.begin(), found.end());
    return found;
}

} // namespace

double peak_rate(Runner &runner, Grid grid, const Effort &effort)
{
    const auto seconds = [&](unsigned long iterations) {
        return granularities(runner, grid, iterations, effort)[effort.rounds / 2];
    };
    unsigned long iterations = 1000;
    while (seconds(iterations) < long_task_seconds)
        iterations *= 2;
    return static_cast<double>(iterations) / seconds(iterations);
}

Metg find_metg(Runner &runner, Grid grid, double peak, const Effort &effort)
{
    std::vector<double> found;
    const auto efficiency = [&](unsigned long iterations) {
        found = granularities(runner, grid, iterations, effort);
        return static_cast<double>(iterations) / found[effort.rounds / 2] / peak;
    };
    /* As long as it is enough; the bounds' logarithms are bisected until they are 2 % apart. */
    constexpr unsigned long most = 1UL << 40;
    unsigned long too_few = 0, enough = 1;
    while (efficiency(enough) < wanted) {
        too_few = enough;
        enough *= 2;
        if (enough > most)
            throw Error("no task is long enough to be efficient");
    }
    while (enough - too_few > 1 && static_cast<double>(enough) > 1.02 * static_cast<double>(too_few)) {
        const auto middle =
            std::max(too_few + 1,
                     static_cast<unsigned long>(std::sqrt(static_cast<double>(too_few) * static_cast<double>(enough))));
        (efficiency(middle) < wanted ? too_few : enough) = middle;
    }
    const double reached = efficiency(enough);
    return {found[effort.rounds / 2] * 1e6, found.front() * 1e6, found.back() * 1e6, enough, reached};
}

} // namespace ptsched::taskbench
