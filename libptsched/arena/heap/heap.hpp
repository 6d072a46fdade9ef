/* SPDX-License-Identifier: MIT */
/*
 * Blocks in the pages of an arena. Small ones are of classes of sizes, and each thread has them from one of a few
 * shards; large ones have pages of their own. Any thread gives a block back.
 */
#ifndef PTSCHED_ARENA_HEAP_HEAP_HPP
#define PTSCHED_ARENA_HEAP_HEAP_HPP

#include "libptsched/arena/heap/run.hpp"
#include "libptsched/arena/heap/size_class.hpp"

#include <array>
#include <functional>
#include <optional>
#include <string>

namespace ptsched::arena {

/* Of a heap: blocks for some of the threads. */
struct Shard {
    ptsched::Mutex mutex;
    /* Those with free blocks, by the class of their size; the last is the one that is taken from. */
    std::array<std::vector<BlockRun *>, size_class::count> runs PTSCHED_GUARDED_BY(mutex);
    std::vector<BlockRun *> unused PTSCHED_GUARDED_BY(mutex);
};

/* Thread-safe. All that is refused throws Error, which says what is wrong with the address. */
class Heap {
public:
    /* Of so many bytes at least, at a multiple of that; they stay the heap's. */
    using MorePages = std::function<PageRange(std::size_t bytes, std::size_t alignment)>;
    struct Use {
        std::size_t blocks = 0, bytes = 0; /* of blocks, with what their size is rounded up by */
    };

    /* @name: of the arena. @table: of its window, which outlives it, as does what it is given pages from. */
    Heap(std::string name, RunTable &table, MorePages more_pages, bool keeps_sites);
    ~Heap() { end(); }
    Heap(const Heap &) = delete;
    Heap &operator=(const Heap &) = delete;

    /* All blocks are gone, and their pages are for others. Nobody uses it any more. */
    void end() noexcept;
    /* Never null. */
    void *allocate(std::size_t bytes, std::size_t alignment, const Site &site);
    /* Null is allowed. */
    void deallocate(void *block);
    /* "64 bytes, allocated at world.cpp:12", of the block that has an address; nothing if none has. */
    std::optional<std::string> describe(const void *address);
    Use use() const;
    const std::string &name() const { return name_; }

    /* Blocks for kernels, of which none is known as yet. */
    BlockRun &make_run_of_kernels(std::size_t block_bytes, std::uint32_t count);
    /* Kernels have allocated all up to that one. */
    void set_known(BlockRun &run, std::uint32_t known, const Site &site);
    /* They allocate no more there: what they have left is free. */
    void end_kernels(BlockRun &run);

private:
    void *allocate_small(unsigned size_class, const Site &site);
    void *allocate_large(std::size_t bytes, std::size_t alignment, const Site &site);
    BlockRun &make_small_run(unsigned size_class, Shard &shard);
    void give_to_shard(BlockRun &run) PTSCHED_REQUIRES(run.shard->mutex);
    PageRange take_pages(std::size_t bytes, std::size_t alignment);
    /* The shard's lock is not held. */
    BlockRun &make_run(const PageRange &pages, std::size_t block_bytes, std::uint32_t count, Shard &shard);
    void end_run(BlockRun &run) PTSCHED_REQUIRES(run.shard->mutex);
    BlockRun &unused_run(Shard &shard) PTSCHED_REQUIRES(shard.mutex);
    void list(Shard &shard, BlockRun &run) PTSCHED_REQUIRES(shard.mutex);
    void unlist(BlockRun &run) PTSCHED_REQUIRES(run.shard->mutex);
    Shard &own_shard();
    std::string where(const void *address) const;
    /* The block that begins there, of its run. */
    std::uint32_t block_at(const BlockRun &run, const void *address) const;

    static constexpr unsigned shard_count = 8;

    const std::string name_;
    RunTable &table_;
    const MorePages more_pages_;
    const bool keeps_sites_;
    std::array<Shard, shard_count> shards_;
    std::atomic<std::size_t> blocks_{0}, bytes_{0};

    ptsched::Mutex growth_;        /* nobody has another lock of the heap's who takes it, or waits for pages */
    mutable ptsched::Mutex mutex_; /* may be taken with a shard's */
    FreeRanges free_ PTSCHED_GUARDED_BY(mutex_);
    std::vector<std::unique_ptr<BlockRun>> runs_ PTSCHED_GUARDED_BY(mutex_); /* all that there ever were: who gives a
                                                                           block back twice may still find one */
};

/* The run of a block that is given back; Error if no block begins there, or in no arena of that window. */
BlockRun &run_of(const RunTable &table, const void *block);

} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_HEAP_HEAP_HPP */
