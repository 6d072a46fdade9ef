/* SPDX-License-Identifier: MIT */
/*
 * A thread that is started while this exists takes none of the process's signals: a thread begins with its maker's
 * mask.
 */
#ifndef PTSCHED_BASE_NO_SIGNALS_HPP
#define PTSCHED_BASE_NO_SIGNALS_HPP

#include <csignal>

namespace ptsched {

class NoSignals {
public:
    NoSignals()
    {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    NoSignals(const NoSignals &) = delete;
    NoSignals &operator=(const NoSignals &) = delete;

private:
    sigset_t before_;
};

} // namespace ptsched

#endif
