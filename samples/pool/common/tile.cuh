/* SPDX-License-Identifier: MIT */
/* What functions that multiply tiles of matrices have in common. A group is 128 threads, four warps. */
#ifndef SAMPLES_POOL_COMMON_TILE_CUH
#define SAMPLES_POOL_COMMON_TILE_CUH

#include "samples/common/unrolled.cuh"

namespace ptsched::samples {

constexpr unsigned int group_threads = 128;
constexpr unsigned int tile_size = 64;
/* In shared memory, rows are so many elements apart: then no two lanes of a warp want the same bank. */
constexpr unsigned int tile_pitch = 68;

template <typename T> using Tile = T[tile_size][tile_pitch];

/* 16 bytes to shared memory, which nobody waits for before wait_for_copies(). Not through the first cache. */
#ifdef VGPU
inline void copy_async(void *to, const void *from)
{
    std::memcpy(to, from, 16);
}

inline void commit_copies() {}

template <int Pending> void wait_for_copies() {}
#else
__device__ inline void copy_async(void *to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                 :
                 : "r"(static_cast<unsigned int>(__cvta_generic_to_shared(to))), "l"(from)
                 : "memory");
}

__device__ inline void commit_copies()
{
    asm volatile("cp.async.commit_group;" : : : "memory");
}

/* Until no more than so many groups of the thread's copies are still on their way. */
template <int Pending> __device__ void wait_for_copies()
{
    asm volatile("cp.async.wait_group %0;" : : "n"(Pending) : "memory");
}
#endif

/* @Rows x @Columns elements, by @threads threads of which this is number @rank. */
template <unsigned int Rows, unsigned int Columns, typename T>
__device__ void copy_part(T *to, unsigned int to_pitch, const T *from, unsigned int from_pitch, unsigned int rank,
                          unsigned int threads)
{
    constexpr unsigned int elements = 16 / sizeof(T), in_row = Columns / elements;
    for (unsigned int i = rank; i < Rows * in_row; i += threads) {
        const unsigned int row = i / in_row, column = i % in_row * elements;
        copy_async(to + row * to_pitch + column, from + row * from_pitch + column);
    }
}

/*
 * A warp multiplies 16 x 8 by 8 x 8 elements on its tensor cores: what each lane has of them is in the PTX ISA,
 * "Matrix Fragments for mma.m16n8k8", of .f64.
 */
#ifdef VGPU
inline void multiply_add(double (&sum)[4], const double (&a)[4], const double (&b)[2])
{
    double left[16][8], right[8][8];
    for (unsigned int i = 0; i < 4; i++) {
        const vgpu::Meeting all(0xffffffff, vgpu::to_word(a[i]));
        for (unsigned int lane = 0; lane < 32; lane++)
            left[lane / 4 + i % 2 * 8][lane % 4 + i / 2 * 4] = vgpu::from_word<double>(all.values[lane]);
    }
    for (unsigned int i = 0; i < 2; i++) {
        const vgpu::Meeting all(0xffffffff, vgpu::to_word(b[i]));
        for (unsigned int lane = 0; lane < 32; lane++)
            right[lane % 4 + i * 4][lane / 4] = vgpu::from_word<double>(all.values[lane]);
    }
    const unsigned int lane = vgpu::lane();
    for (unsigned int i = 0; i < 4; i++)
        for (unsigned int k = 0; k < 8; k++)
            sum[i] += left[lane / 4 + i / 2 * 8][k] * right[k][lane % 4 * 2 + i % 2];
}
#else
__device__ inline void multiply_add(double (&sum)[4], const double (&a)[4], const double (&b)[2])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+d"(sum[0]), "+d"(sum[1]), "+d"(sum[2]), "+d"(sum[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
}
#endif

/* Whether the right factor lies in shared memory as it is, or its transpose does. */
enum class Right { plain, transposed };

/*
 * Adds to a warp's 16 x 8 elements the product of as many rows of @a, from @row and @a_k on, and columns of @b, from
 * @b_k and @column on, over @Depth.
 */
template <unsigned int Depth, Right Form>
__device__ void multiply_parts(double (&sum)[4], const Tile<double> &a, unsigned int row, unsigned int a_k,
                               const Tile<double> &b, unsigned int b_k, unsigned int column, unsigned int lane)
{
    const unsigned int four = lane % 4, eighth = lane / 4;
    UNROLLED
    for (unsigned int step = 0; step < Depth; step += 8) {
        double left[4], right[2];
        for (unsigned int i = 0; i < 4; i++)
            left[i] = a[row + eighth + i % 2 * 8][a_k + step + four + i / 2 * 4];
        for (unsigned int i = 0; i < 2; i++) {
            const unsigned int at = b_k + step + four + i * 4;
            right[i] = Form == Right::plain ? b[at][column + eighth] : b[column + eighth][at];
        }
        multiply_add(sum, left, right);
    }
}

/* A group's sum of 64 x 64 doubles: each warp has a quarter, of 2 x 4 fragments. */
class SumOfDoubles {
public:
    /* @rank: of the thread in its group. */
    __device__ explicit SumOfDoubles(unsigned int rank)
        : row_(rank / 64 * 32 + rank % 32 / 4), column_(rank / 32 % 2 * 32), four_(rank % 4), eighth_(rank % 32 / 4)
    {
    }

    /* Adds products of columns @k to @k + @Depth - 1 of @a and rows of @b. */
    template <unsigned int Depth, Right Form>
    __device__ void add(const Tile<double> &a, const Tile<double> &b, unsigned int k)
    {
        UNROLLED
        for (unsigned int step = k; step < k + Depth; step += 8) {
            double left[2][4], right[4][2];
            for (unsigned int i = 0; i < 8; i++)
                left[i / 4][i % 4] = a[row_ + i / 4 * 16 + i % 2 * 8][step + four_ + i / 2 % 2 * 4];
            for (unsigned int i = 0; i < 8; i++) {
                const unsigned int at = step + four_ + i % 2 * 4, column = column_ + i / 2 * 8 + eighth_;
                right[i / 2][i % 2] = Form == Right::plain ? b[at][column] : b[column][at];
            }
            for (unsigned int i = 0; i < 8; i++)
                multiply_add(sums_[i / 4][i % 4], left[i / 4], right[i % 4]);
        }
    }

    /* @function(row, column, x, y) for each two neighbours that the thread has. */
    template <typename Function> __device__ void for_each(Function function)
    {
        UNROLLED
        for (unsigned int i = 0; i < 16; i++) {
            double(&sum)[4] = sums_[i / 8][i / 2 % 4];
            const unsigned int half = i % 2;
            function(row_ + i / 8 * 16 + half * 8, column_ + i / 2 % 4 * 8 + four_ * 2, sum[half * 2],
                     sum[half * 2 + 1]);
        }
    }

private:
    const unsigned int row_, column_, four_, eighth_;
    double sums_[2][4][4]{};
};

} // namespace ptsched::samples

#endif /* SAMPLES_POOL_COMMON_TILE_CUH */
