/* SPDX-License-Identifier: MIT */
/* SIGINT and SIGTERM as a descriptor, so that none falls between two system calls. */
#ifndef PTSCHED_TOOL_STOP_SIGNALS_HPP
#define PTSCHED_TOOL_STOP_SIGNALS_HPP

#include "tools/ptsched/scheduler.hpp"
#include <ptsched/base/fd.hpp>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <sys/signalfd.h>

namespace ptsched {

class StopSignals {
public:
    StopSignals()
    {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGINT);
        sigaddset(&set, SIGTERM);
        sigprocmask(SIG_BLOCK, &set, &before_);
        fd_ = UniqueFd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
        if (!fd_)
            throw Error(std::string("signalfd: ") + strerror(errno));
    }

    int fd() const { return fd_.get(); }
    /* The next one, 0: none. */
    int next() const
    {
        signalfd_siginfo info;
        return read(fd_.get(), &info, sizeof(info)) == sizeof(info) ? static_cast<int>(info.ssi_signo) : 0;
    }
    /* What was blocked before, and is to be in programs that are started. */
    const sigset_t &before() const { return before_; }

private:
    UniqueFd fd_;
    sigset_t before_;
};

} // namespace ptsched

#endif /* PTSCHED_TOOL_STOP_SIGNALS_HPP */
