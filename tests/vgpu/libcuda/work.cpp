// SPDX-License-Identifier: MIT
/* Kernels, copies and fills: what they do on the host and what they cost on the device. */
#include "tests/vgpu/libcuda/work.h"

#include "tests/vgpu/libcuda/own_addresses.h"

#include <algorithm>
#include <cstring>

namespace vgpu {

namespace {

/* A kernel that does not say what it costs: start-up, and little for each thread. */
constexpr std::uint64_t kernel_ns = 3000;
constexpr std::uint64_t threads_per_ns = 64;
/* The copy engine: start-up, and 20 GB/s. */
constexpr std::uint64_t copy_ns = 2000;
constexpr std::uint64_t copy_bytes_per_ns = 20;
constexpr std::uint64_t fill_ns = 2000;
constexpr std::uint64_t fill_bytes_per_ns = 1000;

/* What a caller may be held up by, where a real driver would return at once. */
constexpr std::uint64_t short_body_ns = 100000;
constexpr std::size_t short_copy = 64 << 10;

std::uint64_t threads_of(const vgpu_launch &launch)
{
    std::uint64_t threads = 1;
    for (int i = 0; i < 3; i++)
        threads *= std::uint64_t{launch.grid[i]} * launch.block[i];
    return threads;
}

void raise(std::atomic<std::uint64_t> &most, std::uint64_t value)
{
    std::uint64_t old = most.load();
    while (old < value && !most.compare_exchange_weak(old, value))
        ;
}

std::uint64_t run_kernel(const KernelCall &call)
{
    CUfunc_st &function = *call.function;
    const vgpu_kernel &kernel = *function.kernel;
    const auto &block = call.launch.block;
    std::vector<void *> params(kernel.param_count);
    std::uint64_t start = now_ns();

    for (std::uint32_t i = 0; i < kernel.param_count; i++)
        params[i] = const_cast<char *>(call.params.data()) + kernel.param_offsets[i];
    const std::uint64_t threads = std::uint64_t{block[0]} * block[1] * block[2];
    const GridCall grid{
        *function.module->table, kernel,           call.launch,
        params.data(),           call.cooperative, resident_blocks(function, threads, call.shared_bytes)};
    const vgpu_sum sum = state().own_addresses ? run_apart(function.module->device, grid) : run_grid(grid);
    if (sum.flags & VGPU_TRAPPED)
        return trapped;
    /* The first run of a program's code is slow, and so is one that was interrupted: that is forgotten by and by. */
    function.longest_ns = std::max(now_ns() - start, function.longest_ns - function.longest_ns / 4);
    /* Of one that waits for the host it stays unknown whether it is short. */
    if ((sum.flags | kernel.flags) & VGPU_MAY_WAIT)
        function.may_wait = true;
    else
        raise(function.most_threads, threads_of(call.launch));
    const bool cost_given = sum.flags & VGPU_COST_GIVEN && !(sum.flags & VGPU_WAITED);
    return cost_given ? sum.longest_ns : kernel_ns + threads_of(call.launch) / threads_per_ns;
}

bool known_to_be_short(const KernelCall &call)
{
    const CUfunc_st &function = *call.function;
    std::uint64_t most = function.most_threads;
    return most && !function.may_wait && threads_of(call.launch) <= most && function.longest_ns <= short_body_ns;
}

/* Where the driver finds what a device has at an address. */
char *device_memory(char *address)
{
    if (!state().own_addresses)
        return address;
    const Guard lock(state().lock);
    return behind(address);
}

std::uint64_t run_copy(const Copy &copy)
{
    const char *from = copy.from_device ? device_memory(const_cast<char *>(copy.from)) : copy.from;
    char *to = copy.to_device ? device_memory(copy.to) : copy.to;
    for (std::size_t z = 0; z < copy.depth; z++)
        for (std::size_t y = 0; y < copy.height; y++)
            std::memmove(to + z * copy.to_slice + y * copy.to_pitch, from + z * copy.from_slice + y * copy.from_pitch,
                         copy.width);
    return copy_ns + copy.width * copy.height * copy.depth / copy_bytes_per_ns;
}

template <typename T> void fill_row(char *to, T value, std::size_t count)
{
    std::fill_n(reinterpret_cast<T *>(to), count, value);
}

std::uint64_t run_fill(const Fill &fill)
{
    char *to = device_memory(fill.to);
    for (std::size_t y = 0; y < fill.height; y++) {
        char *row = to + y * fill.pitch;
        switch (fill.element_bytes) {
        case 1:
            fill_row(row, static_cast<std::uint8_t>(fill.value), fill.width);
            break;
        case 2:
            fill_row(row, static_cast<std::uint16_t>(fill.value), fill.width);
            break;
        default:
            fill_row(row, static_cast<std::uint32_t>(fill.value), fill.width);
        }
    }
    return fill_ns + fill.width * fill.height * fill.element_bytes / fill_bytes_per_ns;
}

} // namespace

Work kernel_work(KernelCall call)
{
    Work work;
    work.type = CU_GRAPH_NODE_TYPE_KERNEL;
    work.kernel = std::move(call);
    return work;
}

Work copy_work(const Copy &copy)
{
    Work work;
    work.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    work.copy = copy;
    return work;
}

Work fill_work(const Fill &fill)
{
    Work work;
    work.type = CU_GRAPH_NODE_TYPE_MEMSET;
    work.fill = fill;
    return work;
}

Work host_work(CUhostFn function, void *data)
{
    Work work;
    work.type = CU_GRAPH_NODE_TYPE_HOST;
    work.host = {function, data};
    return work;
}

Work wait_work(CUevent event)
{
    Work work;
    work.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT;
    work.event = event;
    return work;
}

Op make_op(const Work &work)
{
    Op op;

    switch (work.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        op.body = [call = work.kernel] { return run_kernel(call); };
        op.light = known_to_be_short(work.kernel);
        break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        op.body = [copy = work.copy] { return run_copy(copy); };
        op.runlist = copy;
        op.light = work.copy.width * work.copy.height * work.copy.depth <= short_copy;
        break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        op.body = [fill = work.fill] { return run_fill(fill); };
        op.light = work.fill.width * work.fill.height <= short_copy;
        break;
    case CU_GRAPH_NODE_TYPE_HOST:
        op.body = [host = work.host] {
            host.fn(host.userData);
            return std::uint64_t{0};
        };
        op.on_host = true;
        break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        /* As it is recorded now. */
        if (state().events.count(work.event) && work.event->marker)
            op.waits.push_back(work.event->marker);
        op.light = true;
        break;
    default:
        op.light = true;
    }
    return op;
}

CUresult dispatch(Guard &lock, const StreamPtr &stream, const Work &work)
{
    if (stream->capture)
        return capture_work(stream, work);
    VGPU_TRY(refuse_implicit(stream));
    return enqueue(lock, stream, make_op(work));
}

CUresult make_call(CUfunction function, const unsigned int grid[3], const unsigned int block[3],
                   unsigned int shared_bytes, void **params, void **extra, KernelCall &call)
{
    if (!function)
        return CUDA_ERROR_INVALID_HANDLE;
    const vgpu_kernel &kernel = *function->kernel;
    std::uint64_t threads = std::uint64_t{block[0]} * block[1] * block[2];
    if (!threads || threads > 1024 || !grid[0] || !grid[1] || !grid[2] || grid[1] > 65535 || grid[2] > 65535)
        return CUDA_ERROR_INVALID_VALUE;
    if (shared_bytes > static_cast<unsigned int>(function->most_shared_bytes))
        return CUDA_ERROR_INVALID_VALUE;
    call.function = function;
    std::copy_n(grid, 3, call.launch.grid);
    std::copy_n(block, 3, call.launch.block);
    call.shared_bytes = shared_bytes;
    call.params.assign(function->params_bytes, 0);
    if (extra) {
        const void *buffer = nullptr;
        std::size_t size = 0;
        for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
            if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
                buffer = extra[1];
            else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
                size = *static_cast<std::size_t *>(extra[1]);
            else
                return CUDA_ERROR_INVALID_VALUE;
        }
        if (params || !buffer || size < function->params_bytes)
            return CUDA_ERROR_INVALID_VALUE;
        std::memcpy(call.params.data(), buffer, function->params_bytes);
        return CUDA_SUCCESS;
    }
    if (kernel.param_count && !params)
        return CUDA_ERROR_INVALID_VALUE;
    for (std::uint32_t i = 0; i < kernel.param_count; i++)
        std::memcpy(call.params.data() + kernel.param_offsets[i], params[i], kernel.param_sizes[i]);
    return CUDA_SUCCESS;
}

namespace {

/* One end of a pitched copy: its first byte, or an error for what has no address here. */
CUresult end_of_copy(CUmemorytype type, const void *host, CUdeviceptr device, const char *&base)
{
    switch (type) {
    case CU_MEMORYTYPE_HOST:
        base = static_cast<const char *>(host);
        break;
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED:
        base = as_pointer<const char>(device);
        break;
    case CU_MEMORYTYPE_ARRAY:
        return CUDA_ERROR_NOT_SUPPORTED;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
    return base ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

template <typename Params>
CUresult make_box(const Params &p, std::size_t from_z, std::size_t to_z, std::size_t from_height, std::size_t to_height,
                  std::size_t depth, Copy &copy)
{
    const char *from = nullptr, *to = nullptr;

    VGPU_TRY(end_of_copy(p.srcMemoryType, p.srcHost, p.srcDevice, from));
    VGPU_TRY(end_of_copy(p.dstMemoryType, p.dstHost, p.dstDevice, to));
    copy.from_device = p.srcMemoryType != CU_MEMORYTYPE_HOST;
    copy.to_device = p.dstMemoryType != CU_MEMORYTYPE_HOST;
    copy.width = p.WidthInBytes;
    copy.height = p.Height;
    copy.depth = depth;
    copy.from_pitch = p.srcPitch ? p.srcPitch : p.srcXInBytes + p.WidthInBytes;
    copy.to_pitch = p.dstPitch ? p.dstPitch : p.dstXInBytes + p.WidthInBytes;
    if (copy.from_pitch < p.srcXInBytes + p.WidthInBytes || copy.to_pitch < p.dstXInBytes + p.WidthInBytes)
        return CUDA_ERROR_INVALID_VALUE;
    copy.from_slice = copy.from_pitch * (from_height ? from_height : p.Height);
    copy.to_slice = copy.to_pitch * (to_height ? to_height : p.Height);
    copy.from = from + from_z * copy.from_slice + p.srcY * copy.from_pitch + p.srcXInBytes;
    copy.to = const_cast<char *>(to) + to_z * copy.to_slice + p.dstY * copy.to_pitch + p.dstXInBytes;
    if (!copy.width || !copy.height || !copy.depth)
        return CUDA_SUCCESS;
    auto extent = [&](std::size_t pitch, std::size_t slice) {
        return (copy.depth - 1) * slice + (copy.height - 1) * pitch + copy.width;
    };
    const auto check_end = [&](CUmemorytype type, const char *begin, std::size_t bytes) {
        const auto address = reinterpret_cast<std::uintptr_t>(begin);
        return type == CU_MEMORYTYPE_DEVICE ? check_device_range(address, bytes)
               : type == CU_MEMORYTYPE_HOST ? check_host_range(address, bytes)
                                            : CUDA_SUCCESS;
    };
    VGPU_TRY(check_end(p.srcMemoryType, copy.from, extent(copy.from_pitch, copy.from_slice)));
    return check_end(p.dstMemoryType, copy.to, extent(copy.to_pitch, copy.to_slice));
}

} // namespace

CUresult make_copy(const CUDA_MEMCPY2D &from, Copy &copy)
{
    return make_box(from, 0, 0, 0, 0, 1, copy);
}

CUresult make_copy(const CUDA_MEMCPY3D &from, Copy &copy)
{
    return make_box(from, from.srcZ, from.dstZ, from.srcHeight, from.dstHeight, from.Depth, copy);
}

} // namespace vgpu
