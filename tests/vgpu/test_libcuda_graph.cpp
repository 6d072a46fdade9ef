// SPDX-License-Identifier: MIT
/* Graphs by hand and by capture, and what may not be done during a capture. */
#include "tests/vgpu/test_libcuda.h"

#include <algorithm>
#include <thread>

namespace test {

namespace {

CUDA_KERNEL_NODE_PARAMS count_node(const Context &context, void **params)
{
    CUDA_KERNEL_NODE_PARAMS node{};
    node.func = context.count;
    node.gridDimX = node.gridDimY = node.gridDimZ = 1;
    node.blockDimX = node.blockDimY = node.blockDimZ = 1;
    node.kernelParams = params;
    return node;
}

CUDA_MEMCPY3D copy_node(CUdeviceptr to, CUdeviceptr from, std::size_t bytes)
{
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy.srcDevice = from;
    copy.dstDevice = to;
    copy.WidthInBytes = bytes;
    copy.Height = copy.Depth = 1;
    return copy;
}

/* fill -> (count, count) -> copy -> host function; launched twice, then with other parameters. */
void graph_by_hand()
{
    Context context;
    Stream stream;
    Pinned<unsigned int> memory(3);
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode fill, first, second, copy, host, empty;
    unsigned int added = 5, calls = 0, graph_flags = 0;
    void *params[] = {&memory.device, &added};

    CU_IS(cuGraphCreate(&graph, 1), CUDA_ERROR_INVALID_VALUE);
    CU(cuGraphCreate(&graph, graph_flags));
    CUDA_MEMSET_NODE_PARAMS fill_params{memory.device, 0, 100, 4, 1, 1};
    CU(cuGraphAddMemsetNode(&fill, graph, nullptr, 0, &fill_params, context.handle));
    auto node = count_node(context, params);
    CU(cuGraphAddKernelNode_v2(&first, graph, &fill, 1, &node));
    CU(cuGraphAddKernelNode_v2(&second, graph, &fill, 1, &node));
    added = 0; /* copied when the nodes were made */
    CUgraphNode both[] = {first, second};
    CU(cuGraphAddEmptyNode(&empty, graph, both, 2));
    auto box = copy_node(memory.device + 4, memory.device, 4);
    CU(cuGraphAddMemcpyNode(&copy, graph, &empty, 1, &box, context.handle));
    CUDA_HOST_NODE_PARAMS host_params{[](void *data) { ++*static_cast<unsigned int *>(data); }, &calls};
    CU(cuGraphAddHostNode(&host, graph, nullptr, 0, &host_params));
    CU(cuGraphAddDependencies(graph, &copy, &host, 1));
    CU_IS(cuGraphAddDependencies(graph, &copy, &host, 1), CUDA_ERROR_INVALID_VALUE);

    std::size_t nodes = 0, roots = 0, edges = 0;
    CU(cuGraphGetNodes(graph, nullptr, &nodes));
    CU(cuGraphGetRootNodes(graph, nullptr, &roots));
    CU(cuGraphGetEdges(graph, nullptr, nullptr, &edges));
    CHECK_EQ(nodes, 6u);
    CHECK_EQ(roots, 1u);
    CHECK_EQ(edges, 6u);
    CUgraphNodeType type;
    CU(cuGraphNodeGetType(copy, &type));
    CHECK_EQ(type, CU_GRAPH_NODE_TYPE_MEMCPY);

    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphUpload(exec, stream));
    for (int i = 0; i < 2; i++)
        CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CHECK_EQ(memory.host[0], 110u);
    CHECK_EQ(memory.host[1], 110u);
    CHECK_EQ(calls, 2u);

    added = 50;
    CU(cuGraphExecKernelNodeSetParams_v2(exec, second, &node));
    CU_IS(cuGraphExecKernelNodeSetParams_v2(exec, copy, &node), CUDA_ERROR_INVALID_VALUE);
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CHECK_EQ(memory.host[1], 155u);
    auto elsewhere = copy_node(memory.device + 8, memory.device, 4);
    CU(cuGraphExecMemcpyNodeSetParams(exec, copy, &elsewhere, context.handle));
    CU_IS(cuGraphExecMemcpyNodeSetParams(exec, second, &elsewhere, context.handle), CUDA_ERROR_INVALID_VALUE);
    CU_IS(cuGraphExecMemcpyNodeSetParams(exec, copy, nullptr, context.handle), CUDA_ERROR_INVALID_VALUE);
    memory.host[1] = 0;
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CHECK_EQ(memory.host[1], 0u);
    CHECK_EQ(memory.host[2], 155u);
    CUDA_KERNEL_NODE_PARAMS_v2 read{};
    CU(cuGraphKernelNodeGetParams_v2(second, &read));
    CHECK(read.func == context.count && *static_cast<unsigned int *>(read.kernelParams[1]) == 5);

    CUgraph clone;
    CU(cuGraphClone(&clone, graph));
    CUgraphExecUpdateResultInfo info;
    CU(cuGraphExecUpdate_v2(exec, clone, &info));
    CU(cuGraphLaunch(exec, stream));
    CU(cuStreamSynchronize(stream));
    CHECK_EQ(memory.host[1], 110u);
    CU(cuGraphAddEmptyNode(&empty, clone, nullptr, 0));
    CU_IS(cuGraphExecUpdate_v2(exec, clone, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    CHECK_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);

    CU(cuGraphAddDependencies(graph, &host, &fill, 1));
    CUgraphExec circle;
    CU_IS(cuGraphInstantiate_v2(&circle, graph, nullptr, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
    CU(cuGraphExecDestroy(exec));
    CU_IS(cuGraphLaunch(exec, stream), CUDA_ERROR_INVALID_VALUE);
    CU(cuGraphDestroy(clone));
    CU(cuGraphDestroy(graph));
    CU_IS(cuGraphDestroy(graph), CUDA_ERROR_INVALID_VALUE);
}

/* What another stream had when the event was recorded last comes first. */
void graph_waits_for_an_event()
{
    Context context;
    Stream before, stream;
    Event event;
    Pinned<unsigned int> memory(2);
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode wait, copy;

    CU(cuGraphCreate(&graph, 0));
    CU_IS(cuGraphAddEventWaitNode(&wait, graph, nullptr, 0, nullptr), CUDA_ERROR_INVALID_HANDLE);
    CU(cuGraphAddEventWaitNode(&wait, graph, nullptr, 0, event));
    auto box = copy_node(memory.device + 4, memory.device, 4);
    CU(cuGraphAddMemcpyNode(&copy, graph, &wait, 1, &box, context.handle));
    CU(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CU(cuGraphLaunch(exec, stream)); /* never recorded: nothing to wait for */
    for (unsigned int i = 1; i <= 50; i++) {
        CU(launch_spin(context, memory.device + 4, 1000000, before));
        CU(launch_count(context, memory.device, 1, before));
        CU(cuEventRecord(event, before));
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
        CHECK_EQ(memory.host[1], i);
    }
    CU(cuGraphExecDestroy(exec));
    CU(cuGraphDestroy(graph));
}

void captured_fork_and_join()
{
    Context context;
    Stream origin, branch;
    Event fork_event, join_event;
    Pinned<unsigned int> memory(3);
    CUgraph graph, captured_graph = nullptr;
    CUgraphExec exec;
    CUstreamCaptureStatus status;
    std::uint64_t id = 0;
    const CUgraphNode *tail;
    std::size_t count = 0, edges = 0;

    CU(cuStreamIsCapturing(origin, &status));
    CHECK_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
    CU(cuStreamBeginCapture_v2(origin, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU_IS(cuStreamBeginCapture_v2(origin, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_ILLEGAL_STATE);
    CU(cuMemsetD32Async(memory.device, 1, 2, origin));
    CU(cuEventRecord(fork_event, origin));
    CU(cuStreamWaitEvent(branch, fork_event, 0));
    CU(cuStreamIsCapturing(branch, &status));
    CHECK_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CU(launch_count(context, memory.device, 10, origin));
    CU(launch_count(context, memory.device + 4, 20, branch));
    CU(cuEventRecord(join_event, branch));
    CU(cuStreamWaitEvent(origin, join_event, 0));
    CU(cuStreamGetCaptureInfo_v2(origin, &status, &id, &captured_graph, &tail, &count));
    CHECK_EQ(count, 2u);
    CHECK(id != 0);
    CU(cuMemcpyDtoDAsync_v2(memory.device + 8, memory.device + 4, 4, origin));
    CHECK_EQ(memory.host[0], 0u); /* nothing has run */
    CU(cuStreamEndCapture(origin, &graph));
    CHECK(graph == captured_graph);
    CU(cuGraphGetEdges(graph, nullptr, nullptr, &edges));
    CHECK_EQ(edges, 4u);
    CU(cuStreamIsCapturing(branch, &status));
    CHECK_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
    CUDA_GRAPH_INSTANTIATE_PARAMS params{};
    CU(cuGraphInstantiateWithParams(&exec, graph, &params));
    CU(cuGraphDestroy(graph));
    for (int i = 0; i < 3; i++)
        CU(cuGraphLaunch(exec, branch));
    CU(cuStreamSynchronize(branch));
    CHECK_EQ(memory.host[0], 11u);
    CHECK_EQ(memory.host[1], 21u);
    CHECK_EQ(memory.host[2], 21u);
    CU(cuGraphExecDestroy(exec));
}

/* Does something to a capturing stream; the capture must be spoilt if it is refused, and only then. */
template <typename F>
void during_capture(const char *what, CUresult expected, F action,
                    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL,
                    unsigned int flags = CU_STREAM_NON_BLOCKING)
{
    Stream stream(flags);
    CUgraph graph = nullptr;

    CU(cuStreamBeginCapture_v2(stream, mode));
    CUresult result = action(stream.handle);
    if (result != expected) {
        std::printf("# %s\n", what);
        CU_IS(result, expected);
    }
    CUresult end = cuStreamEndCapture(stream, &graph);
    if (end != (expected ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS)) {
        std::printf("# %s: EndCapture\n", what);
        CU_IS(end, expected ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS);
    }
    CHECK((graph != nullptr) == !expected);
    if (graph)
        CU(cuGraphDestroy(graph));
    /* The stream is as good as new. */
    CU(cuStreamSynchronize(stream));
}

void meddling_spoils_a_capture()
{
    Context context;
    Pinned<unsigned int> memory(1);
    Stream other, blocking_other(CU_STREAM_DEFAULT);
    Event plain, inside;
    CUdeviceptr pointer = 0;
    CUstreamCaptureMode relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
    auto unsupported = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;

    CU(cuEventRecord(plain, other));
    CU(cuStreamSynchronize(other));
    during_capture("launch", CUDA_SUCCESS, [&](CUstream s) { return launch_count(context, memory.device, 1, s); });
    during_capture("host function", CUDA_SUCCESS, [&](CUstream s) {
        return cuLaunchHostFunc(
            s, [](void *) {}, nullptr);
    });
    during_capture("launch elsewhere", CUDA_SUCCESS,
                   [&](CUstream) { return launch_count(context, memory.device, 1, other); });
    during_capture("record", CUDA_SUCCESS, [&](CUstream s) { return cuEventRecord(inside, s); });
    during_capture("record elsewhere", CUDA_SUCCESS, [&](CUstream) { return cuEventRecord(plain, other); });
    CU(cuStreamSynchronize(other));
    during_capture("StreamSynchronize", unsupported, [&](CUstream s) { return cuStreamSynchronize(s); });
    during_capture("StreamQuery", unsupported, [&](CUstream s) { return cuStreamQuery(s); });
    during_capture("CtxSynchronize", unsupported, [&](CUstream) { return cuCtxSynchronize(); });
    during_capture("AddCallback", unsupported, [&](CUstream s) {
        return cuStreamAddCallback(
            s, [](CUstream, CUresult, void *) {}, nullptr, 0);
    });
    during_capture("EventQuery", unsupported, [&](CUstream) { return cuEventQuery(plain); });
    during_capture(
        "EventQuery, relaxed", CUDA_SUCCESS, [&](CUstream) { return cuEventQuery(plain); }, relaxed);
    during_capture("MemAlloc", unsupported, [&](CUstream) { return cuMemAlloc_v2(&pointer, 4); });
    during_capture("query of a captured event", CUDA_ERROR_CAPTURED_EVENT, [&](CUstream s) {
        CU(cuEventRecord(inside, s));
        return cuEventQuery(inside);
    });
    during_capture("synchronising a captured event", CUDA_ERROR_CAPTURED_EVENT, [&](CUstream s) {
        CU(cuEventRecord(inside, s));
        return cuEventSynchronize(inside);
    });
    during_capture("wait for an event outside", CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                   [&](CUstream s) { return cuStreamWaitEvent(s, plain, 0); });
    auto legacy = [&](CUstream) { return launch_count(context, memory.device, 1, nullptr); };
    during_capture("legacy stream, capturing a non-blocking one", CUDA_SUCCESS, legacy);
    during_capture("legacy stream, capturing a blocking one", CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, legacy,
                   CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_DEFAULT);
    during_capture(
        "synchronous copy, capturing a blocking one", CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
        [&](CUstream) { return cuMemsetD32_v2(memory.device, 0, 1); }, CU_STREAM_CAPTURE_MODE_GLOBAL,
        CU_STREAM_DEFAULT);
    auto elsewhere = [&](CUstream) {
        CUresult result;
        std::thread([&] { result = cuEventQuery(plain); }).join();
        return result;
    };
    during_capture("another thread, global", unsupported, elsewhere);
    during_capture("another thread, thread-local", CUDA_SUCCESS, elsewhere, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    during_capture("relaxed thread", CUDA_SUCCESS, [&](CUstream) {
        CUstreamCaptureMode mode = relaxed;
        CU(cuThreadExchangeStreamCaptureMode(&mode));
        CUresult result = cuEventQuery(plain);
        CU(cuThreadExchangeStreamCaptureMode(&mode));
        CHECK_EQ(mode, relaxed);
        return result;
    });
    CU_IS(cuStreamBeginCapture_v2(nullptr, relaxed), unsupported);
}

void captures_end_as_they_began()
{
    Context context;
    Stream origin, branch;
    Event event;
    Pinned<unsigned int> memory(1);
    CUgraph graph;

    CU_IS(cuStreamEndCapture(origin, &graph), CUDA_ERROR_ILLEGAL_STATE);
    CU(cuStreamBeginCapture_v2(origin, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuEventRecord(event, origin));
    CU(cuStreamWaitEvent(branch, event, 0));
    CU(launch_count(context, memory.device, 1, branch));
    CU_IS(cuStreamEndCapture(origin, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    CHECK(graph == nullptr);

    CU(cuStreamBeginCapture_v2(origin, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cuEventRecord(event, origin));
    CU(cuStreamWaitEvent(branch, event, 0));
    CU_IS(cuStreamEndCapture(branch, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    CU_IS(cuStreamEndCapture(origin, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);

    CU(cuStreamBeginCapture_v2(origin, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    std::thread([&] {
        CU(cuCtxSetCurrent(context.handle));
        CU_IS(cuStreamEndCapture(origin, &graph), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    }).join();
    CU(cuStreamEndCapture(origin, &graph));
    CU(cuGraphDestroy(graph));

    CU(cuStreamBeginCapture_v2(origin, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU(cuStreamBeginCapture_v2(branch, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU(cuEventRecord(event, origin));
    CU_IS(cuStreamWaitEvent(branch, event, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
    CU_IS(cuStreamEndCapture(origin, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CU_IS(cuStreamEndCapture(branch, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK_EQ(*memory.host, 0u);
}

} // namespace

void add_graph_cases(std::vector<tap::Case> &cases)
{
    cases.insert(cases.end(), {
                                  {"a graph by hand, updated", graph_by_hand},
                                  {"a graph waits for an event", graph_waits_for_an_event},
                                  {"a captured fork and join", captured_fork_and_join},
                                  {"meddling spoils a capture", meddling_spoils_a_capture},
                                  {"captures end as they began", captures_end_as_they_began},
                              });
}

} // namespace test
