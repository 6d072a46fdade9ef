/* SPDX-License-Identifier: MIT */
/* Which of two ways to do the same again and again takes less time: at first it is done in the one and the other. */
#ifndef PTSCHED_PTASK_REPLAY_COMPARISON_HPP
#define PTSCHED_PTASK_REPLAY_COMPARISON_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace ptsched::ptask {

class Comparison {
public:
    /* Whether the next one is to go the other way. */
    bool other() const { return is_over() ? is_other_better() : ways_[true].times < ways_[false].times; }
    bool is_over() const { return (is_full(false) && is_full(true)) || is_in_vain(); }
    /* What one took, infinitely long if nobody knows; more than are needed do not count. */
    void add(bool other, double seconds)
    {
        if (is_full(other))
            return;
        ways_[other].times++;
        ways_[other].least = std::min(ways_[other].least, seconds);
        if (std::isfinite(seconds))
            spent_ += seconds;
    }

private:
    static constexpr std::size_t enough = 5, few = 2;
    static constexpr double clearly_less = 0.97, long_seconds = 10e-3;

    bool is_full(bool other) const { return ways_[other].times == enough; }
    /* By the least of each: what disturbs them only makes them longer, and on some hosts that is nearly always. */
    bool is_other_better() const
    {
        return std::isfinite(ways_[false].least) && ways_[true].least < clearly_less * ways_[false].least;
    }

    /* What is long is tried no longer than it takes to see that it does not get shorter; noise is little of it. */
    bool is_in_vain() const
    {
        return spent_ >= long_seconds && std::min(ways_[false].times, ways_[true].times) >= few &&
               !(ways_[true].least < ways_[false].least);
    }

    struct {
        std::size_t times = 0;
        double least = HUGE_VAL;
    } ways_[2];
    double spent_ = 0; /* seconds */
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_REPLAY_COMPARISON_HPP */
