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

struct Arrival;

/* Pages of a region that lie side by side. */
struct Extent {
    Extent(Region &of, Stretch pages)
        : region(of), offset(pages.offset), bytes(pages.bytes),
          directory(pages.bytes / page_bytes, pages.offset / page_bytes), opened_later(pages.bytes / page_bytes)
    {
    }
    Place place() const { return {offset, twin}; }
    std::size_t page_at(std::size_t of_window) const { return (of_window - offset) / page_bytes; }

    Region &region;
    const std::size_t offset, bytes;
    Directory directory;      /* under the region's lock */
    PageSet opened_later;     /* likewise: what the host is expected to use of what is to come */
    device::Address twin = 0; /* the GPUs', once they have had something */
};

/* Is changed under the region's lock; anybody may look. */
class Owner {
public:
    explicit Owner(std::optional<Party> first) : value_(number(first)) {}
    std::optional<Party> get() const
    {
        const int value = value_.load(std::memory_order_acquire);
        return value == nobody ? std::nullopt : std::optional(static_cast<Party>(value));
    }
    void set(std::optional<Party> next) { value_.store(number(next), std::memory_order_release); }

private:
    static constexpr int nobody = -1;
    static int number(std::optional<Party> party) { return party ? static_cast<int>(*party) : nobody; }

    std::atomic<int> value_;
};

/*
 * Its lock is held while its pages are copied, but never by who touches them at their common addresses: thus a fault
 * there can take it, whoever has it.
 */
class Region {
public:
    explicit Region(std::optional<Party> of);
    ~Region();

    SmallMutex mutex;
    std::vector<std::unique_ptr<Extent>> extents PTSCHED_GUARDED_BY(mutex);
    Races races PTSCHED_GUARDED_BY(mutex);
    Owner owner;
    std::unique_ptr<Arrival> arrival PTSCHED_GUARDED_BY(mutex); /* null: nothing comes while the host uses it */
    unsigned pauses = 0, held = 0;                              /* under the lock of Arrivals */
};

} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_COHERENCE_REGION_HPP */
