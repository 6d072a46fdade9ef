/* SPDX-License-Identifier: MIT */
/* The matrices on each GPU, and whether tiles of several make up the product. */
#ifndef SAMPLES_POOL_GPUS2_FACTORS_HPP
#define SAMPLES_POOL_GPUS2_FACTORS_HPP

#include "samples/pool/gpus2/tasks.h"
#include <ptsched/device/allocation.hpp>

#include <span>
#include <string>
#include <vector>

namespace ptsched::gpus2 {

class Factors {
public:
    /* Of n x n random numbers, the same on all. */
    Factors(std::span<device::Device *const> gpus, unsigned n);
    unsigned size() const { return n_; }
    /* By the place of the GPU. */
    ::gpus2::Matrices on(unsigned place) const;
    /* So that a tile that is not made is noticed. */
    void forget();
    /* Throws Error if what @tiles say is not all of the product; @by says whose. */
    void check(std::span<const ::gpus2::Task> tiles, const std::string &by);

private:
    struct OnGpu {
        OnGpu(device::Device &gpu, std::size_t bytes);
        std::unique_ptr<device::Queue> queue;
        device::Allocation a, b, c;
    };

    std::size_t bytes() const { return std::size_t{n_} * n_ * sizeof(float); }

    const unsigned n_;
    std::vector<OnGpu> gpus_;
    /* That, and a b times it. */
    std::vector<double> vector_, product_;
};

} // namespace ptsched::gpus2

#endif /* SAMPLES_POOL_GPUS2_FACTORS_HPP */
