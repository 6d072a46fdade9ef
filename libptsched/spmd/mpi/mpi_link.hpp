/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_SPMD_MPI_MPI_LINK_HPP
#define PTSCHED_SPMD_MPI_MPI_LINK_HPP

#include "libptsched/base/lock.hpp"
#include "libptsched/spmd/link/link.hpp"

#include <condition_variable>
#include <deque>
#include <mpi.h>

namespace ptsched::spmd::mpi {

/* Whatever MPI has begun is only looked at, never waited for: somebody else may be gone. */
class MpiLink final : public Link {
public:
    MpiLink();
    /* Waits a while for the other ranks to get here. */
    ~MpiLink() override;

    unsigned rank() const override { return rank_; }
    unsigned ranks() const override { return ranks_; }
    unsigned host_rank() const override { return host_rank_; }
    unsigned host_ranks() const override { return host_ranks_; }
    bool survives() const override { return false; }
    void send(unsigned to, Buffer message) override;
    std::size_t unsent() const override { return unsent_; }
    std::optional<Message> receive(std::chrono::milliseconds limit) override;
    void wake() override;
    void give_up() override;

private:
    struct Transfer {
        MPI_Request request;
        Message message;
    };

    void look_at_sent();
    void look_for_more();
    std::optional<Message> next();
    bool nap(std::chrono::microseconds time);

    MPI_Comm comm_ = MPI_COMM_NULL;
    unsigned rank_ = 0, ranks_ = 0, host_rank_ = 0, host_ranks_ = 0;
    std::deque<Transfer> sent_, coming_; /* in the order in which they were begun */
    std::deque<Message> own_;            /* to itself */
    std::size_t unsent_ = 0;
    Mutex mutex_;
    std::condition_variable changed_;
    bool woken_ PTSCHED_GUARDED_BY(mutex_) = false;
};

/* MPI, unless the program has; throws Error if it cannot be used by this thread. */
void initialize();
/* Throws Error unless that is a success; @what: which MPI cannot. */
void check(int result, const char *what);

/* This rank cannot go on: the process ends by MPI_Abort, so that nobody waits for it. */
void break_off();

} // namespace ptsched::spmd::mpi

#endif /* PTSCHED_SPMD_MPI_MPI_LINK_HPP */
