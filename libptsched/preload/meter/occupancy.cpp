// SPDX-License-Identifier: MIT
#include "libptsched/preload/meter/occupancy.hpp"

#include "libptsched/preload/driver/driver.hpp"

#include <algorithm>

namespace ptsched::preload {
namespace {

/* So much of it remains with each new one. */
constexpr double remains = 15.0 / 16;

} // namespace

void Occupancy::begin(CUdevice ordinal)
{
    const OwnCalls &own = driver.own();
    if (!own.device_attribute || !own.max_active_blocks ||
        own.device_attribute(&multiprocessors_, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, ordinal) != CUDA_SUCCESS)
        multiprocessors_ = 0;
}

double Occupancy::of(const Key &key) const
{
    int blocks = 0;
    if (!multiprocessors_ || !key.function || !key.block_threads ||
        driver.own().max_active_blocks(&blocks, key.function, static_cast<int>(key.block_threads), key.block_shared) !=
            CUDA_SUCCESS ||
        blocks < 1)
        return 1;
    return std::min(1.0, double(key.blocks) / (double(blocks) * multiprocessors_));
}

void Occupancy::saw(double filled, std::uint64_t ran_ns)
{
    ran_ns_ = ran_ns_ * remains + double(ran_ns);
    filled_ns_ = filled_ns_ * remains + double(ran_ns) * filled;
}

} // namespace ptsched::preload
