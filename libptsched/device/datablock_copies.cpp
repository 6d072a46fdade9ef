// SPDX-License-Identifier: MIT
/* A datablock's copies: how they come to be where they are needed, and go. */
#include "libptsched/device/datablock.hpp"

#include <algorithm>
#include <exception>
#include <utility>

namespace ptsched::device {

namespace {

void check_own(const Copy &copy)
{
    if (copy.foreign)
        throw Error("a datablock in memory of somebody else is written");
}

/*
 * Where a copy fails that has several parts, or cannot be marked, nobody can wait later for what the queue has of it,
 * and the memory is given back.
 */
struct SettledByErrors {
    ~SettledByErrors()
    {
        if (std::uncaught_exceptions() > before)
            settle(queue);
    }

    Queue &queue;
    const int before = std::uncaught_exceptions();
};

} // namespace

DatablockImpl::DatablockImpl(std::size_t bytes) : bytes_(bytes), near_{Copy(*this), Copy(*this)} {}

DatablockImpl::Room DatablockImpl::room_on(Device &user) const
{
    Device &device = home_of(user);
    if (place_ && &place_->device == &device)
        return {device, bytes_, place_->address, true};
    if (home_ && &device == &host())
        return {device, bytes_, reinterpret_cast<std::uintptr_t>(home_->data), true};
    return {device, bytes_};
}

void DatablockImpl::become_slice(Place place, bool has_content, const Queue &queue, const MarkerPtr &ready)
{
    Device &device = place.device;
    place_ = std::make_unique<Place>(std::move(place));
    if (!has_content)
        return;
    Room room = room_on(device);
    /* Others may make room. */
    Guard lock(mutex_);
    add(room, &queue, ready);
}

void DatablockImpl::refuse() const
{
    throw Error("a datablock of " + std::to_string(bytes_) + " bytes is used, but " + why_not_);
}

/*
 * Nobody need have waited for what is on its way to the host, or was brought to a device for work that did not come; it
 * must not come when the memory is somebody else's.
 */
DatablockImpl::~DatablockImpl()
{
    for (const Copy *chain : {first_, outdated_})
        for (const Copy *copy = chain; copy; copy = copy->next)
            if (copy->may_arrive_later())
                settle(*copy->ready);
    while (first_)
        remove(*first_);
    while (Copy *copy = outdated_) {
        unlink(outdated_, *copy);
        dispose(*copy);
    }
}

Copy &DatablockImpl::add(Room &room, const Queue *queue, MarkerPtr ready)
{
    auto *free = std::find_if(near_.begin(), near_.end(), [](const Copy &copy) { return !copy.device; });
    Copy &copy = free == near_.end() ? *new Copy(*this) : *free;
    Copy **last = &first_;

    while (*last)
        last = &(*last)->next;
    *last = &copy;
    has_content_.store(true, std::memory_order_relaxed);
    copy.device = &room.device;
    Residents *residents = room.device.residents();
    copy.residents = residents ? &impl(*residents) : nullptr;
    copy.address = std::exchange(room.address, 0);
    copy.lent = room.lent;
    copy.queue = queue;
    copy.ready = std::move(ready);
    if (copy.residents) {
        copy.residents->touch(copy);
        copy.residents->add(copy);
    }
    return copy;
}

void DatablockImpl::unlink(Copy *&chain, Copy &copy)
{
    Copy **place = &chain;
    while (*place != &copy)
        place = &(*place)->next;
    *place = std::exchange(copy.next, nullptr);
}

void DatablockImpl::remove(Copy &copy)
{
    unlink(first_, copy);
    has_content_.store(first_ != nullptr, std::memory_order_relaxed);
    dispose(copy);
}

void DatablockImpl::dispose(Copy &copy)
{
    /* In this order: see Residents::make_room(). */
    if (copy.foreign)
        owner_.reset();
    else if (!copy.lent && copy.address)
        copy.device->release(copy.address, bytes_);
    if (copy.residents)
        copy.residents->remove(copy);
    if (&copy < near_.begin() || &copy >= near_.end())
        delete &copy;
    else
        copy.clear();
}

Copy &DatablockImpl::on_host()
{
    check_usable();
    if (Copy *copy = find(host()))
        return *copy;
    if (!first_)
        throw Error("a datablock without content is used");
    std::vector<MarkerPtr> before;
    if (Copy *old = find_outdated(host())) {
        before = old->pending();
        unlink(outdated_, *old);
        dispose(*old);
    }
    Room room = room_on(host());
    const Queue &queue = first_->device->outgoing();
    return add(room, &queue, download(host_pointer(room.address), before));
}

MarkerPtr DatablockImpl::download(void *to, const std::vector<MarkerPtr> &after)
{
    Copy &source = *first_;
    Queue &queue = source.device->outgoing();
    const SettledByErrors settled{queue};
    for (const MarkerPtr &marker : after)
        queue.after(marker);
    source.await(queue);
    copy_to_host(*source.device, queue, to, source.address);
    MarkerPtr marker = queue.mark();
    source.used(queue, marker);
    return marker;
}

/* One that is on its way to another device is behind others there, which one from the host need not be. */
Copy *DatablockImpl::find_source(Device &device) const
{
    Copy *late = nullptr;
    for (Copy *copy = first_; copy; copy = copy->next) {
        if (!device.reaches(*copy->device))
            continue;
        if (!copy->ready || copy->ready->reached())
            return copy;
        late = late ? late : copy;
    }
    Copy *const here = find(host());
    return here ? here : late;
}

/*
 * What has to wait for other work does that where its user waits for it: behind it, other copies would, too. From
 * another device it is faster than from the host, and not to come behind what does.
 */
Queue &DatablockImpl::queue_to_copy(Device &device, const By &by) const
{
    if (&by.queue == &by.copies)
        return by.queue;
    const Copy *const source = find_source(device), *const old = find_outdated(device);
    const bool is_here = source && source->device == &host() && (!source->ready || source->ready->reached());
    return is_here && (!old || old->pending().empty()) ? by.copies : by.queue;
}

/* The lock is not held while there may be no memory. */
Copy &DatablockImpl::copy_to(Lock &lock, Device &device, const By &by)
{
    Queue &queue = queue_to_copy(device, by);
    Room room = room_for(lock, device, queue);
    if (Copy *copy = find(device))
        return *copy;
    const SettledByErrors settled{queue};
    /* Without one, from the host, where what is on another device passes. */
    Copy *const found = find_source(device);
    Copy &source = found ? *found : on_host();
    source.await(queue);
    if (source.device != &host())
        queue.copy(room.address, *source.device, source.address, bytes_);
    else
        copy_from_host(device, queue, room.address, source);
    /* Whom it is uploaded for, and who gave it, do not ask. */
    MarkerPtr marker = weak_from_this().use_count() <= 2 ? queue.mark_for_later() : queue.mark();
    source.used(queue, marker);
    Copy &copy = add(room, &queue, marker);
    copy.moved = true;
    return copy;
}

Copy &DatablockImpl::usable(Lock &lock, Device &device, const By &by)
{
    check_usable();
    Copy *copy = find(device);
    if (!copy)
        copy = &device == &host() ? &on_host() : &copy_to(lock, device, by);
    if (&device == &host())
        see_read();
    copy->await(by.queue, by.ordered);
    if (copy->residents)
        copy->residents->touch(*copy);
    return *copy;
}

Copy &DatablockImpl::writable(Room &room, Queue &queue)
{
    check_usable();
    if (first_)
        throw Error("a datablock with content is written again");
    return add(room, &queue, nullptr);
}

Address DatablockImpl::pin(Device &device, const By &by)
{
    Lock lock(mutex_);
    Copy &copy = usable(lock, device, by);
    copy.pins++;
    return copy.address;
}

Address DatablockImpl::pin_new(Device &device, Queue &queue)
{
    Room room = room_on(device);
    Lock lock(mutex_);
    Copy &copy = writable(room, queue);
    copy.pins++;
    return copy.address;
}

Address DatablockImpl::pin_alone(Device &device, const By &by)
{
    Lock lock(mutex_);
    Copy &copy = usable(lock, device, by);
    check_own(copy);
    copy.pins++;
    while (home_ && first_->next)
        outdate(first_ == &copy ? *first_->next : *first_, &by.queue);
    /* What an eviction or somebody's reading has left would be out of date. */
    while (first_->next) {
        for (Copy *each = first_; each; each = each->next)
            for (const MarkerPtr &marker : each->pending())
                marker->wait();
        remove(first_ == &copy ? *first_->next : *first_);
    }
    return copy.address;
}

/* Nobody reads the old content on the device any more: who does has the block. */
Address DatablockImpl::pin_renewed(Device &device, Queue &queue, bool on_host, bool ordered)
{
    Lock lock(mutex_);
    check_usable();
    if (!find(device)) {
        Room room = room_for(lock, device, queue);
        add(room, &queue, nullptr);
    }
    Copy &copy = *find(device);
    check_own(copy);
    for (Copy *each = first_, *next = nullptr; each; each = next) {
        next = each->next;
        if (each == &copy)
            continue;
        if (home_) {
            outdate(*each, &queue);
            continue;
        }
        for (const MarkerPtr &marker : each->pending())
            marker->wait();
        if (each->device != &host() || !on_host || each->foreign)
            remove(*each);
    }
    copy.await(queue, ordered);
    if (copy.residents)
        copy.residents->touch(copy);
    if (on_host && !find(host())) {
        Room room = room_on(host());
        add(room, &queue, nullptr);
    }
    copy.pins++;
    used_from_host_ = false;
    read_.store(false, std::memory_order_relaxed);
    return copy.address;
}

void DatablockImpl::copy_into(Address to, Device &device, Queue &queue)
{
    Lock lock(mutex_);
    check_usable();
    const SettledByErrors settled{queue};
    Copy *there = find(device), *source = there ? there : &on_host();
    source->await(queue);
    if (there)
        queue.copy(to, *source->device, source->address, bytes_);
    else
        copy_from_host(device, queue, to, *source);
    source->used(queue, queue.mark());
}

void DatablockImpl::unpin(const Device &device, const Queue &queue, const MarkerPtr &marker, bool written)
{
    Guard lock(mutex_);
    Copy &copy = *find(device);
    copy.pins--;
    if (written) {
        for (Copy *each = first_; each; each = each->next) {
            each->ready = marker;
            each->queue = &queue;
            each->moved = false;
        }
    } else {
        copy.used(queue, marker);
    }
}

void DatablockImpl::abandon(const Device &device, bool written)
{
    Guard lock(mutex_);
    Copy &copy = *find(device);
    copy.pins--;
    if (written)
        remove(copy);
}

std::size_t DatablockImpl::evict(const Device &device, Eviction how)
{
    bool begun = false;

    /* One that somebody uses right now will be used again soon, unless there is no other. */
    if (how == Eviction::busy)
        mutex_.lock();
    else if (!mutex_.try_lock())
        return 0;
    Lock lock(mutex_, std::adopt_lock);
    if (const auto evicted = evict_outdated(lock, device, how))
        return *evicted;
    for (;;) {
        Copy *copy = find(device);
        if (!copy) /* somebody else was faster */
            return bytes_;
        const bool is_needed = !first_->next && !is_scratch_;
        if (copy->held() || (how == Eviction::clean && is_needed))
            return 0;
        if (how != Eviction::busy && !begun && !copy->pending().empty())
            return 0;
        if (is_needed)
            on_host();
        begun = true;
        const std::vector<MarkerPtr> pending = copy->pending();
        if (pending.empty()) {
            remove(*copy);
            evictions_++;
            return bytes_;
        }
        lock.unlock();
        for (const MarkerPtr &marker : pending)
            marker->wait();
        lock.lock();
    }
}

} // namespace ptsched::device
