/* SPDX-License-Identifier: MIT */
/*
 * The process's own channels on its GPUs, and the switch that takes them off the hardware and puts them back.
 *
 * A channel is the queue through which a program gives a GPU work. The driver library makes channels with ioctls on the
 * process's control file, which ioctl.cpp lets pass and shows to this file; nothing is asked of the driver until a
 * switch is used. A running kernel stops within some 0.4 ms and goes on where it was (measured on an H200, driver
 * 580.159.04). A channel that is made while the others are off is taken off at once.
 *
 * Only handles that were seen in this very process are ever named, on the file on which they were seen, as long as that
 * descriptor still is the driver's control device.
 */
#ifndef PTSCHED_PRELOAD_TURN_CHANNELS_HPP
#define PTSCHED_PRELOAD_TURN_CHANNELS_HPP

#include "libptsched/base/lock.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ptsched::preload {

/* The compute channels of one of the driver's clients on one GPU. */
struct ChannelSet {
    int fd; /* the control file on which they were made; not owned */
    std::uint32_t client, subdevice;
    std::vector<std::uint32_t> channels;
    bool operator==(const ChannelSet &) const = default;
};

/* One of the process's channel groups for compute work. */
struct ComputeGroup {
    int fd; /* as of a ChannelSet */
    std::uint32_t client, handle;
    std::size_t channels; /* how many it has */
};

class Channels {
public:
    /* A successful ioctl() on any file. Cheap for those that are not the driver's. */
    void saw_ioctl(int fd, unsigned long request, const void *argument)
    {
        if ((request >> 8 & 0xff) == 'F')
            saw_driver_ioctl(fd, request, argument);
    }

    /*
     * Takes all compute channels of the process on the GPU at the PCI address @address off the hardware, or puts them
     * back. Blocks for as long as the driver takes. Returns an empty string, or why it did not work; then some may be
     * off, and the caller puts all back.
     */
    std::string switch_off(const char *address) { return set(address, true); }
    std::string switch_on(const char *address) { return set(address, false); }

    /*
     * The hardware's time slice of all compute groups on that GPU, in us; 0: the driver's own. Read back. Returns an
     * empty string, or why it did not work.
     */
    std::string set_timeslice(const char *address, std::uint64_t us);

    /* The compute groups on that GPU, for who tries what else the driver does with them (tests/gpu/mechanisms.cu). */
    std::vector<ComputeGroup> groups(const char *address);

    /* Grows with every group and channel made: what was set before does not hold for a new one. */
    std::uint64_t births();

    /*
     * Has @watcher told of every set that there is, and from then on of those that change; without channels: it is
     * gone. It is called with a lock held under which it must not call back. NULL: no more.
     */
    using Watcher = void (*)(void *context, const ChannelSet &set);
    void watch(Watcher watcher, void *context);

    /* In a forked child, which has none: the parent's are forgotten. */
    void forget();

private:
    enum class Kind { device, subdevice, group, channel };
    struct Object {
        Kind kind;
        int fd;
        std::uint32_t client, handle, parent;
        bool compute;               /* of a group */
        std::uint64_t timeslice_us; /* of a group, the driver's own; 0: not asked for yet */
    };

    void saw_driver_ioctl(int fd, unsigned long request, const void *argument);
    void born(int fd, unsigned long request, const void *argument) PTSCHED_REQUIRES(lock_);
    void freed(const void *argument) PTSCHED_REQUIRES(lock_);
    void erase_below(std::uint32_t client, std::uint32_t handle) PTSCHED_REQUIRES(lock_);
    const Object *find(std::uint32_t client, std::uint32_t handle) const PTSCHED_REQUIRES(lock_);
    bool is_compute(const Object &channel, const Object &subdevice) const PTSCHED_REQUIRES(lock_);
    bool is_compute_group(const Object &object, const Object &subdevice) const PTSCHED_REQUIRES(lock_);
    std::vector<ChannelSet> sets() const PTSCHED_REQUIRES(lock_);
    std::vector<ChannelSet> sets_at(const char *address) const PTSCHED_REQUIRES(lock_);
    std::vector<Object *> groups_at(const char *address) PTSCHED_REQUIRES(lock_);
    std::string set(const char *address, bool off);
    bool set_group_timeslice(Object &group, std::uint64_t us) const PTSCHED_REQUIRES(lock_);
    void take_off_newborn() PTSCHED_REQUIRES(lock_);
    void tell() PTSCHED_REQUIRES(lock_);

    Mutex lock_;
    std::vector<Object> objects_ PTSCHED_GUARDED_BY(lock_);
    /* Addresses of the GPUs on which the channels are off. */
    std::vector<std::string> off_ PTSCHED_GUARDED_BY(lock_);
    std::uint64_t births_ PTSCHED_GUARDED_BY(lock_) = 0;
    Watcher watcher_ PTSCHED_GUARDED_BY(lock_) = nullptr;
    void *watchers_context_ PTSCHED_GUARDED_BY(lock_) = nullptr;
    std::vector<ChannelSet> told_ PTSCHED_GUARDED_BY(lock_);
};

extern Channels *channels;

} // namespace ptsched::preload

#endif
