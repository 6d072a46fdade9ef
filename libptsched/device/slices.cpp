// SPDX-License-Identifier: MIT
#include "libptsched/device/datablock.hpp"
#include <ptsched/device/slices.hpp>

#include <numeric>

namespace ptsched::device {

namespace {

constexpr char is_divided[] = "it is divided into slices: Slices::join() makes it whole again";
constexpr char was_never_joined[] = "it was divided into slices that were never joined";
constexpr char was_a_slice[] = "it was a slice of another, which has been joined";

void check_sizes(std::size_t whole, std::span<const std::size_t> bytes)
{
    std::size_t left = whole;
    for (std::size_t i = 0; i < bytes.size(); i++) {
        const std::string what = "slice " + std::to_string(i) + " of a datablock has " + std::to_string(bytes[i]);
        if (!bytes[i] || bytes[i] > left)
            throw Error(what + " bytes, where " + std::to_string(left) + " are left: it must have some, and no more");
        if (i + 1 < bytes.size() && bytes[i] % allocation_alignment)
            throw Error(what + " bytes, and all but the last must have a multiple of " +
                        std::to_string(allocation_alignment));
        left -= bytes[i];
    }
    if (left)
        throw Error("slices have " + std::to_string(whole - left) + " bytes of a datablock of " +
                    std::to_string(whole) + ": they must have all of it");
}

/* The whole's memory, as long as somebody has a slice. */
struct Held {
    Held(DatablockPtr whole, Device &device) : whole(std::move(whole)), device(device) {}
    ~Held()
    {
        if (pinned)
            impl(*whole).abandon(device, false);
    }
    Held(const Held &) = delete;
    Held &operator=(const Held &) = delete;

    const DatablockPtr whole;
    Device &device;
    bool pinned = false;
};

} // namespace

std::vector<std::size_t> Slices::equal(std::size_t bytes, std::size_t count)
{
    std::vector<std::size_t> sizes;
    if (!count)
        throw Error("a datablock is to be divided into 0 slices: it must be one at least");
    const std::size_t each = align_up((bytes + count - 1) / count);
    for (std::size_t left = bytes; left; left -= sizes.back())
        sizes.push_back(std::min(each, left));
    return sizes;
}

/* What the insides know of slices. */
struct SlicesImpl {
    SlicesImpl(DatablockPtr whole, Device &device) : held_(std::make_shared<Held>(std::move(whole), device)) {}
    void await_all(DatablockImpl &block, Queue &queue) const;
    void divide(Queue &queue, std::span<const std::size_t> bytes);
    void join(Queue &queue);

    const std::shared_ptr<Held> held_;
    std::vector<DatablockPtr> slices_;
};

/* What uses it on the device; not with its lock, since some queues wait here. */
void SlicesImpl::await_all(DatablockImpl &block, Queue &queue) const
{
    std::vector<MarkerPtr> pending;
    {
        Guard lock(block.mutex_);
        pending = block.find(held_->device)->pending();
    }
    for (const MarkerPtr &marker : pending)
        queue.after(marker);
}

void SlicesImpl::divide(Queue &queue, std::span<const std::size_t> bytes)
{
    DatablockImpl &whole = impl(*held_->whole);
    Device &device = held_->device;
    const bool has_content = whole.has_content();
    /* Made before anything is changed. */
    for (std::size_t size : bytes)
        slices_.push_back(Datablock::empty(size));
    Address address = has_content ? whole.pin_alone(device, {queue, queue}) : whole.pin_new(device, queue);
    try {
        await_all(whole, queue);
        const MarkerPtr ready = has_content ? queue.mark() : nullptr;
        for (const DatablockPtr &slice : slices_) {
            impl(*slice).become_slice({device, address, held_}, has_content, queue, ready);
            address += slice->bytes();
        }
    } catch (...) {
        settle(queue);
        whole.abandon(device, !has_content);
        throw;
    }
    held_->pinned = true;
    Guard lock(whole.mutex_);
    whole.why_not_ = is_divided;
}

void SlicesImpl::join(Queue &queue)
{
    DatablockImpl &whole = impl(*held_->whole);
    Device &device = held_->device;
    for (std::size_t i = 0; i < slices_.size(); i++)
        if (!slices_[i]->has_content())
            throw Error("slice " + std::to_string(i) + " of a divided datablock was never written");
    for (const DatablockPtr &pointer : slices_) {
        DatablockImpl &slice = impl(*pointer);
        {
            DatablockImpl::Lock lock(slice.mutex_);
            slice.usable(lock, device, {queue, queue});
        }
        await_all(slice, queue);
    }
    const MarkerPtr marker = queue.mark();
    for (const DatablockPtr &pointer : slices_) {
        DatablockImpl &slice = impl(*pointer);
        Guard lock(slice.mutex_);
        slice.why_not_ = was_a_slice;
    }
    {
        Guard lock(whole.mutex_);
        whole.why_not_ = nullptr;
    }
    held_->pinned = false;
    whole.unpin(device, queue, marker, true);
}

Slices::Slices(DatablockPtr whole, Device &device, Queue &queue, std::span<const std::size_t> bytes)
    : impl_(std::make_unique<SlicesImpl>(std::move(whole), device))
{
    if (!impl_->held_->whole)
        throw Error("what is to be divided into slices is a null pointer");
    check_sizes(impl_->held_->whole->bytes(), bytes);
    impl_->divide(queue, bytes);
}

Slices::~Slices()
{
    DatablockImpl &whole = impl(*impl_->held_->whole);
    Guard lock(whole.mutex_);
    if (whole.why_not_ == is_divided)
        whole.why_not_ = was_never_joined;
}

std::size_t Slices::size() const
{
    return impl_->slices_.size();
}

const DatablockPtr &Slices::operator[](std::size_t slice) const
{
    return impl_->slices_[slice];
}

void Slices::join(Queue &queue)
{
    impl_->join(queue);
}

} // namespace ptsched::device
