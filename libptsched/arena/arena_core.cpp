// SPDX-License-Identifier: MIT
#include "libptsched/arena/core.hpp"

#include <algorithm>

namespace ptsched::arena {

namespace {

/* What an arena gets at once: half of what it has, but so much. */
constexpr std::size_t least_pages = 256 << 10, most_pages = 16 << 20;

Party party_of(Side side)
{
    return side.is_host() ? Party::host : Party::gpus;
}

} // namespace

ArenaCore::ArenaCore(std::shared_ptr<WindowCore> given, std::optional<Side> owner, std::string name,
                     const ArenaOptions &options)
    : window(std::move(given)),
      heap(
          std::move(name), window->table,
          [this](std::size_t bytes, std::size_t alignment) { return more_pages(bytes, alignment); }, window->checked),
      end_(owner && !owner->is_host() ? End::high : End::low), expected_(options.expected_bytes),
      region_(window->coherence ? &window->coherence->add(owner ? std::optional(party_of(*owner)) : std::nullopt)
                                : nullptr),
      owner_(owner)
{
}

ArenaCore::~ArenaCore()
{
    if (region_)
        window->coherence->remove(*region_);
    /* Once pages are given back, others may have blocks there. */
    heap.end();
    const Guard lock(mutex_);
    for (const PageRange &range : pages_)
        window->pages.give_back(range);
}

void *ArenaCore::do_allocate(std::size_t bytes, std::size_t alignment)
{
    return heap.allocate(bytes, alignment, {nullptr, 0, __builtin_return_address(0)});
}

void ArenaCore::do_deallocate(void *block, std::size_t, std::size_t)
{
    heap.deallocate(block);
}

PageRange ArenaCore::take_pages(std::size_t bytes, std::size_t alignment)
{
    std::size_t had;
    {
        const Guard lock(mutex_);
        had = bytes_;
    }
    const std::size_t wanted = had ? std::clamp(had / 2, least_pages, most_pages) : std::max(expected_, least_pages);
    if (wanted > bytes) {
        try {
            return window->pages.take(wanted, alignment, end_);
        } catch (const Error &) {
            /* As much as is needed may be there still. */
        }
    }
    return window->pages.take(bytes, alignment, end_);
}

PageRange ArenaCore::more_pages(std::size_t bytes, std::size_t alignment)
{
    const PageRange range = take_pages(bytes, alignment);
    try {
        const Guard lock(mutex_);
        pages_.reserve(pages_.size() + 1);
        if (region_)
            window->coherence->grow(*region_, window->stretch_of(range));
        pages_.push_back(range);
        bytes_ += range.bytes;
    } catch (...) {
        window->pages.give_back(range);
        throw;
    }
    return range;
}

std::vector<Stretch> ArenaCore::stretches_of(const Writes &writes) const
{
    std::vector<Stretch> found;
    const Guard lock(mutex_);
    for (const Range &range : *writes) {
        const std::size_t begin = window->offset_of(range.begin), end = begin + range.bytes;
        for (const PageRange &one : pages_) {
            const Stretch pages = window->stretch_of(one);
            const std::size_t from = std::max(begin, pages.offset), to = std::min(end, pages.offset + pages.bytes);
            if (from < to)
                found.push_back({from, to - from});
        }
    }
    return found;
}

bool ArenaCore::contains(const void *address) const
{
    const std::size_t offset = window->offset_of(address);
    const Guard lock(mutex_);
    return std::any_of(pages_.begin(), pages_.end(),
                       [&](const PageRange &one) { return offset - window->offset_of(one.begin) < one.bytes; });
}

void ArenaCore::check(const Writes &writes) const
{
    std::size_t named = 0, found = 0;
    if (!writes)
        return;
    for (const Range &range : *writes)
        named += range.bytes;
    for (const Stretch &stretch : stretches_of(writes))
        found += stretch.bytes;
    if (found != named)
        throw Error("of " + std::to_string(named) + " bytes that are said to be written, " +
                    std::to_string(named - found) + " are in no page of arena " + heap.name());
}

void ArenaCore::set_owner(std::optional<Side> owner)
{
    const Guard lock(mutex_);
    owner_ = owner;
}

void ArenaCore::move_to(Side side)
{
    std::vector<PageRange> pages;
    {
        const Guard lock(mutex_);
        pages = pages_;
    }
    device::Device &user = side.is_host() ? device::host() : *window->devices.at(side.number());
    const InTurn turn(*window);
    for (const PageRange &range : pages)
        window->ground->move(window->stretch_of(range).offset, range.bytes, user);
}

void ArenaCore::acquire_ownership(Side side, const Writes &writes)
{
    window->check(side);
    if (region_)
        declare(writes,
                [&](Declared declared) { window->coherence->take_ownership(*region_, party_of(side), declared); });
    else
        move_to(side);
    set_owner(side);
}

void ArenaCore::release_ownership(const Writes &writes)
{
    if (region_)
        declare(writes, [&](Declared declared) { window->coherence->give_up(*region_, declared); });
    set_owner({});
}

void ArenaCore::acquire(Side side)
{
    window->check(side);
    if (region_)
        window->coherence->acquire(*region_, party_of(side));
}

void ArenaCore::release(Side side, const Writes &writes)
{
    window->check(side);
    if (region_)
        declare(writes, [&](Declared declared) { window->coherence->release(*region_, party_of(side), declared); });
}

void ArenaCore::access(Side side)
{
    window->check(side);
    if (region_) {
        window->coherence->access(*region_, party_of(side));
        return;
    }
    const Guard lock(mutex_);
    if (owner_ && owner_->is_host() != side.is_host())
        owner_.reset();
}

void ArenaCore::touch(const Range &range, bool to_write)
{
    if (!region_)
        return;
    for (const Stretch &stretch : stretches_of(Writes{{range}}))
        window->coherence->open(*region_, stretch, to_write);
}

std::optional<Side> ArenaCore::owner() const
{
    const Guard lock(mutex_);
    if (!region_)
        return owner_;
    const std::optional<Party> party = window->coherence->owner(*region_);
    if (!party)
        return {};
    if (*party == Party::host)
        return Side::host();
    return owner_ && !owner_->is_host() ? *owner_ : Side::gpu();
}

} // namespace ptsched::arena
