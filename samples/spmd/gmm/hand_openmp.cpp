// SPDX-License-Identifier: MIT
#include "samples/spmd/common/points_by_openmp.hpp"
#include "samples/spmd/gmm/problem.hpp"

namespace ptsched::samples::gmm {

std::unique_ptr<Way> by_openmp(Problem &problem)
{
    return std::make_unique<PointsByOpenmp<Method>>(problem);
}

} // namespace ptsched::samples::gmm
