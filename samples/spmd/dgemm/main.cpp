// SPDX-License-Identifier: MIT
/* A product of matrices: much is computed, by cuBLAS, while other rows are copied. */
#include "samples/spmd/common/by_spmd.hpp"
#include "samples/spmd/dgemm/problem.hpp"

using namespace ptsched::samples;

int main(int argc, char **argv)
{
    const Ranks ranks(argc, argv);
    unsigned rows = 8192;
    return run_ranks(ranks, argc, argv, "prs-dgemm", "Multiplies matrices of doubles.",
                     [&](const Settings &settings, Report &report) {
                         const dgemm::OnGpu on_gpu(settings);
                         const SpmdSettings spmd(ranks, settings);
                         const auto make = [&](dgemm::Problem &problem, const Mode &mode) {
                             return dgemm::by_spmd(problem, spmd, on_gpu, mode);
                         };
                         const auto ways = [&](dgemm::Problem &problem) -> std::vector<NamedWay> {
                             return {{"cuda", [&] { return dgemm::by_cuda(problem, settings, on_gpu); }},
                                     {"openmp", [&] { return dgemm::by_openmp(problem); }}};
                         };
                         const unsigned size = settings.quick ? rows / 2 : rows;
                         check_and_measure_spmd<dgemm::Problem>(ranks, settings, report, "dgemm",
                                                                dgemm::Shape{70, 90, 50},
                                                                dgemm::Shape{size, size, size}, ways, make);
                     },
                     {{"--rows", &rows, "of each matrix, and columns; half as many with --quick"}});
}
