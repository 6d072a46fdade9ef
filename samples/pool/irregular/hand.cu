// SPDX-License-Identifier: MIT
/*
 * The tree is searched level by level: all nodes of a level at once, a block each, which write their children to the
 * next level's list on the device. So by one launch for each level, whose size the host reads in page-locked memory; by
 * a graph that repeats itself; by one cooperative kernel whose blocks meet after each level. Or not by levels: batches
 * of what is ready in several streams, or each node a launch. The last form has a queue of its own on the device, for
 * blocks that stay: it is a pool, for this one program.
 */
#include "samples/common/check.hpp"
#include "samples/pool/irregular/hand.h"

#include <chrono>
#include <cooperative_groups.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace ptsched::irregular {

namespace {

constexpr unsigned most_nodes = 1 << 20, most_levels = 1 << 14;

using ptsched::samples::check;

/* Of the device. */
struct Progress {
    unsigned long long nodes, sum;
    unsigned int level, ended, open, first, last, unused;
};

/* What the host looks at while kernels run. */
struct News {
    unsigned int size, level;
};

struct Workspace {
    Node *lists[2], *queue;
    unsigned *sizes;  /* of levels */
    unsigned *filled; /* of the queue's places: what they have */
    Progress *progress;
    volatile News *news;
    cudaStream_t stream;
    unsigned processors;

    Workspace()
    {
        int device = 0, count = 0;
        check(cudaGetDevice(&device), "cudaGetDevice");
        check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
        processors = static_cast<unsigned>(count);
        for (Node *&list : lists)
            check(cudaMalloc(&list, most_nodes * sizeof(Node)), "cudaMalloc");
        check(cudaMalloc(&queue, most_nodes * sizeof(Node)), "cudaMalloc");
        check(cudaMalloc(&filled, most_nodes * sizeof(unsigned)), "cudaMalloc");
        check(cudaMalloc(&sizes, most_levels * sizeof(unsigned)), "cudaMalloc");
        check(cudaMalloc(&progress, sizeof(Progress)), "cudaMalloc");
        check(cudaHostAlloc(const_cast<News **>(&news), sizeof(News), cudaHostAllocDefault), "cudaHostAlloc");
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    }

    void clear()
    {
        check(cudaMemsetAsync(progress, 0, sizeof(Progress), stream), "cudaMemset");
        check(cudaMemsetAsync(sizes, 0, most_levels * sizeof(unsigned), stream), "cudaMemset");
        news->size = 0;
        news->level = 0;
    }

    Found read()
    {
        Progress now;
        check(cudaMemcpyAsync(&now, progress, sizeof(now), cudaMemcpyDefault, stream), "cudaMemcpy");
        check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
        return {now.nodes, now.sum, now.level};
    }
};

Workspace &workspace()
{
    static Workspace one;
    return one;
}

__device__ unsigned long long value_of(const Node &node)
{
    unsigned long long sum = work(node, threadIdx.x);
    for (unsigned with = lanes / 2; with; with /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, with);
    return sum;
}

/* The block's node; its children go to @to. */
__device__ void expand(const Node &node, Node *to, unsigned *size, Progress *progress, const Shape &shape)
{
    const unsigned long long value = value_of(node);
    const unsigned count = count_children(node);
    unsigned at = 0;
    if (threadIdx.x == 0) {
        at = count ? atomicAdd(size, count) : 0;
        atomicAdd(&progress->sum, value);
    }
    at = __shfl_sync(0xffffffff, at, 0);
    if (threadIdx.x < count)
        to[at + threadIdx.x] = make_child(node, threadIdx.x, shape);
}

__global__ void make_roots(Node *to, unsigned *sizes, Shape shape)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0)
        sizes[0] = shape.roots;
    if (i < shape.roots)
        to[i] = make_root(i, shape);
}

__device__ bool is_last_block(Progress *progress)
{
    __threadfence();
    bool is = false;
    if (threadIdx.x == 0)
        is = atomicAdd(&progress->ended, 1) == gridDim.x - 1;
    return is;
}

/* One launch for a level of as many nodes as there are blocks. The last one tells the host. */
__global__ void search_level(const Node *from, Node *to, unsigned *sizes, unsigned level, Progress *progress,
                             volatile News *news, Shape shape)
{
    expand(from[blockIdx.x], to, sizes + level + 1, progress, shape);
    if (!is_last_block(progress))
        return;
    progress->ended = 0;
    progress->nodes += gridDim.x;
    progress->level = level + 1;
    news->size = *const_cast<volatile unsigned *>(sizes + level + 1);
    __threadfence_system();
    news->level = level + 1;
}

void start_roots(Workspace &at, const Shape &shape)
{
    at.clear();
    make_roots<<<(shape.roots + 255) / 256, 256, 0, at.stream>>>(at.lists[0], at.sizes, shape);
}

/* It waits by looking: cudaStreamSynchronize() takes longer. */
Found search_by_levels(const Shape &shape)
{
    Workspace &at = workspace();
    start_roots(at, shape);
    unsigned size = shape.roots;
    for (unsigned level = 0; size && level + 2 < most_levels; level++) {
        search_level<<<size, lanes, 0, at.stream>>>(at.lists[level % 2], at.lists[(level + 1) % 2], at.sizes, level,
                                                    at.progress, at.news, shape);
        check(cudaGetLastError(), "a level");
        while (at.news->level != level + 1)
            __builtin_ia32_pause();
        size = at.news->size;
    }
    return at.read();
}

/* The same for a level of any size, after which the graph does it again if there is something left. */
__global__ void repeat_level(Node *even, Node *odd, unsigned *sizes, Progress *progress, Shape shape,
                             cudaGraphConditionalHandle again)
{
    const unsigned level = progress->level;
    const unsigned size = sizes[level];
    for (unsigned i = blockIdx.x; i < size; i += gridDim.x)
        expand((level % 2 ? odd : even)[i], level % 2 ? even : odd, sizes + level + 1, progress, shape);
    if (!is_last_block(progress))
        return;
    progress->ended = 0;
    progress->nodes += size;
    progress->level = level + 1;
    cudaGraphSetConditional(again, *const_cast<volatile unsigned *>(sizes + level + 1) && level + 2 < most_levels);
}

cudaGraphExec_t make_graph(Workspace &at, const Shape &shape)
{
    cudaGraph_t graph;
    cudaGraphConditionalHandle again;
    check(cudaGraphCreate(&graph, 0), "cudaGraphCreate");
    check(cudaGraphConditionalHandleCreate(&again, graph, 1, cudaGraphCondAssignDefault), "a condition");
    cudaGraphNodeParams loop = {};
    loop.type = cudaGraphNodeTypeConditional;
    loop.conditional.handle = again;
    loop.conditional.type = cudaGraphCondTypeWhile;
    loop.conditional.size = 1;
    cudaGraphNode_t node;
    check(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &loop), "cudaGraphAddNode");
    check(cudaStreamBeginCaptureToGraph(at.stream, loop.conditional.phGraph_out[0], nullptr, nullptr, 0,
                                        cudaStreamCaptureModeRelaxed),
          "a capture");
    repeat_level<<<2 * at.processors, lanes, 0, at.stream>>>(at.lists[0], at.lists[1], at.sizes, at.progress, shape,
                                                             again);
    check(cudaStreamEndCapture(at.stream, nullptr), "a capture");
    cudaGraphExec_t run;
    check(cudaGraphInstantiate(&run, graph, 0), "cudaGraphInstantiate");
    check(cudaGraphDestroy(graph), "cudaGraphDestroy");
    return run;
}

Found search_by_graph(const Shape &shape)
{
    static cudaGraphExec_t graph;
    static Shape made_for;
    Workspace &at = workspace();
    if (!graph || made_for.seed != shape.seed || made_for.grain != shape.grain || made_for.roots != shape.roots ||
        made_for.doubling != shape.doubling) {
        graph = make_graph(at, shape);
        made_for = shape;
    }
    start_roots(at, shape);
    check(cudaGraphLaunch(graph, at.stream), "cudaGraphLaunch");
    return at.read();
}

/* All levels; its blocks are all there at once. */
__global__ void loop_levels(Node *even, Node *odd, unsigned *sizes, Progress *progress, Shape shape)
{
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    unsigned level = 0;
    unsigned long long nodes = 0;
    for (unsigned size = sizes[0]; size && level + 2 < most_levels; level++) {
        nodes += size;
        for (unsigned i = blockIdx.x; i < size; i += gridDim.x)
            expand((level % 2 ? odd : even)[i], level % 2 ? even : odd, sizes + level + 1, progress, shape);
        grid.sync();
        size = *const_cast<volatile unsigned *>(sizes + level + 1);
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        progress->nodes = nodes;
        progress->level = level;
    }
}

Found search_by_loop(const Shape &shape)
{
    Workspace &at = workspace();
    Shape copy = shape;
    start_roots(at, shape);
    void *arguments[] = {&at.lists[0], &at.lists[1], &at.sizes, &at.progress, &copy};
    check(cudaLaunchCooperativeKernel(loop_levels, 2 * at.processors, lanes, arguments, 0, at.stream),
          "a cooperative launch");
    return at.read();
}

/* Nodes of which each comes back in its place; the host knows by @ended that all have. */
__global__ void search_batch(Node *nodes, unsigned *left, volatile unsigned *ended)
{
    Node node = nodes[blockIdx.x];
    node.value = value_of(node);
    node.children = count_children(node);
    if (threadIdx.x)
        return;
    nodes[blockIdx.x] = node;
    __threadfence_system();
    if (atomicAdd(left, 1) != gridDim.x - 1)
        return;
    *left = 0;
    __threadfence_system();
    *ended = 1;
}

constexpr unsigned most_streams = 64, most_in_batch = 1024;

struct Batch {
    cudaStream_t stream;
    Node *nodes; /* in page-locked memory, where kernels read and write them */
    unsigned *left;
    volatile unsigned *ended;
    unsigned count;
};

std::vector<Batch> make_batches()
{
    std::vector<Batch> batches(most_streams);
    for (Batch &one : batches) {
        check(cudaStreamCreateWithFlags(&one.stream, cudaStreamNonBlocking), "cudaStreamCreate");
        check(cudaHostAlloc(&one.nodes, most_in_batch * sizeof(Node), cudaHostAllocDefault), "cudaHostAlloc");
        check(cudaMalloc(&one.left, sizeof(unsigned)), "cudaMalloc");
        check(cudaMemset(one.left, 0, sizeof(unsigned)), "cudaMemset");
        check(cudaHostAlloc(const_cast<unsigned **>(&one.ended), 64, cudaHostAllocDefault), "cudaHostAlloc");
        one.count = 0;
    }
    return batches;
}

/* What has come back of it: its children are ready. */
void take(Batch &batch, std::vector<Node> &ready, Found &found, const Shape &shape)
{
    for (unsigned i = 0; i < batch.count; i++) {
        const Node &node = batch.nodes[i];
        found.nodes++;
        found.sum += node.value;
        found.levels = found.levels > node.depth ? found.levels : node.depth + 1u;
        for (unsigned child = 0; child < node.children; child++)
            ready.push_back(make_child(node, child, shape));
    }
    batch.count = 0;
}

/* What is ready is divided among the streams that are free, in batches of no more than @most nodes. */
Found search_in_streams(const Shape &shape, unsigned streams, unsigned most)
{
    static std::vector<Batch> batches = make_batches();
    std::vector<Node> ready;
    Found found = {};
    unsigned busy = 0;
    for (unsigned i = 0; i < shape.roots; i++)
        ready.push_back(make_root(i, shape));
    while (busy || !ready.empty()) {
        for (unsigned i = 0; i < streams; i++) {
            Batch &one = batches[i];
            if (one.count && *one.ended) {
                take(one, ready, found, shape);
                busy--;
            }
            if (one.count || ready.empty())
                continue;
            const size_t share = (ready.size() + streams - busy - 1) / (streams - busy);
            one.count = static_cast<unsigned>(share < most ? share : most);
            for (unsigned place = 0; place < one.count; place++, ready.pop_back())
                one.nodes[place] = ready.back();
            *one.ended = 0;
            search_batch<<<one.count, lanes, 0, one.stream>>>(one.nodes, one.left, one.ended);
            check(cudaGetLastError(), "a batch");
            busy++;
        }
    }
    return found;
}

__device__ void put(Node *queue, unsigned *filled, unsigned at, const Node &node)
{
    queue[at] = node;
    __threadfence();
    *const_cast<volatile unsigned *>(filled + at) = 1;
}

__device__ bool has_ended(const Progress *progress)
{
    return *const_cast<const volatile unsigned *>(&progress->open) == 0;
}

/* Each block takes the next place of the queue, and waits until somebody has put a node there or none are left. */
__global__ void serve_queue(Node *queue, unsigned *filled, Progress *progress, Shape shape)
{
    for (;;) {
        unsigned at = 0;
        if (threadIdx.x == 0)
            at = atomicAdd(&progress->first, 1);
        at = __shfl_sync(0xffffffff, at, 0);
        while (!*const_cast<volatile unsigned *>(filled + at))
            if (has_ended(progress))
                return;
        __threadfence();
        const Node node = queue[at];
        const unsigned long long value = value_of(node);
        const unsigned count = count_children(node);
        if (threadIdx.x)
            continue;
        const unsigned to = count ? atomicAdd(&progress->last, count) : 0;
        for (unsigned i = 0; i < count; i++)
            put(queue, filled, to + i, make_child(node, i, shape));
        atomicAdd(&progress->sum, value);
        atomicAdd(&progress->nodes, 1);
        atomicMax(&progress->level, node.depth + 1u);
        __threadfence();
        atomicAdd(&progress->open, count - 1);
    }
}

__global__ void fill_queue(Node *queue, unsigned *filled, Progress *progress, Shape shape)
{
    for (unsigned i = threadIdx.x; i < shape.roots; i += blockDim.x)
        put(queue, filled, i, make_root(i, shape));
    if (threadIdx.x == 0)
        progress->open = progress->last = shape.roots;
}

Found search_by_queue(const Shape &shape)
{
    Workspace &at = workspace();
    at.clear();
    check(cudaMemsetAsync(at.filled, 0, most_nodes * sizeof(unsigned), at.stream), "cudaMemset");
    fill_queue<<<1, 256, 0, at.stream>>>(at.queue, at.filled, at.progress, shape);
    serve_queue<<<2 * at.processors, lanes, 0, at.stream>>>(at.queue, at.filled, at.progress, shape);
    check(cudaGetLastError(), "the queue's kernel");
    return at.read();
}

Found search(int form, const Shape &shape)
{
    switch (form) {
    case 0:
        return search_by_levels(shape);
    case 1:
        return search_by_graph(shape);
    case 2:
        return search_by_loop(shape);
    case 3:
        return search_in_streams(shape, 4, most_in_batch);
    case 4:
        return search_in_streams(shape, 8, most_in_batch);
    case 5:
        return search_in_streams(shape, 16, most_in_batch);
    case 6:
        return search_in_streams(shape, 32, most_in_batch);
    case 7:
        return search_in_streams(shape, most_streams, 1);
    default:
        return search_by_queue(shape);
    }
}

} // namespace

} // namespace ptsched::irregular

extern "C" {

const char *const hand_forms[] = {"levels",     "graph",      "loop",        "streams/4", "streams/8",
                                  "streams/16", "streams/32", "launch-each", "own-queue", nullptr};

const char *hand_search(int form, const ptsched::irregular::Shape *shape, ptsched::irregular::Found *found,
                        double *seconds)
{
    static std::string wrong;
    try {
        const auto begin = std::chrono::steady_clock::now();
        *found = ptsched::irregular::search(form, *shape);
        *seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        return nullptr;
    } catch (const std::exception &error) {
        wrong = error.what();
        return wrong.c_str();
    }
}
}
