/* SPDX-License-Identifier: MIT */
/* What is done in the memory of GPUs, and between it and the host's. */
#ifndef PTSCHED_ARENA_COHERENCE_GPU_SIDE_HPP
#define PTSCHED_ARENA_COHERENCE_GPU_SIDE_HPP

#include "libptsched/arena/coherence/kernels.h"
#include "libptsched/arena/coherence/page_set.hpp"
#include "libptsched/arena/window/memory.hpp"

#include <functional>
#include <memory>
#include <span>

namespace ptsched::arena {

static_assert(arena_page_words * 4 == page_bytes);

/* Pages of a window, from one on; and what lies beside those of the GPUs. */
struct Place {
    std::size_t offset;
    device::Address twin;
};

/*
 * Things to do, in the order in which they are given, of one thread. Runs and numbers of pages are counted from the
 * place's begin. Blocks where it says so.
 */
class GpuWork {
public:
    virtual ~GpuWork() = default;
    /* The host's memory comes to the GPUs' and its twin, whatever these had. */
    virtual void fill(const Place &place, PageRun run) = 0;
    virtual void bring(const Place &place, std::span<const ArenaIncoming> pages) = 0;
    /* What comes to the host's memory: the GPUs' own is used only while no kernel writes it. */
    enum class From { twin, current };
    virtual void fetch(const Place &place, PageRun run, From from) = 0;
    virtual void send(const Place &place, std::span<const ArenaOutgoing> pages) = 0;
    /* The twin becomes what the GPUs' memory is. */
    virtual void adopt(const Place &place, PageRun run) = 0;
    /*
     * @changed: words of each page. What differs is passed to @found, as often as that needs memory, and is in the twin
     * then. Blocks.
     */
    using Found = std::function<void(std::span<const unsigned> packed)>;
    virtual void compare(const Place &place, std::span<const ArenaCompared> pages, std::span<unsigned> changed,
                         const Found &found) = 0;
    /*
     * So many bytes of the host's memory that GPUs read, until all is finished. What was staged before is for work that
     * has been given. May block until that is done.
     */
    virtual std::byte *stage(std::size_t bytes) = 0;
    /* Blocks until all is done. Throws Error if that failed. */
    virtual void finish() = 0;
};

/* Thread-safe. */
class GpuSide {
public:
    virtual ~GpuSide() = default;
    /* Throws OutOfMemory, which says for what. */
    virtual device::Address make_twin(std::size_t bytes) = 0;
    virtual void release_twin(device::Address twin, std::size_t bytes) noexcept = 0;
    virtual std::unique_ptr<GpuWork> begin() = 0;
};

/* By kernels and queues of the first GPU. @memories outlives it. Throws Error. */
std::unique_ptr<GpuSide> make_gpu_side(Memories &memories);

} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_COHERENCE_GPU_SIDE_HPP */
