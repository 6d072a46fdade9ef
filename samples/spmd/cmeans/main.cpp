// SPDX-License-Identifier: MIT
/* Fuzzy c-means: iterations over the same points, with little that goes from one to the next. */
#include "samples/spmd/cmeans/problem.hpp"
#include "samples/spmd/common/by_spmd.hpp"

using namespace ptsched::samples;

int main(int argc, char **argv)
{
    const Ranks ranks(argc, argv);
    unsigned points = 800000, iterations = 10;
    return run_ranks(
        ranks, argc, argv, "prs-cmeans", "Finds clusters of points, to which these belong in part.",
        [&](const Settings &settings, Report &report) {
            const SpmdSettings spmd(ranks, settings);
            const auto make = [&](cmeans::Problem &problem, const Mode &mode) {
                return cmeans::by_spmd(problem, spmd, mode);
            };
            const auto ways = [&](cmeans::Problem &problem) -> std::vector<NamedWay> {
                return {{"cuda", [&] { return cmeans::by_cuda(problem, settings.module); }},
                        {"openmp", [&] { return cmeans::by_openmp(problem); }}};
            };
            check_and_measure_spmd<cmeans::Problem>(ranks, settings, report, "cmeans", PointsShape{700, 3},
                                                    PointsShape{points, iterations}, ways, make);
        },
        {{"--points", &points, "of all ranks together"}, {"--iterations", &iterations, "over all of them"}});
}
