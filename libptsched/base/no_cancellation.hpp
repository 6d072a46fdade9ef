/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_BASE_NO_CANCELLATION_HPP
#define PTSCHED_BASE_NO_CANCELLATION_HPP

#include <pthread.h>

namespace ptsched {

/*
 * While one exists, pthread_cancel() does not end the calling thread: it has places in lists and marks that others wait
 * for. The program's own next cancellation point finds the request.
 */
class NoCancellation {
public:
    NoCancellation() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    /* A thread with asynchronous cancellation may end right here. */
    ~NoCancellation() noexcept(false) { pthread_setcancelstate(before_, nullptr); }
    NoCancellation(const NoCancellation &) = delete;
    NoCancellation &operator=(const NoCancellation &) = delete;

    /* In this scope it is as it was before, for a call that is the program's. */
    class Lifted {
    public:
        explicit Lifted(const NoCancellation &by) { pthread_setcancelstate(by.before_, nullptr); }
        ~Lifted() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr); }
        Lifted(const Lifted &) = delete;
        Lifted &operator=(const Lifted &) = delete;
    };

private:
    int before_;
};

} // namespace ptsched

#endif
