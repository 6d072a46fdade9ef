/* SPDX-License-Identifier: MIT */
/*
 * Where the contents of ranges are: on the host, where tasks have declared them, and in copies on devices. Copies of
 * one shape are a datablock's. Where shapes overlap, one that was written comes to the host before another is used, and
 * copies of others are out of date when one is written.
 */
#ifndef PTSCHED_TASKS_GPU_DIRECTORY_HPP
#define PTSCHED_TASKS_GPU_DIRECTORY_HPP

#include "libptsched/base/lock.hpp"
#include "libptsched/tasks/gpu/arrays.hpp"
#include "libptsched/tasks/gpu/entries.hpp"
#include <ptsched/device/access.hpp>

namespace ptsched::tasks {

/* A device of the runtime, as the directory knows it. */
struct Site {
    device::Device *device;
    unsigned index;                        /* in Options::devices */
    std::unique_ptr<device::Queue> copies; /* what brings contents to it */
};

/* What a task on a GPU uses; kept from one task to the next for its memory. */
struct Uses {
    std::vector<Place> places;               /* of each access; those of items come with their addresses */
    std::vector<device::Access::Item> items; /* of datablocks */
    std::vector<std::uint32_t> access_of;    /* of each item */
    std::vector<device::Address> addresses;  /* the same, when the device has them */

    void clear()
    {
        places.clear();
        items.clear();
        access_of.clear();
    }
};

/* Thread-safe, but for what is said to be for the thread that serves. */
class Directory {
public:
    explicit Directory(Arrays &arrays) : arrays_(arrays) {}
    Directory(const Directory &) = delete;
    Directory &operator=(const Directory &) = delete;

    /* Before there are tasks. */
    void add_stream(Stream &stream) { streams_.push_back(&stream); }

    /*
     * For the thread that serves: @task is to be the next of @stream, at @site. Throws Error if what it declares cannot
     * be had at once.
     */
    void use(const Task &task, const Site &site, Stream &stream, Uses &uses);
    /* Drops what no work uses any more; likewise. */
    void collect();

    /* For a task of the host: see GpuSide::bring_home(). Begins copies. */
    bool bring_home(const Task &task);
    bool bring_home(const Range *range);
    /* No work uses it: there is other memory, or none. */
    void forget(const Range &range);

    /* How many bytes of what it reads each device has not, added to @bytes. */
    void add_missing(const Task &task, std::span<double> bytes);

    std::uint64_t bytes_to_devices() const { return to_devices_.load(std::memory_order_relaxed); }
    std::uint64_t bytes_to_host() const { return to_host_.load(std::memory_order_relaxed); }
    std::uint64_t bytes_between() const { return between_.load(std::memory_order_relaxed); }
    std::size_t size() const
    {
        Guard lock(mutex_);
        return entries_.size();
    }

private:
    struct Retired {
        std::vector<device::DatablockPtr> blocks;
        std::vector<std::uint64_t> until; /* the last of each stream */
    };

    Entry &entry_of(const Range &range) PTSCHED_REQUIRES(mutex_);
    Entry &make(const Range &range) PTSCHED_REQUIRES(mutex_);
    void sweep() PTSCHED_REQUIRES(mutex_);
    void use(const Access &access, const Task &task, const Site &site, Stream &stream, Uses &uses)
        PTSCHED_REQUIRES(mutex_);
    void settle_overlapping(Entry &entry, Mode mode, const Task &task, const Site &site, Stream &stream)
        PTSCHED_REQUIRES(mutex_);
    void count_copy(const Entry &entry, const Site &site);
    /* Its content is on its way to the host, or there: true. */
    bool fetch(Entry &entry) PTSCHED_REQUIRES(mutex_);
    /* Devices do not have it any more. */
    void outdate(Entry &entry) PTSCHED_REQUIRES(mutex_);
    void list(Entry &entry) PTSCHED_REQUIRES(mutex_);
    void unlist(Entry &entry) PTSCHED_REQUIRES(mutex_);
    bool is_covered(const Entry &entry, const Task &task) const;

    static bool has_ended(const Position &position)
    {
        return !position.stream || position.stream->has_ended(position.number);
    }

    Arrays &arrays_;
    std::vector<Stream *> streams_;
    mutable SmallMutex mutex_;
    Entries entries_ PTSCHED_GUARDED_BY(mutex_);
    Entry *newest_ PTSCHED_GUARDED_BY(mutex_) = nullptr; /* of those that a device may have */
    std::uint64_t clock_ PTSCHED_GUARDED_BY(mutex_) = 0, last_sweep_ PTSCHED_GUARDED_BY(mutex_) = 0;
    std::size_t sweep_at_ PTSCHED_GUARDED_BY(mutex_) = 1024;
    std::vector<Retired> retired_ PTSCHED_GUARDED_BY(mutex_);
    std::atomic<std::size_t> listed_{0}, retired_count_{0};
    std::atomic<std::uint64_t> to_devices_{0}, to_host_{0}, between_{0};
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_GPU_DIRECTORY_HPP */
