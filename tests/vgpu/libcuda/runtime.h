/* SPDX-License-Identifier: MIT */
/*
 * The driver's objects.
 *
 * What an operation does and how long it takes are two things. Its body (a kernel's host code, a copy) runs on the host
 * as soon as the bodies before it in its stream, and those it waits for, have run; its cost goes to the engine, with
 * waits that make the engine keep the same order; it is complete when the engine says so. Thus the engine's queues are
 * deep even when streams wait for each other. Only host functions, and waits across devices, wait for completion
 * itself.
 *
 * One lock protects everything; bodies and host functions run without it.
 */
#ifndef VGPU_LIBCUDA_RUNTIME_H
#define VGPU_LIBCUDA_RUNTIME_H

#include "libptsched/cuda/cuda_abi.h"
#include "tests/vgpu/include/vgpu_module.h"
#include "tests/vgpu/libcuda/link.h"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#define VGPU_EXPORT extern "C" __attribute__((visibility("default")))

namespace vgpu {

enum Runlist { compute = 0, copy = 1 };

uint64_t now_ns();

/* One operation's way to completion. */
struct Marker {
    uint32_t device = 0;
    uint32_t channel = 0; /* 0: completed by the host, not by the engine */
    uint64_t sequence = 0;
    bool body_done = false;
    bool done = false;
    bool trapped = false; /* nothing goes on when it is done */
    uint64_t start_ns = 0;
    uint64_t end_ns = 0;
};
using MarkerPtr = std::shared_ptr<Marker>;

/* Instead of a cost: the kernel has called __trap(). */
constexpr uint64_t trapped = UINT64_MAX;

struct Op {
    std::function<uint64_t()> body; /* returns the cost in ns; empty: nothing to do, no cost */
    Runlist runlist = compute;
    bool on_host = false; /* a host function: after everything before it is complete */
    bool light = false;   /* the body may run in the caller, who will hardly notice */
    std::vector<MarkerPtr> waits;
    MarkerPtr marker = std::make_shared<Marker>();
};

struct Capture;

} // namespace vgpu

struct CUmod_st {
    void *handle = nullptr;
    const vgpu_module *table = nullptr;
    int fd = -1;         /* of what it was loaded from, if that is no file */
    CUdevice device = 0; /* for which it was loaded */
    std::map<std::string, std::unique_ptr<CUfunc_st>> functions;
    std::map<std::string, size_t> shared_bytes; /* of the variables of each kernel that has any */
    std::vector<uintptr_t> variables;           /* that somebody has asked for: they are among the allocations */
};

/* What the device has room for. */
constexpr int usual_multiprocessors = 16;
constexpr int threads_of_block = 1024;
constexpr int threads_of_multiprocessor = 2048;
constexpr int blocks_of_multiprocessor = 32;
constexpr int shared_bytes_of_multiprocessor = 96 << 10;
/* For functions that were told; for the others less. vgpu-cc knows it as well. */
constexpr int most_shared_bytes_of_block = 95 << 10;
constexpr int usual_shared_bytes_of_block = 48 << 10;

struct CUfunc_st {
    CUmodule module = nullptr;
    const vgpu_kernel *kernel = nullptr;
    size_t params_bytes = 0;
    size_t shared_bytes = 0; /* of variables, for each block */
    std::atomic<int> most_shared_bytes{usual_shared_bytes_of_block};
    /* Threads and host time of the longest body seen: short ones may run in the caller. */
    std::atomic<uint64_t> longest_ns{0};
    std::atomic<uint64_t> most_threads{0};
    std::atomic<bool> may_wait{false}; /* for the host: the caller must not run it, who may be the one to end that */
};

struct CUstream_st : std::enable_shared_from_this<CUstream_st> {
    struct Channel {
        uint32_t handle = 0;
        uint64_t submitted = 0;
        uint64_t completed = 0;
    };

    CUcontext context = nullptr;
    unsigned int flags = 0;
    int priority = 0;
    unsigned long long id = 0;
    bool legacy = false;

    std::deque<vgpu::Op> pending;
    bool executing = false; /* somebody runs a body of this stream */
    bool destroyed = false;
    vgpu::MarkerPtr last;      /* of the last operation enqueued */
    vgpu::MarkerPtr submitted; /* of the last one that went to the engine */
    Channel channels[2];
    bool has_worker = false;
    std::condition_variable work;

    std::shared_ptr<vgpu::Capture> capture;
    std::vector<CUgraphNode> capture_tail; /* what the next captured node depends on */

    bool blocking() const { return !(flags & CU_STREAM_NON_BLOCKING); }
};
using StreamPtr = std::shared_ptr<CUstream_st>;

struct CUevent_st {
    CUcontext context = nullptr;
    unsigned int flags = 0;
    vgpu::MarkerPtr marker; /* null: never recorded, which counts as complete */
    std::shared_ptr<vgpu::Capture> capture;
    std::vector<CUgraphNode> captured; /* recorded in a capturing stream: what it stands for */
};

struct CUctx_st {
    CUdevice device = 0;
    unsigned int flags = 0;
    bool primary = false;
    uint32_t handle = 0;         /* the engine's */
    uint32_t groups[2] = {0, 0}; /* the resource manager's */
    unsigned long long id = 0;
    StreamPtr legacy;
    std::map<uint64_t, StreamPtr> per_thread;
    std::set<CUcontext> peers;                       /* whose memory it may touch */
    std::unordered_map<CUstream, StreamPtr> streams; /* all of them */
};

namespace vgpu {

struct Allocation {
    enum Kind {
        device_memory,
        host_memory,
        registered,
        managed,
        opened, /* of another process */
        mapped  /* at an address that was reserved for it */
    } kind;
    size_t bytes;
    CUcontext context;
    CUdevice device;
    unsigned int flags;
    uint64_t id;
    bool from_pool = false;
    int shared = -1;           /* the memfd under it, if another process was offered it */
    unsigned int openings = 0; /* of what is opened */
    uint64_t inode = 0;        /* the same: of the memfd */
};
using Allocations = std::map<uintptr_t, Allocation>;

struct Device {
    CUcontext primary = nullptr;
    unsigned int primary_refs = 0;
    unsigned int primary_flags = 0;
    size_t used = 0; /* by this process */
};

struct State {
    std::mutex lock;
    std::condition_variable changed; /* a marker's body_done or done, room in a queue */
    std::atomic<bool> initialised{false};
    std::atomic<bool> forked{false}; /* a child of a process that had initialised */
    CUresult lost = CUDA_SUCCESS;    /* what every call says once the engine is gone, or a kernel has trapped */
    std::unique_ptr<Link> link;
    vgpu_info info{};
    size_t memory_bytes = 0;    /* of each device */
    bool peers = true;          /* whether devices reach each other's memory */
    bool ipc = true;            /* whether processes do */
    bool own_addresses = false; /* kernels have an address space of their own: own_addresses.h */
    std::vector<Device> devices;
    std::unordered_set<CUcontext> contexts, destroyed_contexts;
    std::unordered_map<CUstream, StreamPtr> streams;
    std::unordered_set<CUevent> events;
    std::unordered_set<CUmodule> modules;
    std::unordered_set<CUgraph> graphs;
    std::unordered_set<CUgraphExec> execs;
    Allocations allocations;
    std::set<std::shared_ptr<Capture>> captures;                             /* in progress */
    std::unordered_map<uint64_t, std::pair<MarkerPtr, StreamPtr>> in_flight; /* by the engine's item id */
    uint32_t items = 0;                                                      /* sent and not received back */
    uint64_t ids = 0;
    unsigned int bodies = 0; /* that run right now, on memory of the device */
};

/* Never destroyed: workers may outlive main(). */
State &state();
using Guard = std::unique_lock<std::mutex>;

/* CUDA_SUCCESS in a process that has called cuInit and is not a fork of one. */
CUresult ready();
int multiprocessors_of(CUdevice device);
/* The current context, or null. */
CUcontext current_context();
CUresult current_context(CUcontext &context);

/* streams: engine.cpp */
StreamPtr add_stream(CUcontext context, unsigned int flags, int priority, bool legacy);
void remove_stream(const StreamPtr &stream);
CUresult enqueue(Guard &lock, const StreamPtr &stream, Op op);
CUresult wait_done(Guard &lock, const MarkerPtr &marker);
CUresult wait_stream(Guard &lock, const StreamPtr &stream);
CUresult wait_context(Guard &lock, CUcontext context);
void start_reader();

/* names for the resource manager: rm.cpp */
void rm_begin();
void rm_add_context(CUcontext context);
void rm_add_channel(const CUctx_st &context, Runlist runlist, uint32_t channel);
void rm_remove_channel(const CUctx_st &context, Runlist runlist, uint32_t channel);
void rm_remove_context(const CUctx_st &context);

/* Turns a handle into a stream; NULL is the legacy default stream of the current context. */
CUresult find_stream(CUstream handle, StreamPtr &stream);
/* What NULL means to programs built with a default stream per thread. */
inline CUstream per_thread(CUstream handle)
{
    return handle ? handle : CU_STREAM_PER_THREAD;
}
CUresult check_event(CUevent event);
/* A number of the calling thread that no other thread ever gets. */
uint64_t thread_number();

/* Bytes of the __shared__ variables of each function of a module's file that has any: shared_variables.cpp */
std::map<std::string, size_t> shared_variables(const char *path);

/* memory */
size_t device_memory_bytes();
/* What is left of it, by all processes. */
CUresult available_memory(CUdevice device, size_t &bytes);
/* Counts some as used, by this process; CUDA_ERROR_OUT_OF_MEMORY if that is more than there is. */
CUresult take_memory(CUdevice device, size_t bytes);
void give_memory_back(CUdevice device, size_t bytes);
/* The allocation that holds an address, or end(). */
Allocations::iterator holding(uintptr_t address);
void release(Allocations::iterator found);
/* Takes what begins at an address away once nothing can be using it: if it is @wanted, still. */
CUresult release_unused(Guard &lock, uintptr_t address, const std::function<bool(Allocation &)> &wanted);
/* What an allocation occupies: device memory has pages of its own, so that they can be shared. */
size_t occupied_bytes(const Allocation &allocation);
/* Back to pages that are this process's; false if that fails. */
bool take_back(uintptr_t address, Allocation &allocation);
/* Is the whole range one that the device may touch? */
CUresult check_device_range(CUdeviceptr pointer, size_t bytes);
CUresult check_host_range(uintptr_t pointer, size_t bytes);
/* And on the context's device? */
CUresult check_range_of(CUcontext context, CUdeviceptr pointer, size_t bytes);
void free_context_memory(CUcontext context);
/* Unless PTSCHED_VGPU_VMM is 0. */
bool virtual_memory_supported();

template <typename T> T *as_pointer(CUdeviceptr pointer)
{
    return reinterpret_cast<T *>(static_cast<uintptr_t>(pointer));
}

/* Begins nearly every entry point: refuses early, then holds the lock. */
#define VGPU_ENTER(lock)                                                                                               \
    if (CUresult entered = vgpu::ready())                                                                              \
        return entered;                                                                                                \
    vgpu::Guard lock(vgpu::state().lock)

#define VGPU_TRY(expression)                                                                                           \
    if (CUresult tried = (expression))                                                                                 \
    return tried

} // namespace vgpu

#endif /* VGPU_LIBCUDA_RUNTIME_H */
