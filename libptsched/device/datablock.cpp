// SPDX-License-Identifier: MIT
#include "datablock.hpp"

#include <cstring>

namespace ptsched::device {

DatablockPtr Datablock::of(const void *data, std::size_t bytes)
{
    auto block = empty(bytes);
    std::memcpy(host_pointer(block->add(host(), nullptr).address), data, bytes);
    return block;
}

Datablock::~Datablock()
{
    for (const Copy &copy : copies_)
        copy.device->release(copy.address, bytes_);
}

bool Datablock::has_content() const
{
    std::lock_guard lock(mutex_);
    return !copies_.empty();
}

Datablock::Copy *Datablock::find(const Device &device)
{
    for (Copy &copy : copies_)
        if (copy.device == &device)
            return &copy;
    return nullptr;
}

Datablock::Copy &Datablock::add(Device &device, const Queue *queue)
{
    copies_.reserve(copies_.size() + 1);
    return copies_.emplace_back(Copy{&device, device.allocate(bytes_), nullptr, queue});
}

/* Valid or on its way; the block has content. */
Datablock::Copy &Datablock::on_host()
{
    if (Copy *copy = find(host()))
        return *copy;
    if (copies_.empty())
        throw Error("a datablock without content is used");
    add(host(), nullptr);
    /* adding may have moved them */
    Copy &source = copies_.front(), &copy = copies_.back();
    Queue &queue = source.device->outgoing();
    if (source.ready)
        queue.after(source.ready);
    queue.download(host_pointer(copy.address), source.address, bytes_);
    copy.ready = queue.mark();
    copy.queue = &queue;
    return copy;
}

const void *Datablock::read()
{
    std::unique_lock lock(mutex_);
    Copy copy = on_host();
    lock.unlock();
    if (copy.ready)
        copy.ready->wait();
    return host_pointer(copy.address);
}

std::size_t Datablock::missing(const Device &device) const
{
    std::lock_guard lock(mutex_);
    return find(device) ? 0 : bytes_;
}

Address Datablock::use(Device &device, Queue &queue)
{
    std::lock_guard lock(mutex_);
    if (&device == &host())
        on_host();
    Copy *copy = find(device);
    if (!copy) {
        /* From the host, where a copy for another GPU passes, too. */
        Copy source = on_host();
        if (source.ready)
            queue.after(source.ready);
        copy = &add(device, &queue);
        queue.upload(copy->address, host_pointer(source.address), bytes_);
        copy->ready = queue.mark();
    } else if (copy->ready && copy->queue != &queue) {
        queue.after(copy->ready);
    }
    return copy->address;
}

Address Datablock::produce(Device &device, Queue &queue)
{
    std::lock_guard lock(mutex_);
    if (!copies_.empty())
        throw Error("a datablock with content is written again");
    return add(device, &queue).address;
}

void Datablock::written(const MarkerPtr &marker)
{
    std::lock_guard lock(mutex_);
    copies_.front().ready = marker;
}

const Queue *Datablock::queue() const
{
    std::lock_guard lock(mutex_);
    return copies_.empty() ? nullptr : copies_.front().queue;
}

} // namespace ptsched::device
