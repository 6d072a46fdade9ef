// SPDX-License-Identifier: MIT
/* Kernel launches. */
#include "tests/vgpu/libcuda/work.h"

using namespace vgpu;

namespace {

CUresult launch(CUfunction function, const unsigned int (&grid)[3], const unsigned int (&block)[3],
                unsigned int shared_bytes, CUstream handle, void **params, void **extra, bool cooperative)
{
    StreamPtr stream;
    KernelCall call;

    VGPU_ENTER(lock);
    VGPU_TRY(find_stream(handle, stream));
    VGPU_TRY(make_call(function, grid, block, shared_bytes, params, extra, call));
    call.cooperative = cooperative;
    if (cooperative && std::uint64_t{grid[0]} * grid[1] * grid[2] >
                           resident_blocks(*function, std::uint64_t{block[0]} * block[1] * block[2], shared_bytes))
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    return dispatch(lock, stream, kernel_work(std::move(call)));
}

} // namespace

VGPU_EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                    unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                    unsigned int shared_bytes, CUstream stream, void **params, void **extra)
{
    return launch(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream, params, extra,
                  false);
}

VGPU_EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params, void **extra)
{
    bool cooperative = false;

    if (!config || (config->numAttrs && !config->attrs))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned int i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            cooperative = config->attrs[i].value.cooperative;
    return launch(function, {config->gridDimX, config->gridDimY, config->gridDimZ},
                  {config->blockDimX, config->blockDimY, config->blockDimZ}, config->sharedMemBytes, config->hStream,
                  params, extra, cooperative);
}

VGPU_EXPORT CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction function, void **params,
                                           void **extra)
{
    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    CUlaunchConfig own = *config;
    own.hStream = per_thread(config->hStream);
    return cuLaunchKernelEx(&own, function, params, extra);
}

VGPU_EXPORT CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                               unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                               unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                                               void **params)
{
    return launch(function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream, params,
                  nullptr, true);
}
