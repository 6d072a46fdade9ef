// SPDX-License-Identifier: MIT
#include "libptsched/tasks/gpu/directory.hpp"

#include "libptsched/tasks/gpu/pages.hpp"

#include <algorithm>
#include <bit>

namespace ptsched::tasks {

namespace {

std::uint64_t bit_of(const Site &site)
{
    return std::uint64_t{1} << site.index;
}

void have(Entry &entry, std::uint64_t devices)
{
    entry.on_devices |= devices;
    entry.expected_on |= devices;
}

void have_alone(Entry &entry, std::uint64_t devices)
{
    entry.on_devices = entry.expected_on = devices;
}

void add(std::atomic<std::uint64_t> &counter, std::uint64_t more)
{
    counter.fetch_add(more, std::memory_order_relaxed);
}

} // namespace

double least_copies(const std::vector<Way> &ways)
{
    const auto needs_less = [](const Way &one, const Way &other) { return one.copies < other.copies; };
    return std::min_element(ways.begin(), ways.end(), needs_less)->copies;
}

Entry &Directory::entry_of(const Range &range)
{
    Entry *found = entries_.find(range);
    return found ? *found : make(range);
}

Entry &Directory::make(const Range &range)
{
    Entry &entry = entries_.make(range);
    const Arrays::Found array = arrays_.find(range.begin);
    entry.is_kept = array.is_kept;
    if (array.memory == Memory::prefetched)
        entry.managed = array.allocation;
    else if (array.memory == Memory::copied)
        try {
            entry.block = device::Datablock::at_home(range.begin, {range.row_bytes, range.rows, range.pitch});
        } catch (...) {
            entries_.erase(entry);
            throw;
        }
    return entry;
}

void Directory::use(const Task &task, const Site &site, Stream &stream, Uses &uses)
{
    uses.clear();
    Guard lock(mutex_);
    if (entries_.size() >= sweep_at_)
        sweep();
    clock_++;
    for (const Access &access : task.declared()) {
        uses.places.push_back({access.range.begin, 0});
        if (access.range.bytes() && !is_weak(access.mode))
            use(access, task, site, stream, uses);
    }
}

/* As long as the task has not ended, what the host writes there comes after it, and after this. */
device::MarkerPtr Directory::bring_ahead(const Task &task, const Access &access, const Site &site)
{
    Guard lock(mutex_);
    if (task.given.is_over() || task.ended.is_over())
        return nullptr;
    Entry &entry = entry_of(access.range);
    if (!entry.moves() || entry.on_devices || entry.away || !entry.overlapping.empty())
        return nullptr;
    /* No work uses it yet, so who forgets the block waits for the copy. */
    if (entry.block)
        entry.block->prefetch(*site.device, *site.copies);
    else
        move_to_device(entry, access.mode, site.index, *site.device, *site.copies, nullptr);
    if (entry.block && entry.block->missing(*site.device))
        return nullptr;
    device::MarkerPtr arrival = site.copies->mark();
    entry.last_used = clock_;
    count_copy(entry, site);
    list(entry);
    have(entry, bit_of(site));
    return arrival;
}

void Directory::use(const Access &access, const Task &task, const Site &site, Stream &stream, Uses &uses)
{
    Entry &entry = entry_of(access.range);
    const Position here{&stream, stream.last() + 1};
    if (entry.block && !entry.overlapping.empty())
        settle_overlapping(entry, access.mode, task, site, stream);
    const bool is_there = entry.on_devices & bit_of(site);
    if (entry.block)
        add_item(access, entry, uses);
    else if (entry.managed)
        move_to_device(entry, access.mode, site.index, *site.device, stream.queue(),
                       has_ended(entry.used) ? site.copies.get() : nullptr);
    entry.last_used = clock_;
    entry.used = here;
    if (!entry.moves())
        return;
    if (reads(access.mode) && !is_there)
        count_copy(entry, site);
    list(entry);
    if (!writes(access.mode)) {
        have(entry, bit_of(site));
        return;
    }
    have_alone(entry, bit_of(site));
    entry.away = true;
    entry.arrival.reset();
    entry.written = here;
}

void Directory::add_item(const Access &access, const Entry &entry, Uses &uses)
{
    device::Access::Item item{entry.block.get()};
    item.changed = writes(access.mode);
    item.renewed = !reads(access.mode);
    item.ordered = true;
    /* One that writes all of it, and reads it by another access, needs what is there. */
    for (device::Access::Item &other : uses.items)
        if (other.block == item.block)
            other.renewed = item.renewed = other.renewed && item.renewed;
    uses.access_of.push_back(static_cast<std::uint32_t>(uses.places.size() - 1));
    uses.items.push_back(item);
    if (access.range.rows > 1)
        uses.places.back().pitch = access.range.row_bytes;
}

void Directory::count_copy(const Entry &entry, const Site &site)
{
    add(entry.on_devices & ~bit_of(site) ? between_ : to_devices_, entry.range.bytes());
}

/*
 * What others have that was written comes to the host first, unless it is written over; what is copied from there, and
 * what is written there later, comes after it.
 */
void Directory::settle_overlapping(Entry &entry, Mode mode, const Task &task, const Site &site, Stream &stream)
{
    for (Entry *other : entry.overlapping) {
        if (!other->block)
            continue;
        if (other->used.stream == &stream && other->used.number == stream.last() + 1 &&
            (writes(mode) || (other->written.stream == &stream && other->written.number == other->used.number)))
            throw Error("tasks: " + describe(task) + " declares " + describe(entry.range) + " and " +
                        describe(other->range) +
                        ", which overlap, and writes: on a GPU, they have copies of their own, so one range that has "
                        "all of it must be declared");
        if (other->away) {
            if (reads(mode) || !covers(entry.range, other->range))
                fetch(*other);
            else
                other->away = false;
            if (other->arrival) {
                site.copies->after(other->arrival);
                stream.queue().after(other->arrival);
            }
        }
        if (writes(mode))
            outdate(*other);
    }
}

void Directory::send_home(Entry &entry)
{
    if (entry.managed) {
        device::Device &device = *devices_[static_cast<std::size_t>(std::countr_zero(entry.on_devices))];
        entry.arrival = move_to_host(entry, device.outgoing());
        add(to_host_, entry.range.bytes());
        return;
    }
    if (!entry.block->host_address())
        add(to_host_, entry.range.bytes());
    entry.block->bring_to_host();
    entry.arrival = entry.block->arrival_on_host();
}

bool Directory::fetch(Entry &entry, bool may_copy)
{
    if (!entry.away)
        return true;
    if (!entry.arrival && !may_copy)
        return false;
    if (!entry.arrival)
        send_home(entry);
    if (entry.arrival && !entry.arrival->reached())
        return false;
    entry.arrival.reset();
    entry.away = false;
    return true;
}

void Directory::outdate(Entry &entry)
{
    if (entry.block && entry.on_devices)
        entry.block->written_at_home();
    have_alone(entry, 0);
    if (!entry.away)
        unlist(entry);
}

void Directory::list(Entry &entry)
{
    if (entry.is_listed)
        return;
    entry.is_listed = true;
    entry.older = newest_;
    entry.newer = nullptr;
    if (newest_)
        newest_->newer = &entry;
    newest_ = &entry;
    listed_.fetch_add(1, std::memory_order_release);
}

void Directory::unlist(Entry &entry)
{
    if (!entry.is_listed)
        return;
    entry.is_listed = false;
    if (entry.older)
        entry.older->newer = entry.newer;
    if (entry.newer)
        entry.newer->older = entry.older;
    else
        newest_ = entry.older;
    listed_.fetch_sub(1, std::memory_order_release);
}

/* Whether a task writes all of it, and reads none. */
bool Directory::is_covered(const Entry &entry, const Task &task) const
{
    const auto declared = task.declared();
    const auto writes_all = [&](const Access &access) {
        return access.mode == Mode::out && covers(access.range, entry.range);
    };
    const auto reads_some = [&](const Access &access) {
        return reads(access.mode) && !is_weak(access.mode) && overlap(access.range, entry.range);
    };
    return std::any_of(declared.begin(), declared.end(), writes_all) &&
           std::none_of(declared.begin(), declared.end(), reads_some);
}

bool Directory::bring_home(const Task &task, bool may_copy)
{
    if (!listed_.load(std::memory_order_acquire))
        return true;
    const device::BorrowedThread borrowed;
    bool all = true;
    Guard lock(mutex_);
    for (const Access &access : task.declared()) {
        if (is_weak(access.mode))
            continue;
        entries_.each_overlapping(access.range, [&](Entry &entry) PTSCHED_NO_THREAD_SAFETY_ANALYSIS {
            if (!entry.away)
                return;
            const bool is_needed = !is_covered(entry, task);
            if (is_needed || entry.arrival)
                all = fetch(entry, may_copy) && all;
            else if (const auto arrival = entry.block ? entry.block->arrival_on_host() : nullptr)
                all = arrival->reached() && all;
        });
    }
    if (!all)
        return false;
    for (const Access &access : task.declared())
        if (writes(access.mode) && !is_weak(access.mode))
            entries_.each_overlapping(access.range, [&](Entry &entry) PTSCHED_NO_THREAD_SAFETY_ANALYSIS {
                entry.away = false;
                outdate(entry);
            });
    return true;
}

std::optional<Position> Directory::last_writer(const Range &range)
{
    Guard lock(mutex_);
    const Entry *const entry = entries_.find(range);
    if (!entry || !entry->block || !entry->overlapping.empty())
        return {};
    return entry->written;
}

/* Who waits may use the memory without a task afterwards. */
bool Directory::bring_home(const Range *range, bool may_copy)
{
    if (!listed_.load(std::memory_order_acquire))
        return true;
    const device::BorrowedThread borrowed;
    bool all = true;
    const auto bring = [&](Entry &entry) PTSCHED_NO_THREAD_SAFETY_ANALYSIS {
        if (entry.away && has_ended(entry.written))
            all = fetch(entry, may_copy) && all;
    };
    const auto leave = [&](Entry &entry) PTSCHED_NO_THREAD_SAFETY_ANALYSIS {
        if (!entry.away && has_ended(entry.used))
            outdate(entry);
    };
    Guard lock(mutex_);
    if (range) {
        entries_.each_overlapping(*range, bring);
        if (all)
            entries_.each_overlapping(*range, leave);
        return all;
    }
    for (Entry *entry = newest_; entry; entry = entry->older)
        if (!entry->is_kept)
            bring(*entry);
    for (Entry *entry = all ? newest_ : nullptr, *older = nullptr; entry; entry = older) {
        older = entry->older;
        leave(*entry);
    }
    return all;
}

void Directory::forget(const Range &range)
{
    std::vector<device::DatablockPtr> blocks;
    Guard lock(mutex_);
    std::vector<Entry *> found;
    entries_.each_overlapping(range, [&](Entry &entry) PTSCHED_NO_THREAD_SAFETY_ANALYSIS { found.push_back(&entry); });
    for (Entry *entry : found) {
        unlist(*entry);
        blocks.push_back(std::move(entry->block));
        entries_.erase(*entry);
    }
}

void Directory::keep(const Range &array)
{
    Guard lock(mutex_);
    entries_.each_overlapping(array, [](Entry &entry) PTSCHED_NO_THREAD_SAFETY_ANALYSIS { entry.is_kept = true; });
}

bool Directory::is_copying()
{
    Guard lock(mutex_);
    for (Entry *entry = newest_; entry; entry = entry->older)
        try {
            if (entry->away && entry->arrival && !fetch(*entry))
                return true;
        } catch (const Error &) {
            /* It has ended, and who waits for it is told why. */
        }
    return false;
}

std::vector<Way> Directory::ways(const Task &task)
{
    std::vector<Way> ways(rates_.from_host.size());
    Guard lock(mutex_);
    for (const Access &access : task.declared()) {
        const Entry *const entry = entries_.find(access.range);
        const std::uint64_t there = entry ? entry->expected_on : 0;
        if (is_weak(access.mode) || (entry && !entry->moves()))
            continue;
        if (writes(access.mode) && std::has_single_bit(there))
            ways[static_cast<std::size_t>(std::countr_zero(there))].owns = true;
        const auto bytes = static_cast<double>(access.range.bytes());
        for (std::size_t to = 0; reads(access.mode) && to < ways.size(); to++)
            if (!(there >> to & 1)) {
                const auto from = static_cast<std::size_t>(std::countr_zero(there));
                ways[to].copies += bytes / (there ? rates_.between[from * ways.size() + to] : rates_.from_host[to]);
            }
    }
    return ways;
}

/* What cannot be had is an error when the task is given. */
void Directory::expect(const Task &task, unsigned device)
{
    const std::uint64_t bit = std::uint64_t{1} << device;
    Guard lock(mutex_);
    try {
        for (const Access &access : task.declared()) {
            if (!access.range.bytes() || is_weak(access.mode))
                continue;
            Entry &entry = entry_of(access.range);
            entry.last_used = clock_;
            entry.expected_on = writes(access.mode) ? bit : entry.expected_on | bit;
        }
    } catch (const Error &) {
    }
}

/* What has not been used since the last time, and is on the host. */
void Directory::sweep()
{
    Retired retired;
    entries_.erase_if([&](Entry &entry) PTSCHED_NO_THREAD_SAFETY_ANALYSIS {
        if (entry.away || entry.last_used > last_sweep_)
            return false;
        unlist(entry);
        if (entry.block)
            retired.blocks.push_back(std::move(entry.block));
        return true;
    });
    last_sweep_ = clock_;
    sweep_at_ = std::max<std::size_t>(1024, 2 * entries_.size());
    if (retired.blocks.empty())
        return;
    for (const Stream *stream : streams_)
        retired.until.push_back(stream->last());
    retired_.push_back(std::move(retired));
    retired_count_.store(retired_.size(), std::memory_order_release);
}

void Directory::collect()
{
    if (!retired_count_.load(std::memory_order_acquire))
        return;
    std::vector<Retired> ended;
    {
        Guard lock(mutex_);
        const auto first = std::stable_partition(retired_.begin(), retired_.end(), [&](const Retired &retired) {
            for (std::size_t i = 0; i < streams_.size(); i++)
                if (!streams_[i]->has_ended(retired.until[i]))
                    return true;
            return false;
        });
        std::move(first, retired_.end(), std::back_inserter(ended));
        retired_.erase(first, retired_.end());
        retired_count_.store(retired_.size(), std::memory_order_release);
    }
}

} // namespace ptsched::tasks
