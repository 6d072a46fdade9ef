/* SPDX-License-Identifier: MIT */
/*
 * The privileged helper, ptschedd, which takes this process's channels off a device and puts them back: a program's own
 * thread does not run on a busy CPU, nor while the program is stopped. It acts on a duplicate of the process's control
 * file, which is handed to root and to the process's own user only. Without a helper the process does it itself.
 */
#ifndef PTSCHED_PRELOAD_TURN_HELPER_HPP
#define PTSCHED_PRELOAD_TURN_HELPER_HPP

#include "libptsched/base/lock.hpp"

#include <cstdint>
#include <memory>

namespace ptsched {
class BrokerConnection;
}

namespace ptsched::preload {

class Attachment;

class Helper {
public:
    /* Unless it is connected. Tells of all channels that there are, and from then on of changes. */
    void connect();

    /*
     * Blocks until it is done. 0, or a negative errno: -ENOTCONN: there is no helper, or none any more. @turn: up to
     * this one call-backs are dealt with.
     */
    int set(const Attachment &device, bool off, std::uint64_t turn);

    /*
     * Where the helper has copies of the files of programs that have ended, their memory is free once it has closed
     * these: blocks until then, for some seconds at most. Without a helper it does nothing.
     */
    static void await_freed();

    /* No more. The helper puts back whatever is off. */
    void leave();

    bool is_connected();
    /* Hung up when the helper is gone; -1: not connected, or the program has closed it. */
    int poll_fd();

    /* In a forked child, where the lock may be held by a thread that is no more. */
    void forget() PTSCHED_NO_THREAD_SAFETY_ANALYSIS;

private:
    std::shared_ptr<BrokerConnection> connection();

    Mutex lock_;
    std::shared_ptr<BrokerConnection> connection_ PTSCHED_GUARDED_BY(lock_);
};

extern Helper *helper;

} // namespace ptsched::preload

#endif
