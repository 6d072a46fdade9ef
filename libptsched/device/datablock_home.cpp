// SPDX-License-Identifier: MIT
/* Datablocks at home in memory of the caller, which are written again and again. */
#include "libptsched/device/datablock.hpp"
#include "libptsched/device/rows.hpp"

namespace ptsched::device {

DatablockPtr Datablock::at_home(void *data, const Rows &rows)
{
    if (!data && rows.all_bytes())
        throw Error("a datablock of " + std::to_string(rows.all_bytes()) + " bytes is at home at a null pointer");
    if (rows.count > 1 && rows.pitch < rows.bytes)
        throw Error("a datablock of rows of " + std::to_string(rows.bytes) + " bytes has them " +
                    std::to_string(rows.pitch) + " bytes apart: it must be as many at least");
    auto block = DatablockImpl::make(rows.all_bytes());
    block->home_.emplace(DatablockImpl::Home{data, rows});
    DatablockImpl::Room room = block->room_on(host());
    block->begin_on_host(room);
    return block;
}

void Datablock::written_at_home()
{
    impl(*this).written_at_home();
}

void DatablockImpl::written_at_home()
{
    Lock lock(mutex_);
    if (!home_)
        throw Error("a datablock of " + std::to_string(bytes_) +
                    " bytes is written at home, and has none: see "
                    "Datablock::at_home()");
    if (Copy *old = find_outdated(host())) {
        for (const MarkerPtr &marker : old->pending())
            marker->wait();
        unlink(outdated_, *old);
        dispose(*old);
    }
    Copy *home = find(host());
    if (!home) {
        Room room = room_on(host());
        home = &add(room, nullptr, nullptr);
    }
    while (first_->next)
        outdate(first_ == home ? *first_->next : *first_, nullptr);
}

/* Copies to and from it need not be known to who uses it next; work that uses it is. */
void DatablockImpl::outdate(Copy &copy, Queue *queue)
{
    const bool on_its_way = copy.ready && (copy.moved || copy.device == &host()) && !copy.ready->reached();
    if (on_its_way && queue)
        queue->after(copy.ready);
    unlink(first_, copy);
    if (!on_its_way && copy.lent) {
        dispose(copy);
        return;
    }
    copy.next = outdated_;
    outdated_ = &copy;
}

Copy *DatablockImpl::find_outdated(const Device &device) const
{
    const Device &home = home_of(device);
    Copy *copy = outdated_;
    while (copy && copy->device != &home)
        copy = copy->next;
    return copy;
}

DatablockImpl::Room DatablockImpl::room_for(Lock &lock, Device &device, Queue &queue)
{
    Copy *old = find_outdated(device);
    if (!old) {
        lock.unlock(mutex_);
        Room room = room_on(device);
        lock.lock(mutex_);
        return room;
    }
    for (const MarkerPtr &marker : old->pending())
        queue.after(marker);
    Room room(*old->device, bytes_, std::exchange(old->address, 0), old->lent);
    unlink(outdated_, *old);
    dispose(*old);
    return room;
}

std::optional<std::size_t> DatablockImpl::evict_outdated(Lock &lock, const Device &device, Eviction how)
{
    for (;;) {
        Copy *old = find_outdated(device);
        if (!old)
            return {};
        const std::vector<MarkerPtr> pending = old->pending();
        if (pending.empty()) {
            unlink(outdated_, *old);
            dispose(*old);
            return bytes_;
        }
        if (how != Eviction::busy)
            return find(device) ? std::optional<std::size_t>() : 0;
        lock.unlock(mutex_);
        for (const MarkerPtr &marker : pending)
            marker->wait();
        lock.lock(mutex_);
    }
}

/* From the host's copy. */
void DatablockImpl::copy_from_host(Device &device, Queue &queue, Address to, const Copy &source) const
{
    if (home_ && home_->rows.count > 1)
        upload_rows(device, queue, to, home_->data, home_->rows);
    else
        queue.upload(to, host_pointer(source.address), bytes_);
}

void DatablockImpl::copy_to_host(Device &device, Queue &queue, void *to, Address from) const
{
    if (home_ && home_->rows.count > 1 && to == home_->data)
        download_rows(device, queue, to, from, home_->rows);
    else
        queue.download(to, from, bytes_);
}

} // namespace ptsched::device
