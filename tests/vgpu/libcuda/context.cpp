// SPDX-License-Identifier: MIT
/* Initialisation, devices and contexts. */
#include "tests/vgpu/libcuda/own_addresses.h"
#include "tests/vgpu/libcuda/runtime.h"
#include "tests/vgpu/libcuda/work.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>

namespace vgpu {

namespace {

using ContextStack = std::vector<CUcontext>;

/*
 * Each thread's stack of contexts; the last is current. A thread_local one would be no more in the destructors of the
 * program's thread-specific data, which may call the driver.
 */
ContextStack &context_stack()
{
    static const pthread_key_t key = [] {
        pthread_key_t made;
        if (pthread_key_create(&made, [](void *stack) { delete static_cast<ContextStack *>(stack); }))
            std::abort();
        return made;
    }();
    auto *stack = static_cast<ContextStack *>(pthread_getspecific(key));
    if (!stack) {
        stack = new ContextStack;
        pthread_setspecific(key, stack);
    }
    return *stack;
}

void in_child()
{
    State &s = state();
    if (s.initialised) {
        s.link->abandon();
        s.forked = true;
    }
}

CUresult check_device(CUdevice device)
{
    return device >= 0 && static_cast<std::size_t>(device) < state().devices.size() ? CUDA_SUCCESS
                                                                                    : CUDA_ERROR_INVALID_DEVICE;
}

CUresult create_context(CUdevice device, unsigned int flags, bool primary, CUcontext &context)
{
    State &s = state();
    vgpu_context_create arg{static_cast<std::uint32_t>(device), 0};

    if (s.lost)
        return s.lost;
    if (s.link->create_context(arg))
        return CUDA_ERROR_OUT_OF_MEMORY;
    context = new CUctx_st;
    context->device = device;
    context->flags = flags;
    context->primary = primary;
    context->handle = arg.context;
    context->id = ++s.ids;
    rm_add_context(context);
    context->legacy = add_stream(context, CU_STREAM_DEFAULT, 0, true);
    s.contexts.insert(context);
    s.destroyed_contexts.erase(context);
    return CUDA_SUCCESS;
}

/* Waits for the context's work, then frees all that is its own. */
CUresult destroy_context(Guard &lock, CUcontext context)
{
    State &s = state();

    wait_context(lock, context);
    if (!s.contexts.erase(context))
        return CUDA_ERROR_CONTEXT_IS_DESTROYED; /* somebody else was faster */
    for (CUcontext other : s.contexts)
        other->peers.erase(context);
    std::vector<StreamPtr> streams;
    for (const auto &[handle, stream] : context->streams)
        streams.push_back(stream);
    for (const auto &stream : streams) {
        leave_capture(stream);
        if (!stream->destroyed)
            remove_stream(stream);
    }
    s.changed.wait(lock, [&] { return context->streams.empty(); });
    free_context_memory(context);
    for (CUevent event : s.events)
        if (event->context == context)
            event->context = nullptr;
    if (!s.lost) {
        rm_remove_context(*context);
        s.link->destroy(context->handle);
    }
    delete context;
    s.destroyed_contexts.insert(context);
    return CUDA_SUCCESS;
}

CUresult create_and_push(CUcontext *context, unsigned int flags, CUdevice device)
{
    VGPU_ENTER(lock);
    if (!context || flags & ~static_cast<unsigned int>(CU_CTX_FLAGS_MASK))
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(check_device(device));
    VGPU_TRY(refuse_if_unsafe());
    VGPU_TRY(create_context(device, flags, false, *context));
    context_stack().push_back(*context);
    return CUDA_SUCCESS;
}

bool live(CUcontext context)
{
    return state().contexts.count(context);
}

/*
 * What devices are like to this process: PTSCHED_VGPU_MEMORY is the bytes that each has, if that is less than it really
 * has; PTSCHED_VGPU_PEERS=0 keeps them apart, and PTSCHED_VGPU_IPC=0 processes; PTSCHED_VGPU_OWN_ADDRESSES=1 keeps
 * kernels apart from what the host has mapped where they have memory.
 */
CUresult read_environment()
{
    if (const char *text = std::getenv("PTSCHED_VGPU_MEMORY")) {
        char *end = nullptr;
        state().memory_bytes = std::strtoull(text, &end, 10);
        if (!*text || *end || !state().memory_bytes) {
            std::fprintf(stderr, "vgpu: PTSCHED_VGPU_MEMORY must be a number of bytes from 1 on, not \"%s\"\n", text);
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    if (const char *text = std::getenv("PTSCHED_VGPU_PEERS"))
        state().peers = std::strcmp(text, "0") != 0;
    if (const char *text = std::getenv("PTSCHED_VGPU_IPC"))
        state().ipc = std::strcmp(text, "0") != 0;
    if (const char *text = std::getenv("PTSCHED_VGPU_OWN_ADDRESSES"); text && std::strcmp(text, "0") != 0) {
        if (!begin_own_addresses())
            return CUDA_ERROR_OUT_OF_MEMORY;
        state().own_addresses = true;
        /* Pages that kernels have in common with the host cannot be exchanged. */
        state().ipc = false;
    }
    return CUDA_SUCCESS;
}

} // namespace

State &state()
{
    static State &s = *new State;
    return s;
}

CUresult ready()
{
    State &s = state();
    return s.initialised && !s.forked ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult current_context(CUcontext &context)
{
    context = context_stack().empty() ? nullptr : context_stack().back();
    if (!context)
        return CUDA_ERROR_INVALID_CONTEXT;
    return live(context) ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

std::uint64_t thread_number()
{
    static std::atomic<std::uint64_t> last{0};
    thread_local std::uint64_t number = ++last;
    return number;
}

} // namespace vgpu

using namespace vgpu;

VGPU_EXPORT CUresult cuInit(unsigned int flags)
{
    State &s = state();

    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (s.forked)
        return CUDA_ERROR_NOT_INITIALIZED;
    Guard lock(s.lock);
    if (s.initialised)
        return CUDA_SUCCESS;
    VGPU_TRY(read_environment());
    s.link = open_link();
    if (!s.link)
        return CUDA_ERROR_NO_DEVICE;
    if (s.link->info(s.info) || s.info.version != VGPU_ABI_VERSION)
        return CUDA_ERROR_SYSTEM_NOT_READY;
    if (!s.memory_bytes || s.memory_bytes > s.info.memory_bytes)
        s.memory_bytes = s.info.memory_bytes;
    s.devices.resize(s.info.devices);
    pthread_atfork(nullptr, nullptr, in_child);
    start_reader();
    rm_begin();
    s.initialised = true;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuDriverGetVersion(int *version)
{
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = 13000;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuDeviceGetCount(int *count)
{
    VGPU_ENTER(lock);
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<int>(state().devices.size());
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    VGPU_ENTER(lock);
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(check_device(ordinal));
    *device = ordinal;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
    VGPU_ENTER(lock);
    if (!name || length <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(check_device(device));
    std::snprintf(name, static_cast<std::size_t>(length), "Virtual GPU");
    return CUDA_SUCCESS;
}

/* With PTSCHED_VGPU_INSTANCES, all devices are instances of the first one, as MIG divides a GPU. */
static bool are_instances()
{
    return std::getenv("PTSCHED_VGPU_INSTANCES");
}

/* All zero but the last byte, which is the device's number from 1; and the first byte of an instance's. */
VGPU_EXPORT CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    VGPU_ENTER(lock);
    if (!uuid)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(check_device(device));
    std::memset(uuid, 0, sizeof(*uuid));
    uuid->bytes[0] = are_instances();
    uuid->bytes[15] = static_cast<char>(device + 1);
    return CUDA_SUCCESS;
}

/* The older function tells of the GPU. */
VGPU_EXPORT CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    CUresult result = cuDeviceGetUuid_v2(uuid, device);
    if (result == CUDA_SUCCESS && are_instances()) {
        uuid->bytes[0] = 0;
        uuid->bytes[15] = 1;
    }
    return result;
}

VGPU_EXPORT CUresult cuDeviceTotalMem_v2(std::size_t *bytes, CUdevice device)
{
    VGPU_ENTER(lock);
    if (!bytes)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(check_device(device));
    *bytes = device_memory_bytes();
    return CUDA_SUCCESS;
}

/* Device N is on bus N + 1 of a domain that no real bus has, as the scheduler's test devices are. */
VGPU_EXPORT CUresult cuDeviceGetPCIBusId(char *bus_id, int length, CUdevice device)
{
    VGPU_ENTER(lock);
    if (!bus_id || length <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(check_device(device));
    std::snprintf(bus_id, static_cast<std::size_t>(length), "ffff:%02x:00.0",
                  are_instances() ? 1 : static_cast<unsigned int>(device) + 1);
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *bus_id)
{
    unsigned int domain, bus, slot, function = 0;

    VGPU_ENTER(lock);
    if (!device || !bus_id)
        return CUDA_ERROR_INVALID_VALUE;
    if (std::sscanf(bus_id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3)
        return CUDA_ERROR_INVALID_VALUE;
    if (domain != 0xffff || bus < 1 || bus > state().devices.size() || slot || function)
        return CUDA_ERROR_INVALID_DEVICE;
    *device = static_cast<CUdevice>(bus - 1);
    return CUDA_SUCCESS;
}

/* As a variable says, "1000000,3000000"; looked up each time, for tests of devices that differ. */
static int number_for(CUdevice device, const char *variable, int usual)
{
    const char *text = std::getenv(variable);
    for (CUdevice before = 0; text && before < device; before++)
        if ((text = std::strchr(text, ',')))
            text++;
    const int number = text ? std::atoi(text) : 0;
    return number > 0 ? number : usual;
}

int vgpu::multiprocessors_of(CUdevice device)
{
    return number_for(device, "PTSCHED_VGPU_MULTIPROCESSORS", usual_multiprocessors);
}

VGPU_EXPORT CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    static const std::map<int, int> values = {
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, threads_of_block},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 0x7fffffff},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, usual_shared_bytes_of_block},
        {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 64 << 10},
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
        {CU_DEVICE_ATTRIBUTE_MAX_PITCH, 0x7fffffff},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 64 << 10},
        {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
        {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1},
        {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
        {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 4 << 20},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, threads_of_multiprocessor},
        {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 1},
        {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
        {CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 0xffff},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
        {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, shared_bytes_of_multiprocessor},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, most_shared_bytes_of_block},
        {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
        {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
        {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
        {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, blocks_of_multiprocessor},
        {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
    };

    VGPU_ENTER(lock);
    if (!value || attribute <= 0 || static_cast<int>(attribute) > 200)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(check_device(device));
    auto found = values.find(attribute);
    *value = found == values.end() ? 0 : found->second;
    if (attribute == CU_DEVICE_ATTRIBUTE_CLOCK_RATE)
        *value = number_for(device, "PTSCHED_VGPU_CLOCKS", 1000000); /* kHz */
    if (attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
        *value = multiprocessors_of(device);
    if (attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)
        *value = device + 1;
    if (attribute == CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED ||
        attribute == CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED)
        *value = virtual_memory_supported();
    if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED)
        *value = state().info.mode == 0;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    if (!major || !minor)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    return cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
}

VGPU_EXPORT CUresult cuDeviceCanAccessPeer(int *can_access, CUdevice device, CUdevice peer)
{
    VGPU_ENTER(lock);
    if (!can_access)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(check_device(device));
    VGPU_TRY(check_device(peer));
    *can_access = device != peer && state().peers;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    VGPU_ENTER(lock);
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(check_device(device));
    Device &d = state().devices[static_cast<std::size_t>(device)];
    if (!d.primary)
        VGPU_TRY(create_context(device, d.primary_flags, true, d.primary));
    d.primary_refs++;
    *context = d.primary;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    VGPU_ENTER(lock);
    VGPU_TRY(check_device(device));
    Device &d = state().devices[static_cast<std::size_t>(device)];
    if (!d.primary_refs)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (--d.primary_refs)
        return CUDA_SUCCESS;
    CUcontext context = d.primary;
    d.primary = nullptr;
    return destroy_context(lock, context);
}

VGPU_EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    return cuDevicePrimaryCtxRelease_v2(device);
}

VGPU_EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    VGPU_ENTER(lock);
    VGPU_TRY(check_device(device));
    Device &d = state().devices[static_cast<std::size_t>(device)];
    CUcontext context = d.primary;
    d.primary = nullptr;
    d.primary_refs = 0;
    return context ? destroy_context(lock, context) : CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    return cuDevicePrimaryCtxReset_v2(device);
}

VGPU_EXPORT CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags)
{
    VGPU_ENTER(lock);
    VGPU_TRY(check_device(device));
    if (flags & ~static_cast<unsigned int>(CU_CTX_FLAGS_MASK))
        return CUDA_ERROR_INVALID_VALUE;
    Device &d = state().devices[static_cast<std::size_t>(device)];
    d.primary_flags = flags;
    if (d.primary)
        d.primary->flags = flags;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags)
{
    return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

VGPU_EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active)
{
    VGPU_ENTER(lock);
    VGPU_TRY(check_device(device));
    if (!flags || !active)
        return CUDA_ERROR_INVALID_VALUE;
    const Device &d = state().devices[static_cast<std::size_t>(device)];
    *flags = d.primary_flags;
    *active = d.primary != nullptr;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device)
{
    return create_and_push(context, flags, device);
}

VGPU_EXPORT CUresult cuCtxCreate_v3(CUcontext *context, CUexecAffinityParam *affinity, int count, unsigned int flags,
                                    CUdevice device)
{
    return affinity || count ? CUDA_ERROR_NOT_SUPPORTED : create_and_push(context, flags, device);
}

VGPU_EXPORT CUresult cuCtxCreate_v4(CUcontext *context, CUctxCreateParams *params, unsigned int flags, CUdevice device)
{
    return params ? CUDA_ERROR_NOT_SUPPORTED : create_and_push(context, flags, device);
}

VGPU_EXPORT CUresult cuCtxDestroy_v2(CUcontext context)
{
    VGPU_ENTER(lock);
    if (!context || !live(context))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (context->primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!context_stack().empty() && context_stack().back() == context)
        context_stack().pop_back();
    return destroy_context(lock, context);
}

/* A context of its own; there are no multiprocessors to share out. */
VGPU_EXPORT CUresult cuGreenCtxCreate(CUgreenCtx *green, CUdevResourceDesc, CUdevice device, unsigned int flags)
{
    CUcontext context;

    VGPU_ENTER(lock);
    if (!green || flags != CU_GREEN_CTX_DEFAULT_STREAM)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(check_device(device));
    VGPU_TRY(refuse_if_unsafe());
    VGPU_TRY(create_context(device, 0, false, context));
    *green = reinterpret_cast<CUgreenCtx>(context);
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuCtxFromGreenCtx(CUcontext *context, CUgreenCtx green)
{
    VGPU_ENTER(lock);
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    *context = reinterpret_cast<CUcontext>(green);
    return live(*context) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

VGPU_EXPORT CUresult cuGreenCtxDestroy(CUgreenCtx green)
{
    return cuCtxDestroy_v2(reinterpret_cast<CUcontext>(green));
}

VGPU_EXPORT CUresult cuGreenCtxStreamCreate(CUstream *stream, CUgreenCtx green, unsigned int flags, int priority)
{
    auto context = reinterpret_cast<CUcontext>(green);

    VGPU_ENTER(lock);
    if (!stream || flags != CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    if (!live(context))
        return CUDA_ERROR_INVALID_CONTEXT;
    *stream = add_stream(context, flags, std::clamp(priority, -5, 0), false).get();
    return CUDA_SUCCESS;
}

/* The real driver does not look whether a context still lives, and reads freed memory. */
VGPU_EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context)
{
    VGPU_ENTER(lock);
    if (context && state().destroyed_contexts.count(context)) {
        std::fprintf(stderr, "vgpu: a destroyed context is made current\n");
        std::abort();
    }
    if (!context || !live(context))
        return CUDA_ERROR_INVALID_CONTEXT;
    context_stack().push_back(context);
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
    VGPU_ENTER(lock);
    if (context_stack().empty())
        return CUDA_ERROR_INVALID_CONTEXT;
    if (context)
        *context = context_stack().back();
    context_stack().pop_back();
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuCtxSetCurrent(CUcontext context)
{
    VGPU_ENTER(lock);
    if (context && !live(context))
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!context_stack().empty())
        context_stack().pop_back();
    if (context)
        context_stack().push_back(context);
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuCtxGetCurrent(CUcontext *context)
{
    VGPU_ENTER(lock);
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    *context = context_stack().empty() ? nullptr : context_stack().back();
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuCtxGetDevice(CUdevice *device)
{
    CUcontext context;

    VGPU_ENTER(lock);
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(current_context(context));
    *device = context->device;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuCtxGetFlags(unsigned int *flags)
{
    CUcontext context;

    VGPU_ENTER(lock);
    if (!flags)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(current_context(context));
    *flags = context->flags;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuCtxGetId(CUcontext context, unsigned long long *id)
{
    VGPU_ENTER(lock);
    if (!id)
        return CUDA_ERROR_INVALID_VALUE;
    if (!context)
        VGPU_TRY(current_context(context));
    if (!live(context))
        return CUDA_ERROR_INVALID_CONTEXT;
    *id = context->id;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuCtxGetApiVersion(CUcontext context, unsigned int *version)
{
    VGPU_ENTER(lock);
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    if (context && !live(context))
        return CUDA_ERROR_INVALID_CONTEXT;
    *version = 3020;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuCtxSynchronize(void)
{
    CUcontext context;

    VGPU_ENTER(lock);
    VGPU_TRY(current_context(context));
    VGPU_TRY(refuse_if_context_captures(context));
    return wait_context(lock, context);
}

VGPU_EXPORT CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    CUcontext context;

    VGPU_ENTER(lock);
    VGPU_TRY(current_context(context));
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuCtxGetLimit(std::size_t *value, CUlimit limit)
{
    CUcontext context;

    VGPU_ENTER(lock);
    if (!value || limit < 0 || limit > 6)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(current_context(context));
    *value = 1024;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuCtxSetLimit(CUlimit limit, std::size_t)
{
    CUcontext context;

    VGPU_ENTER(lock);
    if (limit < 0 || limit > 6)
        return CUDA_ERROR_INVALID_VALUE;
    return current_context(context);
}

VGPU_EXPORT CUresult cuCtxSetCacheConfig(CUfunc_cache)
{
    CUcontext context;

    VGPU_ENTER(lock);
    return current_context(context);
}

VGPU_EXPORT CUresult cuCtxGetCacheConfig(CUfunc_cache *config)
{
    CUcontext context;

    VGPU_ENTER(lock);
    if (!config)
        return CUDA_ERROR_INVALID_VALUE;
    *config = 0;
    return current_context(context);
}

VGPU_EXPORT CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
    CUcontext context;

    VGPU_ENTER(lock);
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(current_context(context));
    if (!peer || !live(peer) || peer == context)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!state().peers)
        return CUDA_ERROR_NOT_SUPPORTED;
    return context->peers.insert(peer).second ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

VGPU_EXPORT CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
    CUcontext context;

    VGPU_ENTER(lock);
    VGPU_TRY(current_context(context));
    if (!peer || !live(peer) || peer == context)
        return CUDA_ERROR_INVALID_CONTEXT;
    return context->peers.erase(peer) ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}
