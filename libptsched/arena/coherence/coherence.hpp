/* SPDX-License-Identifier: MIT */
/*
 * Keeps the host's memory and that of the GPUs at the same addresses coherent, as release consistency has it: what one
 * side has written before it released is found by the other after it acquired. An arena that a side owns is that side's
 * alone: nothing is looked for before it is handed over, and then all that was changed goes at once.
 *
 * The host's memory is the home of what is shared. On the host the first write to a page is a fault; GPUs do not fault,
 * so that a twin of what they have in common with the home is beside their memory, and what differs from it was
 * written. What the host has changed is what differs from that twin, too: thus a GPU finds out both, and the words that
 * it has written itself and not released stay.
 */
#ifndef PTSCHED_ARENA_COHERENCE_COHERENCE_HPP
#define PTSCHED_ARENA_COHERENCE_COHERENCE_HPP

#include "libptsched/arena/window/memory.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace ptsched::arena {

/* Whose memory: the host's, or that which all GPUs of the window have. */
enum class Party { host, gpus };

/* Bytes of a window, from its begin. */
struct Stretch {
    std::size_t offset, bytes;
};
/* What is all that GPUs have written; nothing: nobody knows, and it is looked for. */
using Declared = std::optional<std::span<const Stretch>>;

/* What an arena's pages have in common; made by Coherence::add(). */
class Region;
class GpuSide;

/* Where the time goes, since it was made. */
struct CoherenceState {
    std::uint64_t read_faults = 0, write_faults = 0;
    std::uint64_t twins = 0;                /* pages of the host */
    std::uint64_t compared_pages = 0;       /* on the GPU */
    std::uint64_t different_words = 0;      /* that were applied one by one */
    std::uint64_t to_gpus = 0, to_host = 0; /* pages that were copied */
    std::uint64_t made_shared = 0;          /* owned regions that the other side has used */
    /* In seconds. */
    double faults = 0, differences = 0, copies = 0;
};

/*
 * Of a window. Thread-safe. What it is told of a region waits for what others do with the same region, and returns when
 * all that it stands for is done, on the GPU as well; work of GPUs that is to see it may be given then. Throws Error,
 * which a race is, too, if it is looked for, and OutOfMemory if there is no room for a twin. Handlers of signals do not
 * touch the pages of regions: they may have interrupted one of these calls.
 */
class Coherence {
public:
    struct Options {
        /* A word that both have written between two synchronisations is an Error of release() or acquire(). */
        bool checked = false;
        /* For that error: what is at an offset, "64 bytes, allocated at world.cpp:12"; empty: not known. */
        std::function<std::string(std::size_t offset)> describe{};
        /*
         * Called before a GPU is given work, on the thread that gives it, which may be one of this; it may block, and
         * the host uses the region meanwhile. What it returns is let go of when that work has ended: a turn.
         */
        std::function<std::shared_ptr<const void>()> turn{};
        /* Pages that have come when the host has taken a region; if there are more, they come while it goes on. */
        std::size_t most_at_once = 1024;
    };
    /* @memories outlives it. */
    Coherence(Memories &memories, Options options);
    /* @gpus: what stands for the GPUs, in tests. */
    Coherence(Memories &memories, Options options, std::unique_ptr<GpuSide> gpus);
    /* No region is used any more. */
    ~Coherence();
    Coherence(const Coherence &) = delete;
    Coherence &operator=(const Coherence &) = delete;

    /* Without pages; owner nothing: it is shared. Lasts until remove(). */
    Region &add(std::optional<Party> owner);
    /* Gives it pages that are of no other: made, and all zero on the host. In multiples of page_bytes. */
    void grow(Region &region, Stretch pages);
    /* Nobody uses its pages any more; they are closed to the host. */
    void remove(Region &region) noexcept;

    /*
     * From now on @party sees what the other had written when it released. The host gets a page when it touches it.
     * Without effect on a region that has an owner.
     */
    void acquire(Region &region, Party party);
    /*
     * What @party has written so far is for the other to see when it acquires. Without effect on a region that has an
     * owner.
     */
    void release(Region &region, Party party, Declared writes = {});
    /* acquire() of who is about to use it: a region that the other one owns is shared from then on. */
    void access(Region &region, Party party);
    /*
     * It is @party's alone: acquires for it, and releases for the other one, whose work with it is over. @writes: of
     * GPUs. What the host has then may be on its way: it waits where it touches that, and there it is told if a GPU
     * fails.
     */
    void take_ownership(Region &region, Party party, Declared writes = {});
    /* It is shared; releases for who had it. @writes: of GPUs. */
    void give_up(Region &region, Declared writes = {});
    /*
     * The host is about to read or write all of that, of which it gets now what it has not: calls of the kernel and of
     * drivers fail where pages are closed, and faults of many pages take longer. As with a fault, a region that GPUs
     * own is shared from then on. What is not the region's is let be.
     */
    void open(Region &region, Stretch bytes, bool to_write);
    /* Nothing: it is shared. Does not wait. */
    std::optional<Party> owner(const Region &region) const noexcept;
    CoherenceState state() const;

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_COHERENCE_COHERENCE_HPP */
