// SPDX-License-Identifier: MIT
/* Fuzzy c-means: iterations over the same points, with little that goes from one to the next. */
#include "samples/spmd/cmeans/problem.hpp"

using namespace ptsched::samples;

int main(int argc, char **argv)
{
    const Ranks ranks(argc, argv);
    unsigned points = 800000, iterations = 10;
    return run_ranks(
        ranks, argc, argv, "prs-cmeans", "Finds clusters of points, to which these belong in part.",
        [&](const Settings &settings, Report &report) {
            const auto ways = [&](cmeans::Problem &problem) -> std::vector<NamedWay> {
                return {{"cuda", [&] { return cmeans::by_cuda(problem, settings.module); }},
                        {"openmp", [&] { return cmeans::by_openmp(problem); }}};
            };
            check_and_measure_ranks<cmeans::Problem>(ranks, settings, report, "cmeans", cmeans::Shape{700, 3},
                                                     cmeans::Shape{points, iterations}, ways);
        },
        {{"--points", &points, "of all ranks together"}, {"--iterations", &iterations, "over all of them"}});
}
