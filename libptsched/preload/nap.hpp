/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PRELOAD_NAP_HPP
#define PTSCHED_PRELOAD_NAP_HPP

#include <sys/prctl.h>

#include <cstdint>
#include <ctime>

namespace ptsched::preload {

/* A short sleep that ends when it should: by default the kernel may add 50 us. */
inline void nap(std::uint64_t ns)
{
    int slack = prctl(PR_GET_TIMERSLACK);
    timespec time{static_cast<time_t>(ns / 1000000000), static_cast<long>(ns % 1000000000)};
    prctl(PR_SET_TIMERSLACK, 1000);
    nanosleep(&time, nullptr);
    if (slack > 0)
        prctl(PR_SET_TIMERSLACK, slack);
}

} // namespace ptsched::preload

#endif
