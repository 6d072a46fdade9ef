// SPDX-License-Identifier: MIT
/* Fuzzy c-means: iterations over the same points, with little that goes from one to the next. */
#include "samples/spmd/cmeans/problem.hpp"
#include "samples/spmd/common/points_program.hpp"

using namespace ptsched::samples;

int main(int argc, char **argv)
{
    return run_points_program<cmeans::Method>(argc, argv, "Finds clusters of points, to which these belong in part.",
                                              {700, 3}, {800000, 10},
                                              {cmeans::by_cuda, cmeans::by_openmp, cmeans::by_spmd});
}
