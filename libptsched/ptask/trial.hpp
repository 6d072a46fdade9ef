/* SPDX-License-Identifier: MIT */
/* Which of two ways to do the same again and again takes less time: at first it is done in the one and the other. */
#ifndef PTSCHED_PTASK_TRIAL_HPP
#define PTSCHED_PTASK_TRIAL_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace ptsched::ptask {

class Trial {
public:
    /* Whether the next one is to go the other way. */
    bool other() const { return is_over() ? other_ : seconds_[true].size() < seconds_[false].size(); }
    bool is_over() const { return is_full(false) && is_full(true); }
    /* What one took, infinitely long if nobody knows; more than are needed do not count. */
    void add(bool other, double seconds)
    {
        if (is_full(other))
            return;
        seconds_[other].push_back(seconds);
        if (is_over())
            other_ = std::isfinite(median(false)) && median(true) < clearly_less * median(false);
    }

private:
    static constexpr std::size_t enough = 5;
    static constexpr double clearly_less = 0.97;

    bool is_full(bool other) const { return seconds_[other].size() == enough; }
    double median(bool other)
    {
        auto &some = seconds_[other];
        std::nth_element(some.begin(), some.begin() + enough / 2, some.end());
        return some[enough / 2];
    }

    std::array<std::vector<double>, 2> seconds_;
    bool other_ = false;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_TRIAL_HPP */
