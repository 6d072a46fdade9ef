/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_DEVICE_INSIDE_DATABLOCK_HPP
#define PTSCHED_DEVICE_INSIDE_DATABLOCK_HPP

#include "libptsched/base/lock.hpp"
#include "libptsched/device/copy.hpp"
#include <ptsched/device/datablock.hpp>

#include <array>
#include <utility>

namespace ptsched::device {

/* Which copies are to go: such as exist elsewhere, such as must be copied to the host, such as queues still use. */
enum class Eviction { clean, dirty, busy };

/* What the insides know of a datablock. What they ask often is inline, and hides the public function. */
struct DatablockImpl final : Datablock {
    using Lock = UniqueLock<SmallMutex>;

    /* Of a slice: where its copies on a device are, which the whole's memory is for. */
    struct Place {
        Device &device;
        Address address;
        std::shared_ptr<const void> owner;
    };
    /* Memory for a copy, given back unless there comes to be one. */
    struct Room {
        Room(Device &device, std::size_t bytes) : device(device), bytes(bytes), address(device.allocate(bytes)) {}
        Room(Device &device, std::size_t bytes, Address address, bool lent = false)
            : device(device), bytes(bytes), address(address), lent(lent)
        {
        }
        ~Room()
        {
            if (address && !lent)
                device.release(address, bytes);
        }
        Room(Room &&other) noexcept
            : device(other.device), bytes(other.bytes), address(std::exchange(other.address, 0)), lent(other.lent)
        {
        }
        Room &operator=(const Room &) = delete;

        Device &device;
        const std::size_t bytes;
        Address address;
        const bool lent = false; /* a slice's place, or at home */
    };
    /* Where the content on the host is, of a block that is at home. */
    struct Home {
        void *data;
        Rows rows;
    };
    /* Who uses it: a queue, perhaps another for what must be copied before, and Access::Item::ordered. */
    struct By {
        Queue &queue, &copies;
        bool ordered = false;
    };

    static std::shared_ptr<DatablockImpl> make(std::size_t bytes);
    explicit DatablockImpl(std::size_t bytes);
    ~DatablockImpl();

    std::size_t bytes() const { return bytes_; }
    bool has_content() const { return has_content_.load(std::memory_order_relaxed); }

    /* use() and produce() for a copy that may go after unpin(), once @marker is reached. */
    Address pin(Device &device, const By &by);
    Address pin_new(Device &device, Queue &queue);
    /* For who writes over the content and is the only one who has the block. */
    Address pin_alone(Device &device, const By &by);
    /* The same where the content does not matter, and is to be @on_host, too. */
    Address pin_renewed(Device &device, Queue &queue, bool on_host, bool ordered);
    /* The content to a place of a device, in the order of @queue. */
    void copy_into(Address to, Device &device, Queue &queue);
    void unpin(const Device &device, const Queue &queue, const MarkerPtr &marker, bool written);
    /* Takes pin() or pin_new() back. */
    void abandon(const Device &device, bool written);
    /* How many bytes of the device's memory are free by it. */
    std::size_t evict(const Device &device, Eviction how);
    /* Before anybody else has it. With content, that is there when @ready is reached. */
    void become_slice(Place place, bool has_content, const Queue &queue, const MarkerPtr &ready);
    /* Its first copy. Before anybody else has it, who would be kept out by the lock: nobody makes room on the host. */
    void begin_on_host(Room &room) PTSCHED_NO_THREAD_SAFETY_ANALYSIS { add(room, nullptr, nullptr); }

    Copy *find(const Device &device) const PTSCHED_REQUIRES(mutex_)
    {
        if (Copy *copy = find_at(device))
            return copy;
        const Device &home = home_of(device);
        return &home == &device ? nullptr : find_at(home);
    }
    Copy *find_at(const Device &home) const PTSCHED_REQUIRES(mutex_)
    {
        for (Copy *copy = first_; copy; copy = copy->next)
            if (copy->device == &home)
                return copy;
        return nullptr;
    }
    /* Throws Error if it is divided into slices, or was one. */
    void check_usable() const PTSCHED_REQUIRES(mutex_)
    {
        if (why_not_)
            refuse();
    }
    [[noreturn]] void refuse() const PTSCHED_REQUIRES(mutex_);
    void see_read() { read_.store(true, std::memory_order_relaxed); }
    /* May wait for memory: where there may be none, without the lock. */
    Room room_on(Device &device) const;
    /* The same with the lock, which it lets go of meanwhile; or what an outdated copy has, after what @queue has. */
    Room room_for(Lock &lock, Device &device, Queue &queue) PTSCHED_REQUIRES(mutex_);
    Copy &add(Room &room, const Queue *queue, MarkerPtr ready) PTSCHED_REQUIRES(mutex_);
    void remove(Copy &copy) PTSCHED_REQUIRES(mutex_);
    void unlink(Copy *&chain, Copy &copy) PTSCHED_REQUIRES(mutex_);
    /* It is in no chain. */
    void dispose(Copy &copy) PTSCHED_REQUIRES(mutex_);
    /*
     * Of a block at home, one that is not the content any more: what @queue has from now on, if it is not null, comes
     * after what copies it.
     */
    void outdate(Copy &copy, Queue *queue) PTSCHED_REQUIRES(mutex_);
    Copy *find_outdated(const Device &device) const PTSCHED_REQUIRES(mutex_);
    /* What the device can copy from, on the host or on another one; null: there is nothing. */
    Copy *find_source(Device &device) const PTSCHED_REQUIRES(mutex_);
    /* See evict(); nothing if there is none. */
    std::optional<std::size_t> evict_outdated(Lock &lock, const Device &device, Eviction how) PTSCHED_REQUIRES(mutex_);
    void written_at_home();
    void copy_from_host(Device &device, Queue &queue, Address to, const Copy &source) const;
    void copy_to_host(Device &device, Queue &queue, void *to, Address from) const;
    /* Valid or on its way; the block has content. */
    Copy &on_host() PTSCHED_REQUIRES(mutex_);
    /* The content to the host's memory, from where it was written; there is some. */
    MarkerPtr download(void *to, const std::vector<MarkerPtr> &after = {}) PTSCHED_REQUIRES(mutex_);
    /* These let go of the lock where there may be no memory. */
    Copy &copy_to(Lock &lock, Device &device, const By &by) PTSCHED_REQUIRES(mutex_);
    Queue &queue_to_copy(Device &device, const By &by) const PTSCHED_REQUIRES(mutex_);
    Copy &usable(Lock &lock, Device &device, const By &by) PTSCHED_REQUIRES(mutex_);
    Copy &writable(Room &room, Queue &queue) PTSCHED_REQUIRES(mutex_);

    const std::size_t bytes_;
    /* Set before anybody else has it. */
    bool is_scratch_ = false;
    std::unique_ptr<const Place> place_; /* null: it is no slice */
    std::optional<const Home> home_;     /* nothing: its copy on the host is its own, or foreign */

    mutable SmallMutex mutex_;
    Copy *first_ PTSCHED_GUARDED_BY(mutex_) = nullptr; /* what was written, or its oldest copy; the others follow it */
    Copy *outdated_ PTSCHED_GUARDED_BY(mutex_) = nullptr;      /* no copies any more, but for their memory; at home */
    std::array<Copy, 2> near_ PTSCHED_GUARDED_BY(mutex_);      /* the first that are needed */
    const char *why_not_ PTSCHED_GUARDED_BY(mutex_) = nullptr; /* it cannot be used; null: it can */
    std::uint64_t evictions_ PTSCHED_GUARDED_BY(mutex_) = 0;
    bool used_from_host_ PTSCHED_GUARDED_BY(mutex_) = false;       /* see first_use() */
    std::shared_ptr<const void> owner_ PTSCHED_GUARDED_BY(mutex_); /* of the foreign copy, if there is one */
    std::shared_ptr<std::atomic<unsigned>> reads_ PTSCHED_GUARDED_BY(mutex_);
    std::atomic<bool> has_content_{false}, read_{false}; /* changed with the lock, read without it */
};

inline DatablockImpl &impl(Datablock &block)
{
    return static_cast<DatablockImpl &>(block);
}

inline const DatablockImpl &impl(const Datablock &block)
{
    return static_cast<const DatablockImpl &>(block);
}

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_INSIDE_DATABLOCK_HPP */
