// SPDX-License-Identifier: MIT
/* K-means: iterations over the same points, with little that goes from one to the next. */
#include "samples/spmd/common/weak.hpp"
#include "samples/spmd/kmeans/problem.hpp"

using namespace ptsched::samples;

int main(int argc, char **argv)
{
    const Ranks ranks(argc, argv);
    unsigned points = 8U << 20, iterations = 20;
    bool weak = false;
    return run_ranks(
        ranks, argc, argv, "prs-kmeans", "Finds clusters of points.",
        [&](const Settings &settings, Report &report) {
            const auto ways = [&](kmeans::Problem &problem) -> std::vector<NamedWay> {
                return {{"cuda", [&] { return kmeans::by_cuda(problem, settings.module); }},
                        {"openmp", [&] { return kmeans::by_openmp(problem); }}};
            };
            if (weak) {
                const auto shape_of = [&](std::size_t parts) { return PointsShape{parts * points, iterations}; };
                return measure_weak<kmeans::Problem>(ranks, settings, report, "kmeans", shape_of, ways,
                                                     kmeans::by_spmd);
            }
            const SpmdSettings spmd(ranks, settings);
            const auto make = [&](kmeans::Problem &problem, const Mode &mode) {
                return kmeans::by_spmd(problem, spmd, mode);
            };
            check_and_measure_spmd<kmeans::Problem>(ranks, settings, report, "kmeans", PointsShape{3000, 3},
                                                    PointsShape{points, iterations}, ways, make);
        },
        {{"--points", &points, "of all ranks together, or, with --weak, of each"},
         {"--iterations", &iterations, "over all of them"},
         weak_choice(weak)});
}
