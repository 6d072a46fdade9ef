// SPDX-License-Identifier: MIT
/* How many blocks the device has room for at once. What the calls say is what a launch gets. */
#include "tests/vgpu/libcuda/work.h"

#include <algorithm>

namespace vgpu {

namespace {

/* A thread's registers never are what there is too little of. */
std::uint64_t blocks_at_once(const CUfunc_st &function, std::uint64_t threads, std::size_t shared_bytes)
{
    if (!threads || threads > threads_of_block)
        return 0;
    std::uint64_t blocks = std::min<std::uint64_t>(blocks_of_multiprocessor, threads_of_multiprocessor / threads);
    const std::size_t shared = function.shared_bytes + shared_bytes;
    return shared ? std::min<std::uint64_t>(blocks, shared_bytes_of_multiprocessor / shared) : blocks;
}

CUresult potential_block_size(int *min_grid, int *block_size, CUfunction function, CUoccupancyB2DSize shared_of_block,
                              std::size_t shared_bytes, int limit)
{
    std::uint64_t most = 0;

    if (!min_grid || !block_size || !function || limit < 0)
        return CUDA_ERROR_INVALID_VALUE;
    *min_grid = *block_size = 0;
    /* The largest of those that keep the most threads busy. */
    for (int size = limit ? std::min(limit, threads_of_block) : threads_of_block; size > 0; size -= 32) {
        const auto threads = static_cast<std::uint64_t>(size);
        const std::uint64_t blocks =
            blocks_at_once(*function, threads, shared_of_block ? shared_of_block(size) : shared_bytes);
        if (blocks * threads <= most)
            continue;
        most = blocks * threads;
        *block_size = size;
        *min_grid = multiprocessors_of(function->module->device) * static_cast<int>(blocks);
    }
    return CUDA_SUCCESS;
}

} // namespace

std::uint64_t resident_blocks(const CUfunc_st &function, std::uint64_t threads, std::size_t shared_bytes)
{
    const auto multiprocessors = static_cast<std::uint64_t>(multiprocessors_of(function.module->device));
    return multiprocessors * blocks_at_once(function, threads, shared_bytes);
}

} // namespace vgpu

using namespace vgpu;

VGPU_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function,
                                                                          int block_size, std::size_t shared_bytes,
                                                                          unsigned int flags)
{
    if (!blocks || !function || block_size <= 0 || flags > 1)
        return CUDA_ERROR_INVALID_VALUE;
    *blocks = static_cast<int>(blocks_at_once(*function, static_cast<std::uint64_t>(block_size), shared_bytes));
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int block_size,
                                                                 std::size_t shared_bytes)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size, shared_bytes, 0);
}

VGPU_EXPORT CUresult cuOccupancyMaxPotentialBlockSize(int *min_grid, int *block_size, CUfunction function,
                                                      CUoccupancyB2DSize shared_of_block, std::size_t shared_bytes,
                                                      int limit)
{
    return potential_block_size(min_grid, block_size, function, shared_of_block, shared_bytes, limit);
}

VGPU_EXPORT CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *min_grid, int *block_size, CUfunction function,
                                                               CUoccupancyB2DSize shared_of_block,
                                                               std::size_t shared_bytes, int limit, unsigned int flags)
{
    if (flags > 1)
        return CUDA_ERROR_INVALID_VALUE;
    return potential_block_size(min_grid, block_size, function, shared_of_block, shared_bytes, limit);
}

VGPU_EXPORT CUresult cuOccupancyAvailableDynamicSMemPerBlock(std::size_t *bytes, CUfunction function, int blocks,
                                                             int block_size)
{
    if (!bytes || !function || blocks <= 0 || block_size <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (static_cast<std::uint64_t>(blocks) > blocks_at_once(*function, static_cast<std::uint64_t>(block_size), 0))
        return CUDA_ERROR_INVALID_VALUE;
    const std::size_t each = shared_bytes_of_multiprocessor / static_cast<std::size_t>(blocks);
    const std::size_t left = each - std::min(each, function->shared_bytes);
    *bytes = std::min(left, static_cast<std::size_t>(function->most_shared_bytes));
    return CUDA_SUCCESS;
}
