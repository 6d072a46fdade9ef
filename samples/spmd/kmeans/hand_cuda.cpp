// SPDX-License-Identifier: MIT
#include "samples/spmd/common/points_by_cuda.hpp"
#include "samples/spmd/kmeans/problem.hpp"

namespace ptsched::samples::kmeans {

std::unique_ptr<Way> by_cuda(Problem &problem, const std::string &module)
{
    return std::make_unique<PointsByCuda<Method>>(problem, module);
}

} // namespace ptsched::samples::kmeans
