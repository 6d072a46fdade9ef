/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_DEVICE_LATELY_HPP
#define PTSCHED_DEVICE_LATELY_HPP

#include <algorithm>
#include <cstddef>

namespace ptsched::device {

/* The most of a number that goes up and down, as of so many values at least, and of twice as many at most. */
class MostOfLate {
public:
    static constexpr unsigned remembered = 4096;

    void add(std::size_t value)
    {
        now_ = std::max(now_, value);
        if (++count_ < remembered)
            return;
        count_ = 0;
        before_ = now_;
        now_ = value;
    }
    std::size_t value() const { return std::max(now_, before_); }

private:
    std::size_t now_ = 0, before_ = 0;
    unsigned count_ = 0;
};

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_LATELY_HPP */
