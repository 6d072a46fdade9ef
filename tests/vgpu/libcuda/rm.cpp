// SPDX-License-Identifier: MIT
/*
 * Tells the resource manager of devices, contexts and channels by the ioctls that the real driver library makes, so
 * that who watches these learns of them. Whether the engine's host knows such ioctls makes no difference to anything
 * else.
 */
#include "tests/vgpu/rm.h"

#include "tests/vgpu/libcuda/runtime.h"

#include <cerrno>
#include <sys/ioctl.h>

namespace vgpu {

namespace {

constexpr std::uint32_t root = 0xc1d00001;
constexpr std::uint32_t device_handles = 0x5c000000, group_handles = 0x5c010000, channel_handles = 0x5c020000;

std::uint32_t device_handle(CUdevice device)
{
    return device_handles + 2 * static_cast<std::uint32_t>(device);
}

void allocate(std::uint32_t parent, std::uint32_t handle, std::uint32_t class_id, void *params, std::uint32_t size)
{
    vgpu_rm_alloc request{};
    request.root = root;
    request.parent = parent;
    request.object = handle;
    request.class_id = class_id;
    request.params = reinterpret_cast<std::uintptr_t>(params);
    request.params_size = size;
    request.status = ~0u;
    ioctl(state().link->fd(), VGPU_RM_ALLOC, &request);
}

void release(std::uint32_t parent, std::uint32_t handle)
{
    vgpu_rm_free request{root, parent, handle, ~0u};
    ioctl(state().link->fd(), VGPU_RM_FREE, &request);
}

} // namespace

void rm_begin()
{
    allocate(0, root, VGPU_RM_CLASS_ROOT, nullptr, 0);
    for (std::size_t i = 0; i < state().devices.size(); i++) {
        auto device = static_cast<CUdevice>(i);
        vgpu_rm_device params{static_cast<std::uint32_t>(i)};
        allocate(root, device_handle(device), VGPU_RM_CLASS_DEVICE, &params, sizeof(params));
        allocate(device_handle(device), device_handle(device) + 1, VGPU_RM_CLASS_SUBDEVICE, nullptr, 0);
    }
}

void rm_add_context(CUcontext context)
{
    for (std::uint32_t runlist : {compute, copy}) {
        std::uint32_t engine = runlist == compute ? VGPU_RM_ENGINE_GRAPHICS : VGPU_RM_ENGINE_COPY;
        vgpu_rm_group params{0, 0, 0, engine, context->handle};
        context->groups[runlist] = group_handles + 2 * context->handle + runlist;
        allocate(device_handle(context->device), context->groups[runlist], VGPU_RM_CLASS_GROUP, &params,
                 sizeof(params));
    }
}

void rm_add_channel(const CUctx_st &context, Runlist runlist, std::uint32_t channel)
{
    vgpu_rm_channel params{channel};
    allocate(context.groups[runlist], channel_handles + channel, VGPU_RM_CLASS_CHANNEL, &params, sizeof(params));
}

void rm_remove_channel(const CUctx_st &context, Runlist runlist, std::uint32_t channel)
{
    release(context.groups[runlist], channel_handles + channel);
}

void rm_remove_context(const CUctx_st &context)
{
    for (std::uint32_t group : context.groups)
        release(device_handle(context.device), group);
}

} // namespace vgpu

/* For test programs that put their own ioctl() before the C library's: what it does on the link to vgpud. */
VGPU_EXPORT int vgpu_rm_ioctl(int fd, unsigned long request, void *arg)
{
    vgpu::State &s = vgpu::state();
    int error = s.link && s.link->fd() == fd ? s.link->resource_manager(request, arg) : -ENOTTY;
    if (error)
        errno = -error;
    return error ? -1 : 0;
}
