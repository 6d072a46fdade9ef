/* SPDX-License-Identifier: MIT */
/*
 * The threads that do the work of the host, for all graphs of a process: as many as there are processors. Where all of
 * them have been at the same for a while and others wait, there are more, so that functions that wait for something
 * keep nobody from bringing it.
 */
#ifndef PTSCHED_DEVICE_HOST_POOL_HPP
#define PTSCHED_DEVICE_HOST_POOL_HPP

#include <ptsched/device/device.hpp>

#include <chrono>

#pragma GCC visibility push(default)

namespace ptsched::device {

class HostGroup;
using HostGroupPtr = std::shared_ptr<HostGroup>;

/* Work of queues of the host that takes turns with that of other groups. Thread-safe. */
class HostGroup {
public:
    /* Of which so many are at it at once, at most; 0: as many as there are threads. */
    static HostGroupPtr make(unsigned most);
    HostGroup(const HostGroup &) = delete;
    HostGroup &operator=(const HostGroup &) = delete;

    /* Whether something of it waits for a thread, or for its turn. */
    bool has_waiting() const;

protected:
    HostGroup() = default;
    ~HostGroup() = default;
};

/* Thread-safe. */
class HostPool {
public:
    /* How long all threads are at the same before there is another one; and how many there are at most. */
    static constexpr std::chrono::milliseconds patience{10};
    static constexpr unsigned most_threads = 1024;

    /* For good; a forked child, which has none of the threads, gets another. */
    static HostPool &get();
    HostPool(const HostPool &) = delete;
    HostPool &operator=(const HostPool &) = delete;

    /* How many there are to be at work at once, at the moment. */
    unsigned at_once() const;

    /* As long as one lives, a thread of the pool waits for others: another one may do its work. */
    class Blocked {
    public:
        Blocked();
        ~Blocked();
        Blocked(const Blocked &) = delete;
        Blocked &operator=(const Blocked &) = delete;

    private:
        const bool counts_;
    };

protected:
    HostPool() = default;
    ~HostPool() = default;
};

/* Of what queues of the host throw: what a function did, which is nested. */
class HostFailure : public Error {
public:
    using Error::Error;
};

/* Queues of a group, whose work threads of the pool do, of each queue one at a time. */
std::unique_ptr<Queue> make_host_queue(const HostGroupPtr &group);

} // namespace ptsched::device

#pragma GCC visibility pop

#endif /* PTSCHED_DEVICE_HOST_POOL_HPP */
