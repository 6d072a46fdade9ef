/* SPDX-License-Identifier: MIT */
/*
 * Whether sets of a subgraph go to a device two at a time, and another queue copies their results. Where each kernel
 * fills the device, more at once only take each other's caches, while one has nothing to do as a kernel ends: for
 * products of matrices of 1024 x 1024 that come and go, kernels of a set took an H100 282 us one set at a time, 251 two
 * at a time, and 260 eight at a time. Then results must not keep the next set waiting; for a single set, or a short
 * one, the other queue is a detour.
 */
#ifndef PTSCHED_PTASK_REPLAY_DOUBLE_BUFFERING_HPP
#define PTSCHED_PTASK_REPLAY_DOUBLE_BUFFERING_HPP

#include <cstddef>

namespace ptsched::ptask {

class DoubleBuffering {
public:
    static constexpr std::size_t queues = 2;
    /* Sets in a row: with some at once it begins, with nothing but single ones it ends, since programs change. */
    static constexpr unsigned enough = 8, enough_alone = 64;
    static constexpr double least_seconds = 200e-6;

    bool is_on() const { return on_; }
    /* A set comes; @seconds: that the device is expected to work for it. */
    void comes(bool alone, double seconds)
    {
        if (alone != alone_)
            in_row_ = 0;
        alone_ = alone;
        in_row_ += in_row_ < enough_alone;
        if (seconds < (on_ ? least_seconds / 2 : least_seconds) || (alone && in_row_ == enough_alone))
            on_ = false;
        else if (!alone && in_row_ >= enough)
            on_ = true;
    }

private:
    unsigned in_row_ = 0;
    bool alone_ = true, on_ = false;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_REPLAY_DOUBLE_BUFFERING_HPP */
