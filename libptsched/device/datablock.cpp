// SPDX-License-Identifier: MIT
#include <ptsched/device/datablock.hpp>

#include "libptsched/device/recycled.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ptsched::device {

namespace {

void check_own(const Copy &copy)
{
    if (copy.foreign)
        throw Error("a datablock in memory of somebody else is written");
}

void check_given(bool is_null, std::size_t bytes)
{
    if (is_null && bytes)
        throw Error("a datablock of " + std::to_string(bytes) + " bytes is made of a null pointer");
}

/* Without a marker nobody can wait for the work later, and what it uses is given back. */
MarkerPtr mark_or_settle(Queue &queue, bool for_later = false)
{
    try {
        return for_later ? queue.mark_for_later() : queue.mark();
    } catch (...) {
        settle(queue);
        throw;
    }
}

} // namespace

/* Memory for a copy, given back unless there comes to be one. */
struct Datablock::Room {
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

Datablock::Room Datablock::room_on(Device &device) const
{
    if (place_ && &place_->device == &device)
        return {device, bytes_, place_->address, true};
    return {device, bytes_};
}

void Datablock::become_slice(Place place, bool has_content, const Queue &queue, const MarkerPtr &ready)
{
    Device &device = place.device;
    place_ = std::make_unique<Place>(std::move(place));
    if (!has_content)
        return;
    Room room = room_on(device);
    /* Others may make room. */
    std::lock_guard lock(mutex_);
    add(room, &queue, ready);
}

void Datablock::refuse() const
{
    throw Error("a datablock of " + std::to_string(bytes_) + " bytes is used, but " + why_not_);
}

DatablockPtr Datablock::of(const void *data, std::size_t bytes)
{
    check_given(!data, bytes);
    auto block = empty(bytes);
    Room room(host(), bytes);
    /* Of nothing, there need not be an address. */
    if (bytes)
        std::memcpy(host_pointer(room.address), data, bytes);
    block->add(room, nullptr, nullptr);
    return block;
}

DatablockPtr Datablock::filled(std::size_t bytes, const std::function<bool(void *to)> &fill)
{
    if (!fill)
        throw Error("a datablock is to be filled by an empty function");
    auto block = empty(bytes);
    Room room(host(), bytes);
    if (!fill(host_pointer(room.address)))
        return nullptr;
    block->add(room, nullptr, nullptr);
    return block;
}

DatablockPtr Datablock::over(const void *data, std::size_t bytes, std::shared_ptr<const void> owner)
{
    return over(host(), reinterpret_cast<std::uintptr_t>(data), bytes, std::move(owner));
}

DatablockPtr Datablock::over(Device &device, Address address, std::size_t bytes, std::shared_ptr<const void> owner)
{
    check_given(!address, bytes);
    if (!owner)
        throw Error("a datablock over somebody's memory has no owner that would keep it: of memory that stays, one "
                    "that does nothing would do");
    auto block = empty(bytes);
    Room room(device, bytes, address);
    /* Others may make room, and must not take it for the device's own. */
    std::lock_guard lock(block->mutex_);
    block->owner_ = std::move(owner);
    block->add(room, nullptr, nullptr).foreign = true;
    return block;
}

DatablockPtr Datablock::empty(std::size_t bytes)
{
    return std::allocate_shared<Datablock>(Recycled<Datablock>(), bytes);
}

DatablockPtr Datablock::scratch(std::size_t bytes)
{
    auto block = empty(bytes);
    block->is_scratch_ = true;
    return block;
}

Datablock::Datablock(std::size_t bytes) : bytes_(bytes), near_{Copy(*this), Copy(*this)} {}

/* Nobody need have waited for what is on its way to the host; it must not come when the memory is somebody else's. */
Datablock::~Datablock()
{
    if (const Copy *copy = find(host()); copy && copy->ready && !copy->ready->seen())
        settle(*copy->ready);
    while (first_)
        remove(*first_);
}

void Datablock::check_elements(std::size_t bytes) const
{
    if (bytes_ % bytes)
        throw Error("a datablock of " + std::to_string(bytes_) + " bytes is no array of elements of " +
                    std::to_string(bytes));
}

Copy &Datablock::add(Room &room, const Queue *queue, MarkerPtr ready)
{
    auto *free = std::find_if(near_.begin(), near_.end(), [](const Copy &copy) { return !copy.device; });
    Copy &copy = free == near_.end() ? *new Copy(*this) : *free;
    Copy **last = &first_;

    while (*last)
        last = &(*last)->next;
    *last = &copy;
    has_content_.store(true, std::memory_order_relaxed);
    copy.device = &room.device;
    copy.residents = room.device.residents();
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

void Datablock::remove(Copy &copy)
{
    Copy **place = &first_;
    while (*place != &copy)
        place = &(*place)->next;
    *place = copy.next;
    has_content_.store(first_ != nullptr, std::memory_order_relaxed);
    /* In this order: see Residents::make_room(). */
    if (copy.foreign)
        owner_.reset();
    else if (!copy.lent)
        copy.device->release(copy.address, bytes_);
    if (copy.residents)
        copy.residents->remove(copy);
    if (&copy < near_.begin() || &copy >= near_.end())
        delete &copy;
    else
        copy.clear();
}

/* Valid or on its way; the block has content. */
Copy &Datablock::on_host()
{
    check_usable();
    if (Copy *copy = find(host()))
        return *copy;
    if (!first_)
        throw Error("a datablock without content is used");
    Copy &source = *first_;
    Queue &queue = source.device->outgoing();
    Room room = room_on(host());
    source.await(queue);
    queue.download(host_pointer(room.address), source.address, bytes_);
    MarkerPtr marker = mark_or_settle(queue);
    source.used(queue, marker);
    return add(room, &queue, marker);
}

/* The lock is not held while there may be no memory. */
Copy &Datablock::copy_to(Lock &lock, Device &device, Queue &queue)
{
    lock.unlock();
    Room room = room_on(device);
    lock.lock();
    if (Copy *copy = find(device))
        return *copy;
    Copy *peer = first_;
    while (peer && !device.reaches(*peer->device))
        peer = peer->next;
    /* Without one, from the host, where what is on another device passes. */
    Copy &source = peer ? *peer : on_host();
    source.await(queue);
    if (peer)
        queue.copy(room.address, *source.device, source.address, bytes_);
    else
        queue.upload(room.address, host_pointer(source.address), bytes_);
    /* Whom it is uploaded for, and who gave it, do not ask. */
    MarkerPtr marker = mark_or_settle(queue, weak_from_this().use_count() <= 2);
    source.used(queue, marker);
    Copy &copy = add(room, &queue, marker);
    copy.moved = true;
    return copy;
}

Copy &Datablock::usable(Lock &lock, Device &device, Queue &queue)
{
    check_usable();
    Copy *copy = find(device);
    if (!copy)
        copy = &device == &host() ? &on_host() : &copy_to(lock, device, queue);
    if (&device == &host())
        see_read();
    copy->await(queue);
    if (copy->residents)
        copy->residents->touch(*copy);
    return *copy;
}

Copy &Datablock::writable(Room &room, Queue &queue)
{
    check_usable();
    if (first_)
        throw Error("a datablock with content is written again");
    return add(room, &queue, nullptr);
}

void Datablock::bring_to_host()
{
    Lock lock(mutex_);
    on_host();
}

/* Who gives the device work finds it there; the queue for what comes in is nobody's whose work waits. */
void Datablock::prefetch(Device &device)
{
    Lock lock(mutex_);
    if (!first_ || why_not_ || find(device))
        return;
    if (&device == &host()) {
        on_host();
        return;
    }
    try {
        copy_to(lock, device, device.has_programs() ? device.incoming() : device.outgoing());
    } catch (const OutOfMemory &) {
        /* Then who needs it waits for it. */
    }
}

void Datablock::count_in(const std::shared_ptr<std::atomic<unsigned>> &reads)
{
    Lock lock(mutex_);
    if (reads_ != reads) /* nobody has read what it had before */
        reads_ = reads;
}

const void *Datablock::read()
{
    Lock lock(mutex_);
    see_read();
    if (auto reads = std::exchange(reads_, nullptr))
        reads->fetch_add(1, std::memory_order_relaxed);
    Copy &copy = on_host();
    MarkerPtr ready = copy.ready;
    lock.unlock();
    if (ready)
        ready->wait();
    return host_pointer(copy.address);
}

void Datablock::read_into(void *to)
{
    Lock lock(mutex_);
    if (find(host()) || !first_) {
        lock.unlock();
        std::memcpy(to, read(), bytes_);
        return;
    }
    see_read();
    check_usable();
    Copy &source = *first_;
    Queue &queue = source.device->outgoing();
    source.await(queue);
    queue.download(to, source.address, bytes_);
    MarkerPtr marker = mark_or_settle(queue);
    source.used(queue, marker);
    lock.unlock();
    marker->wait();
}

void Datablock::wait()
{
    Lock lock(mutex_);
    MarkerPtr ready = first_ ? first_->ready : nullptr;
    lock.unlock();
    if (ready)
        ready->wait();
}

std::size_t Datablock::missing(const Device &device) const
{
    std::lock_guard lock(mutex_);
    return find(device) ? 0 : bytes_;
}

Address Datablock::use(Device &device, Queue &queue)
{
    Lock lock(mutex_);
    Copy &copy = usable(lock, device, queue);
    copy.fixed = true;
    return copy.address;
}

Address Datablock::produce(Device &device, Queue &queue)
{
    Room room = room_on(device);
    Lock lock(mutex_);
    Copy &copy = writable(room, queue);
    copy.fixed = true;
    return copy.address;
}

void Datablock::written(const MarkerPtr &marker)
{
    std::lock_guard lock(mutex_);
    first_->ready = marker;
}

Address Datablock::pin(Device &device, Queue &queue)
{
    Lock lock(mutex_);
    Copy &copy = usable(lock, device, queue);
    copy.pins++;
    return copy.address;
}

Address Datablock::pin_new(Device &device, Queue &queue)
{
    Room room = room_on(device);
    Lock lock(mutex_);
    Copy &copy = writable(room, queue);
    copy.pins++;
    return copy.address;
}

Address Datablock::pin_alone(Device &device, Queue &queue)
{
    Lock lock(mutex_);
    Copy &copy = usable(lock, device, queue);
    check_own(copy);
    copy.pins++;
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
Address Datablock::pin_renewed(Device &device, Queue &queue, bool on_host)
{
    Lock lock(mutex_);
    check_usable();
    if (!find(device)) {
        /* Not while there may be no memory. */
        lock.unlock();
        Room room = room_on(device);
        lock.lock();
        add(room, &queue, nullptr);
    }
    Copy &copy = *find(device);
    check_own(copy);
    for (Copy *each = first_, *next = nullptr; each; each = next) {
        next = each->next;
        if (each->device == &device)
            continue;
        for (const MarkerPtr &marker : each->pending())
            marker->wait();
        if (each->device != &host() || !on_host || each->foreign)
            remove(*each);
    }
    copy.await(queue);
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

Datablock::Missing Datablock::first_use(const Device &device)
{
    std::lock_guard lock(mutex_);
    if (find(device))
        return {};
    const Copy *copy = used_from_host_ ? nullptr : find(host());
    if (!copy || copy->foreign || (copy->ready && !copy->ready->reached()))
        return {bytes_};
    used_from_host_ = true;
    return {bytes_, host_pointer(copy->address)};
}

MarkerPtr Datablock::arrival_on_host()
{
    std::lock_guard lock(mutex_);
    const Copy *copy = find(host());
    if (copy)
        see_read();
    return copy ? copy->ready : nullptr;
}

bool Datablock::is_foreign(const Device &device) const
{
    std::lock_guard lock(mutex_);
    const Copy *copy = find(device);
    return copy && copy->foreign;
}

std::optional<Datablock::Shared> Datablock::share()
{
    Lock lock(mutex_);
    Copy *copy = first_;
    while (copy && (copy->foreign || copy->device == &host()))
        copy = copy->next;
    if (!copy)
        return {};
    copy->pins++;
    Device &device = *copy->device;
    const MarkerPtr ready = copy->ready;
    const Address address = copy->address;
    lock.unlock();
    std::shared_ptr<const void> pin(
        copy, [self = shared_from_this(), &device](const void *) { self->abandon(device, false); });
    if (ready)
        ready->wait();
    if (std::optional<ShareHandle> handle = device.share(address, bytes_))
        return Shared{&device, *handle, std::move(pin)};
    return {};
}

Address Datablock::host_address() const
{
    std::lock_guard lock(mutex_);
    Copy *copy = find(host());
    return copy ? copy->address : 0;
}

void Datablock::copy_into(Address to, Device &device, Queue &queue)
{
    Lock lock(mutex_);
    check_usable();
    Copy *source = find(device);
    if (!source)
        source = &on_host();
    source->await(queue);
    if (source->device == &device)
        queue.copy(to, device, source->address, bytes_);
    else
        queue.upload(to, host_pointer(source->address), bytes_);
    source->used(queue, mark_or_settle(queue));
}

void Datablock::unpin(const Device &device, const Queue &queue, const MarkerPtr &marker, bool written)
{
    std::lock_guard lock(mutex_);
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

void Datablock::abandon(const Device &device, bool written)
{
    std::lock_guard lock(mutex_);
    Copy &copy = *find(device);
    copy.pins--;
    if (written)
        remove(copy);
}

std::size_t Datablock::evict(const Device &device, Eviction how)
{
    Lock lock(mutex_, std::defer_lock);
    bool begun = false;

    /* One that somebody uses right now will be used again soon, unless there is no other. */
    if (how != Eviction::busy && !lock.try_lock())
        return 0;
    if (!lock)
        lock.lock();
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

std::uint64_t Datablock::evictions() const
{
    std::lock_guard lock(mutex_);
    return evictions_;
}

const Queue *Datablock::queue() const
{
    std::lock_guard lock(mutex_);
    return first_ ? first_->queue : nullptr;
}

} // namespace ptsched::device
