/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PRELOAD_COMMON_MUTEX_HPP
#define PTSCHED_PRELOAD_COMMON_MUTEX_HPP

#include <pthread.h>

namespace ptsched::preload {

/*
 * Whoever holds it runs at the priority of whoever waits: the agent, which others depend on, must not stand behind a
 * thread of a low program that has lost its CPU.
 */
class Mutex {
public:
    Mutex()
    {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
        pthread_mutex_init(&mutex_, &attributes);
        pthread_mutexattr_destroy(&attributes);
    }
    ~Mutex() { pthread_mutex_destroy(&mutex_); }
    Mutex(const Mutex &) = delete;
    Mutex &operator=(const Mutex &) = delete;
    void lock() { pthread_mutex_lock(&mutex_); }
    void unlock() { pthread_mutex_unlock(&mutex_); }

private:
    pthread_mutex_t mutex_;
};

} // namespace ptsched::preload

#endif
