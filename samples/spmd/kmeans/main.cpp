// SPDX-License-Identifier: MIT
/* K-means: iterations over the same points, with little that goes from one to the next. */
#include "samples/spmd/common/points_program.hpp"
#include "samples/spmd/kmeans/problem.hpp"

using namespace ptsched::samples;

int main(int argc, char **argv)
{
    return run_points_program<kmeans::Method>(argc, argv, "Finds clusters of points.", {3000, 3}, {8U << 20, 20},
                                              {kmeans::by_cuda, kmeans::by_openmp, kmeans::by_spmd});
}
