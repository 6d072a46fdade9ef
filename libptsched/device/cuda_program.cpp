// SPDX-License-Identifier: MIT
#include "libptsched/device/cuda_program.hpp"

#include "libptsched/device/cuda_code.hpp"

#include <algorithm>
#include <utility>

namespace ptsched::device {

namespace {

CUDA_KERNEL_NODE_PARAMS kernel_of(CUfunction function, const Geometry &g)
{
    CUDA_KERNEL_NODE_PARAMS kernel{};
    kernel.func = function;
    kernel.gridDimX = g.grid.x;
    kernel.gridDimY = g.grid.y;
    kernel.gridDimZ = g.grid.z;
    kernel.blockDimX = g.block.x;
    kernel.blockDimY = g.block.y;
    kernel.blockDimZ = g.block.z;
    kernel.sharedMemBytes = g.shared_bytes;
    return kernel;
}

void set_ends(CUDA_MEMCPY3D &copy, Address to, Address from)
{
    copy.srcDevice = from;
    if (copy.dstMemoryType == CU_MEMORYTYPE_HOST)
        copy.dstHost = host_pointer(to);
    else
        copy.dstDevice = to;
}

CUDA_MEMCPY3D copy_of(const ProgramStep &step)
{
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstMemoryType = step.to_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
    copy.WidthInBytes = step.bytes;
    copy.Height = copy.Depth = 1;
    set_ends(copy, step.to, step.from);
    return copy;
}

} // namespace

CudaProgram::CudaProgram(CudaDevice &device, const std::vector<ProgramStep> &steps) : device_(device)
{
    const Driver &driver = device.driver;
    std::size_t pieces = 0;
    for (const ProgramStep &step : steps)
        pieces += step.pieces.size();
    if (pieces)
        pieces_ = std::make_shared<Pieces>(pieces);
    Entered entered(device);
    driver.check(driver.graph_create(&graph_, 0), "cuGraphCreate");
    try {
        nodes_.reserve(steps.size());
        for (const ProgramStep &step : steps)
            add(step);
        driver.check(driver.graph_instantiate(&exec_, graph_, 0), "cuGraphInstantiate");
    } catch (...) {
        destroy();
        throw;
    }
}

CudaProgram::Pieces::Pieces(std::size_t count) : count(count), address(host().allocate(count * sizeof(pieces::Entry)))
{
}

CudaProgram::Pieces::~Pieces()
{
    host().release(address, count * sizeof(pieces::Entry));
}

pieces::Entry *CudaProgram::Pieces::at(std::size_t i) const
{
    return static_cast<pieces::Entry *>(host_pointer(address)) + i;
}

CudaProgram::~CudaProgram()
{
    Entered entered(device_);
    destroy();
}

void CudaProgram::destroy()
{
    if (exec_)
        device_.driver.exec_destroy(exec_);
    device_.driver.graph_destroy(graph_);
    for (const Node &node : nodes_)
        if (node.event)
            device_.events.give(node.event);
}

void CudaProgram::add_kernel(Node &node, const std::vector<CUgraphNode> &after, const std::vector<void *> &arguments)
{
    CUDA_KERNEL_NODE_PARAMS kernel = node.kernel;
    kernel.kernelParams = const_cast<void **>(arguments.data());
    device_.driver.check(device_.driver.graph_add_kernel(&node.handle, graph_, after.data(), after.size(), &kernel),
                         "cuGraphAddKernelNode");
}

void CudaProgram::add_pieces(Node &node, const std::vector<CUgraphNode> &after, const ProgramStep &step)
{
    node.kernel = kernel_of(device_.piece_mover(), pieces::geometry(step.pieces));
    node.first_piece = pieces_added_;
    node.piece_count = step.pieces.size();
    pieces_added_ += node.piece_count;
    set_pieces(nodes_.size() - 1, step.pieces);
    pieces::Entry *entries = pieces_->at(node.first_piece);
    add_kernel(node, after, {&entries});
}

void CudaProgram::add_wait(Node &node, const std::vector<CUgraphNode> &after)
{
    node.event = device_.events.take();
    device_.driver.check(device_.driver.graph_add_wait(&node.handle, graph_, after.data(), after.size(), node.event),
                         "cuGraphAddEventWaitNode");
}

void CudaProgram::add_copy(Node &node, const std::vector<CUgraphNode> &after, const ProgramStep &step)
{
    const Driver &driver = device_.driver;
    node.copy = copy_of(step);
    node.to = step.to;
    node.from = step.from;
    driver.check(driver.graph_add_copy(&node.handle, graph_, after.data(), after.size(), &node.copy, device_.context()),
                 "cuGraphAddMemcpyNode");
}

void CudaProgram::add(const ProgramStep &step)
{
    std::vector<CUgraphNode> after;

    for (std::size_t other : step.after)
        after.push_back(nodes_[other].handle);
    Node &node = nodes_.emplace_back();
    if (step.waits) {
        add_wait(node, after);
    } else if (!step.pieces.empty()) {
        add_pieces(node, after, step);
    } else if (step.code) {
        node.kernel = kernel_of(static_cast<const CudaCode &>(*step.code).function(), step.geometry);
        add_kernel(node, after, step.arguments);
    } else {
        add_copy(node, after, step);
    }
}

void CudaProgram::set_kernel(std::size_t step, const std::vector<void *> &arguments)
{
    CUDA_KERNEL_NODE_PARAMS kernel = nodes_[step].kernel;
    kernel.kernelParams = const_cast<void **>(arguments.data());
    Entered entered(device_);
    device_.driver.check(device_.driver.exec_set_kernel(exec_, nodes_[step].handle, &kernel),
                         "cuGraphExecKernelNodeSetParams");
}

void CudaProgram::set_pieces(std::size_t step, const std::vector<Piece> &pieces)
{
    std::transform(pieces.begin(), pieces.end(), pieces_->at(nodes_[step].first_piece),
                   [](const Piece &piece) { return pieces::Entry(piece); });
}

std::shared_ptr<const void> CudaProgram::renew_pieces()
{
    if (!pieces_)
        return nullptr;
    const auto next = std::make_shared<Pieces>(pieces_->count);
    for (std::size_t step = 0; step < nodes_.size(); step++)
        if (const Node &node = nodes_[step]; node.piece_count) {
            pieces::Entry *entries = next->at(node.first_piece);
            set_kernel(step, {&entries});
        }
    return std::exchange(pieces_, next);
}

void CudaProgram::set_copy(std::size_t step, Address to, Address from)
{
    Node &node = nodes_[step];
    if (node.to == to && node.from == from)
        return;
    node.to = to;
    node.from = from;
    set_ends(node.copy, to, from);
    Entered entered(device_);
    device_.driver.check(device_.driver.exec_set_copy(exec_, node.handle, &node.copy, device_.context()),
                         "cuGraphExecMemcpyNodeSetParams");
}

void CudaProgram::signal(std::size_t step, CUstream stream)
{
    device_.driver.check(device_.driver.event_record(nodes_[step].event, stream), "cuEventRecord");
}

void CudaProgram::launch(CUstream stream)
{
    const Driver &driver = device_.driver;
    if (!uploaded_)
        driver.check(driver.graph_upload(exec_, stream), "cuGraphUpload");
    uploaded_ = true;
    driver.check(driver.graph_launch(exec_, stream), "cuGraphLaunch");
}

std::unique_ptr<Program> CudaDevice::make_program(const std::vector<ProgramStep> &steps)
{
    return std::make_unique<CudaProgram>(*this, steps);
}

} // namespace ptsched::device
