/* SPDX-License-Identifier: MIT */
/* What a stream or a graph can be told to do, before it becomes an operation. */
#ifndef VGPU_LIBCUDA_WORK_H
#define VGPU_LIBCUDA_WORK_H

#include "tests/vgpu/libcuda/runtime.h"

namespace vgpu {

struct KernelCall {
    CUfunction function = nullptr;
    vgpu_launch launch{};
    unsigned int shared_bytes = 0;
    bool cooperative = false;
    std::vector<char> params; /* copied at the call, as the driver does */
};

/* A box of bytes from one place to another; a plain copy has height and depth 1. */
struct Copy {
    const char *from = nullptr;
    char *to = nullptr;
    bool from_device = false, to_device = false; /* as it is there, which is not always what the host has there */
    size_t width = 0, height = 1, depth = 1;
    size_t from_pitch = 0, from_slice = 0;
    size_t to_pitch = 0, to_slice = 0;
};

struct Fill {
    char *to = nullptr;
    size_t pitch = 0;
    unsigned int value = 0;
    unsigned int element_bytes = 1;
    size_t width = 0, height = 1; /* in elements, in rows */
};

struct Work {
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    KernelCall kernel;
    Copy copy;
    Fill fill;
    CUDA_HOST_NODE_PARAMS host{};
    CUevent event = nullptr;
};

Work kernel_work(KernelCall call);
Work copy_work(const Copy &copy);
Work fill_work(const Fill &fill);
Work host_work(CUhostFn function, void *data);
Work wait_work(CUevent event);

Op make_op(const Work &work);

/* Enqueues, or adds to the graph being captured. */
CUresult dispatch(Guard &lock, const StreamPtr &stream, const Work &work);

/* How many blocks of a launch the device has room for at once: occupancy.cpp */
uint64_t resident_blocks(const CUfunc_st &function, uint64_t threads, size_t shared_bytes);

/* Checks a launch and copies its parameters. */
CUresult make_call(CUfunction function, const unsigned int grid[3], const unsigned int block[3],
                   unsigned int shared_bytes, void **params, void **extra, KernelCall &call);

CUresult make_copy(const CUDA_MEMCPY2D &from, Copy &copy);
CUresult make_copy(const CUDA_MEMCPY3D &from, Copy &copy);

/* Capture of streams into graphs: capture.cpp */
struct Capture {
    CUgraph graph = nullptr;
    CUstream origin = nullptr;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    uint64_t thread = 0;
    uint64_t id = 0;
    bool invalidated = false;
    std::set<CUstream> streams; /* origin included */
};

/* Refuses what may not be done to a stream that is being captured, and spoils the capture, as the driver does. */
CUresult refuse_if_capturing(const StreamPtr &stream);
/* Refuses calls that are unsafe while a capture is in progress that forbids them to this thread. */
CUresult refuse_if_unsafe();
/* Refuses what would synchronise with a context that has capturing streams. */
CUresult refuse_if_context_captures(CUcontext context);
/* Work for the legacy stream while a blocking stream of the context is being captured. */
CUresult refuse_implicit(const StreamPtr &stream);
CUresult capture_work(const StreamPtr &stream, const Work &work);
CUresult capture_record(const StreamPtr &stream, CUevent event);
CUresult capture_wait(const StreamPtr &stream, CUevent event);
void leave_capture(const StreamPtr &stream);

} // namespace vgpu

struct CUgraphNode_st {
    CUgraph graph = nullptr;
    vgpu::Work work;
    std::vector<CUgraphNode> dependencies;
    std::vector<void *> param_pointers; /* what a query for the parameters gave out */
};

struct CUgraph_st {
    std::list<std::unique_ptr<CUgraphNode_st>> nodes;
};

struct CUgraphExec_st {
    struct Step {
        CUgraphNode origin;
        vgpu::Work work;
        std::vector<size_t> dependencies; /* earlier steps */
    };
    CUgraph graph = nullptr;
    unsigned long long flags = 0;
    std::vector<Step> steps; /* in an order that respects the dependencies */
};

namespace vgpu {

CUgraph new_graph();
void delete_graph(CUgraph graph);
CUgraphNode add_node(CUgraph graph, Work work, const std::vector<CUgraphNode> &dependencies);
CUresult enqueue_graph(Guard &lock, const StreamPtr &stream, const CUgraphExec_st &exec);

} // namespace vgpu

#endif /* VGPU_LIBCUDA_WORK_H */
