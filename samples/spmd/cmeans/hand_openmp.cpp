// SPDX-License-Identifier: MIT
#include "samples/spmd/cmeans/problem.hpp"
#include "samples/spmd/common/points_by_openmp.hpp"

namespace ptsched::samples::cmeans {

std::unique_ptr<Way> by_openmp(Problem &problem)
{
    return std::make_unique<PointsByOpenmp<Method>>(problem);
}

} // namespace ptsched::samples::cmeans
