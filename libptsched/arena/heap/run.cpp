// SPDX-License-Identifier: MIT
#include "libptsched/arena/heap/run.hpp"

#include <bit>
#include <new>

namespace ptsched::arena {

std::uint32_t BlockRun::find_free()
{
    while (!~bits[hint])
        hint++;
    return hint * 64 + static_cast<std::uint32_t>(std::countr_one(bits[hint]));
}

void BlockRun::set_used(std::uint32_t block)
{
    bits[block / 64] |= std::uint64_t{1} << block % 64;
    used++;
}

void BlockRun::set_free(std::uint32_t block)
{
    bits[block / 64] &= ~(std::uint64_t{1} << block % 64);
    used--;
    hint = std::min(hint, block / 64);
}

RunTable::RunTable(std::byte *begin, std::size_t bytes)
    : begin_(begin), bytes_(bytes), entries_(static_cast<Entry *>(std::calloc(bytes / page_bytes, sizeof(Entry))))
{
    static_assert(std::atomic<BlockRun *>::is_always_lock_free);
    if (!entries_)
        throw std::bad_alloc();
}

BlockRun *RunTable::find(const void *address) const
{
    if (!contains(address))
        return nullptr;
    const auto page = static_cast<std::size_t>(static_cast<const std::byte *>(address) - begin_) / page_bytes;
    return entries_[page].load(std::memory_order_acquire);
}

void RunTable::set(const PageRange &pages, BlockRun *run)
{
    const auto first = static_cast<std::size_t>(pages.begin - begin_) / page_bytes;
    for (std::size_t i = 0; i < pages.bytes / page_bytes; i++)
        entries_[first + i].store(run, std::memory_order_release);
}

} // namespace ptsched::arena
