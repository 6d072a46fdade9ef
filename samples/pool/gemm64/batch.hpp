/* SPDX-License-Identifier: MIT */
/* Matrices on a GPU, and whether their products are right. */
#ifndef SAMPLES_POOL_GEMM64_BATCH_HPP
#define SAMPLES_POOL_GEMM64_BATCH_HPP

#include "samples/pool/gemm64/tasks.h"
#include <ptsched/device/allocation.hpp>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace ptsched::gemm64 {

constexpr std::size_t size = 64, elements = size * size;

template <typename T> class Batch {
public:
    Batch(device::Device &gpu, unsigned count)
        : count_(count), queue_(gpu.make_queue()), a_(random(1)), b_(random(2)),
          expected_(count * elements), on_device_{device::Allocation::on_device(gpu, bytes()),
                                                  device::Allocation::on_device(gpu, bytes()),
                                                  device::Allocation::on_device(gpu, bytes())}
    {
        for (std::size_t row = 0; row < count * size; row++)
            for (std::size_t k = 0; k < size; k++)
                for (std::size_t column = 0; column < size; column++)
                    expected_[row * size + column] +=
                        double{a_[row * size + k]} * b_[row / size * elements + k * size + column];
        queue_->upload(on_device_[0].address(), a_.data(), bytes());
        queue_->upload(on_device_[1].address(), b_.data(), bytes());
        queue_->finish();
    }

    /* Of the first of them; the others are behind it. */
    Product<T> first() const
    {
        return {static_cast<const T *>(pointer(0)), static_cast<const T *>(pointer(1)), static_cast<T *>(pointer(2))};
    }

    /* So that a product that is not made is noticed. */
    void forget()
    {
        const std::vector<T> nothing(count_ * elements, T(-1e9));
        queue_->upload(on_device_[2].address(), nothing.data(), bytes());
        queue_->finish();
    }

    /* Throws Error if a product is wrong; @by says whose. */
    void check(const std::string &by)
    {
        std::vector<T> found(count_ * elements);
        queue_->download(found.data(), on_device_[2].address(), bytes());
        queue_->finish();
        for (std::size_t i = 0; i < found.size(); i++)
            if (!(std::abs(found[i] - expected_[i]) <= tolerance))
                throw Error("product " + std::to_string(i / elements) + " of " + by + " has " +
                            std::to_string(found[i]) + " in row " + std::to_string(i % elements / size) +
                            ", where there should be " + std::to_string(expected_[i]));
    }

private:
    static constexpr double tolerance = sizeof(T) == 4 ? 1e-4 : 1e-12;

    std::size_t bytes() const { return count_ * elements * sizeof(T); }
    void *pointer(unsigned which) const { return device::host_pointer(on_device_[which].address()); }

    /* Of -1 to 1. */
    std::vector<T> random(unsigned seed) const
    {
        std::mt19937 source(seed);
        std::uniform_real_distribution<T> values(-1, 1);
        std::vector<T> made(count_ * elements);
        for (T &value : made)
            value = values(source);
        return made;
    }

    const unsigned count_;
    const std::unique_ptr<device::Queue> queue_;
    const std::vector<T> a_, b_;
    std::vector<double> expected_;
    const device::Allocation on_device_[3];
};

} // namespace ptsched::gemm64

#endif /* SAMPLES_POOL_GEMM64_BATCH_HPP */
