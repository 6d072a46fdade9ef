// SPDX-License-Identifier: MIT
#include "libptsched/device/datablock.hpp"

#include "libptsched/device/recycled.hpp"

#include <cstring>
#include <utility>

namespace ptsched::device {

namespace {

void check_given(bool is_null, std::size_t bytes)
{
    if (is_null && bytes)
        throw Error("a datablock of " + std::to_string(bytes) + " bytes is made of a null pointer");
}

} // namespace

std::shared_ptr<DatablockImpl> DatablockImpl::make(std::size_t bytes)
{
    return std::allocate_shared<DatablockImpl>(Recycled<DatablockImpl>(), bytes);
}

DatablockPtr Datablock::of(const void *data, std::size_t bytes)
{
    check_given(!data, bytes);
    auto block = DatablockImpl::make(bytes);
    DatablockImpl::Room room(host(), bytes);
    /* Of nothing, there need not be an address. */
    if (bytes)
        std::memcpy(host_pointer(room.address), data, bytes);
    block->begin_on_host(room);
    return block;
}

DatablockPtr Datablock::filled(std::size_t bytes, const std::function<bool(void *to)> &fill)
{
    if (!fill)
        throw Error("a datablock is to be filled by an empty function");
    auto block = DatablockImpl::make(bytes);
    DatablockImpl::Room room(host(), bytes);
    if (!fill(host_pointer(room.address)))
        return nullptr;
    block->begin_on_host(room);
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
    auto block = DatablockImpl::make(bytes);
    DatablockImpl::Room room(home_of(device), bytes, address);
    /* Others may make room, and must not take it for the device's own. */
    Guard lock(block->mutex_);
    block->owner_ = std::move(owner);
    block->add(room, nullptr, nullptr).foreign = true;
    return block;
}

DatablockPtr Datablock::empty(std::size_t bytes)
{
    return DatablockImpl::make(bytes);
}

DatablockPtr Datablock::scratch(std::size_t bytes)
{
    auto block = DatablockImpl::make(bytes);
    block->is_scratch_ = true;
    return block;
}

std::size_t Datablock::bytes() const
{
    return impl(*this).bytes();
}

std::size_t Datablock::elements(std::size_t bytes_of_each) const
{
    const std::size_t all = impl(*this).bytes();
    if (!bytes_of_each || all % bytes_of_each)
        throw Error("a datablock of " + std::to_string(all) + " bytes is no array of elements of " +
                    std::to_string(bytes_of_each));
    return all / bytes_of_each;
}

bool Datablock::has_content() const
{
    return impl(*this).has_content();
}

bool Datablock::was_read() const
{
    return impl(*this).read_.load(std::memory_order_relaxed);
}

void Datablock::bring_to_host()
{
    DatablockImpl &block = impl(*this);
    DatablockImpl::Lock lock(block.mutex_);
    block.on_host();
}

/* Who gives the device work finds it there; the queue for what comes in is nobody's whose work waits. */
void Datablock::prefetch(Device &device)
{
    if (&device != &host()) {
        prefetch(device, device.has_programs() ? device.incoming() : device.outgoing());
        return;
    }
    DatablockImpl &block = impl(*this);
    DatablockImpl::Lock lock(block.mutex_);
    if (block.first_ && !block.why_not_)
        block.on_host();
}

void Datablock::prefetch(Device &device, Queue &queue)
{
    DatablockImpl &block = impl(*this);
    DatablockImpl::Lock lock(block.mutex_);
    if (!block.first_ || block.why_not_ || block.find(device))
        return;
    try {
        block.copy_to(lock, device, {queue, queue});
    } catch (const OutOfMemory &) {
        /* Then who needs it waits for it. */
    }
}

void Datablock::count_in(const std::shared_ptr<std::atomic<unsigned>> &reads)
{
    DatablockImpl &block = impl(*this);
    DatablockImpl::Lock lock(block.mutex_);
    if (block.reads_ != reads) /* nobody has read what it had before */
        block.reads_ = reads;
}

const void *Datablock::read()
{
    DatablockImpl &block = impl(*this);
    DatablockImpl::Lock lock(block.mutex_);
    block.see_read();
    if (auto reads = std::exchange(block.reads_, nullptr))
        reads->fetch_add(1, std::memory_order_relaxed);
    Copy &copy = block.on_host();
    MarkerPtr ready = copy.ready;
    lock.unlock();
    if (ready)
        ready->wait();
    return host_pointer(copy.address);
}

void Datablock::read_into(void *to)
{
    DatablockImpl &block = impl(*this);
    DatablockImpl::Lock lock(block.mutex_);
    if (block.find(host()) || !block.first_) {
        lock.unlock();
        std::memcpy(to, read(), block.bytes_);
        return;
    }
    block.see_read();
    block.check_usable();
    const MarkerPtr marker = block.download(to);
    lock.unlock();
    marker->wait();
}

void Datablock::wait()
{
    DatablockImpl &block = impl(*this);
    DatablockImpl::Lock lock(block.mutex_);
    MarkerPtr ready = block.first_ ? block.first_->ready : nullptr;
    lock.unlock();
    if (ready)
        ready->wait();
}

std::size_t Datablock::missing(const Device &device) const
{
    const DatablockImpl &block = impl(*this);
    Guard lock(block.mutex_);
    return block.find(device) ? 0 : block.bytes_;
}

Address Datablock::use(Device &device, Queue &queue)
{
    DatablockImpl &block = impl(*this);
    DatablockImpl::Lock lock(block.mutex_);
    Copy &copy = block.usable(lock, device, {queue, queue});
    copy.fixed = copy.was_used = true;
    return copy.address;
}

Address Datablock::produce(Device &device, Queue &queue)
{
    DatablockImpl &block = impl(*this);
    DatablockImpl::Room room = block.room_on(device);
    DatablockImpl::Lock lock(block.mutex_);
    Copy &copy = block.writable(room, queue);
    copy.fixed = true;
    return copy.address;
}

void Datablock::written(const MarkerPtr &marker)
{
    DatablockImpl &block = impl(*this);
    Guard lock(block.mutex_);
    block.first_->ready = marker;
}

Datablock::Missing Datablock::first_use(const Device &device)
{
    DatablockImpl &block = impl(*this);
    Guard lock(block.mutex_);
    if (block.find(device))
        return {};
    const Copy *copy = block.used_from_host_ ? nullptr : block.find(host());
    if (!copy || copy->foreign || block.home_ || (copy->ready && !copy->ready->reached()))
        return {block.bytes_};
    block.used_from_host_ = true;
    return {block.bytes_, host_pointer(copy->address)};
}

MarkerPtr Datablock::arrival_on_host()
{
    DatablockImpl &block = impl(*this);
    Guard lock(block.mutex_);
    const Copy *copy = block.find(host());
    if (copy)
        block.see_read();
    return copy ? copy->ready : nullptr;
}

bool Datablock::is_foreign(const Device &device) const
{
    const DatablockImpl &block = impl(*this);
    Guard lock(block.mutex_);
    const Copy *copy = block.find(device);
    return copy && copy->foreign;
}

std::optional<Datablock::Shared> Datablock::share()
{
    DatablockImpl &block = impl(*this);
    DatablockImpl::Lock lock(block.mutex_);
    Copy *copy = block.first_;
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
        copy, [self = shared_from_this(), &device](const void *) { impl(*self).abandon(device, false); });
    if (ready)
        ready->wait();
    if (std::optional<ShareHandle> handle = device.share(address, block.bytes_))
        return Shared{&device, *handle, std::move(pin)};
    return {};
}

Address Datablock::host_address() const
{
    const DatablockImpl &block = impl(*this);
    Guard lock(block.mutex_);
    Copy *copy = block.find(host());
    return copy ? copy->address : 0;
}

std::uint64_t Datablock::evictions() const
{
    const DatablockImpl &block = impl(*this);
    Guard lock(block.mutex_);
    return block.evictions_;
}

const Queue *Datablock::queue() const
{
    const DatablockImpl &block = impl(*this);
    Guard lock(block.mutex_);
    return block.first_ ? block.first_->queue : nullptr;
}

} // namespace ptsched::device
