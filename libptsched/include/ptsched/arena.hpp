/* SPDX-License-Identifier: MIT */
/*
 * Memory in which a pointer means the same for host and GPUs, after a programming model for machines whose sides do not
 * see each other's writes at once: release consistency for what is shared, and ownership of what one side has for a
 * while. Lists, trees and graphs of pointers are used by both as they are.
 *
 *	Window window;
 *	Arena world = window.owned_arena(Side::host());
 *	auto *node = world.make<Node>();
 *	world.acquire_ownership(Side::gpu());
 *	... kernels that walk from node on, and have ended ...
 *	world.acquire_ownership(Side::host());
 *
 * What a side has written before it releases, the other finds after it acquires. Both may write different words, of
 * four bytes, of what is shared between two such points. Of an arena that a side owns nothing is looked for: all that
 * has changed goes over when it is handed over. The first access of the other side makes it shared.
 *
 * All GPUs of a window see one memory; a GPU's side is that of all of them. What a kernel is to find must be acquired
 * for GPUs before it is launched, and what it has written is released when it has ended: nothing of this waits for
 * kernels.
 */
#ifndef PTSCHED_ARENA_HPP
#define PTSCHED_ARENA_HPP

#include <ptsched/arena/kernel_heap.h>
#include <ptsched/arena/shared.hpp>
#include <ptsched/arena/side.hpp>
#include <ptsched/arena/site.hpp>
#include <ptsched/arena/sync.hpp>
#include <ptsched/device/device.hpp>
#include <ptsched/device/turns.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ptsched::arena {

class WindowCore;
class ArenaCore;
class KernelBlocksCore;

} // namespace ptsched::arena

#pragma GCC visibility push(default)

namespace ptsched::arena {

using device::Attach;
using device::Error;
using device::OutOfMemory;

enum class Memory {
    copies,  /* two memories at one address: what is needed is copied when it is handed over, acquired or released */
    managed, /* one, which the driver moves to who touches it; ownership tells it where to before */
};

struct Options {
    std::vector<device::Device *> devices = {}; /* peers, the first of which has their memory; empty: all of gpus() */
    std::size_t bytes = 0; /* of addresses; 0: 64 GiB, or 4 GiB of managed memory, or where there is no GPU */
    Memory memory = Memory::copies;
    bool checked = false;       /* a word that both sides wrote is an Error, with who allocated it; slower */
    Attach attach = Attach::no; /* copies are made in turns that ptsched gives out, of the first device */
};

struct ArenaOptions {
    std::string name = {};          /* for errors; empty: a number */
    std::size_t expected_bytes = 0; /* of blocks: as much is side by side */
};

/* Bytes that kernels have written, or are going to. */
struct Range {
    const void *begin;
    std::size_t bytes;
};
/* All that they have written; nothing: it is looked for, which takes longer. */
using Writes = std::optional<std::vector<Range>>;

/* What a window has done since it was made. */
struct State {
    std::size_t bytes = 0, made = 0;                 /* addresses, and how much of them has memory */
    std::size_t arenas = 0, blocks = 0;              /* there now */
    std::size_t block_bytes = 0;                     /* of these */
    std::uint64_t read_faults = 0, write_faults = 0; /* of the host */
    std::uint64_t twins = 0;                         /* pages that were copied to find out what is written there */
    std::uint64_t compared_pages = 0;                /* on GPUs */
    std::uint64_t different_words = 0;               /* that went over one by one */
    std::uint64_t to_gpus = 0, to_host = 0;          /* pages that were copied */
    std::uint64_t made_shared = 0;                   /* arenas that the other side has used */
    double fault_seconds = 0, difference_seconds = 0, copy_seconds = 0;
};

/*
 * Blocks, in pages of a window that are handed over together. Movable; goes with all its blocks, when nobody uses them
 * any more. Thread-safe, but for moving it: calls about ownership, acquire() and release() of one arena wait for each
 * other. They return when all is done, and block for as long as copies take.
 */
class Arena {
public:
    Arena(Arena &&) noexcept;
    Arena &operator=(Arena &&) noexcept;
    ~Arena();

    /*
     * A block of the host's choice, which kernels may use as well: its content is not defined. @alignment: a power of
     * two. Throws OutOfMemory, or Error if the window has no addresses left. Never null. May be called whoever owns the
     * arena, since it touches none of its pages.
     */
    void *allocate(std::size_t bytes, std::size_t alignment = alignof(std::max_align_t), Site site = Site::here());
    /*
     * By any thread. Null is allowed. Throws Error that says what is wrong with the address: private memory, of another
     * arena, inside a block, given back before.
     */
    void deallocate(void *block);
    /* An object in a block. Not inlined, so that the block is known to be its caller's. */
    template <typename T, typename... Args> [[gnu::noinline]] T *make(Args &&...args)
    {
        void *block = allocate(sizeof(T), alignof(T), {nullptr, 0, __builtin_return_address(0)});
        try {
            /* What has no constructor is made of its members. */
            if constexpr (std::is_constructible_v<T, Args...>)
                return ::new (block) T(std::forward<Args>(args)...);
            else
                return ::new (block) T{std::forward<Args>(args)...};
        } catch (...) {
            deallocate(block);
            throw;
        }
    }
    template <typename T> void destroy(T *object)
    {
        if (!object)
            return;
        object->~T();
        deallocate(const_cast<std::remove_cv_t<T> *>(object));
    }
    /*
     * Destroyed by destroy(), when nobody uses them any more. @host_threads, @gpu_threads: how many wait for each other
     * on each side; at least one of the host. Throws Error if the window has 1024 of them.
     */
    Mutex *make_mutex(Site site = Site::here());
    Barrier *make_barrier(unsigned host_threads, unsigned gpu_threads = 0, Site site = Site::here());
    void destroy(Mutex *mutex)
    {
        if (mutex)
            give_back(mutex, mutex->words());
    }
    void destroy(Barrier *barrier)
    {
        if (barrier)
            give_back(barrier, barrier->words());
    }
    /* For containers: std::pmr::vector<Node> nodes(&arena.resource()). As long as the arena. */
    std::pmr::memory_resource &resource() const;

    /*
     * It is that side's alone. Acquires for it, and releases for the other one, whose work with it is over. @writes: if
     * the other one is GPUs. Of much that comes to the host, the rest comes while it goes on: who touches that waits.
     */
    void acquire_ownership(Side side = Side::host(), const Writes &writes = {});
    /* It is shared. Releases for who owned it. */
    void release_ownership(const Writes &writes = {});
    /* That side finds what the other one has released. Without effect on an arena that has an owner. */
    void acquire(Side side = Side::host());
    /* Likewise. */
    void release(Side side = Side::host(), const Writes &writes = {});
    /* acquire() of a side that is about to use it: if the other one owns it, it is shared from now on. */
    void access(Side side);
    /*
     * The host is about to read or write all of that: it gets now what it has not, and not page by page. As with such
     * an access, an arena that GPUs own is shared from then on. For memory that system calls and drivers are given,
     * which fail where the host does not have it. What is not the arena's is let be.
     */
    void touch(const void *begin, std::size_t bytes, bool to_write = false);
    /* Nothing: it is shared. */
    std::optional<Side> owner() const;

    const std::string &name() const;
    /* Whether it has a block there, or a page for some. */
    bool contains(const void *address) const;

private:
    friend class Window;
    friend class KernelBlocks;
    explicit Arena(std::shared_ptr<ArenaCore> core);
    void give_back(void *block, detail::Words words);

    std::shared_ptr<ArenaCore> core_;
};

/* Addresses that host and GPUs have in common. Thread-safe. */
class Window {
public:
    /*
     * Throws Error that says what is missing if devices or driver have no such memory, OutOfMemory if there are no
     * addresses. Without GPUs, and with none in Options::devices, the host is alone with it.
     */
    explicit Window(const Options &options = {});
    /* Arenas may outlive it. */
    ~Window();
    Window(const Window &) = delete;
    Window &operator=(const Window &) = delete;

    Arena shared_arena(const ArenaOptions &options = {});
    /* A GPU's are made from the window's end on, the host's from its begin. */
    Arena owned_arena(Side owner = Side::host(), const ArenaOptions &options = {});

    /* Of all arenas that there are, one after another; @writes may be in any of them. */
    void acquire_ownership(Side side = Side::host(), const Writes &writes = {});
    void release_ownership(const Writes &writes = {});
    void acquire(Side side = Side::host());
    void release(Side side = Side::host(), const Writes &writes = {});
    /* Of the arenas that these lead into; others, null among them, are left alone. */
    void access(Side side, const std::vector<const void *> &pointers);
    void access(Side side);
    void touch(const void *begin, std::size_t bytes, bool to_write = false);

    /* Arena::deallocate(), of whichever arena it is. */
    void deallocate(void *block);
    /* Whether an address is the window's, be there a block or not. */
    bool contains(const void *address) const;
    void *begin() const;
    std::size_t bytes() const;
    const std::vector<device::Device *> &devices() const;
    /* "64 bytes at 0x7f... in arena world, allocated at world.cpp:12"; the line only if it is checked. */
    std::string describe(const void *address) const;
    State state() const;

private:
    const std::shared_ptr<WindowCore> core_;
};

/*
 * Blocks of an arena that are handed out for kernels to allocate (arena.cuh). Those that come back are allocated again
 * when this is gone. A window with GPUs only. One thread at a time.
 */
class KernelBlocks {
public:
    struct Kind {
        std::size_t bytes;   /* at most 32768; a little more where such sizes are not made */
        std::uint32_t count; /* at least one */
    };
    /* @most_returned: how many kernels may give back until the next collect(). */
    KernelBlocks(Arena &arena, std::vector<Kind> kinds, std::uint32_t most_returned = 1024, Site site = Site::here());
    /* No kernel uses it any more. Collects; what was not allocated is the arena's again. */
    ~KernelBlocks();
    KernelBlocks(const KernelBlocks &) = delete;
    KernelBlocks &operator=(const KernelBlocks &) = delete;

    /* The same for as long as it lives. */
    KernelHeap view() const;
    /*
     * When the kernels have ended: what they have allocated is known from now on, and what they gave back is free.
     * Returns how many they have allocated since the last time.
     */
    std::size_t collect();
    /* Of each kind, in the order in which they were named. */
    std::vector<std::uint32_t> left() const;

private:
    const std::unique_ptr<KernelBlocksCore> core_;
};

} // namespace ptsched::arena

#pragma GCC visibility pop

#endif /* PTSCHED_ARENA_HPP */
