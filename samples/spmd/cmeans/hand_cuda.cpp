// SPDX-License-Identifier: MIT
#include "samples/spmd/cmeans/problem.hpp"
#include "samples/spmd/common/points_by_cuda.hpp"

namespace ptsched::samples::cmeans {

std::unique_ptr<Way> by_cuda(Problem &problem, const std::string &module)
{
    return std::make_unique<PointsByCuda<Method>>(problem, module);
}

} // namespace ptsched::samples::cmeans
