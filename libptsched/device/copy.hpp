/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_DEVICE_COPY_HPP
#define PTSCHED_DEVICE_COPY_HPP

#include "libptsched/device/residents.hpp"
#include <ptsched/device/device.hpp>

namespace ptsched::device {

/* A datablock's content in one memory. The block's lock protects it. */
struct Copy : Resident {
    struct Use {
        const Queue *queue = nullptr;
        MarkerPtr marker;
    };

    explicit Copy(Datablock &block) : Resident(block) {}

    /* What @other gets from now on finds the content; @ordered: it is after what wrote that in any case. */
    void await(Queue &other, bool ordered = false)
    {
        if (ready && (moved || !ordered))
            await_ready(other);
    }
    /* @by has work that reads it, up to there. */
    void used(const Queue &by, const MarkerPtr &until);
    /* What is between it and its eviction. */
    std::vector<MarkerPtr> pending() const;
    /* Whether its memory may still be written though all work that uses the block is done. */
    bool may_arrive_later() const { return ready && !ready->seen() && (device == &host() || (moved && !was_used)); }
    bool held() const { return fixed || foreign || lent || pins; }
    void clear();

    Device *device = nullptr;           /* null: there is none */
    ResidentsImpl *residents = nullptr; /* the device's */
    Address address = 0;
    MarkerPtr ready; /* null: valid, for all that anybody knows */
    const Queue *queue = nullptr;
    bool moved = false;    /* a queue copied it there, and nobody else asks whether it has */
    bool was_used = false; /* since then: who waits for that work has waited for the copy */
    bool fixed = false;    /* never evicted */
    bool foreign = false;  /* in memory of somebody else, which is never written */
    bool lent = false;     /* in the memory of the whole that the block is a slice of */
    unsigned pins = 0;     /* by work that no queue has yet */
    Use use;               /* by work that a queue has */
    std::vector<Use> more_uses;
    Copy *next = nullptr; /* of the block */

private:
    void await_ready(Queue &other);
};

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_COPY_HPP */
