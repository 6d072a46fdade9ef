/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PRELOAD_COMMON_MUTEX_HPP
#define PTSCHED_PRELOAD_COMMON_MUTEX_HPP

#include "libptsched/base/lock.hpp"

#include <pthread.h>

namespace ptsched::preload {

/*
 * Whoever holds it runs at the priority of whoever waits: the agent, which others depend on, must not stand behind a
 * thread of a low program that has lost its CPU.
 */
class PTSCHED_CAPABILITY("mutex") PriorityInheritanceMutex {
public:
    PriorityInheritanceMutex()
    {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
        pthread_mutex_init(&mutex_, &attributes);
        pthread_mutexattr_destroy(&attributes);
    }
    ~PriorityInheritanceMutex() { pthread_mutex_destroy(&mutex_); }
    PriorityInheritanceMutex(const PriorityInheritanceMutex &) = delete;
    PriorityInheritanceMutex &operator=(const PriorityInheritanceMutex &) = delete;
    void lock() PTSCHED_ACQUIRE() { pthread_mutex_lock(&mutex_); }
    void unlock() PTSCHED_RELEASE() { pthread_mutex_unlock(&mutex_); }

private:
    pthread_mutex_t mutex_;
};

} // namespace ptsched::preload

#endif
