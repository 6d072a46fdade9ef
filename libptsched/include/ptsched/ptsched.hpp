/* SPDX-License-Identifier: MIT */
/**
 * @file
 * C++ over ptsched.h: clients and turns that end with their scope.
 *
 *     ptsched::Client client("0000:17:00.0", PTSCHED_MECHANISM_GATE);
 *     {
 *         ptsched::Turn turn(client);
 *         launch_work();
 *         wait_for_work();
 *     }
 *
 * Failures are std::system_error with the errno and a sentence.
 */
#ifndef PTSCHED_PTSCHED_HPP
#define PTSCHED_PTSCHED_HPP

#include <ptsched/ptsched.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace ptsched {

namespace detail {

inline void check(int result, const std::string &what)
{
    if (result < 0)
        throw std::system_error(-result, std::generic_category(), what);
}

inline std::string why_not_open(const std::string &device, int error)
{
    switch (error) {
    case -ENODEV:
        return "ptsched: the scheduler has no device '" + device + "'";
    case -EINVAL:
        return "ptsched: '" + device +
               "' is not a PCI address (0000:17:00.0) or UUID (GPU-...), or the mechanism is "
               "unknown";
    default:
        return std::string("ptsched: ") + ptsched_strerror(error);
    }
}

} // namespace detail

/** The calling process on one device. Movable; not to be used beside its own destruction. */
class Client {
public:
    explicit Client(const std::string &device, unsigned int mechanism = PTSCHED_MECHANISM_GATE,
                    ptsched_backend backend = PTSCHED_BACKEND_AUTO)
    {
        int ret = ptsched_open(device.c_str(), mechanism, backend, &client_);
        if (ret < 0)
            detail::check(ret, detail::why_not_open(device, ret));
    }
    Client(Client &&other) noexcept : client_(std::exchange(other.client_, nullptr)) {}
    Client &operator=(Client &&other) noexcept
    {
        std::swap(client_, other.client_);
        return *this;
    }
    ~Client() { ptsched_close(client_); }

    ptsched_client *get() const { return client_; }
    ptsched_backend backend() const { return ptsched_client_backend(client_); }
    const ptsched_page &page() const { return *ptsched_client_page(client_); }
    std::uint32_t state() const { return ptsched_state(&page()); }
    int poll_fd() const { return ptsched_poll_fd(client_); }
    /** @return the descriptor to hand over to whom may act for this process from now on; it stays the client's */
    int hand_over()
    {
        int fd = ptsched_hand_over(client_);
        detail::check(fd < 0 ? fd : 0, "ptsched: handing a client over");
        return fd;
    }

    /** Readable again with the next event only. */
    void ack(std::uint32_t events, std::uint64_t drain_ns = 0)
    {
        detail::check(ptsched_ack(client_, events, drain_ns), "ptsched: acknowledging an event");
    }
    void report(const ptsched_usage &usage)
    {
        detail::check(ptsched_report(client_, &usage), "ptsched: reporting use");
    }
    void set_mechanism(unsigned int mechanism)
    {
        detail::check(ptsched_set_mechanism(client_, mechanism), "ptsched: telling the mechanism");
    }
    /** @param fd a pidfd */
    void act_for_process(int fd)
    {
        detail::check(ptsched_act_for(client_, PTSCHED_ACT_FOR_PIDFD, fd), "ptsched: acting for a process");
    }
    /** @param fd what the requester's hand_over() returned */
    void act_for_client(int fd)
    {
        detail::check(ptsched_act_for(client_, PTSCHED_ACT_FOR_CLIENT, fd), "ptsched: acting for a client");
    }
    void act_for_oneself()
    {
        detail::check(ptsched_act_for(client_, PTSCHED_ACT_FOR_PIDFD, -1), "ptsched: acting for oneself");
    }

private:
    ptsched_client *client_ = nullptr;
};

/** The turn, from construction to release() or destruction. All work must have left the device by then. */
class Turn {
public:
    explicit Turn(Client &client, std::uint64_t deadline_ns = PTSCHED_NEVER, unsigned int flags = 0)
        : client_(client.get())
    {
        detail::check(ptsched_acquire(client_, deadline_ns, flags, &grant_), "ptsched: waiting for the turn");
    }
    Turn(Turn &&other) noexcept : client_(std::exchange(other.client_, nullptr)), grant_(other.grant_) {}
    Turn &operator=(Turn &&) = delete;
    ~Turn()
    {
        if (client_)
            ptsched_release(client_, nullptr);
    }

    std::uint64_t number() const { return grant_.turn; }
    std::int64_t budget_ns() const { return grant_.budget_ns; }
    std::uint64_t waited_ns() const { return grant_.waited_ns; }

    void release(const ptsched_usage &usage = {})
    {
        if (ptsched_client *client = std::exchange(client_, nullptr))
            detail::check(ptsched_release(client, &usage), "ptsched: giving the turn back");
    }

private:
    ptsched_client *client_;
    struct ptsched_acquire grant_ {};
};

} // namespace ptsched

#endif
