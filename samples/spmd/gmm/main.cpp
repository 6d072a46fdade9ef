// SPDX-License-Identifier: MIT
/* A mixture of Gaussians: iterations over the same points, with little that goes from one to the next. */
#include "samples/spmd/common/points_program.hpp"
#include "samples/spmd/gmm/problem.hpp"

using namespace ptsched::samples;

int main(int argc, char **argv)
{
    return run_points_program<gmm::Method>(argc, argv, "Fits a mixture of Gaussians to points.", {700, 3}, {800000, 10},
                                           {gmm::by_cuda, gmm::by_openmp, gmm::by_spmd});
}
