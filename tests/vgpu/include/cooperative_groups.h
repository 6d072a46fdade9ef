/* SPDX-License-Identifier: MIT */
/* Cooperative groups on the virtual GPU: the grid, the block, and tiles of a warp. */
#ifndef VGPU_COOPERATIVE_GROUPS_H
#define VGPU_COOPERATIVE_GROUPS_H

#include "vgpu_cuda.h"

namespace cooperative_groups {

template <typename T> struct plus {
    T operator()(T a, T b) const { return a + b; }
};
template <typename T> struct less {
    T operator()(T a, T b) const { return b < a ? b : a; }
};
template <typename T> struct greater {
    T operator()(T a, T b) const { return a < b ? b : a; }
};

class thread_block {
public:
    static void sync() { __syncthreads(); }
    static unsigned int thread_rank() { return vgpu::rank_in_block(); }
    static unsigned int num_threads() { return blockDim.x * blockDim.y * blockDim.z; }
    static unsigned int size() { return num_threads(); }
    static dim3 thread_index() { return threadIdx; }
    static dim3 group_index() { return blockIdx; }
    static dim3 dim_threads() { return blockDim; }
    static dim3 group_dim() { return blockDim; }
};

/* Of a kernel that was launched as a cooperative one. */
class grid_group {
public:
    static bool is_valid() { return vgpu::calls->is_cooperative(); }
    static void sync() { vgpu::go_on(vgpu::calls->grid_barrier()); }
    static unsigned long long num_blocks()
    {
        return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
    }
    static unsigned long long block_rank()
    {
        return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    }
    static unsigned long long num_threads() { return num_blocks() * thread_block::num_threads(); }
    static unsigned long long size() { return num_threads(); }
    static unsigned long long thread_rank()
    {
        return block_rank() * thread_block::num_threads() + vgpu::rank_in_block();
    }
    static dim3 block_index() { return blockIdx; }
    static dim3 dim_blocks() { return gridDim; }
    static dim3 group_dim() { return gridDim; }
};

/* Neighbouring threads of a warp, a power of two of them. */
template <unsigned int Size> class thread_block_tile {
    static_assert(Size && Size <= VGPU_WARP_THREADS && (Size & (Size - 1)) == 0,
                  "a tile has 1, 2, 4, 8, 16 or 32 threads");

public:
    static void sync() { __syncwarp(mask()); }
    static constexpr unsigned int num_threads() { return Size; }
    static constexpr unsigned int size() { return Size; }
    static unsigned int thread_rank() { return vgpu::lane() % Size; }
    static unsigned int meta_group_rank() { return vgpu::rank_in_block() / Size; }
    static unsigned int meta_group_size() { return (thread_block::num_threads() + Size - 1) / Size; }

    template <typename T> static T shfl(T value, int from)
    {
        return __shfl_sync(mask(), value, from, static_cast<int>(Size));
    }
    template <typename T> static T shfl_up(T value, unsigned int by)
    {
        return __shfl_up_sync(mask(), value, by, static_cast<int>(Size));
    }
    template <typename T> static T shfl_down(T value, unsigned int by)
    {
        return __shfl_down_sync(mask(), value, by, static_cast<int>(Size));
    }
    template <typename T> static T shfl_xor(T value, unsigned int with)
    {
        return __shfl_xor_sync(mask(), value, static_cast<int>(with), static_cast<int>(Size));
    }
    static int any(int predicate) { return __any_sync(mask(), predicate); }
    static int all(int predicate) { return __all_sync(mask(), predicate); }
    static unsigned int ballot(int predicate) { return __ballot_sync(mask(), predicate) >> first(); }
    template <typename T> static unsigned int match_any(T value) { return __match_any_sync(mask(), value) >> first(); }
    template <typename T, typename Function> static T reduced(T value, Function function)
    {
        return vgpu::reduce(mask(), value, function);
    }

private:
    static unsigned int first() { return vgpu::lane() / Size * Size; }
    static unsigned int mask() { return 0xffffffffu >> (VGPU_WARP_THREADS - Size) << first(); }
};

inline thread_block this_thread_block()
{
    return {};
}

inline grid_group this_grid()
{
    return {};
}

template <unsigned int Size, typename Group> thread_block_tile<Size> tiled_partition(const Group &)
{
    return {};
}

template <typename Group> void sync(const Group &group)
{
    group.sync();
}

template <unsigned int Size, typename T, typename Function>
T reduce(const thread_block_tile<Size> &tile, T value, Function function)
{
    return tile.reduced(value, function);
}

} // namespace cooperative_groups

#endif /* VGPU_COOPERATIVE_GROUPS_H */
