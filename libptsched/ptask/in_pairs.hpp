/* SPDX-License-Identifier: MIT */
/*
 * Whether sets of a part go to a device two at a time, and another queue copies their results. Where each kernel fills
 * the device, more at once only take each other's caches, while one has nothing to do as a kernel ends: for products of
 * matrices of 1024 x 1024 that come and go, kernels of a set took an H100 282 us one set at a time, 251 two at a time,
 * and 260 eight at a time. Then results must not keep the next set waiting; for a single set, or a short one, the other
 * queue is a detour.
 */
#ifndef PTSCHED_PTASK_IN_PAIRS_HPP
#define PTSCHED_PTASK_IN_PAIRS_HPP

#include <cstddef>

namespace ptsched::ptask {

class InPairs {
public:
    static constexpr std::size_t queues = 2;
    static constexpr unsigned enough = 8; /* sets, so that programs do not change all the time */
    static constexpr double least_seconds = 200e-6;

    bool is_on() const { return on_; }
    /* A set comes; @seconds: that the device is expected to work for it. */
    void comes(bool alone, double seconds)
    {
        if (alone)
            crowd_ -= crowd_ > 0;
        else
            crowd_ += crowd_ < enough;
        if (!crowd_)
            on_ = false;
        else if (crowd_ == enough && seconds >= least_seconds)
            on_ = true;
    }

private:
    unsigned crowd_ = 0;
    bool on_ = false;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_IN_PAIRS_HPP */
