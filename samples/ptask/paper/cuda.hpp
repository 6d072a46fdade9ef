/* SPDX-License-Identifier: MIT */
/*
 * What the hand-written variants use of the CUDA driver, found when it is asked for, and handles that free themselves.
 */
#ifndef PTSCHED_PAPER_CUDA_HPP
#define PTSCHED_PAPER_CUDA_HPP

#include "libptsched/cuda/cuda_abi.h"
#include <ptsched/device/device.hpp>

#include <filesystem>
#include <string>
#include <utility>

namespace ptsched::paper {

/* F(member, exported name) */
#define PTSCHED_PAPER_DRIVER(F)                                                                                        \
    F(init, cuInit)                                                                                                    \
    F(error_name, cuGetErrorName)                                                                                      \
    F(device_get, cuDeviceGet)                                                                                         \
    F(device_name, cuDeviceGetName)                                                                                    \
    F(context_retain, cuDevicePrimaryCtxRetain)                                                                        \
    F(context_set, cuCtxSetCurrent)                                                                                    \
    F(module_load, cuModuleLoad)                                                                                       \
    F(module_unload, cuModuleUnload)                                                                                   \
    F(module_function, cuModuleGetFunction)                                                                            \
    F(mem_alloc, cuMemAlloc_v2)                                                                                        \
    F(mem_free, cuMemFree_v2)                                                                                          \
    F(host_alloc, cuMemHostAlloc)                                                                                      \
    F(host_free, cuMemFreeHost)                                                                                        \
    F(upload, cuMemcpyHtoD_v2)                                                                                         \
    F(download, cuMemcpyDtoH_v2)                                                                                       \
    F(upload_async, cuMemcpyHtoDAsync_v2)                                                                              \
    F(download_async, cuMemcpyDtoHAsync_v2)                                                                            \
    F(launch, cuLaunchKernel)                                                                                          \
    F(stream_create, cuStreamCreateWithPriority)                                                                       \
    F(stream_priorities, cuCtxGetStreamPriorityRange)                                                                  \
    F(stream_destroy, cuStreamDestroy_v2)                                                                              \
    F(stream_wait, cuStreamWaitEvent)                                                                                  \
    F(stream_synchronize, cuStreamSynchronize)                                                                         \
    F(event_create, cuEventCreate)                                                                                     \
    F(event_destroy, cuEventDestroy_v2)                                                                                \
    F(event_record, cuEventRecord)                                                                                     \
    F(event_elapsed, cuEventElapsedTime)                                                                               \
    F(capture_begin, cuStreamBeginCapture_v2)                                                                          \
    F(capture_end, cuStreamEndCapture)                                                                                 \
    F(graph_destroy, cuGraphDestroy)                                                                                   \
    F(graph_instantiate, cuGraphInstantiateWithFlags)                                                                  \
    F(graph_launch, cuGraphLaunch)                                                                                     \
    F(exec_destroy, cuGraphExecDestroy)

struct Driver {
#define PTSCHED_PAPER_MEMBER(member, symbol) decltype(&::symbol) member;
    PTSCHED_PAPER_DRIVER(PTSCHED_PAPER_MEMBER)
#undef PTSCHED_PAPER_MEMBER
};

/* Throws Error if there is no driver. */
const Driver &driver();
void check(CUresult result, const char *doing);

/* A handle and how it is freed. */
template <typename Handle, typename Free> class Owned {
public:
    Owned() = default;
    explicit Owned(Handle handle) : handle_(handle) {}
    Owned(Owned &&other) noexcept : handle_(std::exchange(other.handle_, {})) {}
    Owned &operator=(Owned &&other) noexcept
    {
        std::swap(handle_, other.handle_);
        return *this;
    }
    ~Owned()
    {
        if (handle_)
            Free{}(handle_);
    }
    Handle get() const { return handle_; }

private:
    Handle handle_{};
};

struct FreeMemory {
    void operator()(CUdeviceptr memory) const { driver().mem_free(memory); }
};
struct FreePinned {
    void operator()(void *memory) const { driver().host_free(memory); }
};
struct FreeStream {
    void operator()(CUstream stream) const { driver().stream_destroy(stream); }
};
struct FreeEvent {
    void operator()(CUevent event) const { driver().event_destroy(event); }
};
struct FreeExec {
    void operator()(CUgraphExec exec) const { driver().exec_destroy(exec); }
};
struct FreeModule {
    void operator()(CUmodule module) const { driver().module_unload(module); }
};

using Memory = Owned<CUdeviceptr, FreeMemory>;
using Pinned = Owned<void *, FreePinned>;
using Stream = Owned<CUstream, FreeStream>;
using Event = Owned<CUevent, FreeEvent>;
using Exec = Owned<CUgraphExec, FreeExec>;
using Module = Owned<CUmodule, FreeModule>;

Memory make_memory(std::size_t bytes);
Pinned make_pinned(std::size_t bytes);
/* @priority: the lower, the sooner; CUDA has 0 and some below. */
Stream make_stream(int priority = 0);
Event make_event(unsigned flags = CU_EVENT_DISABLE_TIMING);

/* Where this program is. */
std::filesystem::path program_folder();
/* The kernels for a real GPU, beside the program. */
std::string default_module();

/* A GPU, whose primary context the calling thread uses from then on, and the kernels of a module. */
class Gpu {
public:
    /* @number: among those there are. Throws Error if there is none, or no such module. */
    explicit Gpu(const std::string &module, int number = 0);
    const std::string &module_path() const { return path_; }
    std::string name() const;
    CUfunction function(const std::string &kernel) const;
    /* Every other thread that uses it. */
    void enter() const { check(driver().context_set(context_), "cuCtxSetCurrent"); }

private:
    std::string path_;
    CUdevice device_{};
    CUcontext context_{};
    Module module_;
};

} // namespace ptsched::paper

#endif /* PTSCHED_PAPER_CUDA_HPP */
