/* SPDX-License-Identifier: MIT */
/*
 * The datablocks of one piece of work, where it can use them: from here on until the work has been done they are not
 * evicted, and afterwards they can be. Without memory it waits, without keeping anybody else's work from being done.
 *
 *	Access::Item items[] = {Access::reads(*input), Access::writes(*output)};
 *	Address addresses[2];
 *	Access access(device, queue, items, addresses);
 *	queue.run(code, geometry, ...);
 *	access.given(queue.mark());
 */
#ifndef PTSCHED_DEVICE_ACCESS_HPP
#define PTSCHED_DEVICE_ACCESS_HPP

#include <ptsched/device/datablock.hpp>

namespace ptsched::device {

struct AccessImpl;

} // namespace ptsched::device

#pragma GCC visibility push(default)

namespace ptsched::device {

class Access {
public:
    struct Item {
        Datablock *block = nullptr;  /* null: none */
        Datablock *source = nullptr; /* what a written one begins with */
        bool written = false;        /* by this work, for the first time */
        bool changed = false;        /* in place */
        bool renewed = false;        /* its content does not matter any more */
        bool on_host = false;        /* what renews it writes both copies, that on the host too */
        bool there_alone = false;    /* or that one alone, where the device reaches it */
        bool ordered = false;        /* the queue has this work after that which wrote the block */
    };
    static Item reads(Datablock &block) { return {&block}; }
    /* For the first time. It begins with the content of @source, if there is one. */
    static Item writes(Datablock &block, Datablock *source = nullptr) { return {&block, source, true}; }
    /* Written over in place: nobody else has the block, and what is on the device is not foreign. */
    static Item changes(Datablock &block) { return {&block, nullptr, false, true}; }
    /* Written anew, whether it had a content or not: nobody else has the block. */
    static Item renews(Datablock &block, bool on_host = false) { return {&block, nullptr, false, true, true, on_host}; }

    /* The same, on the host alone: that is where the address is. */
    static Item renews_on_host(Datablock &block) { return {&block, nullptr, false, true, true, true, true}; }

    /*
     * Addresses in the order of the items, which are to stay as long. A thread has one at a time. Throws OutOfMemory if
     * the device's memory is too small for this work alone.
     */
    Access(Device &device, Queue &queue, std::span<const Item> items, Address *addresses);
    /* The same, and what is not there yet is copied by @copies, a queue of the device, beside what @queue has. */
    Access(Device &device, Queue &queue, Queue &copies, std::span<const Item> items, Address *addresses);
    /* What was not given is as before, after what the queue has. */
    ~Access();
    Access(const Access &) = delete;
    Access &operator=(const Access &) = delete;

    /* The queue has the work, and the marker after it; or @last has, which does the last of it. */
    void given(const MarkerPtr &marker, const Queue *last = nullptr);

private:
    AccessImpl &impl();

    /* In place, since it is made for each piece of work. */
    alignas(void *) std::byte impl_[64];
};

} // namespace ptsched::device

#pragma GCC visibility pop

#endif /* PTSCHED_DEVICE_ACCESS_HPP */
