// SPDX-License-Identifier: MIT
// The kernels of kernels.cu in OpenCL C 1.2: inputs, then outputs, then one structure. It is in constant memory, since
// OpenCL does not tell the size of a structure that is passed by value. A work-group is what a block of threads is there.
#include "samples/ptask/paper/parameters.h"

#define SUM(a, b) ((a) + (b))

// Of one value for each work-item of the group; the result is the first.
#define REDUCE(name, type, operation)                                                                                  \
    void name(__local type *values)                                                                                    \
    {                                                                                                                  \
        uint t = get_local_id(0);                                                                                      \
        for (uint count = PAPER_THREADS / 2; count; count /= 2) {                                                      \
            barrier(CLK_LOCAL_MEM_FENCE);                                                                              \
            if (t < count)                                                                                             \
                values[t] = operation(values[t], values[t + count]);                                                   \
        }                                                                                                              \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                  \
    }

REDUCE(sum_floats, float, SUM)
REDUCE(sum_integers, uint, SUM)
REDUCE(largest_integer, uint, max)

// For groups of 16 x 16, each item of which computes 2 x 2 elements.
__kernel void gemm(__global const float *a, __global const float *b, __global float *c, __constant struct Size *size)
{
    uint n = size->n, row = 2 * get_global_id(1), column = 2 * get_global_id(0);
    for (uint i = row; i < min(row + 2, n); i++)
        for (uint j = column; j < min(column + 2, n); j++) {
            float sum = 0;
            for (uint k = 0; k < n; k++)
                sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

__kernel void madd(__global const float *a, __global const float *b, __global float *c, __constant struct Size *size)
{
    uint i = get_global_id(0);
    if (i < size->n)
        c[i] = a[i] + b[i];
}

__kernel void mcopy(__global const float *a, __global float *c, __constant struct Size *size)
{
    uint i = get_global_id(0);
    if (i < size->n)
        c[i] = a[i];
}

// What a task costs that does nothing.
__kernel void nothing(__global const float *a, __global const float *b, __global float *c) {}

// Of the two rows, @from is the one that holds the values; returns the one that does afterwards. The values are in
// bitonic order; what has no bit of the mask in its number is brought into ascending order, the others into descending.
uint merge(__local uint (*rows)[PAPER_ROW], uint from, uint level, uint mask)
{
    uint t = get_local_id(0);
    bool descending = mask & get_global_id(0);
    for (uint apart = level / 2; apart; apart /= 2) {
        uint low = rows[from][t & ~apart], high = rows[from][t | apart];
        rows[1 - from][t] = rows[from][(low <= high) == descending ? t ^ apart : t];
        barrier(CLK_LOCAL_MEM_FENCE);
        from = 1 - from;
    }
    return from;
}

// Sorts each row by itself, in alternating directions.
__kernel void sort_rows(__global const uint *in, __global uint *out)
{
    __local uint rows[2][PAPER_ROW];
    uint now = 0;
    rows[0][get_local_id(0)] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint level = 2; level <= PAPER_ROW; level *= 2)
        now = merge(rows, now, level, level);
    out[get_global_id(0)] = rows[now][get_local_id(0)];
}

// The comparisons of one level whose distance is less than a row; those of more are this on the transposed matrix.
__kernel void sort_level(__global const uint *in, __global uint *out, __constant struct Level *level)
{
    __local uint rows[2][PAPER_ROW];
    rows[0][get_local_id(0)] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint now = merge(rows, 0, level->level, level->mask);
    out[get_global_id(0)] = rows[now][get_local_id(0)];
}

// A group of 256 for 16 x 16 elements, which writes what is next to each other.
__kernel void transpose(__global const uint *in, __global uint *out, __constant struct Plane *plane)
{
    uint x = get_group_id(0) * 16 + get_local_id(0) / 16, y = get_group_id(1) * 16 + get_local_id(0) % 16;
    if (x < plane->width && y < plane->height)
        out[x * plane->height + y] = in[y * plane->width + x];
}

// The value of the neighbour along an axis, 0 beyond the walls.
float neighbour(__global const float *field, __constant struct Curl *curl, uint x, uint y, uint z, uint axis)
{
    uint at[3] = {x, y, z}, limits[3] = {curl->nx, curl->ny, curl->nz};
    at[axis] += curl->neighbour; // before the first: larger than every limit
    return at[axis] < limits[axis] ? field[(at[2] * curl->ny + at[1]) * curl->nx + at[0]] : 0;
}

// A component of the field after a step of time, from itself and from two of the other field. An electric one
// (neighbour -1) is 0 on the walls that it is parallel to.
float advanced(__global const float *self, __global const float *p, __global const float *q,
               __constant struct Curl *curl, uint i)
{
    uint x = i % curl->nx, y = i / curl->nx % curl->ny, z = i / (curl->nx * curl->ny), at[3] = {x, y, z};
    if (curl->neighbour < 0 && (at[curl->axis_p] == 0 || at[curl->axis_q] == 0))
        return 0;
    float dp = neighbour(p, curl, x, y, z, curl->axis_p) - p[i], dq = neighbour(q, curl, x, y, z, curl->axis_q) - q[i];
    return self[i] + curl->step * curl->neighbour * (dp - dq);
}

__kernel void fdtd(__global const float *self, __global const float *p, __global const float *q, __global float *out,
                   __constant struct Curl *curl)
{
    uint i = get_global_id(0);
    if (i < curl->nx * curl->ny * curl->nz)
        out[i] = advanced(self, p, q, curl, i);
}

// With a current that drives it.
__kernel void fdtd_driven(__global const float *self, __global const float *p, __global const float *q,
                          __global const float *current, __global float *out, __constant struct Curl *curl)
{
    uint i = get_global_id(0);
    if (i < curl->nx * curl->ny * curl->nz)
        out[i] = advanced(self, p, q, curl, i) - curl->step * current[i];
}

// A column of a square matrix.
__kernel void column(__global const float *matrix, __global float *out, __constant struct Column *column)
{
    uint i = get_global_id(0);
    if (i < column->n)
        out[i] = matrix[i * column->n + column->which];
}

// matrix * vector: a group for each row.
__kernel void gemv(__global const float *matrix, __global const float *vector, __global float *out,
                   __constant struct Size *size)
{
    __local float sums[PAPER_THREADS];
    uint t = get_local_id(0), row = get_group_id(0);
    float sum = 0;
    for (uint i = t; i < size->n; i += PAPER_THREADS)
        sum += matrix[row * size->n + i] * vector[i];
    sums[t] = sum;
    sum_floats(sums);
    if (t == 0)
        out[row] = sums[0];
}

// The transposed matrix * vector: a group for 32 columns, 8 items for each.
__kernel void gemv_t(__global const float *matrix, __global const float *vector, __global float *out,
                     __constant struct Size *size)
{
    __local float sums[PAPER_THREADS];
    uint t = get_local_id(0), column = get_group_id(0) * 32 + t % 32;
    float sum = 0;
    for (uint i = t / 32; column < size->n && i < size->n; i += PAPER_THREADS / 32)
        sum += matrix[i * size->n + column] * vector[i];
    sums[t] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t < 32 && column < size->n) {
        for (uint group = 1; group < PAPER_THREADS / 32; group++)
            sum += sums[group * 32 + t];
        out[column] = sum;
    }
}

// The dot product of two vectors, by one group, in sums[0].
void product(__global const float *a, __global const float *b, uint n, __local float *sums)
{
    uint t = get_local_id(0);
    float sum = 0;
    for (uint i = t; i < n; i += PAPER_THREADS)
        sum += a[i] * b[i];
    sums[t] = sum;
    sum_floats(sums);
}

__kernel void magnitude(__global const float *vector, __global float *out, __constant struct Size *size)
{
    __local float sums[PAPER_THREADS];
    product(vector, vector, size->n, sums);
    if (get_local_id(0) == 0)
        *out = sqrt(sums[0]);
}

__kernel void divide(__global const float *vector, __global const float *by, __global float *out,
                     __constant struct Size *size)
{
    uint i = get_global_id(0);
    if (i < size->n)
        out[i] = vector[i] / *by;
}

__kernel void multiply(__global const float *vector, __global const float *by, __global float *out,
                       __constant struct Size *size)
{
    uint i = get_global_id(0);
    if (i < size->n)
        out[i] = vector[i] * *by;
}

// Without what it has of one other vector.
__kernel void orthogonal(__global const float *vector, __global const float *other, __global float *out,
                         __constant struct Size *size)
{
    __local float sums[PAPER_THREADS];
    product(vector, other, size->n, sums);
    for (uint i = get_local_id(0); i < size->n; i += PAPER_THREADS)
        out[i] = vector[i] - sums[0] * other[i];
}

// Without what it has of two others, which are orthogonal.
__kernel void orthogonal2(__global const float *vector, __global const float *first, __global const float *second,
                          __global float *out, __constant struct Size *size)
{
    __local float sums[2][PAPER_THREADS];
    product(vector, first, size->n, sums[0]);
    product(vector, second, size->n, sums[1]);
    for (uint i = get_local_id(0); i < size->n; i += PAPER_THREADS)
        out[i] = vector[i] - sums[0][0] * first[i] - sums[1][0] * second[i];
}

// matrix - column * row
__kernel void deflate(__global const float *matrix, __global const float *column, __global const float *row,
                      __global float *out, __constant struct Size *size)
{
    uint i = get_global_id(0);
    if (i < size->n * size->n)
        out[i] = matrix[i] - column[i / size->n] * row[i % size->n];
}

// How often each key is in each chunk: a group for a chunk.
__kernel void count_keys(__global const uint *data, __global uint *counts, __constant struct Groups *groups)
{
    __local uint bins[PAPER_MAX_KEYS];
    uint t = get_local_id(0), chunk = get_group_id(0), items = get_local_size(0);
    for (uint key = t; key < groups->keys; key += items)
        bins[key] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = t; i < groups->chunk; i += items)
        atomic_inc(&bins[data[chunk * groups->chunk + i] % groups->keys]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint key = t; key < groups->keys; key += items)
        counts[chunk * groups->keys + key] = bins[key];
}

// How often each key is there: a group for a key.
__kernel void total_keys(__global const uint *counts, __global uint *totals, __constant struct Groups *groups)
{
    __local uint sums[PAPER_THREADS];
    uint t = get_local_id(0), key = get_group_id(0), sum = 0;
    for (uint chunk = t; chunk < groups->chunks; chunk += PAPER_THREADS)
        sum += counts[chunk * groups->keys + key];
    sums[t] = sum;
    sum_integers(sums);
    if (t == 0)
        totals[key] = sums[0];
}

// Where each key's group begins, and where the last one ends: one group with an item for each key.
__kernel void scan_keys(__global const uint *totals, __global uint *offsets, __constant struct Groups *groups)
{
    __local uint sums[2][PAPER_MAX_KEYS];
    uint t = get_local_id(0), now = 0;
    sums[0][t] = totals[t];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint apart = 1; apart < groups->keys; apart *= 2) {
        sums[1 - now][t] = sums[now][t] + (t >= apart ? sums[now][t - apart] : 0);
        barrier(CLK_LOCAL_MEM_FENCE);
        now = 1 - now;
    }
    offsets[t + 1] = sums[now][t];
    if (t == 0)
        offsets[0] = 0;
}

// Where each chunk's part of each group begins: an item for a key.
__kernel void place_chunks(__global const uint *counts, __global const uint *offsets, __global uint *places,
                           __constant struct Groups *groups)
{
    uint key = get_global_id(0);
    if (key >= groups->keys)
        return;
    uint place = offsets[key];
    for (uint chunk = 0; chunk < groups->chunks; chunk++) {
        places[chunk * groups->keys + key] = place;
        place += counts[chunk * groups->keys + key];
    }
}

__kernel void scatter(__global const uint *data, __global const uint *places, __global uint *grouped,
                      __constant struct Groups *groups)
{
    __local uint next[PAPER_MAX_KEYS];
    uint t = get_local_id(0), chunk = get_group_id(0), items = get_local_size(0);
    for (uint key = t; key < groups->keys; key += items)
        next[key] = places[chunk * groups->keys + key];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = t; i < groups->chunk; i += items) {
        uint value = data[chunk * groups->chunk + i];
        grouped[atomic_inc(&next[value % groups->keys])] = value;
    }
}

// Of each group of integers, by a work-group for each.
#define AGGREGATE(name, operation, reduce)                                                                             \
    __kernel void name(__global const uint *grouped, __global const uint *offsets, __global uint *out)                 \
    {                                                                                                                  \
        __local uint values[PAPER_THREADS];                                                                            \
        uint t = get_local_id(0), key = get_group_id(0), end = offsets[key + 1], value = 0;                            \
        for (uint i = offsets[key] + t; i < end; i += PAPER_THREADS)                                                   \
            value = operation(value, grouped[i]);                                                                      \
        values[t] = value;                                                                                             \
        reduce(values);                                                                                                \
        if (t == 0)                                                                                                    \
            out[key] = values[0];                                                                                      \
    }

AGGREGATE(sum_groups, SUM, sum_integers)
AGGREGATE(largest_of_groups, max, largest_integer)

// A camera's pixels (depth in millimetres, and brightness above bit 15) as distances from the screen, in metres.
__kernel void xform(__global const uint *pixels, __global float *cloud, __constant struct Camera *camera)
{
    uint i = get_global_id(0);
    if (i >= camera->width * camera->height)
        return;
    uint depth = pixels[i] & 0xffff, brightness = pixels[i] >> 16;
    float z = brightness < 8 ? 8.0f : depth * 0.001f;
    float x = (i % camera->width - 0.5f * camera->width) / camera->focal * z;
    cloud[i] = z * camera->cosine - x * camera->sine + camera->offset;
}

// The nearer of two clouds, without noise and with its edges.
__kernel void bilateral(__global const float *left, __global const float *right, __global float *out,
                        __constant struct Bilateral *filter)
{
    int width = filter->width, height = filter->height, radius = filter->radius;
    int x = get_global_id(0), y = get_global_id(1);
    if (x >= width || y >= height)
        return;
    float centre = fmin(left[y * width + x], right[y * width + x]), sum = 0, weights = 0;
    for (int v = max(0, y - radius); v <= min(height - 1, y + radius); v++)
        for (int u = max(0, x - radius); u <= min(width - 1, x + radius); u++) {
            float value = fmin(left[v * width + u], right[v * width + u]), difference = value - centre;
            float square = (u - x) * (u - x) + (v - y) * (v - y);
            float weight = exp(filter->space * square + filter->range * difference * difference);
            sum += weight * value;
            weights += weight;
        }
    out[y * width + x] = sum / weights;
}
