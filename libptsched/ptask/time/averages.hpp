/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PTASK_TIME_AVERAGES_HPP
#define PTSCHED_PTASK_TIME_AVERAGES_HPP

#include <algorithm>

namespace ptsched::ptask {

/* An average that forgets, and at once a first time that is longer than the second: code is loaded then. */
class Average {
public:
    void add(double value)
    {
        bool at_once = !count_ || (count_ == 1 && value < value_);
        value_ += (value - value_) / (at_once ? 1 : 8);
        count_ = std::min(count_ + 1, 2u);
    }
    double value() const { return value_; }

private:
    double value_ = 0;
    unsigned count_ = 0; /* at most 2 */
};

/* Of the last 64 to 127. */
class Least {
public:
    void add(double value)
    {
        if (count_++ % 64 == 0) {
            before_ = now_;
            now_ = value;
        }
        now_ = std::min(now_, value);
    }
    /* 0 without any. */
    double value() const { return before_ > 0 ? std::min(before_, now_) : now_; }
    unsigned count() const { return count_; }

private:
    double before_ = 0, now_ = 0;
    unsigned count_ = 0;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_TIME_AVERAGES_HPP */
