// SPDX-License-Identifier: MIT
#include "samples/spmd/common/points_by_openmp.hpp"
#include "samples/spmd/kmeans/problem.hpp"

namespace ptsched::samples::kmeans {

std::unique_ptr<Way> by_openmp(Problem &problem)
{
    return std::make_unique<PointsByOpenmp<Method>>(problem);
}

} // namespace ptsched::samples::kmeans
