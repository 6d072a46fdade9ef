// SPDX-License-Identifier: MIT
/*
 * The kernels of the paper's programs: inputs, then outputs, then one structure by value. For a real GPU (nvcc) and for
 * the virtual one (vgpu-cc), where the threads of a block run one after another: there, the first thread of a block
 * does each phase between two barriers for all of them.
 */
#include "samples/ptask/paper/parameters.h"

#ifdef VGPU
#define SHARED static thread_local
#define EACH_THREAD(t)                                                                                                 \
    if (threadIdx.x == 0)                                                                                              \
        for (unsigned int t = 0; t < blockDim.x; t++)
#define BARRIER()
#else
#define SHARED __shared__
#define EACH_THREAD(t) for (unsigned int t = threadIdx.x, phase = 0; phase == 0; phase++)
#define BARRIER() __syncthreads()
#endif

struct Sum {
    template <typename T> static __device__ T of(T a, T b) { return a + b; }
};

struct Maximum {
    template <typename T> static __device__ T of(T a, T b) { return a < b ? b : a; }
};

/* Of one value for each thread of the block; the result is the first. */
template <typename Operation, typename T> __device__ inline void reduce(T *values)
{
    for (unsigned int half = PAPER_THREADS / 2; half; half /= 2) {
        BARRIER();
        EACH_THREAD(t)
        {
            if (t < half)
                values[t] = Operation::of(values[t], values[t + half]);
        }
    }
    BARRIER();
}

/* For 16 x 16 threads, each of which computes 2 x 2 elements. */
extern "C" __global__ void gemm(const float *a, const float *b, float *c, Size size)
{
    unsigned int n = size.n, x = threadIdx.x, y = threadIdx.y;
    unsigned int row = blockIdx.y * PAPER_TILE + 2 * y, column = blockIdx.x * PAPER_TILE + 2 * x;
    float sum[2][2] = {{0, 0}, {0, 0}};
#ifdef VGPU
    for (unsigned int i = 0; i < 2 && row + i < n; i++)
        for (unsigned int j = 0; j < 2 && column + j < n; j++)
            for (unsigned int k = 0; k < n; k++)
                sum[i][j] += a[(row + i) * n + k] * b[k * n + column + j];
#else
    __shared__ float as[PAPER_TILE][PAPER_TILE + 1];
    __shared__ __align__(8) float bs[PAPER_TILE][PAPER_TILE + 2];
    unsigned int thread = y * 16 + x, tile_x = thread % PAPER_TILE, tile_y = thread / PAPER_TILE;
    for (unsigned int first = 0; first < n; first += PAPER_TILE) {
#pragma unroll
        for (unsigned int i = tile_y; i < PAPER_TILE; i += 8) {
            unsigned int ar = blockIdx.y * PAPER_TILE + i, bc = blockIdx.x * PAPER_TILE + tile_x;
            as[i][tile_x] = ar < n && first + tile_x < n ? a[ar * n + first + tile_x] : 0.0f;
            bs[i][tile_x] = bc < n && first + i < n ? b[(first + i) * n + bc] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (unsigned int k = 0; k < PAPER_TILE; k++) {
            float a0 = as[2 * y][k], a1 = as[2 * y + 1][k];
            float2 bk = *reinterpret_cast<const float2 *>(&bs[k][2 * x]);
            sum[0][0] += a0 * bk.x;
            sum[0][1] += a0 * bk.y;
            sum[1][0] += a1 * bk.x;
            sum[1][1] += a1 * bk.y;
        }
        __syncthreads();
    }
#endif
    for (unsigned int i = 0; i < 2 && row + i < n; i++)
        for (unsigned int j = 0; j < 2 && column + j < n; j++)
            c[(row + i) * n + column + j] = sum[i][j];
}

extern "C" __global__ void madd(const float *a, const float *b, float *c, Size size)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size.n)
        c[i] = a[i] + b[i];
}

extern "C" __global__ void mcopy(const float *a, float *c, Size size)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size.n)
        c[i] = a[i];
}

/* What a task costs that does nothing. */
extern "C" __global__ void nothing(const float *, const float *, float *) {}

/*
 * Of the two rows, @from is the one that holds the values; returns the one that does afterwards. The values are in
 * bitonic order; what has no bit of the mask in its number is brought into ascending order, the others into descending.
 */
__device__ inline unsigned int merge(unsigned int (*rows)[PAPER_ROW], unsigned int from, unsigned int level,
                                     unsigned int mask)
{
    for (unsigned int distance = level / 2; distance; distance /= 2) {
        EACH_THREAD(t)
        {
            unsigned int low = rows[from][t & ~distance], high = rows[from][t | distance];
            bool descending = mask & (blockIdx.x * PAPER_ROW + t);
            rows[1 - from][t] = rows[from][(low <= high) == descending ? t ^ distance : t];
        }
        BARRIER();
        from = 1 - from;
    }
    return from;
}

/* Sorts each row by itself, in alternating directions. */
extern "C" __global__ void sort_rows(const unsigned int *in, unsigned int *out)
{
    SHARED unsigned int rows[2][PAPER_ROW];
    unsigned int now = 0;
    EACH_THREAD(t)
    {
        rows[0][t] = in[blockIdx.x * PAPER_ROW + t];
    }
    BARRIER();
    for (unsigned int level = 2; level <= PAPER_ROW; level *= 2)
        now = merge(rows, now, level, level);
    EACH_THREAD(t)
    {
        out[blockIdx.x * PAPER_ROW + t] = rows[now][t];
    }
}

/* The comparisons of one level whose distance is less than a row; those of more are this on the transposed matrix. */
extern "C" __global__ void sort_level(const unsigned int *in, unsigned int *out, Level level)
{
    SHARED unsigned int rows[2][PAPER_ROW];
    EACH_THREAD(t)
    {
        rows[0][t] = in[blockIdx.x * PAPER_ROW + t];
    }
    BARRIER();
    unsigned int now = merge(rows, 0, level.level, level.mask);
    EACH_THREAD(t)
    {
        out[blockIdx.x * PAPER_ROW + t] = rows[now][t];
    }
}

extern "C" __global__ void transpose(const unsigned int *in, unsigned int *out, Plane plane)
{
    SHARED unsigned int tile[16][17];
    unsigned int left = blockIdx.x * 16, top = blockIdx.y * 16;
    EACH_THREAD(t)
    {
        unsigned int x = left + t % 16, y = top + t / 16;
        if (x < plane.width && y < plane.height)
            tile[t / 16][t % 16] = in[y * plane.width + x];
    }
    BARRIER();
    EACH_THREAD(t)
    {
        unsigned int x = left + t / 16, y = top + t % 16;
        if (x < plane.width && y < plane.height)
            out[x * plane.height + y] = tile[t % 16][t / 16];
    }
}

/* The value of the neighbour along an axis, 0 beyond the walls. */
__device__ inline float neighbour(const float *field, const Curl &curl, unsigned int x, unsigned int y, unsigned int z,
                                  unsigned int axis)
{
    unsigned int at[3] = {x, y, z}, limits[3] = {curl.nx, curl.ny, curl.nz};
    at[axis] += curl.neighbour; /* before the first: larger than every limit */
    return at[axis] < limits[axis] ? field[(at[2] * curl.ny + at[1]) * curl.nx + at[0]] : 0.0f;
}

/*
 * A component of the field after a step of time, from itself and from two of the other field. An electric one
 * (neighbour -1) is 0 on the walls that it is parallel to.
 */
__device__ inline float advanced(const float *self, const float *p, const float *q, const Curl &curl, unsigned int i)
{
    unsigned int x = i % curl.nx, y = i / curl.nx % curl.ny, z = i / (curl.nx * curl.ny), at[3] = {x, y, z};
    if (curl.neighbour < 0 && (at[curl.axis_p] == 0 || at[curl.axis_q] == 0))
        return 0;
    float dp = neighbour(p, curl, x, y, z, curl.axis_p) - p[i], dq = neighbour(q, curl, x, y, z, curl.axis_q) - q[i];
    return self[i] + curl.step * static_cast<float>(curl.neighbour) * (dp - dq);
}

extern "C" __global__ void fdtd(const float *self, const float *p, const float *q, float *out, Curl curl)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < curl.nx * curl.ny * curl.nz)
        out[i] = advanced(self, p, q, curl, i);
}

/* With a current that drives it. */
extern "C" __global__ void fdtd_driven(const float *self, const float *p, const float *q, const float *current,
                                       float *out, Curl curl)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < curl.nx * curl.ny * curl.nz)
        out[i] = advanced(self, p, q, curl, i) - curl.step * current[i];
}

/* A column of a square matrix. */
extern "C" __global__ void column(const float *matrix, float *out, Column column)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < column.n)
        out[i] = matrix[i * column.n + column.which];
}

/* matrix * vector: a block for each row. */
extern "C" __global__ void gemv(const float *matrix, const float *vector, float *out, Size size)
{
    SHARED float sums[PAPER_THREADS];
    EACH_THREAD(t)
    {
        sums[t] = 0;
        for (unsigned int i = t; i < size.n; i += PAPER_THREADS)
            sums[t] += matrix[blockIdx.x * size.n + i] * vector[i];
    }
    reduce<Sum>(sums);
    if (threadIdx.x == 0)
        out[blockIdx.x] = sums[0];
}

/* The transposed matrix * vector: a block for 32 columns, 8 threads for each. */
extern "C" __global__ void gemv_t(const float *matrix, const float *vector, float *out, Size size)
{
    SHARED float sums[PAPER_THREADS];
    EACH_THREAD(t)
    {
        unsigned int column = blockIdx.x * 32 + t % 32;
        sums[t] = 0;
        for (unsigned int i = t / 32; column < size.n && i < size.n; i += PAPER_THREADS / 32)
            sums[t] += matrix[i * size.n + column] * vector[i];
    }
    BARRIER();
    EACH_THREAD(t)
    {
        float sum = 0;
        if (t < 32 && blockIdx.x * 32 + t < size.n) {
            for (unsigned int group = 0; group < PAPER_THREADS / 32; group++)
                sum += sums[group * 32 + t];
            out[blockIdx.x * 32 + t] = sum;
        }
    }
}

/* The dot product of two vectors, by one block, in sums[0]. */
__device__ inline void dot(const float *a, const float *b, unsigned int n, float *sums)
{
    BARRIER();
    EACH_THREAD(t)
    {
        sums[t] = 0;
        for (unsigned int i = t; i < n; i += PAPER_THREADS)
            sums[t] += a[i] * b[i];
    }
    reduce<Sum>(sums);
}

extern "C" __global__ void magnitude(const float *vector, float *out, Size size)
{
    SHARED float sums[PAPER_THREADS];
    dot(vector, vector, size.n, sums);
    if (threadIdx.x == 0)
        *out = sqrtf(sums[0]);
}

extern "C" __global__ void divide(const float *vector, const float *by, float *out, Size size)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size.n)
        out[i] = vector[i] / *by;
}

extern "C" __global__ void multiply(const float *vector, const float *by, float *out, Size size)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size.n)
        out[i] = vector[i] * *by;
}

/* Without what it has of one other vector. */
extern "C" __global__ void orthogonal(const float *vector, const float *other, float *out, Size size)
{
    SHARED float sums[PAPER_THREADS];
    dot(vector, other, size.n, sums);
    EACH_THREAD(t)
    {
        for (unsigned int i = t; i < size.n; i += PAPER_THREADS)
            out[i] = vector[i] - sums[0] * other[i];
    }
}

/* Without what it has of two others, which are orthogonal. */
extern "C" __global__ void orthogonal2(const float *vector, const float *first, const float *second, float *out,
                                       Size size)
{
    SHARED float sums[2][PAPER_THREADS];
    dot(vector, first, size.n, sums[0]);
    dot(vector, second, size.n, sums[1]);
    EACH_THREAD(t)
    {
        for (unsigned int i = t; i < size.n; i += PAPER_THREADS)
            out[i] = vector[i] - sums[0][0] * first[i] - sums[1][0] * second[i];
    }
}

/* matrix - column * row */
extern "C" __global__ void deflate(const float *matrix, const float *column, const float *row, float *out, Size size)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < size.n * size.n)
        out[i] = matrix[i] - column[i / size.n] * row[i % size.n];
}

/* How often each key is in each chunk: a block for a chunk. */
extern "C" __global__ void count_keys(const unsigned int *data, unsigned int *counts, Groups groups)
{
    SHARED unsigned int bins[PAPER_MAX_KEYS];
    EACH_THREAD(t)
    {
        for (unsigned int key = t; key < groups.keys; key += blockDim.x)
            bins[key] = 0;
    }
    BARRIER();
    EACH_THREAD(t)
    {
        for (unsigned int i = t; i < groups.chunk; i += blockDim.x)
            atomicAdd(&bins[data[blockIdx.x * groups.chunk + i] % groups.keys], 1u);
    }
    BARRIER();
    EACH_THREAD(t)
    {
        for (unsigned int key = t; key < groups.keys; key += blockDim.x)
            counts[blockIdx.x * groups.keys + key] = bins[key];
    }
}

/* How often each key is there: a block for a key. */
extern "C" __global__ void total_keys(const unsigned int *counts, unsigned int *totals, Groups groups)
{
    SHARED unsigned int sums[PAPER_THREADS];
    EACH_THREAD(t)
    {
        sums[t] = 0;
        for (unsigned int chunk = t; chunk < groups.chunks; chunk += PAPER_THREADS)
            sums[t] += counts[chunk * groups.keys + blockIdx.x];
    }
    reduce<Sum>(sums);
    if (threadIdx.x == 0)
        totals[blockIdx.x] = sums[0];
}

/* Where each key's group begins, and where the last one ends: one block with a thread for each key. */
extern "C" __global__ void scan_keys(const unsigned int *totals, unsigned int *offsets, Groups groups)
{
    SHARED unsigned int sums[2][PAPER_MAX_KEYS];
    unsigned int now = 0;
    EACH_THREAD(t)
    {
        sums[0][t] = totals[t];
    }
    BARRIER();
    for (unsigned int distance = 1; distance < groups.keys; distance *= 2) {
        EACH_THREAD(t)
        {
            sums[1 - now][t] = sums[now][t] + (t >= distance ? sums[now][t - distance] : 0);
        }
        BARRIER();
        now = 1 - now;
    }
    EACH_THREAD(t)
    {
        offsets[t + 1] = sums[now][t];
        if (t == 0)
            offsets[0] = 0;
    }
}

/* Where each chunk's part of each group begins: a thread for a key. */
extern "C" __global__ void place_chunks(const unsigned int *counts, const unsigned int *offsets, unsigned int *places,
                                        Groups groups)
{
    unsigned int key = blockIdx.x * blockDim.x + threadIdx.x;
    if (key >= groups.keys)
        return;
    unsigned int place = offsets[key];
    for (unsigned int chunk = 0; chunk < groups.chunks; chunk++) {
        places[chunk * groups.keys + key] = place;
        place += counts[chunk * groups.keys + key];
    }
}

extern "C" __global__ void scatter(const unsigned int *data, const unsigned int *places, unsigned int *grouped,
                                   Groups groups)
{
    SHARED unsigned int next[PAPER_MAX_KEYS];
    EACH_THREAD(t)
    {
        for (unsigned int key = t; key < groups.keys; key += blockDim.x)
            next[key] = places[blockIdx.x * groups.keys + key];
    }
    BARRIER();
    EACH_THREAD(t)
    {
        for (unsigned int i = t; i < groups.chunk; i += blockDim.x) {
            unsigned int value = data[blockIdx.x * groups.chunk + i];
            grouped[atomicAdd(&next[value % groups.keys], 1u)] = value;
        }
    }
}

/* Of each group, by a block for each. */
template <typename Operation>
__device__ inline void aggregate(const unsigned int *grouped, const unsigned int *offsets, unsigned int *out,
                                 unsigned int *values)
{
    unsigned int end = offsets[blockIdx.x + 1];
    EACH_THREAD(t)
    {
        values[t] = 0;
        for (unsigned int i = offsets[blockIdx.x] + t; i < end; i += PAPER_THREADS)
            values[t] = Operation::of(values[t], grouped[i]);
    }
    reduce<Operation>(values);
    if (threadIdx.x == 0)
        out[blockIdx.x] = values[0];
}

extern "C" __global__ void sum_groups(const unsigned int *grouped, const unsigned int *offsets, unsigned int *out)
{
    SHARED unsigned int values[PAPER_THREADS];
    aggregate<Sum>(grouped, offsets, out, values);
}

extern "C" __global__ void largest_of_groups(const unsigned int *grouped, const unsigned int *offsets,
                                             unsigned int *out)
{
    SHARED unsigned int values[PAPER_THREADS];
    aggregate<Maximum>(grouped, offsets, out, values);
}

/* A camera's pixels (depth in millimetres, and brightness above bit 15) as distances from the screen, in metres. */
extern "C" __global__ void xform(const unsigned int *pixels, float *cloud, Camera camera)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= camera.width * camera.height)
        return;
    unsigned int depth = pixels[i] & 0xffff, brightness = pixels[i] >> 16;
    float z = brightness < 8 ? 8.0f : static_cast<float>(depth) * 0.001f;
    float x = (static_cast<float>(i % camera.width) - 0.5f * static_cast<float>(camera.width)) / camera.focal * z;
    cloud[i] = z * camera.cosine - x * camera.sine + camera.offset;
}

/* The nearer of two clouds, without noise and with its edges. */
extern "C" __global__ void bilateral(const float *left, const float *right, float *out, Bilateral filter)
{
    int width = static_cast<int>(filter.width), height = static_cast<int>(filter.height);
    int radius = static_cast<int>(filter.radius);
    int x = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    int y = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= width || y >= height)
        return;
    float centre = fminf(left[y * width + x], right[y * width + x]), sum = 0, weights = 0;
    for (int dy = -radius; dy <= radius; dy++)
        for (int dx = -radius; dx <= radius; dx++) {
            if (x + dx < 0 || x + dx >= width || y + dy < 0 || y + dy >= height)
                continue;
            int at = (y + dy) * width + x + dx;
            float value = fminf(left[at], right[at]), difference = value - centre;
            float weight =
                expf(filter.space * static_cast<float>(dx * dx + dy * dy) + filter.range * difference * difference);
            sum += weight * value;
            weights += weight;
        }
    out[y * width + x] = sum / weights;
}
