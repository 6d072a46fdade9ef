/* SPDX-License-Identifier: MIT */
/* The functions of the CUDA driver that devices use, found when the first is asked for: there need not be a driver. */
#ifndef PTSCHED_DEVICE_DRIVER_HPP
#define PTSCHED_DEVICE_DRIVER_HPP

#include "libptsched/cuda/cuda_abi.h"
#include <ptsched/device/device.hpp>

#include <type_traits>

namespace ptsched::device {

/* F(member, exported name) for each; cuda_abi.h has their prototypes. */
#define PTSCHED_DEVICE_DRIVER(F)                                                                                       \
    F(error_name, cuGetErrorName)                                                                                      \
    F(device_count, cuDeviceGetCount)                                                                                  \
    F(device_get, cuDeviceGet)                                                                                         \
    F(device_name, cuDeviceGetName)                                                                                    \
    F(attribute, cuDeviceGetAttribute)                                                                                 \
    F(context_retain, cuDevicePrimaryCtxRetain)                                                                        \
    F(context_get, cuCtxGetCurrent)                                                                                    \
    F(context_set, cuCtxSetCurrent)                                                                                    \
    F(peer_possible, cuDeviceCanAccessPeer)                                                                            \
    F(peer_enable, cuCtxEnablePeerAccess)                                                                              \
    F(host_alloc, cuMemHostAlloc)                                                                                      \
    F(host_free, cuMemFreeHost)                                                                                        \
    F(mem_alloc, cuMemAlloc_v2)                                                                                        \
    F(mem_free, cuMemFree_v2)                                                                                          \
    F(upload, cuMemcpyHtoDAsync_v2)                                                                                    \
    F(download, cuMemcpyDtoHAsync_v2)                                                                                  \
    F(copy, cuMemcpyDtoDAsync_v2)                                                                                      \
    F(copy_peer, cuMemcpyPeerAsync)                                                                                    \
    F(module_load, cuModuleLoad)                                                                                       \
    F(module_load_data, cuModuleLoadData)                                                                              \
    F(module_unload, cuModuleUnload)                                                                                   \
    F(module_function, cuModuleGetFunction)                                                                            \
    F(module_variable, cuModuleGetGlobal_v2)                                                                           \
    F(launch, cuLaunchKernel)                                                                                          \
    F(stream_create, cuStreamCreate)                                                                                   \
    F(stream_destroy, cuStreamDestroy_v2)                                                                              \
    F(stream_wait, cuStreamWaitEvent)                                                                                  \
    F(stream_synchronize, cuStreamSynchronize)                                                                         \
    F(event_create, cuEventCreate)                                                                                     \
    F(event_destroy, cuEventDestroy_v2)                                                                                \
    F(event_record, cuEventRecord)                                                                                     \
    F(event_query, cuEventQuery)                                                                                       \
    F(event_synchronize, cuEventSynchronize)

/* Null where the driver is too old to have them: need() says so to who cannot do without. */
#define PTSCHED_DEVICE_DRIVER_OPTIONAL(F)                                                                              \
    F(parameter_info, cuFuncGetParamInfo)                                                                              \
    F(function_attribute, cuFuncGetAttribute)                                                                          \
    F(set_function_attribute, cuFuncSetAttribute)                                                                      \
    F(bus_address, cuDeviceGetPCIBusId)                                                                                \
    F(elapsed, cuEventElapsedTime)                                                                                     \
    F(primary_flags, cuDevicePrimaryCtxSetFlags_v2)                                                                    \
    F(copy_rows, cuMemcpy2DAsync_v2)                                                                                   \
    F(pointer_attribute, cuPointerGetAttribute)                                                                        \
    F(memory_info, cuMemGetInfo_v2)                                                                                    \
    F(host_device_pointer, cuMemHostGetDevicePointer_v2)                                                               \
    F(host_register, cuMemHostRegister_v2)                                                                             \
    F(host_unregister, cuMemHostUnregister)                                                                            \
    F(managed_alloc, cuMemAllocManaged)                                                                                \
    F(advise, cuMemAdvise)                                                                                             \
    F(prefetch, cuMemPrefetchAsync)                                                                                    \
    F(most_blocks, cuOccupancyMaxActiveBlocksPerMultiprocessor)                                                        \
    F(best_block, cuOccupancyMaxPotentialBlockSize)                                                                    \
    F(launch_cooperative, cuLaunchCooperativeKernel)                                                                   \
    F(priority_range, cuCtxGetStreamPriorityRange)                                                                     \
    F(stream_create_priority, cuStreamCreateWithPriority)                                                              \
    F(stream_priority, cuStreamGetPriority)                                                                            \
    F(stream_context, cuStreamGetCtx)                                                                                  \
    F(address_reserve, cuMemAddressReserve)                                                                            \
    F(address_free, cuMemAddressFree)                                                                                  \
    F(memory_create, cuMemCreate)                                                                                      \
    F(memory_release, cuMemRelease)                                                                                    \
    F(memory_map, cuMemMap)                                                                                            \
    F(memory_unmap, cuMemUnmap)                                                                                        \
    F(memory_set_access, cuMemSetAccess)                                                                               \
    F(memory_granularity, cuMemGetAllocationGranularity)

/* Graphs, in the form that came with CUDA 12: all of them, or the first is null. */
#define PTSCHED_DEVICE_DRIVER_GRAPHS(F)                                                                                \
    F(graph_create, cuGraphCreate)                                                                                     \
    F(graph_destroy, cuGraphDestroy)                                                                                   \
    F(graph_add_kernel, cuGraphAddKernelNode_v2)                                                                       \
    F(graph_add_copy, cuGraphAddMemcpyNode)                                                                            \
    F(graph_add_wait, cuGraphAddEventWaitNode)                                                                         \
    F(graph_instantiate, cuGraphInstantiateWithFlags)                                                                  \
    F(graph_upload, cuGraphUpload)                                                                                     \
    F(graph_launch, cuGraphLaunch)                                                                                     \
    F(exec_set_kernel, cuGraphExecKernelNodeSetParams_v2)                                                              \
    F(exec_set_copy, cuGraphExecMemcpyNodeSetParams)                                                                   \
    F(exec_destroy, cuGraphExecDestroy)

/* Memory for other processes: likewise. */
#define PTSCHED_DEVICE_DRIVER_SHARING(F)                                                                               \
    F(ipc_get, cuIpcGetMemHandle)                                                                                      \
    F(ipc_open, cuIpcOpenMemHandle_v2)                                                                                 \
    F(ipc_close, cuIpcCloseMemHandle)                                                                                  \
    F(address_range, cuMemGetAddressRange_v2)

struct Driver {
#define PTSCHED_DEVICE_MEMBER(member, symbol) decltype(&::symbol) member;
    PTSCHED_DEVICE_DRIVER(PTSCHED_DEVICE_MEMBER)
    PTSCHED_DEVICE_DRIVER_OPTIONAL(PTSCHED_DEVICE_MEMBER)
    PTSCHED_DEVICE_DRIVER_GRAPHS(PTSCHED_DEVICE_MEMBER)
    PTSCHED_DEVICE_DRIVER_SHARING(PTSCHED_DEVICE_MEMBER)
#undef PTSCHED_DEVICE_MEMBER

    /* Null if there is no driver or it does not start. */
    static const Driver *get();
    /* An optional one; throws Error that names it, and @what cannot be without it, where the driver has none. */
    template <typename F> F need(F Driver::*member, const char *what) const
    {
        if (!(this->*member))
            lack(symbol_of(member), what);
        return this->*member;
    }
    /* "cuX: CUDA_ERROR_Y"; @doing says what for. */
    [[noreturn]] void fail(CUresult error, const std::string &doing) const;
    void check(CUresult error, const char *doing) const
    {
        if (error != CUDA_SUCCESS)
            fail(error, doing);
    }

private:
    [[noreturn]] static void lack(const char *symbol, const char *what);
    template <typename F> static const char *symbol_of(F Driver::*member)
    {
#define PTSCHED_DEVICE_SYMBOL(name, symbol)                                                                            \
    if constexpr (std::is_same_v<decltype(&Driver::name), F Driver::*>)                                                \
        if (member == &Driver::name)                                                                                   \
            return #symbol;
        PTSCHED_DEVICE_DRIVER_OPTIONAL(PTSCHED_DEVICE_SYMBOL)
#undef PTSCHED_DEVICE_SYMBOL
        return "a function";
    }
};

/*
 * Memory of the host that every GPU copies from and to without a detour; there must be a GPU. The caller gives it back.
 * Null if there is not as much; Error if the driver fails. Both take the driver's locks, and may wait for its other
 * callers; from any thread.
 */
void *allocate_pinned(std::size_t bytes);
void release_pinned(void *memory);

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_DRIVER_HPP */
