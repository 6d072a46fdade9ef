// SPDX-License-Identifier: MIT
#include "samples/spmd/common/points_by_spmd.hpp"
#include "samples/spmd/kmeans/problem.hpp"

namespace ptsched::samples::kmeans {

std::unique_ptr<SpmdWay> by_spmd(Problem &problem, const SpmdSettings &settings, const Mode &mode)
{
    return std::make_unique<PointsBySpmd<Method>>(problem, settings, mode);
}

} // namespace ptsched::samples::kmeans
