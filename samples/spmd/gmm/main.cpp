// SPDX-License-Identifier: MIT
/* A mixture of Gaussians: iterations over the same points, with little that goes from one to the next. */
#include "samples/spmd/common/by_spmd.hpp"
#include "samples/spmd/gmm/problem.hpp"

using namespace ptsched::samples;

int main(int argc, char **argv)
{
    const Ranks ranks(argc, argv);
    unsigned points = 800000, iterations = 10;
    return run_ranks(
        ranks, argc, argv, "prs-gmm", "Fits a mixture of Gaussians to points.",
        [&](const Settings &settings, Report &report) {
            const SpmdSettings spmd(ranks, settings);
            const auto make = [&](gmm::Problem &problem, const Mode &mode) {
                return gmm::by_spmd(problem, spmd, mode);
            };
            const auto ways = [&](gmm::Problem &problem) -> std::vector<NamedWay> {
                return {{"cuda", [&] { return gmm::by_cuda(problem, settings.module); }},
                        {"openmp", [&] { return gmm::by_openmp(problem); }}};
            };
            check_and_measure_spmd<gmm::Problem>(ranks, settings, report, "gmm", PointsShape{700, 3},
                                                 PointsShape{points, iterations}, ways, make);
        },
        {{"--points", &points, "of all ranks together"}, {"--iterations", &iterations, "over all of them"}});
}
