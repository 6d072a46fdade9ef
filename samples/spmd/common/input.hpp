/* SPDX-License-Identifier: MIT */
/* What programs compute with: numbers that depend on nothing but their places, so that each rank makes its own. */
#ifndef SAMPLES_SPMD_COMMON_INPUT_HPP
#define SAMPLES_SPMD_COMMON_INPUT_HPP

#include "samples/common/parts.hpp"
#include <ptsched/device/allocation.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace ptsched::samples {

/* SplitMix64: the number at a place of a row of random ones. */
inline std::uint64_t bits_at(std::uint64_t seed, std::uint64_t place)
{
    std::uint64_t bits = (seed << 56) + (place + 1) * 0x9e3779b97f4a7c15;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
    return bits ^ bits >> 31;
}

/* From -1 to 1. */
template <typename T> T random_at(std::uint64_t seed, std::uint64_t place)
{
    return static_cast<T>(static_cast<double>(bits_at(seed, place) >> 11) * 0x1p-52 - 1);
}

/* Elements in the host's memory, page-locked where there is a GPU. */
template <typename T> class Elements {
public:
    explicit Elements(std::size_t count)
        : memory_(device::Allocation::pinned(std::max<std::size_t>(count, 1) * sizeof(T))), count_(count)
    {
    }
    /* The elements from @first on, of all that there are: what @at(place) says of each. */
    template <typename At> Elements(std::size_t first, std::size_t count, const At &at) : Elements(count)
    {
        in_parts(count, part_elements, [&](std::size_t begin, std::size_t some) {
            for (std::size_t i = begin; i < begin + some; i++)
                data()[i] = at(first + i);
        });
    }
    T *data() const { return static_cast<T *>(memory_.host_address()); }
    std::span<T> all() const { return {data(), count_}; }

private:
    device::Allocation memory_;
    std::size_t count_;
};

} // namespace ptsched::samples

#endif /* SAMPLES_SPMD_COMMON_INPUT_HPP */
