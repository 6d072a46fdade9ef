/* SPDX-License-Identifier: MIT */
/* One way to reach a scheduler: the module's ioctls or the broker's messages. */
#ifndef PTSCHED_CLIENT_TRANSPORT_HPP
#define PTSCHED_CLIENT_TRANSPORT_HPP

#include <ptsched/ptsched.h>

#include <cstdint>
#include <memory>

namespace ptsched {

/* The functions of the C ABI hide the structures of the same names. */
using Query = struct ptsched_query;
using Attach = struct ptsched_attach;
using Acquire = struct ptsched_acquire;
using Release = struct ptsched_release;
using Report = struct ptsched_report;
using Ack = struct ptsched_ack;
using ActFor = struct ptsched_act_for;
using Mechanism = struct ptsched_mechanism;
using HandOver = struct ptsched_hand_over;
using Group = struct ptsched_group;

/* A structure that tells its size, else zero. */
template <typename Argument> Argument sized()
{
    Argument argument{};
    argument.size = sizeof(argument);
    return argument;
}

/*
 * All calls return 0 or a negative errno and may be made by several threads at
 * once. The structures have their sizes filled in by the caller.
 */
class Transport {
public:
    virtual ~Transport() = default;
    virtual ptsched_backend backend() const = 0;
    virtual int query(Query &query) = 0;
    /* Once, before any other thread knows the transport. On failure it may be tried again. */
    virtual int attach(Attach &attach) = 0;
    virtual int acquire(Acquire &acquire) = 0;
    virtual int release(const Release &release) = 0;
    virtual int report(const Report &report) = 0;
    virtual int ack(const Ack &ack) = 0;
    /* Any other call, by its number; @fd is the descriptor that the structure names, if it does. */
    template <typename Argument> int call(std::uint32_t number, Argument &argument, int fd = -1)
    {
        return call(number, &argument, sizeof(argument), fd);
    }
    virtual int poll_fd() const = 0;
    /* The descriptor to hand over, or a negative errno. */
    virtual int hand_over() = 0;
    virtual const ptsched_page *page() const = 0;

private:
    virtual int call(std::uint32_t number, void *argument, std::uint32_t size, int fd) = 0;
};

/* -ENOENT: there is no such scheduler here. */
int open_module(std::unique_ptr<Transport> &transport);
int open_broker(std::unique_ptr<Transport> &transport);

} // namespace ptsched

#endif
