/* SPDX-License-Identifier: MIT */
/* What windows and arenas are made of. */
#ifndef PTSCHED_ARENA_CORE_HPP
#define PTSCHED_ARENA_CORE_HPP

#include "libptsched/arena/coherence/coherence.hpp"
#include "libptsched/arena/heap/heap.hpp"
#include "libptsched/arena/sync/words.hpp"
#include <ptsched/arena.hpp>

#include <memory_resource>

namespace ptsched::arena {

class WindowCore : public std::enable_shared_from_this<WindowCore> {
public:
    explicit WindowCore(const Options &options);
    ~WindowCore();
    WindowCore(const WindowCore &) = delete;
    WindowCore &operator=(const WindowCore &) = delete;

    std::shared_ptr<ArenaCore> make_arena(std::optional<Side> owner, const ArenaOptions &options);
    std::vector<std::shared_ptr<ArenaCore>> arenas();
    /* Throws Error for a GPU that there is not. */
    void check(Side side) const;
    /* From the window's begin; of an address that is not the window's, more than that has. */
    std::size_t offset_of(const void *address) const;
    Stretch stretch_of(const PageRange &pages) const;
    std::string describe(const void *address) const;
    State state();

    const std::vector<device::Device *> devices;
    const std::unique_ptr<Ground> ground;
    Pages pages;
    RunTable table;
    const bool checked;
    const std::unique_ptr<device::Turns> turns; /* null: nobody else is asked */
    const std::unique_ptr<Coherence> coherence; /* null: there is one memory */
    SyncWords sync_words{devices};

private:
    ptsched::Mutex mutex_;
    std::vector<std::weak_ptr<ArenaCore>> arenas_ PTSCHED_GUARDED_BY(mutex_);
    std::uint64_t made_ PTSCHED_GUARDED_BY(mutex_) = 0; /* arenas */
};

/* The first device is the process's, if it is to be asked for. Not to be had twice by one thread. */
class InTurn {
public:
    explicit InTurn(const WindowCore &window);
    ~InTurn();
    InTurn(const InTurn &) = delete;
    InTurn &operator=(const InTurn &) = delete;

private:
    device::Turns *const turns_;
};

class ArenaCore final : public std::pmr::memory_resource {
public:
    ArenaCore(std::shared_ptr<WindowCore> window, std::optional<Side> owner, std::string name,
              const ArenaOptions &options);
    ~ArenaCore() override;

    void acquire_ownership(Side side, const Writes &writes);
    void release_ownership(const Writes &writes);
    void acquire(Side side);
    void release(Side side, const Writes &writes);
    void access(Side side);
    /* What is not in its pages is let be. */
    void touch(const Range &range, bool to_write);
    std::optional<Side> owner() const;
    bool contains(const void *address) const;
    /* Throws Error if not all of that is in pages of the arena. */
    void check(const Writes &writes) const;

    const std::shared_ptr<WindowCore> window;
    Heap heap;

private:
    void *do_allocate(std::size_t bytes, std::size_t alignment) override;
    void do_deallocate(void *block, std::size_t, std::size_t) override;
    bool do_is_equal(const std::pmr::memory_resource &other) const noexcept override { return this == &other; }

    PageRange more_pages(std::size_t bytes, std::size_t alignment);
    PageRange take_pages(std::size_t bytes, std::size_t alignment);
    void set_owner(std::optional<Side> owner);
    /* Those of @writes that are in its pages. */
    std::vector<Stretch> stretches_of(const Writes &writes) const;
    template <typename Function> void declare(const Writes &writes, Function function) const
    {
        if (!writes)
            return function(Declared());
        const std::vector<Stretch> stretches = stretches_of(writes);
        function(Declared(stretches));
    }
    /* Where there is one memory. */
    void move_to(Side side);

    const End end_;
    const std::size_t expected_;
    Region *const region_; /* null: there is one memory */
    mutable ptsched::Mutex mutex_;
    std::optional<Side> owner_ PTSCHED_GUARDED_BY(mutex_); /* which of the GPUs; that it is still is the region's */
    std::vector<PageRange> pages_ PTSCHED_GUARDED_BY(mutex_);
    std::size_t bytes_ PTSCHED_GUARDED_BY(mutex_) = 0; /* of these */
};

/* For shared<T *>: which addresses are windows'. Throws Error if there are too many windows. */
void add_window(const void *begin, std::size_t bytes);
void remove_window(const void *begin);

} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_CORE_HPP */
