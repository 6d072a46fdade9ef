/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_ARENA_COHERENCE_REGION_HPP
#define PTSCHED_ARENA_COHERENCE_REGION_HPP

#include "libptsched/arena/coherence/coherence.hpp"
#include "libptsched/arena/coherence/directory.hpp"
#include "libptsched/arena/coherence/gpu_side.hpp"
#include "libptsched/arena/coherence/races.hpp"
#include "libptsched/base/lock.hpp"

#include <atomic>

namespace ptsched::arena {

/* Pages of a region that lie side by side. */
struct Extent {
    Extent(Region &of, Stretch pages)
        : region(of), offset(pages.offset), bytes(pages.bytes), directory(pages.bytes / page_bytes)
    {
    }
    Place place() const { return {offset, twin}; }
    std::size_t page_at(std::size_t of_window) const { return (of_window - offset) / page_bytes; }

    Region &region;
    const std::size_t offset, bytes;
    Directory directory;      /* under the region's lock */
    device::Address twin = 0; /* the GPUs', once they have had something */
};

/*
 * Its lock is held while its pages are copied, but never by who touches them at their common addresses: thus a fault
 * there can take it, whoever has it.
 */
class Region {
public:
    explicit Region(std::optional<Party> of) : owner(of) {}

    SmallMutex mutex;
    std::vector<std::unique_ptr<Extent>> extents PTSCHED_GUARDED_BY(mutex);
    Races races PTSCHED_GUARDED_BY(mutex);
    std::atomic<std::optional<Party>> owner; /* is changed under the lock */
};

} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_COHERENCE_REGION_HPP */
