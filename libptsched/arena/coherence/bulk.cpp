// SPDX-License-Identifier: MIT
/* Coherence without a directory: whole arenas are copied, and of what both sides have written the later copy stays. */
#include "libptsched/arena/coherence/coherence.hpp"
#include "libptsched/base/lock.hpp"

#include <list>
#include <vector>

namespace ptsched::arena {

class GpuSide {};

class Region {
public:
    std::optional<Party> owner;
    std::vector<Stretch> pages = {};
};

class Coherence::Impl {
public:
    explicit Impl(Memories &memories) : memories_(memories), queue_(memories.gpu(0).make_queue()) {}

    void copy(const Region &region, Party from) PTSCHED_REQUIRES(mutex)
    {
        for (const Stretch &pages : region.pages) {
            std::byte *here = memories_.alias() + pages.offset;
            if (from == Party::host)
                queue_->upload(memories_.on_gpu(pages.offset), here, pages.bytes);
            else
                queue_->download(here, memories_.on_gpu(pages.offset), pages.bytes);
            (from == Party::host ? state.to_gpus : state.to_host) += pages.bytes / page_bytes;
        }
        queue_->finish();
    }

    Mutex mutex;
    std::list<Region> regions PTSCHED_GUARDED_BY(mutex);
    CoherenceState state PTSCHED_GUARDED_BY(mutex) = {};

private:
    Memories &memories_;
    const std::unique_ptr<device::Queue> queue_;
};

namespace {

Party other(Party party)
{
    return party == Party::host ? Party::gpus : Party::host;
}

} // namespace

Coherence::Coherence(Memories &memories, Options) : impl_(std::make_unique<Impl>(memories)) {}
Coherence::~Coherence() = default;

Region &Coherence::add(std::optional<Party> owner)
{
    const Guard lock(impl_->mutex);
    return impl_->regions.emplace_back(Region{owner});
}

void Coherence::grow(Region &region, Stretch pages)
{
    const Guard lock(impl_->mutex);
    region.pages.push_back(pages);
    /* Zeros there as well. */
    impl_->copy({{}, {pages}}, Party::host);
}

void Coherence::remove(Region &region) noexcept
{
    const Guard lock(impl_->mutex);
    impl_->regions.remove_if([&](const Region &one) { return &one == &region; });
}

void Coherence::acquire(Region &, Party) {}

void Coherence::release(Region &region, Party party, Declared)
{
    const Guard lock(impl_->mutex);
    if (!region.owner)
        impl_->copy(region, party);
}

void Coherence::access(Region &region, Party party)
{
    const Guard lock(impl_->mutex);
    if (region.owner != other(party))
        return;
    impl_->copy(region, other(party));
    region.owner.reset();
    impl_->state.made_shared++;
}

void Coherence::take_ownership(Region &region, Party party, Declared)
{
    const Guard lock(impl_->mutex);
    if (region.owner == other(party))
        impl_->copy(region, other(party));
    region.owner = party;
}

void Coherence::give_up(Region &region, Declared)
{
    const Guard lock(impl_->mutex);
    if (region.owner)
        impl_->copy(region, *region.owner);
    region.owner.reset();
}

std::optional<Party> Coherence::owner(const Region &region) const noexcept
{
    const Guard lock(impl_->mutex);
    return region.owner;
}

CoherenceState Coherence::state() const
{
    const Guard lock(impl_->mutex);
    return impl_->state;
}

} // namespace ptsched::arena
