// SPDX-License-Identifier: MIT
/* A matrix times a vector: as much is copied as it can be, and little computed. */
#include "samples/spmd/common/by_spmd.hpp"
#include "samples/spmd/gemv/problem.hpp"

using namespace ptsched::samples;

int main(int argc, char **argv)
{
    const Ranks ranks(argc, argv);
    unsigned rows = 35000, columns = 10000;
    return run_ranks(ranks, argc, argv, "prs-gemv", "Multiplies a matrix and a vector of floats.",
                     [&](const Settings &settings, Report &report) {
                         const SpmdSettings spmd(ranks, settings);
                         const auto make = [&](gemv::Problem &problem, const Mode &mode) {
                             return gemv::by_spmd(problem, spmd, mode);
                         };
                         const auto ways = [&](gemv::Problem &problem) -> std::vector<NamedWay> {
                             return {{"cuda", [&] { return gemv::by_cuda(problem, settings.module); }},
                                     {"openmp", [&] { return gemv::by_openmp(problem); }}};
                         };
                         check_and_measure_spmd<gemv::Problem>(ranks, settings, report, "gemv", gemv::Shape{301, 130},
                                                               gemv::Shape{rows, columns}, ways, make);
                     },
                     {{"--rows", &rows, "of the matrix"}, {"--columns", &columns, "of the matrix"}});
}
