/* SPDX-License-Identifier: MIT */
/*
 * What is known of the pages in which blocks are. It is in the host's private memory, where nothing that a kernel
 * writes by mistake can change it.
 */
#ifndef PTSCHED_ARENA_HEAP_RUN_HPP
#define PTSCHED_ARENA_HEAP_RUN_HPP

#include "libptsched/arena/window/pages.hpp"
#include <ptsched/arena/site.hpp>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace ptsched::arena {

class Heap;
struct Shard;

/* Pages side by side, with blocks of one size: many small ones, or one. */
struct BlockRun {
    explicit BlockRun(Shard &shard) : shard(&shard) {}

    Shard *const shard;   /* whose lock protects what follows */
    Heap *heap = nullptr; /* null: it is unused */
    PageRange pages{};
    std::size_t block_bytes = 0;
    std::uint32_t count = 0;
    /* Of the others nobody knows on the host: kernels allocate them, from the first on. */
    std::uint32_t known = 0;
    std::uint32_t used = 0; /* of those known */
    std::uint32_t hint = 0; /* no word before that has a free block */
    unsigned size_class = 0;
    std::uint32_t place = not_listed;  /* among those with free blocks */
    bool is_large = false;             /* one block with pages of its own */
    bool of_kernels = false;           /* as long as they may allocate there */
    std::vector<std::uint64_t> bits{}; /* 1: is used */
    std::vector<Site> sites{};         /* of each block, if they are kept */

    static constexpr std::uint32_t not_listed = UINT32_MAX;

    /* Takes the lock. */
    Heap *owner() const;
    bool is_used(std::uint32_t block) const { return bits[block / 64] >> block % 64 & 1; }
    std::byte *at(std::uint32_t block) const { return pages.begin + block * block_bytes; }
    /* The first that is free, if one is known to be. */
    std::uint32_t find_free();
    void set_used(std::uint32_t block);
    void set_free(std::uint32_t block);
};

/* Which run an address of a window is in. Read without a lock. */
class RunTable {
public:
    RunTable(std::byte *begin, std::size_t bytes);

    std::byte *begin() const { return begin_; }
    std::size_t bytes() const { return bytes_; }
    bool contains(const void *address) const
    {
        return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(begin_) < bytes_;
    }
    /* Null: none, or the address is not the window's. */
    BlockRun *find(const void *address) const;
    void set(const PageRange &pages, BlockRun *run);

private:
    using Entry = std::atomic<BlockRun *>;
    struct Free {
        void operator()(Entry *entries) const { std::free(entries); }
    };

    std::byte *const begin_;
    const std::size_t bytes_;
    const std::unique_ptr<Entry[], Free> entries_; /* pages that nobody looks at take no memory */
};

} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_HEAP_RUN_HPP */
