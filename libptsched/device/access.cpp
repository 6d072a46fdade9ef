// SPDX-License-Identifier: MIT
#include "libptsched/device/datablock.hpp"
#include <ptsched/device/access.hpp>

#include <new>

namespace ptsched::device {

namespace {

Gate *gate_of(Device &device)
{
    Residents *residents = device.residents();
    return residents ? &impl(*residents).gate : nullptr;
}

} // namespace

/* What the insides know of an access. */
struct AccessImpl {
    using Item = Access::Item;
    using By = DatablockImpl::By;

    /* Parts of what programs call for each piece of work: a call more is to be seen in what that costs. */
    [[gnu::always_inline]] inline AccessImpl(Device &device, Queue &queue, Queue &copies, std::span<const Item> items,
                                             Address *addresses);
    [[gnu::always_inline]] inline ~AccessImpl();
    [[gnu::always_inline]] inline void given(const MarkerPtr &marker, const Queue *last);
    AccessImpl(const AccessImpl &) = delete;
    AccessImpl &operator=(const AccessImpl &) = delete;

    void obtain(Address *addresses);
    inline Address pin(const Item &item);
    Device &device_of(const Item &item) const { return item.there_alone ? host() : device_; }
    inline void unpin();
    inline void leave();

    Device &device_;
    Queue &queue_, &copies_;
    std::span<const Item> items_;
    std::size_t pinned_ = 0;
    Gate *gate_; /* null: the device's memory does not run out, or it was left */
    bool alone_ = false;
};

AccessImpl::AccessImpl(Device &device, Queue &queue, Queue &copies, std::span<const Item> items, Address *addresses)
    : device_(device), queue_(queue), copies_(copies), items_(items), gate_(gate_of(device))
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

AccessImpl::~AccessImpl()
{
    /* What failed may have given the queue work before. */
    if (pinned_)
        settle(queue_);
    unpin();
    leave();
}

Address AccessImpl::pin(const Item &item)
{
    DatablockImpl &block = impl(*item.block);
    if (item.written)
        return block.pin_new(device_, queue_);
    if (item.renewed)
        return block.pin_renewed(device_of(item), queue_, item.on_host, item.ordered);
    const By by{queue_, copies_, item.ordered};
    return item.changed ? block.pin_alone(device_, by) : block.pin(device_, by);
}

/* All, or none. */
void AccessImpl::obtain(Address *addresses)
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
                impl(*items_[i].source).copy_into(addresses[i], device_, queue_);
            }
    } catch (...) {
        /* What writes to memory that is given back comes first. */
        if (filled)
            settle(queue_);
        unpin();
        throw;
    }
}

void AccessImpl::unpin()
{
    for (; pinned_; pinned_--)
        if (const Item &item = items_[pinned_ - 1]; item.block)
            impl(*item.block).abandon(device_of(item), item.written);
}

void AccessImpl::leave()
{
    if (gate_ && alone_)
        gate_->open();
    else if (gate_)
        gate_->leave();
    gate_ = nullptr;
}

void AccessImpl::given(const MarkerPtr &marker, const Queue *last)
{
    for (pinned_ = 0; const Item &item : items_)
        if (item.block)
            impl(*item.block).unpin(device_of(item), last ? *last : queue_, marker, item.written || item.changed);
    leave();
}

Access::Access(Device &device, Queue &queue, std::span<const Item> items, Address *addresses)
{
    static_assert(sizeof(AccessImpl) <= sizeof(impl_) && alignof(AccessImpl) <= alignof(void *));
    new (impl_) AccessImpl(device, queue, queue, items, addresses);
}

Access::Access(Device &device, Queue &queue, Queue &copies, std::span<const Item> items, Address *addresses)
{
    new (impl_) AccessImpl(device, queue, copies, items, addresses);
}

Access::~Access()
{
    impl().~AccessImpl();
}

AccessImpl &Access::impl()
{
    return *std::launder(reinterpret_cast<AccessImpl *>(impl_));
}

void Access::given(const MarkerPtr &marker, const Queue *last)
{
    impl().given(marker, last);
}

} // namespace ptsched::device
