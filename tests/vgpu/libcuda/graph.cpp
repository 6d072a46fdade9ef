// SPDX-License-Identifier: MIT
/*
 * Graphs: built by hand or by capture, instantiated, changed, launched. A launch runs the nodes one after another in an
 * order that respects the dependencies; branches do not overlap.
 */
#include "tests/vgpu/libcuda/work.h"

#include <algorithm>
#include <cstring>

namespace vgpu {

namespace {

CUresult check_graph(CUgraph graph)
{
    return graph && state().graphs.count(graph) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult check_exec(CUgraphExec exec)
{
    return exec && state().execs.count(exec) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult check_kernel_node(CUgraphNode node)
{
    if (!node || check_graph(node->graph))
        return CUDA_ERROR_INVALID_VALUE;
    return node->work.type == CU_GRAPH_NODE_TYPE_KERNEL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult make_node(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, std::size_t count, Work work)
{
    if (!node || (count && !dependencies))
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(check_graph(graph));
    std::vector<CUgraphNode> list(dependencies, dependencies + count);
    for (std::size_t i = 0; i < count; i++)
        if (!list[i] || list[i]->graph != graph || std::count(list.begin(), list.end(), list[i]) > 1)
            return CUDA_ERROR_INVALID_VALUE;
    *node = add_node(graph, std::move(work), list);
    return CUDA_SUCCESS;
}

template <typename Params> CUresult make_kernel_work(const Params *params, Work &work)
{
    KernelCall call;

    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    const unsigned int grid[3] = {params->gridDimX, params->gridDimY, params->gridDimZ};
    const unsigned int block[3] = {params->blockDimX, params->blockDimY, params->blockDimZ};
    CUfunction function = params->func;
    if constexpr (std::is_same_v<Params, CUDA_KERNEL_NODE_PARAMS_v2>)
        if (!function)
            function = reinterpret_cast<CUfunction>(params->kern);
    VGPU_TRY(make_call(function, grid, block, params->sharedMemBytes, params->kernelParams, params->extra, call));
    work = kernel_work(std::move(call));
    return CUDA_SUCCESS;
}

template <typename Params>
CUresult add_kernel_node(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, std::size_t count,
                         const Params *params)
{
    Work work;

    VGPU_ENTER(lock);
    VGPU_TRY(make_kernel_work(params, work));
    return make_node(node, graph, dependencies, count, std::move(work));
}

template <typename Params> CUresult get_kernel_params(CUgraphNode node, Params *params)
{
    VGPU_ENTER(lock);
    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(check_kernel_node(node));
    const KernelCall &call = node->work.kernel;
    *params = {};
    params->func = call.function;
    params->gridDimX = call.launch.grid[0];
    params->gridDimY = call.launch.grid[1];
    params->gridDimZ = call.launch.grid[2];
    params->blockDimX = call.launch.block[0];
    params->blockDimY = call.launch.block[1];
    params->blockDimZ = call.launch.block[2];
    params->sharedMemBytes = call.shared_bytes;
    /* The pointers point into the node and live as long as it does. */
    node->param_pointers.resize(call.function->kernel->param_count);
    for (std::size_t i = 0; i < node->param_pointers.size(); i++)
        node->param_pointers[i] = node->work.kernel.params.data() + call.function->kernel->param_offsets[i];
    params->kernelParams = node->param_pointers.data();
    return CUDA_SUCCESS;
}

template <typename Params> CUresult set_kernel_params(CUgraphNode node, const Params *params)
{
    VGPU_ENTER(lock);
    VGPU_TRY(check_kernel_node(node));
    return make_kernel_work(params, node->work);
}

/* The node's, if it is one of that type. */
CUgraphExec_st::Step *find_step(CUgraphExec exec, CUgraphNode node, CUgraphNodeType type)
{
    for (auto &step : exec->steps)
        if (step.origin == node && step.work.type == type)
            return &step;
    return nullptr;
}

template <typename Params> CUresult set_exec_params(CUgraphExec exec, CUgraphNode node, const Params *params)
{
    VGPU_ENTER(lock);
    VGPU_TRY(check_exec(exec));
    CUgraphExec_st::Step *step = find_step(exec, node, CU_GRAPH_NODE_TYPE_KERNEL);
    return step ? make_kernel_work(params, step->work) : CUDA_ERROR_INVALID_VALUE;
}

/* Nodes in an order that respects the dependencies; false if they go round in a circle. */
bool order_nodes(const CUgraph_st &graph, std::vector<CUgraphExec_st::Step> &steps)
{
    std::unordered_map<CUgraphNode, std::size_t> place;
    bool progress = true;

    while (progress && place.size() < graph.nodes.size()) {
        progress = false;
        for (const auto &node : graph.nodes) {
            if (place.count(node.get()))
                continue;
            CUgraphExec_st::Step step{node.get(), node->work, {}};
            for (CUgraphNode dependency : node->dependencies)
                if (auto found = place.find(dependency); found != place.end())
                    step.dependencies.push_back(found->second);
            if (step.dependencies.size() < node->dependencies.size())
                continue;
            std::sort(step.dependencies.begin(), step.dependencies.end());
            place.emplace(node.get(), steps.size());
            steps.push_back(std::move(step));
            progress = true;
        }
    }
    return place.size() == graph.nodes.size();
}

CUresult instantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    constexpr unsigned long long known = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                         CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                                         CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

    if (!exec || flags & ~known)
        return flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(check_graph(graph));
    auto made = std::make_unique<CUgraphExec_st>();
    made->graph = graph;
    made->flags = flags;
    if (!order_nodes(*graph, made->steps))
        return CUDA_ERROR_INVALID_VALUE;
    *exec = made.release();
    state().execs.insert(*exec);
    return CUDA_SUCCESS;
}

CUresult update(CUgraphExec exec, CUgraph graph, CUgraphNode *error_node, CUgraphExecUpdateResult *result)
{
    std::vector<CUgraphExec_st::Step> steps;

    VGPU_TRY(check_exec(exec));
    VGPU_TRY(check_graph(graph));
    *error_node = nullptr;
    *result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    if (!order_nodes(*graph, steps) || steps.size() != exec->steps.size())
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    for (std::size_t i = 0; i < steps.size(); i++) {
        if (steps[i].dependencies == exec->steps[i].dependencies && steps[i].work.type == exec->steps[i].work.type)
            continue;
        *error_node = steps[i].origin;
        if (steps[i].work.type != exec->steps[i].work.type)
            *result = CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
        return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    }
    /* The nodes by which the exec is known stay those of the graph it was made from. */
    for (std::size_t i = 0; i < steps.size(); i++)
        exec->steps[i].work = std::move(steps[i].work);
    *result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    return CUDA_SUCCESS;
}

CUresult list_nodes(const std::vector<CUgraphNode> &all, CUgraphNode *nodes, std::size_t *count)
{
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    if (nodes)
        for (std::size_t i = 0; i < *count; i++)
            nodes[i] = i < all.size() ? all[i] : nullptr;
    *count = nodes ? std::min(*count, all.size()) : all.size();
    return CUDA_SUCCESS;
}

} // namespace

CUgraph new_graph()
{
    auto *graph = new CUgraph_st;
    state().graphs.insert(graph);
    return graph;
}

void delete_graph(CUgraph graph)
{
    state().graphs.erase(graph);
    delete graph;
}

CUgraphNode add_node(CUgraph graph, Work work, const std::vector<CUgraphNode> &dependencies)
{
    auto &node = graph->nodes.emplace_back(std::make_unique<CUgraphNode_st>());
    node->graph = graph;
    node->work = std::move(work);
    node->dependencies = dependencies;
    return node.get();
}

CUresult enqueue_graph(Guard &lock, const StreamPtr &stream, const CUgraphExec_st &exec)
{
    /* Enqueuing may let the lock go, in which time the exec may be destroyed. */
    std::vector<CUgraphExec_st::Step> steps = exec.steps;
    Op begin;

    VGPU_TRY(refuse_implicit(stream));
    begin.light = true;
    VGPU_TRY(enqueue(lock, stream, std::move(begin)));
    for (const auto &step : steps)
        VGPU_TRY(enqueue(lock, stream, make_op(step.work)));
    return CUDA_SUCCESS;
}

} // namespace vgpu

using namespace vgpu;

VGPU_EXPORT CUresult cuGraphCreate(CUgraph *graph, unsigned int flags)
{
    VGPU_ENTER(lock);
    if (!graph || flags)
        return CUDA_ERROR_INVALID_VALUE;
    *graph = new_graph();
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuGraphDestroy(CUgraph graph)
{
    VGPU_ENTER(lock);
    VGPU_TRY(check_graph(graph));
    delete_graph(graph);
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuGraphClone(CUgraph *clone, CUgraph original)
{
    VGPU_ENTER(lock);
    if (!clone)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(check_graph(original));
    std::unordered_map<CUgraphNode, CUgraphNode> copies;
    *clone = new_graph();
    for (const auto &node : original->nodes)
        copies[node.get()] = add_node(*clone, node->work, {});
    for (const auto &node : original->nodes)
        for (CUgraphNode dependency : node->dependencies)
            copies[node.get()]->dependencies.push_back(copies[dependency]);
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                          std::size_t count, const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    return add_kernel_node(node, graph, dependencies, count, params);
}

VGPU_EXPORT CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                             std::size_t count, const CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
    return add_kernel_node(node, graph, dependencies, count, params);
}

VGPU_EXPORT CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                          std::size_t count, const CUDA_MEMCPY3D *params, CUcontext)
{
    Copy copy;

    VGPU_ENTER(lock);
    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(make_copy(*params, copy));
    return make_node(node, graph, dependencies, count, copy_work(copy));
}

VGPU_EXPORT CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                          std::size_t count, const CUDA_MEMSET_NODE_PARAMS *params, CUcontext)
{
    VGPU_ENTER(lock);
    if (!params || !params->width || !params->height ||
        (params->elementSize != 1 && params->elementSize != 2 && params->elementSize != 4))
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(
        check_device_range(params->dst, (params->height - 1) * params->pitch + params->width * params->elementSize));
    Fill fill{as_pointer<char>(params->dst), params->pitch, params->value,
              params->elementSize,           params->width, params->height};
    return make_node(node, graph, dependencies, count, fill_work(fill));
}

VGPU_EXPORT CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                        std::size_t count, const CUDA_HOST_NODE_PARAMS *params)
{
    VGPU_ENTER(lock);
    if (!params || !params->fn)
        return CUDA_ERROR_INVALID_VALUE;
    return make_node(node, graph, dependencies, count, host_work(params->fn, params->userData));
}

VGPU_EXPORT CUresult cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                             std::size_t count, CUevent event)
{
    VGPU_ENTER(lock);
    VGPU_TRY(check_event(event));
    return make_node(node, graph, dependencies, count, wait_work(event));
}

VGPU_EXPORT CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                         std::size_t count)
{
    VGPU_ENTER(lock);
    return make_node(node, graph, dependencies, count, {});
}

VGPU_EXPORT CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                            std::size_t count)
{
    VGPU_ENTER(lock);
    VGPU_TRY(check_graph(graph));
    if (count && (!from || !to))
        return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < count; i++)
        if (!from[i] || !to[i] || from[i]->graph != graph || to[i]->graph != graph || from[i] == to[i] ||
            std::count(to[i]->dependencies.begin(), to[i]->dependencies.end(), from[i]))
            return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < count; i++)
        to[i]->dependencies.push_back(from[i]);
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                               const CUgraphEdgeData *edges, std::size_t count)
{
    for (std::size_t i = 0; edges && i < count; i++)
        if (edges[i].from_port || edges[i].to_port || edges[i].type)
            return CUDA_ERROR_NOT_SUPPORTED;
    return cuGraphAddDependencies(graph, from, to, count);
}

VGPU_EXPORT CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, std::size_t *count)
{
    std::vector<CUgraphNode> all;

    VGPU_ENTER(lock);
    VGPU_TRY(check_graph(graph));
    for (const auto &node : graph->nodes)
        all.push_back(node.get());
    return list_nodes(all, nodes, count);
}

VGPU_EXPORT CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, std::size_t *count)
{
    std::vector<CUgraphNode> roots;

    VGPU_ENTER(lock);
    VGPU_TRY(check_graph(graph));
    for (const auto &node : graph->nodes)
        if (node->dependencies.empty())
            roots.push_back(node.get());
    return list_nodes(roots, nodes, count);
}

VGPU_EXPORT CUresult cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, std::size_t *count)
{
    std::vector<CUgraphNode> sources, targets;

    VGPU_ENTER(lock);
    VGPU_TRY(check_graph(graph));
    if (!count || !from != !to)
        return CUDA_ERROR_INVALID_VALUE;
    for (const auto &node : graph->nodes)
        for (CUgraphNode dependency : node->dependencies) {
            sources.push_back(dependency);
            targets.push_back(node.get());
        }
    std::size_t room = *count;
    VGPU_TRY(list_nodes(sources, from, &room));
    return list_nodes(targets, to, count);
}

VGPU_EXPORT CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
    VGPU_ENTER(lock);
    if (!node || !type || check_graph(node->graph))
        return CUDA_ERROR_INVALID_VALUE;
    *type = node->work.type;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    return get_kernel_params(node, params);
}

VGPU_EXPORT CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
    return get_kernel_params(node, params);
}

VGPU_EXPORT CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    return set_kernel_params(node, params);
}

VGPU_EXPORT CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
    return set_kernel_params(node, params);
}

VGPU_EXPORT CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *error_node, char *log,
                                        std::size_t log_size)
{
    VGPU_ENTER(lock);
    if (error_node)
        *error_node = nullptr;
    if (log && log_size)
        *log = '\0';
    return instantiate(exec, graph, 0);
}

VGPU_EXPORT CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *error_node, char *log,
                                           std::size_t log_size)
{
    return cuGraphInstantiate(exec, graph, error_node, log, log_size);
}

VGPU_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    VGPU_ENTER(lock);
    return instantiate(exec, graph, flags);
}

VGPU_EXPORT CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
                                                  CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    VGPU_ENTER(lock);
    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = instantiate(exec, graph, params->flags);
    params->hErrNode_out = nullptr;
    params->result_out = result ? CUDA_GRAPH_INSTANTIATE_ERROR : CUDA_GRAPH_INSTANTIATE_SUCCESS;
    return result;
}

VGPU_EXPORT CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *exec, CUgraph graph,
                                                       CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    return cuGraphInstantiateWithParams(exec, graph, params);
}

VGPU_EXPORT CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                    const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    return set_exec_params(exec, node, params);
}

VGPU_EXPORT CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                                       const CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
    return set_exec_params(exec, node, params);
}

VGPU_EXPORT CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *params,
                                                    CUcontext)
{
    Copy copy;

    VGPU_ENTER(lock);
    VGPU_TRY(check_exec(exec));
    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(make_copy(*params, copy));
    CUgraphExec_st::Step *step = find_step(exec, node, CU_GRAPH_NODE_TYPE_MEMCPY);
    if (!step)
        return CUDA_ERROR_INVALID_VALUE;
    step->work = copy_work(copy);
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *error_node,
                                       CUgraphExecUpdateResult *result)
{
    CUgraphNode node;
    CUgraphExecUpdateResult outcome;

    VGPU_ENTER(lock);
    return update(exec, graph, error_node ? error_node : &node, result ? result : &outcome);
}

VGPU_EXPORT CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
    VGPU_ENTER(lock);
    if (!info)
        return CUDA_ERROR_INVALID_VALUE;
    info->errorFromNode = nullptr;
    return update(exec, graph, &info->errorNode, &info->result);
}

VGPU_EXPORT CUresult cuGraphExecGetFlags(CUgraphExec exec, std::uint64_t *flags)
{
    VGPU_ENTER(lock);
    if (!flags)
        return CUDA_ERROR_INVALID_VALUE;
    VGPU_TRY(check_exec(exec));
    *flags = exec->flags;
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    VGPU_ENTER(lock);
    VGPU_TRY(check_exec(exec));
    state().execs.erase(exec);
    delete exec;
    return CUDA_SUCCESS;
}

/* Captured, a launch becomes the nodes it would run. */
VGPU_EXPORT CUresult cuGraphLaunch(CUgraphExec exec, CUstream handle)
{
    StreamPtr stream;

    VGPU_ENTER(lock);
    VGPU_TRY(check_exec(exec));
    VGPU_TRY(find_stream(handle, stream));
    if (!stream->capture)
        return enqueue_graph(lock, stream, *exec);
    for (const auto &step : exec->steps)
        VGPU_TRY(capture_work(stream, step.work));
    return CUDA_SUCCESS;
}

VGPU_EXPORT CUresult cuGraphUpload(CUgraphExec exec, CUstream handle)
{
    StreamPtr stream;

    VGPU_ENTER(lock);
    VGPU_TRY(check_exec(exec));
    VGPU_TRY(find_stream(handle, stream));
    VGPU_TRY(refuse_if_capturing(stream));
    return dispatch(lock, stream, {});
}
