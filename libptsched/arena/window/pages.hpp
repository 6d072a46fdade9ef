/* SPDX-License-Identifier: MIT */
/*
 * The pages of a window: which are free, and where it has memory. It grows in the middle: what the host makes is taken
 * from its begin on, and what GPUs have from its end.
 */
#ifndef PTSCHED_ARENA_WINDOW_PAGES_HPP
#define PTSCHED_ARENA_WINDOW_PAGES_HPP

#include "libptsched/arena/window/ground.hpp"
#include "libptsched/base/lock.hpp"

#include <cstdint>
#include <map>

namespace ptsched::arena {

/* Pages side by side, by where they are. */
struct PageRange {
    std::byte *begin;
    std::size_t bytes;
};

enum class End { low, high };

/* Ranges that do not touch each other. One thread at a time. */
class FreeRanges {
public:
    void add(PageRange range);
    /* At a multiple of @alignment, as near to that end as there is one; false if there is none. */
    bool take(std::size_t bytes, std::size_t alignment, End end, PageRange &taken);

private:
    bool take_of(std::map<std::uintptr_t, std::size_t>::iterator range, std::size_t bytes, std::size_t alignment,
                 End end, PageRange &taken);

    std::map<std::uintptr_t, std::size_t> ranges_; /* bytes by address */
};

/* Thread-safe. */
class Pages {
public:
    explicit Pages(Ground &ground) : ground_(ground), high_(ground.bytes()) {}

    /*
     * Whole pages, of zeros on the host, at a multiple of @alignment. Throws Error if there are no addresses left for
     * them, OutOfMemory if no memory.
     */
    PageRange take(std::size_t bytes, std::size_t alignment, End end);
    void give_back(PageRange range);
    /* What the window has memory for. */
    std::size_t made() const;

private:
    FreeRanges &free_of(End end) PTSCHED_REQUIRES(mutex_) { return end == End::low ? free_low_ : free_high_; }
    bool grow(std::size_t bytes, End end) PTSCHED_REQUIRES(mutex_);

    Ground &ground_;
    mutable ptsched::Mutex mutex_;
    FreeRanges free_low_ PTSCHED_GUARDED_BY(mutex_), free_high_ PTSCHED_GUARDED_BY(mutex_);
    /* There is memory below and above, where these are. */
    std::size_t low_ PTSCHED_GUARDED_BY(mutex_) = 0, high_ PTSCHED_GUARDED_BY(mutex_);
};

} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_WINDOW_PAGES_HPP */
