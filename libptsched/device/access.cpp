// SPDX-License-Identifier: MIT
#include <ptsched/device/access.hpp>

namespace ptsched::device {

Access::Access(Device &device, Queue &queue, std::span<const Item> items, Address *addresses)
    : device_(device), queue_(queue), items_(items), gate_(device.residents() ? &device.residents()->gate : nullptr)
{
    if (gate_)
        gate_->enter();
    try {
        obtain(addresses);
        return;
    } catch (const OutOfMemory &) {
        if (!gate_)
            throw;
    } catch (...) {
        leave();
        throw;
    }
    /* Two that each hold what the other waits for would wait for ever: so who waits for others holds nothing. */
    gate_->leave();
    gate_->close();
    alone_ = true;
    try {
        obtain(addresses);
    } catch (...) {
        leave();
        throw;
    }
}

Access::~Access()
{
    /* What failed may have given the queue work before. */
    if (pinned_)
        settle(queue_);
    unpin();
    leave();
}

Address Access::pin(const Item &item)
{
    if (item.written)
        return item.block->pin_new(device_, queue_);
    if (item.renewed)
        return item.block->pin_renewed(device_of(item), queue_, item.on_host);
    return item.changed ? item.block->pin_alone(device_, queue_) : item.block->pin(device_, queue_);
}

/* All, or none. */
void Access::obtain(Address *addresses)
{
    bool filled = false;
    try {
        for (const Item &item : items_) {
            if (item.block)
                addresses[pinned_] = pin(item);
            pinned_++;
        }
        for (std::size_t i = 0; i < items_.size(); i++)
            if (items_[i].block && items_[i].source) {
                filled = true;
                items_[i].source->copy_into(addresses[i], device_, queue_);
            }
    } catch (...) {
        /* What writes to memory that is given back comes first. */
        if (filled)
            settle(queue_);
        unpin();
        throw;
    }
}

void Access::unpin()
{
    for (; pinned_; pinned_--)
        if (const Item &item = items_[pinned_ - 1]; item.block)
            item.block->abandon(device_of(item), item.written);
}

void Access::leave()
{
    if (gate_ && alone_)
        gate_->open();
    else if (gate_)
        gate_->leave();
    gate_ = nullptr;
}

void Access::given(const MarkerPtr &marker, const Queue *last)
{
    for (pinned_ = 0; const Item &item : items_)
        if (item.block)
            item.block->unpin(device_of(item), last ? *last : queue_, marker, item.written || item.changed);
    leave();
}

} // namespace ptsched::device
