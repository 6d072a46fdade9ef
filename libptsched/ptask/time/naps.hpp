/* SPDX-License-Identifier: MIT */
/* Between two looks at work that runs: the longer, the longer nothing has ended. */
#ifndef PTSCHED_PTASK_TIME_NAPS_HPP
#define PTSCHED_PTASK_TIME_NAPS_HPP

#include <algorithm>
#include <chrono>

namespace ptsched::ptask {

class Naps {
public:
    void start_over() { *this = {}; }
    /*
     * At first, for some tenths of a millisecond, the processor is only offered to others: a nap takes longer than it
     * is meant to, and a run may be shorter.
     */
    bool worth_a_yield() { return yields_++ < 200; }
    std::chrono::microseconds next()
    {
        auto nap = nap_;
        nap_ = std::min(2 * nap, std::chrono::microseconds{500});
        return nap;
    }
    /* Without work: to be woken takes longer than most pauses are, so it is not done at once. */
    bool idle_for_long() { return idle_++ >= 20; }

private:
    std::chrono::microseconds nap_{20};
    unsigned yields_ = 0, idle_ = 0;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_TIME_NAPS_HPP */
