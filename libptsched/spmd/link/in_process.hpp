/* SPDX-License-Identifier: MIT */
/* Ranks that are threads of one process. */
#ifndef PTSCHED_SPMD_LINK_IN_PROCESS_HPP
#define PTSCHED_SPMD_LINK_IN_PROCESS_HPP

#include "libptsched/base/lock.hpp"
#include "libptsched/spmd/link/link.hpp"

#include <condition_variable>
#include <deque>
#include <memory>
#include <set>
#include <vector>

namespace ptsched::spmd {

/* What they meet at; its links keep it. Thread-safe. */
class Hub : public std::enable_shared_from_this<Hub> {
public:
    explicit Hub(unsigned ranks) : inboxes_(ranks) {}

    /* Of one rank, once. */
    std::unique_ptr<Link> link(unsigned rank);
    /* As if its machine had failed: its calls throw from now on, and nobody hears of it. For tests. */
    void kill(unsigned rank);

    unsigned ranks() const { return static_cast<unsigned>(inboxes_.size()); }
    void send(unsigned from, unsigned to, Buffer message);
    std::optional<Message> receive(unsigned rank, std::chrono::milliseconds limit);
    void wake(unsigned rank);
    std::vector<unsigned> lost(unsigned rank);

private:
    struct Inbox {
        Mutex mutex = {};
        std::condition_variable changed = {};
        std::deque<Message> messages PTSCHED_GUARDED_BY(mutex) = {};
        std::vector<unsigned> lost PTSCHED_GUARDED_BY(mutex) = {};
        bool woken PTSCHED_GUARDED_BY(mutex) = false;
        bool killed PTSCHED_GUARDED_BY(mutex) = false;
    };

    std::vector<Inbox> inboxes_;
};

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_LINK_IN_PROCESS_HPP */
