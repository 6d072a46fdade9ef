// SPDX-License-Identifier: MIT
#include "samples/spmd/cmeans/problem.hpp"
#include "samples/spmd/common/points_by_spmd.hpp"

namespace ptsched::samples::cmeans {

std::unique_ptr<SpmdWay> by_spmd(Problem &problem, const SpmdSettings &settings, const Mode &mode)
{
    return std::make_unique<PointsBySpmd<Method>>(problem, settings, mode);
}

} // namespace ptsched::samples::cmeans
