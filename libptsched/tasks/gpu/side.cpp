// SPDX-License-Identifier: MIT
#include "libptsched/tasks/gpu/side.hpp"

namespace ptsched::tasks {

std::unique_ptr<GpuSide> GpuSide::make(const Options &, GpuListener &)
{
    return nullptr;
}

} // namespace ptsched::tasks
