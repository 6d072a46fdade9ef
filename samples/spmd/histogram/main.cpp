// SPDX-License-Identifier: MIT
/* A histogram: next to nothing is computed. */
#include "samples/spmd/common/by_spmd.hpp"
#include "samples/spmd/histogram/problem.hpp"

using namespace ptsched::samples;

int main(int argc, char **argv)
{
    const Ranks ranks(argc, argv);
    unsigned millions = 1024;
    return run_ranks(ranks, argc, argv, "prs-histogram", "Counts numbers by ranges.",
                     [&](const Settings &settings, Report &report) {
                         const SpmdSettings spmd(ranks, settings);
                         const auto make = [&](histogram::Problem &problem, const Mode &mode) {
                             return histogram::by_spmd(problem, spmd, mode);
                         };
                         const auto ways = [&](histogram::Problem &problem) -> std::vector<NamedWay> {
                             return {{"cuda", [&] { return histogram::by_cuda(problem, settings.module); }},
                                     {"openmp", [&] { return histogram::by_openmp(problem); }}};
                         };
                         check_and_measure_spmd<histogram::Problem>(
                             ranks, settings, report, "histogram", histogram::Shape{40001},
                             histogram::Shape{std::size_t{millions} << 20}, ways, make);
                     },
                     {{"--millions", &millions, "numbers of all ranks together, times 2^20"}});
}
