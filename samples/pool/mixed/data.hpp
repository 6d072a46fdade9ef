/* SPDX-License-Identifier: MIT */
/* The numbers, on the host and on the device, and what is right. */
#ifndef SAMPLES_POOL_MIXED_DATA_HPP
#define SAMPLES_POOL_MIXED_DATA_HPP

#include "samples/pool/mixed/problem.h"
#include <ptsched/device/allocation.hpp>

#include <vector>

namespace ptsched::mixed {

class Data {
public:
    /*
     * A matrix of @rows rows, half of them of 4 entries, a quarter of 8 and so on to 512, half of which are near the
     * diagonal; and so many options.
     */
    Data(device::Device &gpu, unsigned rows, unsigned options, unsigned volatilities);

    /* With its arrays in the device's memory, where it is itself, too. */
    const Problem &problem() const { return problem_; }
    const Problem *on_device() const { return static_cast<const Problem *>(device::host_pointer(copy_.address())); }
    /* Only so many of them from now on, at least 1. */
    void use_options(unsigned count);
    unsigned most_options() const { return static_cast<unsigned>(prices_.size()); }
    /* The row at which so many of the matrix's entries are over: share 0 to 1. */
    unsigned row_at(double share) const;
    /* So that the next result is not mistaken for one before it. */
    void clear_results();
    /* Throws device::Error, with the first row or option that is wrong; looks at one of @step. */
    void check(unsigned step, const char *by) const;

private:
    void check_rows(const std::vector<float> &y, unsigned step, const char *by) const;
    void check_options(const std::vector<float> &calls, const std::vector<float> &puts, unsigned step,
                       const char *by) const;
    template <typename T> T *send(const std::vector<T> &values);
    float *results(std::size_t count);
    std::vector<float> fetch(const float *from, std::size_t count) const;

    device::Device &gpu_;
    std::vector<unsigned> begins_, columns_;
    std::vector<float> values_, x_, prices_, strikes_, years_;
    std::vector<device::Allocation> memory_;
    Problem problem_{};
    device::Allocation copy_; /* of problem_ */
};

} // namespace ptsched::mixed

#endif /* SAMPLES_POOL_MIXED_DATA_HPP */
