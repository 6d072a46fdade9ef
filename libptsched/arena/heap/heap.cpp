// SPDX-License-Identifier: MIT
#include "libptsched/arena/heap/heap.hpp"

#include <algorithm>
#include <cstdio>
#include <dlfcn.h>

namespace ptsched::arena {

namespace {

std::string in_hexadecimal(const void *address)
{
    char text[32];
    std::snprintf(text, sizeof(text), "%p", address);
    return text;
}

std::string to_string(const Site &site)
{
    if (site.file)
        return std::string(site.file) + ":" + std::to_string(site.line);
    Dl_info info{};
    const bool known = dladdr(site.caller, &info) != 0;
    const std::string place = in_hexadecimal(site.caller);
    if (known && info.dli_sname)
        return std::string(info.dli_sname) + " (" + place + ")";
    return known && info.dli_fname ? std::string(info.dli_fname) + " (" + place + ")" : place;
}

std::string range_of(const RunTable &table)
{
    return in_hexadecimal(table.begin()) + " to " + in_hexadecimal(table.begin() + table.bytes());
}

} // namespace

Heap *BlockRun::owner() const
{
    const Guard lock(shard->mutex);
    return heap;
}

BlockRun &run_of(const RunTable &table, const void *block)
{
    if (!table.contains(block))
        throw Error(in_hexadecimal(block) + " is private memory, no block of an arena: the window is from " +
                    range_of(table));
    if (BlockRun *run = table.find(block))
        return *run;
    throw Error(in_hexadecimal(block) + " is in the window, but nothing is allocated there: it was given back before, "
                                        "or never allocated");
}

Heap::Heap(std::string name, RunTable &table, MorePages more_pages, bool keeps_sites)
    : name_(std::move(name)), table_(table), more_pages_(std::move(more_pages)), keeps_sites_(keeps_sites)
{
}

void Heap::end() noexcept
{
    const Guard lock(mutex_);
    for (const auto &run : runs_)
        if (run->heap)
            table_.set(run->pages, nullptr);
    runs_.clear();
}

Shard &Heap::own_shard()
{
    static std::atomic<unsigned> threads{0};
    thread_local const unsigned number = threads.fetch_add(1, std::memory_order_relaxed);
    return shards_[number % shard_count];
}

PageRange Heap::take_pages(std::size_t bytes, std::size_t alignment)
{
    PageRange pages{};
    bytes = (bytes + page_bytes - 1) / page_bytes * page_bytes;
    alignment = std::max(alignment, page_bytes);
    auto take = [&] {
        const Guard lock(mutex_);
        return free_.take(bytes, alignment, End::low, pages);
    };
    if (take())
        return pages;
    const Guard growing(growth_);
    while (!take()) {
        const PageRange more = more_pages_(bytes, alignment);
        const Guard lock(mutex_);
        free_.add(more);
    }
    return pages;
}

BlockRun &Heap::unused_run(Shard &shard)
{
    if (shard.unused.empty()) {
        const Guard lock(mutex_);
        runs_.push_back(std::make_unique<BlockRun>(shard));
        /* There is room for all when they end. */
        shard.unused.reserve(runs_.size());
        return *runs_.back();
    }
    BlockRun &run = *shard.unused.back();
    shard.unused.pop_back();
    return run;
}

BlockRun &Heap::make_run(const PageRange &pages, std::size_t block_bytes, std::uint32_t count, Shard &shard)
{
    const Guard lock(shard.mutex);
    BlockRun &run = unused_run(shard);
    run.pages = pages;
    run.block_bytes = block_bytes;
    run.count = run.known = count;
    run.used = run.hint = 0;
    run.size_class = 0;
    run.place = BlockRun::not_listed;
    run.is_large = run.of_kernels = false;
    run.bits.assign((count + 63) / 64, 0);
    /* Behind the last there is none that is free. */
    if (count % 64)
        run.bits.back() = ~std::uint64_t{0} << count % 64;
    run.sites.assign(keeps_sites_ ? count : 0, {});
    run.heap = this;
    table_.set(pages, &run);
    return run;
}

/* Its pages are free. */
void Heap::end_run(BlockRun &run)
{
    table_.set(run.pages, nullptr);
    run.heap = nullptr;
    run.shard->unused.push_back(&run);
    const Guard lock(mutex_);
    free_.add(run.pages);
}

void Heap::list(Shard &shard, BlockRun &run)
{
    auto &runs = shard.runs[run.size_class];
    run.place = static_cast<std::uint32_t>(runs.size());
    runs.push_back(&run);
}

void Heap::unlist(BlockRun &run)
{
    auto &runs = run.shard->runs[run.size_class];
    runs.back()->place = run.place;
    runs[run.place] = runs.back();
    runs.pop_back();
    run.place = BlockRun::not_listed;
}

BlockRun &Heap::make_small_run(unsigned size_class, Shard &shard)
{
    const std::size_t bytes = size_class::bytes_of(size_class);
    const PageRange pages = take_pages(size_class::run_bytes(size_class), page_bytes);
    BlockRun &run = make_run(pages, bytes, static_cast<std::uint32_t>(pages.bytes / bytes), shard);
    const Guard lock(shard.mutex);
    run.size_class = size_class;
    return run;
}

void *Heap::allocate_small(unsigned size_class, const Site &site)
{
    Shard &shard = own_shard();
    Lock lock(shard.mutex);
    while (shard.runs[size_class].empty()) {
        /* Who gives pages may wait for others that want this lock. */
        lock.unlock();
        BlockRun &made = make_small_run(size_class, shard);
        lock.lock();
        list(shard, made);
    }
    auto &runs = shard.runs[size_class];
    BlockRun &run = *runs.back();
    const std::uint32_t block = run.find_free();
    run.set_used(block);
    if (keeps_sites_)
        run.sites[block] = site;
    if (run.used == run.known) {
        runs.pop_back();
        run.place = BlockRun::not_listed;
    }
    bytes_.fetch_add(run.block_bytes, std::memory_order_relaxed);
    return run.at(block);
}

void *Heap::allocate_large(std::size_t bytes, std::size_t alignment, const Site &site)
{
    if (bytes > table_.bytes())
        throw Error("arena " + name_ + " cannot have a block of " + std::to_string(bytes) + " bytes: its window has " +
                    std::to_string(table_.bytes()));
    bytes = std::max<std::size_t>(bytes, 1);
    const PageRange pages = take_pages(bytes, alignment);
    BlockRun &run = make_run(pages, bytes, 1, own_shard());
    const Guard lock(run.shard->mutex);
    run.is_large = true;
    run.set_used(0);
    if (keeps_sites_)
        run.sites[0] = site;
    bytes_.fetch_add(pages.bytes, std::memory_order_relaxed);
    return pages.begin;
}

void *Heap::allocate(std::size_t bytes, std::size_t alignment, const Site &site)
{
    if (!std::has_single_bit(alignment))
        throw Error("a block at a multiple of " + std::to_string(alignment) + ": it must be a power of two");
    unsigned size_class = size_class::count;
    if (bytes <= size_class::largest && alignment <= size_class::largest)
        size_class = size_class::index_of(std::max(bytes, alignment > size_class::smallest ? alignment : 1));
    while (size_class < size_class::count && size_class::bytes_of(size_class) % alignment)
        size_class++;
    void *block =
        size_class < size_class::count ? allocate_small(size_class, site) : allocate_large(bytes, alignment, site);
    blocks_.fetch_add(1, std::memory_order_relaxed);
    return block;
}

std::string Heap::where(const void *address) const
{
    return in_hexadecimal(address) + " in arena " + name_;
}

std::uint32_t Heap::block_at(const BlockRun &run, const void *address) const
{
    const auto behind = static_cast<std::size_t>(static_cast<const std::byte *>(address) - run.pages.begin);
    if (const std::size_t inside = run.is_large ? behind : behind % run.block_bytes)
        throw Error(where(address) + " is " + std::to_string(inside) + " bytes behind the begin of a block of " +
                    std::to_string(run.block_bytes) + " bytes: what was allocated is to be given back");
    const std::size_t block = behind / run.block_bytes;
    if (block >= run.count)
        throw Error(where(address) + " is behind the last block of its pages: it was never allocated");
    if (block >= run.known)
        throw Error(where(address) +
                    " is for kernels to allocate: if one has, collect() is to come before it is given back");
    return static_cast<std::uint32_t>(block);
}

void Heap::deallocate(void *address)
{
    if (!address)
        return;
    BlockRun &run = run_of(table_, address);
    const Guard lock(run.shard->mutex);
    if (run.heap != this)
        throw Error(in_hexadecimal(address) + " is to be given back to arena " + name_ + ", but is of " +
                    (run.heap ? "arena " + run.heap->name_ : "no arena any more"));
    const std::uint32_t block = block_at(run, address);
    if (!run.is_used(block))
        throw Error("the block of " + std::to_string(run.block_bytes) + " bytes at " + where(address) +
                    " is given back twice");
    blocks_.fetch_sub(1, std::memory_order_relaxed);
    bytes_.fetch_sub(run.is_large ? run.pages.bytes : run.block_bytes, std::memory_order_relaxed);
    run.set_free(block);
    if (run.is_large)
        end_run(run);
    else
        give_to_shard(run);
}

/* One with a block that has become free. */
void Heap::give_to_shard(BlockRun &run)
{
    if (run.of_kernels)
        return;
    auto &runs = run.shard->runs[run.size_class];
    if (run.place == BlockRun::not_listed)
        list(*run.shard, run);
    /* One is kept for the next of its size. */
    if (run.used == 0 && runs.size() > 1) {
        unlist(run);
        end_run(run);
    }
}

std::optional<std::string> Heap::describe(const void *address)
{
    BlockRun *run = table_.find(address);
    if (!run)
        return {};
    const Guard lock(run->shard->mutex);
    if (run->heap != this)
        return {};
    const auto behind = static_cast<std::size_t>(static_cast<const std::byte *>(address) - run->pages.begin);
    const std::size_t block = run->is_large ? 0 : behind / run->block_bytes;
    if (block >= run->known || !run->is_used(static_cast<std::uint32_t>(block)))
        return {};
    std::string text =
        std::to_string(run->block_bytes) + " bytes at " + where(run->at(static_cast<std::uint32_t>(block)));
    if (keeps_sites_)
        text += ", allocated at " + to_string(run->sites[block]);
    return text;
}

Heap::Use Heap::use() const
{
    return {blocks_.load(std::memory_order_relaxed), bytes_.load(std::memory_order_relaxed)};
}

BlockRun &Heap::make_run_of_kernels(std::size_t block_bytes, std::uint32_t count)
{
    const PageRange pages = take_pages(block_bytes * count, page_bytes);
    BlockRun &run = make_run(pages, block_bytes, count, shards_[0]);
    const Guard lock(run.shard->mutex);
    run.known = 0;
    run.of_kernels = true;
    return run;
}

void Heap::set_known(BlockRun &run, std::uint32_t known, const Site &site)
{
    const Guard lock(run.shard->mutex);
    for (; run.known < known; run.known++) {
        run.set_used(run.known);
        if (keeps_sites_)
            run.sites[run.known] = site;
        blocks_.fetch_add(1, std::memory_order_relaxed);
        bytes_.fetch_add(run.block_bytes, std::memory_order_relaxed);
    }
}

void Heap::end_kernels(BlockRun &run)
{
    const Guard lock(run.shard->mutex);
    run.of_kernels = false;
    run.known = run.count;
    run.size_class = size_class::index_of(run.block_bytes);
    if (run.used == 0)
        end_run(run);
    else if (run.used < run.known)
        list(*run.shard, run);
}

} // namespace ptsched::arena
