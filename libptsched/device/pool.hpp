/* SPDX-License-Identifier: MIT */
/*
 * Memory that is kept for later, since drivers take long to give and take it. It comes in size classes, so that blocks
 * of ever other sizes find some. In use or kept, there is no more of it than twice what was in use of late, and a
 * little: before a driver is asked for more, it gets back what has been of no use for the longest time.
 */
#ifndef PTSCHED_DEVICE_POOL_HPP
#define PTSCHED_DEVICE_POOL_HPP

#include "libptsched/base/lock.hpp"
#include "libptsched/device/kept.hpp"
#include "libptsched/device/lately.hpp"
#include <ptsched/device/device.hpp>

#include <bit>
#include <unordered_map>

namespace ptsched::device {

class Pool final : public Keeper {
public:
    /* Zero if there is not as much. */
    using Allocate = std::function<Address(std::size_t bytes)>;
    using Free = std::function<void(Address)>;

    /* That there may be however little was in use. */
    static constexpr std::size_t always_kept = std::size_t{16} << 20;

    Pool(Allocate allocate, Free free);
    ~Pool();

    /* Zero if there is not as much. */
    Address take(std::size_t bytes);
    void give(Address address, std::size_t bytes) noexcept;
    /* No more is taken from the driver while that much is. */
    void limit(std::size_t bytes);
    std::size_t trim() override;
    /* The same until no more than so many bytes are kept: what has been of no use for longest goes first. */
    std::size_t trim_to(std::size_t keep);
    /*
     * What the driver is asked for otherwise, and counts as taken and in use: @make says whether there was as much.
     * Nothing that is kept is given back for it.
     */
    bool make_beside(std::size_t bytes, const std::function<bool()> &make);
    void give_beside(std::size_t bytes) noexcept;

    /* What a block of so many gets: at most a 32nd more, or what alignment takes. */
    static std::size_t rounded(std::size_t bytes)
    {
        const std::size_t size = align_up(bytes ? bytes : 1);
        const int shift = shift_of(size);
        return (((size - 1) >> shift) + 1) << shift;
    }
    struct Use {
        std::size_t taken; /* from the driver */
        std::size_t kept;  /* of that, not in use */
    };
    Use use();

private:
    /* Between a size and its double; and how many of the next ones will do for what has none of its own. */
    static constexpr int octave_bits = 5;
    static constexpr std::size_t classes_of_octave = 1 << octave_bits, next_classes = 16;
    static constexpr std::size_t most_bytes = std::size_t{1} << 48;
    static constexpr std::size_t classes =
        (std::bit_width(most_bytes) - std::bit_width(allocation_alignment) + 1) * classes_of_octave;

    struct Class {
        std::vector<Address> addresses;
        std::size_t size = 0;
        std::uint64_t used = 0; /* when something was taken from it or given to it */
    };
    /* What goes back to the driver. */
    struct Freed {
        std::vector<Address> addresses;
        std::size_t bytes = 0;
    };

    /* Classes are so many bits apart, in bytes. */
    static int shift_of(std::size_t size)
    {
        return std::max(std::bit_width(allocation_alignment), std::bit_width(size) - octave_bits) - 1;
    }
    static std::size_t class_of(std::size_t size)
    {
        const int octave = std::bit_width(size) - std::bit_width(allocation_alignment);
        return (static_cast<std::size_t>(octave) << octave_bits) + ((size - std::bit_floor(size)) >> shift_of(size));
    }
    Address find(std::size_t size) PTSCHED_REQUIRES(mutex_);
    Address take_from(Class &kept) PTSCHED_REQUIRES(mutex_);
    Class *oldest() PTSCHED_REQUIRES(mutex_);
    void move_one(Class &kept, Freed &freed) PTSCHED_REQUIRES(mutex_);

    void make_room(std::size_t size);
    void give_back(Freed &freed);
    void free_all(const Freed &freed) PTSCHED_REQUIRES(drain_mutex_);
    Address allocate(std::size_t size);
    bool count(std::size_t size);

    Allocate allocate_;
    Free free_;
    Mutex drain_mutex_; /* who finds nothing to give back waits for what another thread is giving back */
    SmallMutex mutex_;  /* is not held while the driver is called */
    std::array<Class, classes> kept_ PTSCHED_GUARDED_BY(mutex_);
    std::unordered_map<Address, std::size_t>
        larger_ PTSCHED_GUARDED_BY(mutex_);                 /* in use by blocks of a smaller class: their sizes */
    std::size_t taken_ PTSCHED_GUARDED_BY(mutex_) = 0;      /* from the driver */
    std::size_t kept_bytes_ PTSCHED_GUARDED_BY(mutex_) = 0; /* of that, not in use */
    MostOfLate most_used_ PTSCHED_GUARDED_BY(mutex_);
    std::uint64_t clock_ PTSCHED_GUARDED_BY(mutex_) = 0; /* counts what is taken */
    std::size_t limit_ PTSCHED_GUARDED_BY(mutex_) = SIZE_MAX;
};

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_POOL_HPP */
