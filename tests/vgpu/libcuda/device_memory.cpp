// SPDX-License-Identifier: MIT
/*
 * How much of a device's memory is used. The engine's host counts what all processes have, and takes a dead one's back.
 */
#include "tests/vgpu/libcuda/runtime.h"

#include <algorithm>
#include <cerrno>

namespace vgpu {

namespace {

CUresult count(CUdevice device, vgpu_memory_op op, std::size_t bytes, vgpu_memory &answer)
{
    State &s = state();

    answer = {static_cast<std::uint32_t>(device), op, bytes, 0, 0};
    if (s.lost)
        return s.lost;
    const int error = s.link->memory(answer);
    if (error == -ENOMEM)
        return CUDA_ERROR_OUT_OF_MEMORY;
    return error ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}

/* Of what this process may have. */
std::size_t left_to_process(CUdevice device)
{
    const std::size_t used = state().devices[static_cast<std::size_t>(device)].used;
    return device_memory_bytes() - std::min(device_memory_bytes(), used);
}

} // namespace

std::size_t device_memory_bytes()
{
    return state().memory_bytes;
}

CUresult available_memory(CUdevice device, std::size_t &bytes)
{
    vgpu_memory answer;

    VGPU_TRY(count(device, VGPU_MEMORY_ASK, 0, answer));
    bytes = std::min<std::size_t>(answer.total - answer.used, left_to_process(device));
    return CUDA_SUCCESS;
}

CUresult take_memory(CUdevice device, std::size_t bytes)
{
    vgpu_memory answer;

    if (bytes > left_to_process(device))
        return CUDA_ERROR_OUT_OF_MEMORY;
    VGPU_TRY(count(device, VGPU_MEMORY_TAKE, bytes, answer));
    state().devices[static_cast<std::size_t>(device)].used += bytes;
    return CUDA_SUCCESS;
}

void give_memory_back(CUdevice device, std::size_t bytes)
{
    vgpu_memory answer;

    state().devices[static_cast<std::size_t>(device)].used -= bytes;
    /* Where the host is gone, so is its account. */
    (void)count(device, VGPU_MEMORY_GIVE_BACK, bytes, answer);
}

} // namespace vgpu
