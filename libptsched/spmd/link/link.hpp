/* SPDX-License-Identifier: MIT */
/* How the ranks of a job reach each other. */
#ifndef PTSCHED_SPMD_LINK_LINK_HPP
#define PTSCHED_SPMD_LINK_LINK_HPP

#include <ptsched/spmd/pairs.hpp>

#include <chrono>
#include <optional>
#include <vector>

#pragma GCC visibility push(default)

namespace ptsched::spmd {

struct Message {
    unsigned from = 0;
    Buffer bytes = {};
};

/* Of one rank. Its thread is the only one that calls it, but for wake(). What it cannot do, it throws as Error. */
class Link {
public:
    virtual ~Link() = default;

    virtual unsigned rank() const = 0;
    virtual unsigned ranks() const = 0;
    /* Ranks on this host, and which of them this one is. */
    virtual unsigned host_rank() const = 0;
    virtual unsigned host_ranks() const = 0;
    /* Whether the others can go on when one of them has failed. */
    virtual bool survives() const = 0;

    /* Does not wait. Messages of one rank to another arrive in their order; those to one that is lost do not. */
    virtual void send(unsigned to, Buffer message) = 0;
    /* Bytes of messages that are not on their way yet. */
    virtual std::size_t unsent() const = 0;
    /* The next message, or none when @limit is over or wake() has been called. */
    virtual std::optional<Message> receive(std::chrono::milliseconds limit) = 0;
    /* By any thread. */
    virtual void wake() = 0;
    /* Ranks that are known to be gone since the last call. */
    virtual std::vector<unsigned> lost() { return {}; }
    /* A rank has failed: what waits for all of them is not to be called any more. */
    virtual void give_up() {}
};

} // namespace ptsched::spmd

#pragma GCC visibility pop

#endif /* PTSCHED_SPMD_LINK_LINK_HPP */
