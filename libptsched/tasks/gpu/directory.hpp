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
#include "libptsched/tasks/gpu/rates.hpp"
#include <ptsched/device/access.hpp>

namespace ptsched::tasks {

/* A device of the runtime, as the directory knows it. */
struct Site {
    device::Device *device;
    unsigned index;                        /* in Options::devices */
    std::unique_ptr<device::Queue> copies; /* what brings contents to it */
};

/* What it is for a task to run on a device. */
struct Way {
    double copies = 0; /* seconds, for what it reads and the device does not have */
    bool owns = false; /* something that the task writes is on no other device */
};
double least_copies(const std::vector<Way> &ways);

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
    Directory(Arrays &arrays, Rates rates) : arrays_(arrays), rates_(std::move(rates)) {}
    Directory(const Directory &) = delete;
    Directory &operator=(const Directory &) = delete;

    /* Before there are tasks. */
    void add_device(device::Device &device) { devices_.push_back(&device); }
    void add_stream(Stream &stream) { streams_.push_back(&stream); }

    /*
     * For the thread that serves: @task is to be the next of @stream, at @site. Throws Error if what it declares cannot
     * be had at once.
     */
    void use(const Task &task, const Site &site, Stream &stream, Uses &uses);
    /*
     * Likewise: a task that has not been given is to read @access, which nobody writes before. Begins to copy that to
     * @site, if it is on the host alone and nothing else has bytes of it. Null: nothing is copied.
     */
    device::MarkerPtr bring_ahead(const Task &task, const Access &access, const Site &site);
    /* Drops what no work uses any more; likewise. */
    void collect();

    /* For a task of the host, and for who waits: see GpuSide::bring_home(). @may_copy: copies may be begun now. */
    bool bring_home(const Task &task, bool may_copy);
    bool bring_home(const Range *range, bool may_copy);
    /* See GpuSide. */
    std::optional<Position> last_writer(const Range &range);
    static bool has_ended(const Position &position)
    {
        return !position.stream || position.stream->has_ended(position.number);
    }
    /* Whether there are copies to the host that have been begun. */
    bool is_copying();
    /* No work uses it: there is other memory, or none. */
    void forget(const Range &range);
    /* An array, whose content need not come to the host unless it is asked for by its range. */
    void keep(const Range &array);

    /* Of each device, when all tasks that were placed before are done. */
    std::vector<Way> ways(const Task &task);
    /* The task was placed on that device, and will be given. */
    void expect(const Task &task, unsigned device);

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
    static void add_item(const Access &access, const Entry &entry, Uses &uses);
    void settle_overlapping(Entry &entry, Mode mode, const Task &task, const Site &site, Stream &stream)
        PTSCHED_REQUIRES(mutex_);
    void count_copy(const Entry &entry, const Site &site);
    /* Begins to bring it to the host. */
    void send_home(Entry &entry) PTSCHED_REQUIRES(mutex_);
    /* Its content is on its way to the host, unless copies may not be begun, or there: true. */
    bool fetch(Entry &entry, bool may_copy = true) PTSCHED_REQUIRES(mutex_);
    /* Devices do not have it any more. */
    void outdate(Entry &entry) PTSCHED_REQUIRES(mutex_);
    void list(Entry &entry) PTSCHED_REQUIRES(mutex_);
    void unlist(Entry &entry) PTSCHED_REQUIRES(mutex_);
    bool is_covered(const Entry &entry, const Task &task) const;

    Arrays &arrays_;
    const Rates rates_;
    std::vector<device::Device *> devices_;
    std::vector<Stream *> streams_;
    mutable SmallMutex mutex_;
    Entries entries_ PTSCHED_GUARDED_BY(mutex_);
    Entry *newest_ PTSCHED_GUARDED_BY(mutex_) = nullptr; /* of those that a device may have */
    /* What is made before the first task is used after the last sweep, too, as there was none. */
    std::uint64_t clock_ PTSCHED_GUARDED_BY(mutex_) = 1, last_sweep_ PTSCHED_GUARDED_BY(mutex_) = 0;
    std::size_t sweep_at_ PTSCHED_GUARDED_BY(mutex_) = 1024;
    std::vector<Retired> retired_ PTSCHED_GUARDED_BY(mutex_);
    std::atomic<std::size_t> listed_{0}, retired_count_{0};
    std::atomic<std::uint64_t> to_devices_{0}, to_host_{0}, between_{0};
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_GPU_DIRECTORY_HPP */
