/* SPDX-License-Identifier: MIT */
#include "samples/arena/quake/views.cuh"

using namespace ptsched::quake;

namespace {

__device__ void add(Vector &sum, const double *matrix, const Vector &vector)
{
    sum.x += matrix[0] * vector.x + matrix[1] * vector.y + matrix[2] * vector.z;
    sum.y += matrix[3] * vector.x + matrix[4] * vector.y + matrix[5] * vector.z;
    sum.z += matrix[6] * vector.x + matrix[7] * vector.y + matrix[8] * vector.z;
}

__device__ double sum_of_lanes(double value)
{
    for (int with = lanes / 2; with; with /= 2)
        value += __shfl_xor_sync(0xffffffff, value, with);
    return value;
}

/*
 * A time step, by central differences: so many threads for each node. @first of them, of those that the host has said
 * something of, was even if @parity is 0.
 */
template <typename View>
__device__ void step_of(const View &view, unsigned int count, unsigned int step, unsigned int parity, double seconds)
{
    const unsigned int node = (blockIdx.x * blockDim.x + threadIdx.x) / lanes, lane = threadIdx.x % lanes;
    Vector forces{};
    if (node < count) {
        const auto row = view.row(node);
        const unsigned int blocks = view.blocks(node);
        for (unsigned int i = lane; i < blocks; i += lanes)
            add(forces, row.stiffness(i), row.motion(i).at[parity]);
    }
    forces = {sum_of_lanes(forces.x), sum_of_lanes(forces.y), sum_of_lanes(forces.z)};
    if (node >= count || lane)
        return;
    Motion &motion = view.motion(node);
    const Vector now = motion.at[parity], before = motion.at[1 - parity];
    const double mass = view.mass(node), damped = 0.5 * seconds * view.damping(node);
    const double square = seconds * seconds, less = mass - damped, scale = 1 / (mass + damped);
    const double push = view.push(node, step);
    const Vector next{scale * (2 * mass * now.x - less * before.x - square * forces.x),
                      scale * (2 * mass * now.y - less * before.y - square * forces.y),
                      scale * (2 * mass * now.z - less * before.z - square * (forces.z - push))};
    motion.at[1 - parity] = next;
    if (Vector *const record = view.record(node))
        record[step] = next;
}

__device__ double square_of_difference(const Vector &one, const Vector &other)
{
    const double x = one.x - other.x, y = one.y - other.y, z = one.z - other.z;
    return x * x + y * y + z * z;
}

/*
 * How much an edge has moved for its length: a thread for each element, and the largest to @strain, which is not below
 * 0.
 */
template <typename View>
__device__ void strain_of(const View &view, unsigned int count, unsigned int parity, float *strain)
{
    const unsigned int element = blockIdx.x * blockDim.x + threadIdx.x;
    if (element >= count)
        return;
    double largest = 0;
    for (unsigned int i = 0; i < 4; i++)
        for (unsigned int j = 0; j < i; j++) {
            const double moved =
                square_of_difference(view.motion_of(element, i).at[parity], view.motion_of(element, j).at[parity]);
            largest = fmax(largest, moved / square_of_difference(view.place_of(element, i), view.place_of(element, j)));
        }
    const float found = static_cast<float>(sqrt(largest));
    if (found > *strain)
        atomicMax(reinterpret_cast<int *>(strain), __float_as_int(found));
}

} // namespace

extern "C" __global__ void __launch_bounds__(threads)
    step_linked(Linked mesh, unsigned int count, unsigned int step, unsigned int parity, double seconds)
{
    step_of(LinkedView{mesh}, count, step, parity, seconds);
}

extern "C" __global__ void __launch_bounds__(threads)
    step_flat(Flat mesh, unsigned int count, unsigned int step, unsigned int parity, double seconds)
{
    step_of(FlatView{mesh}, count, step, parity, seconds);
}

extern "C" __global__ void __launch_bounds__(threads)
    strain_linked(Linked mesh, unsigned int count, unsigned int parity, float *strain)
{
    strain_of(LinkedView{mesh}, count, parity, strain);
}

extern "C" __global__ void __launch_bounds__(threads)
    strain_flat(Flat mesh, unsigned int count, unsigned int parity, float *strain)
{
    strain_of(FlatView{mesh}, count, parity, strain);
}
