/* SPDX-License-Identifier: MIT */
/*
 * A thread that is started while this exists takes none of the process's signals: a thread begins with its maker's
 * mask. Those that its own instructions raise it takes: blocked, they would end the process past its handlers, say of
 * who protects memory.
 */
#ifndef PTSCHED_BASE_NO_SIGNALS_HPP
#define PTSCHED_BASE_NO_SIGNALS_HPP

#include <csignal>

namespace ptsched {

class NoSignals {
public:
    NoSignals()
    {
        sigset_t others;
        sigfillset(&others);
        constexpr int raised[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
        for (const int own : raised)
            sigdelset(&others, own);
        pthread_sigmask(SIG_SETMASK, &others, &before_);
    }
    ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    NoSignals(const NoSignals &) = delete;
    NoSignals &operator=(const NoSignals &) = delete;

private:
    sigset_t before_;
};

} // namespace ptsched

#endif
