/* SPDX-License-Identifier: MIT */
#include "samples/common/unrolled.cuh"
#include "samples/tasks/nbody/body.h"

using namespace ptsched::nbody;

/*
 * What so many bodies do to others, added to what these have, or in its place. A thread for each; counts are multiples
 * of a thread block's threads.
 */
extern "C" __global__ void __launch_bounds__(threads)
    attract(const Vector *bodies, const Vector *others, unsigned int other_count, Vector *accelerations,
            unsigned int is_first)
{
    __shared__ Vector near[threads];
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    const Vector own = bodies[i];
    Vector sum{};
    if (!is_first)
        sum = accelerations[i];
    for (unsigned int first = 0; first < other_count; first += threads) {
        near[threadIdx.x] = others[first + threadIdx.x];
        __syncthreads();
        UNROLLED
        for (unsigned int j = 0; j < threads; j++) {
            const Vector other = near[j];
            const float x = other.x - own.x, y = other.y - own.y, z = other.z - own.z;
            const float inverse = rsqrtf(x * x + y * y + z * z + softening);
            const float force = other.mass * inverse * inverse * inverse;
            sum.x += force * x;
            sum.y += force * y;
            sum.z += force * z;
        }
        __syncthreads();
    }
    accelerations[i] = sum;
}

extern "C" __global__ void move(Vector *bodies, Vector *velocities, const Vector *accelerations)
{
    const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    Vector body = bodies[i], velocity = velocities[i];
    const Vector acceleration = accelerations[i];
    velocity.x += seconds * acceleration.x;
    velocity.y += seconds * acceleration.y;
    velocity.z += seconds * acceleration.z;
    body.x += seconds * velocity.x;
    body.y += seconds * velocity.y;
    body.z += seconds * velocity.z;
    velocities[i] = velocity;
    bodies[i] = body;
}
