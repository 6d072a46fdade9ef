// SPDX-License-Identifier: MIT
#include "libptsched/arena/coherence/coherence.hpp"

#include "libptsched/arena/coherence/impl.hpp"

#include <algorithm>
#include <cstdio>

namespace ptsched::arena {

Region::Region(std::optional<Party> of) : owner(of) {}

Region::~Region() = default;

Coherence::Impl::Impl(Memories &memories, Options options, std::unique_ptr<GpuSide> gpus)
    : memories_(memories), options_(std::move(options)), gpus_(std::move(gpus)),
      arrivals_(*gpus_, options_.turn, host_), host_(memories, options_.checked, *this)
{
}

Coherence::Impl::~Impl()
{
    for (;;) {
        Region *last = nullptr;
        {
            Guard lock(mutex_);
            if (regions_.empty())
                return;
            last = regions_.back().get();
        }
        remove(*last);
    }
}

Region &Coherence::Impl::add(std::optional<Party> owner)
{
    Guard lock(mutex_);
    regions_.push_back(std::make_unique<Region>(owner));
    return *regions_.back();
}

void Coherence::Impl::check(Stretch pages) const
{
    if (pages.offset % page_bytes || pages.bytes % page_bytes || !pages.bytes)
        throw Error("an arena grows by whole pages of " + std::to_string(page_bytes) + " bytes, not by " +
                    std::to_string(pages.bytes) + " at " + std::to_string(pages.offset));
    if (pages.offset > memories_.bytes() || pages.bytes > memories_.bytes() - pages.offset ||
        !memories_.made(pages.offset, pages.bytes))
        throw Error("an arena grows by pages that the window has made; it has none at " + std::to_string(pages.offset) +
                    " for " + std::to_string(pages.bytes) + " bytes");
}

void Coherence::Impl::grow(Region &region, Stretch pages)
{
    check(pages);
    const Turn turn = region.owner.get() == Party::gpus && options_.turn ? options_.turn() : nullptr;
    Guard lock(region.mutex);
    region.extents.push_back(std::make_unique<Extent>(region, pages));
    host_.add(*region.extents.back());
    Work work(*gpus_, options_.turn, turn);
    if (region.owner.get() == Party::gpus)
        bring_all(region, work, Beside::work);
}

void Coherence::Impl::remove(Region &region) noexcept
{
    {
        const Arrivals::Pause pause(arrivals_, region);
        Guard lock(region.mutex);
        arrivals_.forget(region);
        close(region);
    }
    /* Without the lock, which those need that are being served. */
    std::vector<std::unique_ptr<Extent>> extents;
    {
        Guard lock(region.mutex);
        extents.swap(region.extents);
    }
    for (const auto &extent : extents) {
        host_.forget(*extent);
        PageSet all(extent->directory.pages());
        all.add({0, all.pages()});
        host_.protect(*extent, all, Rights::none);
        if (extent->twin)
            gpus_->release_twin(extent->twin, extent->bytes);
    }
    Guard lock(mutex_);
    std::erase_if(regions_, [&](const auto &one) { return one.get() == &region; });
}

bool Coherence::Impl::may_need_gpus(Region &region, Call call, Party party) const
{
    const std::optional<Party> owner = region.owner.get();
    bool has_twin = false, is_stale = false;
    for (const auto &extent : region.extents) {
        const Directory &directory = extent->directory;
        const PageSet stale = party == Party::host ? directory.stale_on_host() : directory.stale_on_gpus();
        has_twin = has_twin || extent->twin;
        is_stale = is_stale || !stale.empty();
    }
    switch (call) {
    case Call::release:
        return !owner && party == Party::gpus && has_twin;
    case Call::acquire:
        if (owner)
            return false;
        break;
    case Call::take_ownership:
        return owner != party;
    case Call::give_up:
        return owner == Party::gpus;
    case Call::access:
    case Call::open:
        break;
    }
    if (owner && owner != party)
        return true;
    return is_stale || (options_.checked && party == Party::gpus && has_twin);
}

Turn Coherence::Impl::turn_for(Region &region, Call call, Party party)
{
    if (!options_.turn)
        return nullptr;
    {
        Guard lock(region.mutex);
        if (!may_need_gpus(region, call, party))
            return nullptr;
    }
    return options_.turn();
}

/* The host's memory has what GPUs have released; it gets few pages at once, others when it touches them. */
void Coherence::Impl::acquire(Region &region, Party party)
{
    const Turn turn = turn_for(region, Call::acquire, party);
    Guard lock(region.mutex);
    Work work(*gpus_, options_.turn, turn);
    acquire(region, work, party);
}

void Coherence::Impl::acquire(Region &region, Work &work, Party party)
{
    if (region.owner.get())
        return;
    if (party == Party::host) {
        region.races.forget_gpus();
        fetch_few(region, work);
    } else {
        /* A word that both have written would be the host's from then on. */
        if (options_.checked)
            settle_gpus(region, work, {});
        bring_all(region, work, Beside::work);
    }
    tell_races(region);
}

void Coherence::Impl::release(Region &region, Party party, const Declared &writes)
{
    const Turn turn = writes && writes->empty() ? nullptr : turn_for(region, Call::release, party);
    Guard lock(region.mutex);
    if (region.owner.get())
        return;
    Work work(*gpus_, options_.turn, turn);
    if (party == Party::gpus)
        settle_gpus(region, work, writes);
    else
        settle_host(region);
    work.finish();
    tell_races(region);
}

void Coherence::Impl::access(Region &region, Party party)
{
    const Turn turn = turn_for(region, Call::access, party);
    const Arrivals::Pause pause(arrivals_, region);
    Guard lock(region.mutex);
    Work work(*gpus_, options_.turn, turn);
    const std::optional<Party> owner = region.owner.get();
    if (owner && *owner != party) {
        settle_owner(region, work, {});
        made_shared_++;
    }
    acquire(region, work, party);
}

void Coherence::Impl::take_ownership(Region &region, Party party, const Declared &writes)
{
    const Turn turn = turn_for(region, Call::take_ownership, party);
    const Arrivals::Pause pause(arrivals_, region);
    Guard lock(region.mutex);
    if (region.owner.get() == party)
        return;
    arrivals_.end(region);
    auto work = std::make_unique<Work>(*gpus_, options_.turn, turn);
    if (region.owner.get() != Party::host)
        settle_gpus(region, *work, writes);
    if (party == Party::gpus) {
        work->finish();
        give_to_gpus(region, *work);
    } else {
        settle_host(region);
        get_from_gpus(region, std::move(work), turn);
    }
    region.races.forget_gpus();
    region.owner.set(party);
    tell_races(region);
}

/* The host writes no more: pages are closed to it while they are copied. */
void Coherence::Impl::give_to_gpus(Region &region, Work &work)
{
    for (const auto &extent : region.extents) {
        extent->directory.remember();
        extent->directory.settle(changed_by_host(region, *extent, extent->directory.written()));
    }
    try {
        bring_all(region, work, Beside::nothing);
    } catch (...) {
        close(region);
        throw;
    }
}

/* Many pages come while the host goes on; few are opened while they are copied. */
void Coherence::Impl::get_from_gpus(Region &region, std::unique_ptr<Work> work, const Turn &turn)
{
    std::size_t stale = 0;
    for (const auto &extent : region.extents)
        stale += extent->directory.stale_on_host().count();
    if (stale > options_.most_at_once)
        return arrivals_.begin(region, std::move(work), turn);
    const Timer timer(copies_ns_);
    begin_fetch_all(region, *work, From::current);
    for (const auto &extent : region.extents)
        host_.protect(*extent, extent->directory.open_expected(), Rights::read);
    try {
        work->finish();
    } catch (...) {
        close(region);
        throw;
    }
}

void Coherence::Impl::give_up(Region &region, const Declared &writes)
{
    const Turn turn = turn_for(region, Call::give_up);
    const Arrivals::Pause pause(arrivals_, region);
    Guard lock(region.mutex);
    Work work(*gpus_, options_.turn, turn);
    settle_owner(region, work, writes);
}

/* It is shared from then on. */
void Coherence::Impl::settle_owner(Region &region, Work &work, const Declared &writes)
{
    const std::optional<Party> owner = region.owner.get();
    if (!owner)
        return;
    arrivals_.end(region);
    if (*owner == Party::gpus)
        settle_gpus(region, work, writes);
    else
        settle_host(region);
    work.finish();
    region.owner.set({});
}

/* The host uses it, whoever owns it. */
void Coherence::Impl::come_to_host(Region &region, Work &work)
{
    if (region.owner.get() != Party::gpus)
        return;
    settle_owner(region, work, {});
    region.races.forget_gpus();
    made_shared_++;
}

void Coherence::Impl::open(Region &region, Stretch bytes, bool to_write)
{
    const Turn turn = turn_for(region, Call::open);
    const Arrivals::Pause pause(arrivals_, region);
    Guard lock(region.mutex);
    Work work(*gpus_, options_.turn, turn);
    come_to_host(region, work);
    const Timer timer(copies_ns_);
    for (const auto &extent : region.extents) {
        const PageSet pages = pages_of(*extent, {{bytes}});
        begin_fetch(*extent, work, pages & extent->directory.stale_on_host(),
                    region.arrival ? From::current : From::twin);
        work.finish();
        for (const PageRun &run : extent->directory.grant(pages, to_write).runs())
            host_.open(*extent, run, to_write);
    }
}

void Coherence::Impl::serve(HostSide::Asked &asked)
{
    if (!arrivals_.take(asked))
        host_.answer(asked, bring(asked.fault));
}

bool Coherence::Impl::go_on()
{
    HostSide::Asked *const asked = arrivals_.take_back();
    if (asked)
        host_.answer(*asked, bring(asked->fault));
    const Timer timer(copies_ns_);
    return arrivals_.go_on() || asked;
}

/* What GPUs have is to come, or to be found. */
bool Coherence::Impl::bring(const HostSide::Fault &fault)
{
    Extent &extent = *fault.extent;
    try {
        Turn turn = arrivals_.turn();
        if (!turn && options_.turn)
            turn = options_.turn();
        Guard lock(extent.region.mutex);
        Work work(*gpus_, options_.turn, turn);
        come_to_host(extent.region, work);
        const PageRun run = extent.directory.to_fetch(fault.page);
        if (run.count) {
            const Timer timer(copies_ns_);
            PageSet pages(extent.directory.pages());
            pages.add(run);
            begin_fetch(extent, work, pages, From::twin);
            work.finish();
        }
        host_.open(extent, fault.page, fault.is_write);
        return true;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "ptsched: what a GPU has at %p cannot be got: %s\n",
                     static_cast<void *>(memories_.view() + extent.offset + fault.page * page_bytes), error.what());
        return false;
    }
}

void Coherence::Impl::tell_races(Region &region)
{
    if (!region.races.empty())
        throw Error(region.races.take(memories_.view(), options_.describe));
}

CoherenceState Coherence::Impl::state() const
{
    CoherenceState state;
    state.read_faults = host_.read_faults;
    state.write_faults = host_.write_faults;
    state.twins = host_.twins;
    state.compared_pages = compared_;
    state.different_words = different_;
    state.to_gpus = to_gpus_;
    state.to_host = to_host_ + arrivals_.pages();
    state.made_shared = made_shared_;
    state.faults = static_cast<double>(host_.nanoseconds) / 1e9;
    state.differences = static_cast<double>(differences_ns_) / 1e9;
    state.copies = static_cast<double>(copies_ns_) / 1e9;
    return state;
}

Coherence::Coherence(Memories &memories, Options options)
    : Coherence(memories, std::move(options), make_gpu_side(memories))
{
}

Coherence::Coherence(Memories &memories, Options options, std::unique_ptr<GpuSide> gpus)
    : impl_(std::make_unique<Impl>(memories, std::move(options), std::move(gpus)))
{
}

Coherence::~Coherence() = default;

Region &Coherence::add(std::optional<Party> owner)
{
    return impl_->add(owner);
}

void Coherence::grow(Region &region, Stretch pages)
{
    impl_->grow(region, pages);
}

void Coherence::remove(Region &region) noexcept
{
    impl_->remove(region);
}

void Coherence::acquire(Region &region, Party party)
{
    impl_->acquire(region, party);
}

void Coherence::release(Region &region, Party party, Declared writes)
{
    impl_->release(region, party, writes);
}

void Coherence::access(Region &region, Party party)
{
    impl_->access(region, party);
}

void Coherence::take_ownership(Region &region, Party party, Declared writes)
{
    impl_->take_ownership(region, party, writes);
}

void Coherence::give_up(Region &region, Declared writes)
{
    impl_->give_up(region, writes);
}

void Coherence::open(Region &region, Stretch bytes, bool to_write)
{
    impl_->open(region, bytes, to_write);
}

std::optional<Party> Coherence::owner(const Region &region) const noexcept
{
    return region.owner.get();
}

CoherenceState Coherence::state() const
{
    return impl_->state();
}

} // namespace ptsched::arena
