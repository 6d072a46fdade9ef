/* SPDX-License-Identifier: MIT */
#include "samples/arena/art/neurons.h"
#include "samples/common/unrolled.cuh"

namespace ptsched::art {

/* Categories, one after another: of the list, and of what was made of it. */
struct LinkedView {
    const Category *first;
    using Place = const Category *;
    __device__ Place begin() const { return first; }
    __device__ bool is_end(Place place) const { return !place; }
    __device__ Place next(Place place) const { return place->next; }
    __device__ const Weights &weights(Place place) const { return place->weights; }
};
struct FlatView {
    Flat flat;
    using Place = const Weights *;
    __device__ Place begin() const { return flat.weights; }
    __device__ bool is_end(Place place) const { return place == flat.weights + flat.count; }
    __device__ Place next(Place place) const { return place + 1; }
    __device__ const Weights &weights(Place place) const { return *place; }
};

} // namespace ptsched::art

using namespace ptsched::art;

namespace {

constexpr unsigned int own = neurons / lanes; /* neurons of a thread */
constexpr unsigned int whole_warp = 0xffffffff, held = most_categories / lanes;

__device__ float sum_of_lanes(float value)
{
    for (int with = lanes / 2; with; with /= 2)
        value += __shfl_xor_sync(whole_warp, value, with);
    return value;
}

__device__ float norm(const float *values)
{
    float sum = 0;
    UNROLLED
    for (unsigned int i = 0; i < own; i++)
        sum += values[i] * values[i];
    return sqrtf(sum_of_lanes(sum));
}

/* By its norm, if it has one. */
__device__ void normalise(float *values)
{
    const float size = norm(values), scale = size > 0 ? 1 / size : 0;
    UNROLLED
    for (unsigned int i = 0; i < own; i++)
        values[i] *= scale;
}

__device__ float heard(float value)
{
    return value > noise ? value : 0;
}

/* The first layer, before the second one says something: @u of what comes in. */
__device__ void settle(const float *input, float *u)
{
    UNROLLED
    for (unsigned int i = 0; i < own; i++)
        u[i] = 0;
    for (unsigned int round = 0; round < settling; round++) {
        float x[own];
        UNROLLED
        for (unsigned int i = 0; i < own; i++)
            x[i] = input[i] + a * u[i];
        normalise(x);
        UNROLLED
        for (unsigned int i = 0; i < own; i++)
            u[i] = heard(x[i]) + b * heard(u[i]);
        normalise(u);
    }
}

/* Of the first layer with the second one's answer. */
__device__ float resonance_of(const float *u, const Weights &weights, unsigned int lane)
{
    float p[own], r[own];
    UNROLLED
    for (unsigned int i = 0; i < own; i++) {
        p[i] = u[i] + d * weights.down[i * lanes + lane];
        r[i] = u[i] + c * p[i];
    }
    const float size = norm(u) + c * norm(p);
    return size > 0 ? norm(r) / size : 0;
}

/* The largest of all lanes, and whose it is. */
__device__ unsigned int lane_of_largest(float value, unsigned int lane)
{
    for (int with = lanes / 2; with; with /= 2) {
        const float other = __shfl_xor_sync(whole_warp, value, with);
        const unsigned int whose = __shfl_xor_sync(whole_warp, lane, with);
        if (other > value || (other == value && whose < lane)) {
            value = other;
            lane = whose;
        }
    }
    return lane;
}

} // namespace

namespace ptsched::art {

/* Neurons of the second layer: a thread holds each of its own, in order, with what it gets; those refused get -1. */
template <typename View> struct Second {
    __device__ Second(const View &view, const float *u, unsigned int lane)
    {
        UNROLLED
        for (unsigned int i = 0; i < held; i++) {
            gets[i] = -1;
            places[i] = view.begin();
        }
        unsigned int number = 0;
        for (auto place = view.begin(); !view.is_end(place) && number < most_categories;
             place = view.next(place), number++) {
            float sum = 0;
            UNROLLED
            for (unsigned int i = 0; i < own; i++)
                sum += u[i] * view.weights(place).up[i * lanes + lane];
            sum = sum_of_lanes(sum);
            UNROLLED
            for (unsigned int i = 0; i < held; i++)
                if (number == i * lanes + lane) {
                    gets[i] = sum;
                    places[i] = place;
                }
        }
    }

    /* Who of all gets most: its number and where it is; false if none gets anything. */
    __device__ bool find_most(unsigned int lane, unsigned int *number, typename View::Place *place) const
    {
        unsigned int which = 0;
        UNROLLED
        for (unsigned int i = 1; i < held; i++)
            if (gets[i] > gets[which])
                which = i;
        const int whose = static_cast<int>(lane_of_largest(gets[which], lane));
        if (__shfl_sync(whole_warp, gets[which], whose) <= 0)
            return false;
        *number = __shfl_sync(whole_warp, which, whose) * lanes + static_cast<unsigned int>(whose);
        *place = reinterpret_cast<typename View::Place>(
            __shfl_sync(whole_warp, reinterpret_cast<unsigned long long>(places[which]), whose));
        return true;
    }

    __device__ void refuse(unsigned int number, unsigned int lane)
    {
        UNROLLED
        for (unsigned int i = 0; i < held; i++)
            if (number == i * lanes + lane)
                gets[i] = -1;
    }

    float gets[held];
    typename View::Place places[held];
};

} // namespace ptsched::art

namespace {

/* Category by category, those that get most first, until one resonates: a warp for each window. */
template <typename View> __device__ void scan_of(const View &view, const float *image, const Scan &scan, Match *matches)
{
    const unsigned int columns = (scan.width - side) / scan.stride + 1, rows = (scan.height - side) / scan.stride + 1;
    const unsigned int window = (blockIdx.x * blockDim.x + threadIdx.x) / lanes, lane = threadIdx.x % lanes;
    if (window >= columns * rows)
        return;
    const float *const first = image + window / columns * scan.stride * scan.width + window % columns * scan.stride;
    float input[own], u[own];
    UNROLLED
    for (unsigned int i = 0; i < own; i++) {
        const unsigned int neuron = i * lanes + lane;
        input[i] = first[neuron / side * scan.width + neuron % side];
    }
    Match match{0, norm(input), most_categories};
    settle(input, u);
    Second<View> second(view, u, lane);
    unsigned int number = 0;
    typename View::Place place{};
    while (match.category == most_categories && second.find_most(lane, &number, &place)) {
        const float resonance = resonance_of(u, view.weights(place), lane);
        match.resonance = fmaxf(match.resonance, resonance);
        if (resonance >= vigilance)
            match.category = number;
        else
            second.refuse(number, lane);
    }
    if (lane == 0)
        matches[window] = match;
}

} // namespace

extern "C" __global__ void __launch_bounds__(threads)
    scan_linked(const Category *first, const float *image, Scan scan, Match *matches)
{
    scan_of(LinkedView{first}, image, scan, matches);
}

extern "C" __global__ void __launch_bounds__(threads)
    scan_flat(Flat flat, const float *image, Scan scan, Match *matches)
{
    scan_of(FlatView{flat}, image, scan, matches);
}
