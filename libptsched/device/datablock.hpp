/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_DEVICE_INSIDE_DATABLOCK_HPP
#define PTSCHED_DEVICE_INSIDE_DATABLOCK_HPP

#include "libptsched/device/copy.hpp"
#include <ptsched/base/mutex.hpp>
#include <ptsched/device/datablock.hpp>

#include <array>
#include <mutex>

namespace ptsched::device {

/* Which copies are to go: such as exist elsewhere, such as must be copied to the host, such as queues still use. */
enum class Eviction { clean, dirty, busy };

/* What the insides know of a datablock. What they ask often is inline, and hides the public function. */
struct DatablockImpl final : Datablock {
    using Lock = std::unique_lock<SmallMutex>;

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
        Room(const Room &) = delete;
        Room &operator=(const Room &) = delete;

        Device &device;
        const std::size_t bytes;
        Address address;
        const bool lent = false; /* a slice's place */
    };

    static std::shared_ptr<DatablockImpl> make(std::size_t bytes);
    explicit DatablockImpl(std::size_t bytes);
    ~DatablockImpl();

    std::size_t bytes() const { return bytes_; }
    bool has_content() const { return has_content_.load(std::memory_order_relaxed); }

    /* use() and produce() for a copy that may go after unpin(), once @marker is reached. */
    Address pin(Device &device, Queue &queue);
    Address pin_new(Device &device, Queue &queue);
    /* For who writes over the content and is the only one who has the block. */
    Address pin_alone(Device &device, Queue &queue);
    /* The same where the content does not matter, and is to be @on_host, too. */
    Address pin_renewed(Device &device, Queue &queue, bool on_host);
    /* The content to a place of a device, in the order of @queue. */
    void copy_into(Address to, Device &device, Queue &queue);
    void unpin(const Device &device, const Queue &queue, const MarkerPtr &marker, bool written);
    /* Takes pin() or pin_new() back. */
    void abandon(const Device &device, bool written);
    /* How many bytes of the device's memory are free by it. */
    std::size_t evict(const Device &device, Eviction how);
    /* Before anybody else has it. With content, that is there when @ready is reached. */
    void become_slice(Place place, bool has_content, const Queue &queue, const MarkerPtr &ready);

    /* The following are called with the lock. */
    Copy *find(const Device &device) const
    {
        for (Copy *copy = first_; copy; copy = copy->next)
            if (copy->device == &device)
                return copy;
        return nullptr;
    }
    /* Throws Error if it is divided into slices, or was one. */
    void check_usable() const
    {
        if (why_not_)
            refuse();
    }
    [[noreturn]] void refuse() const;
    void see_read() { read_.store(true, std::memory_order_relaxed); }
    Room room_on(Device &device) const; /* or without it: may wait for memory */
    Copy &add(Room &room, const Queue *queue, MarkerPtr ready);
    void remove(Copy &copy);
    /* Valid or on its way; the block has content. */
    Copy &on_host();
    /* The content to the host's memory, from where it was written; there is some. */
    MarkerPtr download(void *to);
    /* These let go of the lock where there may be no memory. */
    Copy &copy_to(Lock &lock, Device &device, Queue &queue);
    Copy &usable(Lock &lock, Device &device, Queue &queue);
    Copy &writable(Room &room, Queue &queue);

    const std::size_t bytes_;
    bool is_scratch_ = false;            /* before anybody else has it */
    mutable SmallMutex mutex_;           /* protects what follows */
    Copy *first_ = nullptr;              /* what was written, or its oldest copy; the others follow it */
    std::array<Copy, 2> near_;           /* the first that are needed */
    std::unique_ptr<const Place> place_; /* null: it is no slice */
    const char *why_not_ = nullptr;      /* it cannot be used; null: it can */
    std::uint64_t evictions_ = 0;
    bool used_from_host_ = false;                        /* see first_use() */
    std::atomic<bool> has_content_{false}, read_{false}; /* changed with the lock, read without it */
    std::shared_ptr<const void> owner_;                  /* of the foreign copy, if there is one */
    std::shared_ptr<std::atomic<unsigned>> reads_;
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
