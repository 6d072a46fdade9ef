/* SPDX-License-Identifier: MIT */
/* How one thread of a library wakes another that sleeps in poll(). */
#ifndef PTSCHED_BASE_DOORBELL_HPP
#define PTSCHED_BASE_DOORBELL_HPP

#include "libptsched/base/kept_fd.hpp"
#include "libptsched/base/lock.hpp"

namespace ptsched {

/*
 * Two ends of a socket, and not an eventfd: each is a file of its own kind, so that it is noticed if the program closes
 * it, and who sleeps on one end wakes up if the program closes the other. Any thread may ring, the others' calls are
 * for the one that is woken.
 */
class Doorbell {
public:
    /* Unless it is open; anew, if the program has closed it. False and errno: there are no descriptors. */
    bool open();
    /* To poll for POLLIN; anything else says that open() is needed. -1: it is not open. */
    int fd() const;
    /* Does not block. Several rings before the answer are one. */
    void ring();
    void answer();
    /* In a forked child, where a thread that is no more may have been at ringing: without the lock. */
    void close_inherited() PTSCHED_NO_THREAD_SAFETY_ANALYSIS;

private:
    Mutex mutex_;
    KeptFd outside_ PTSCHED_GUARDED_BY(mutex_), inside_;
};

} // namespace ptsched

#endif
