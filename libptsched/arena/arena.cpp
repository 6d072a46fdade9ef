// SPDX-License-Identifier: MIT
/* What programs call. */
#include "libptsched/arena/core.hpp"

#include <algorithm>

namespace ptsched::arena {

Arena::Arena(std::shared_ptr<ArenaCore> core) : core_(std::move(core)) {}
Arena::Arena(Arena &&) noexcept = default;
Arena &Arena::operator=(Arena &&) noexcept = default;
Arena::~Arena() = default;

void *Arena::allocate(std::size_t bytes, std::size_t alignment, Site site)
{
    return core_->heap.allocate(bytes, alignment, site);
}

void Arena::deallocate(void *block)
{
    core_->heap.deallocate(block);
}

Mutex *Arena::make_mutex(Site site)
{
    void *block = core_->heap.allocate(sizeof(Mutex), alignof(Mutex), site);
    try {
        return ::new (block) Mutex(core_->window->sync_words.take());
    } catch (...) {
        deallocate(block);
        throw;
    }
}

Barrier *Arena::make_barrier(unsigned host_threads, unsigned gpu_threads, Site site)
{
    if (!host_threads)
        throw Error("a barrier for no thread of the host: there must be at least one");
    if (gpu_threads && core_->window->devices.empty())
        throw Error("a barrier for " + std::to_string(gpu_threads) + " threads of GPUs: the window has no GPU");
    void *block = core_->heap.allocate(sizeof(Barrier), alignof(Barrier), site);
    try {
        return ::new (block) Barrier(core_->window->sync_words.take(), host_threads, gpu_threads);
    } catch (...) {
        deallocate(block);
        throw;
    }
}

/* A mutex or a barrier, and what it counts with. */
void Arena::give_back(void *block, detail::Words words)
{
    deallocate(block);
    core_->window->sync_words.give_back(words);
}

std::pmr::memory_resource &Arena::resource() const
{
    return *core_;
}

void Arena::acquire_ownership(Side side, const Writes &writes)
{
    core_->check(writes);
    core_->acquire_ownership(side, writes);
}

void Arena::release_ownership(const Writes &writes)
{
    core_->check(writes);
    core_->release_ownership(writes);
}

void Arena::acquire(Side side)
{
    core_->acquire(side);
}

void Arena::release(Side side, const Writes &writes)
{
    core_->check(writes);
    core_->release(side, writes);
}

void Arena::access(Side side)
{
    core_->access(side);
}

void Arena::touch(const void *begin, std::size_t bytes, bool to_write)
{
    core_->touch({begin, bytes}, to_write);
}

std::optional<Side> Arena::owner() const
{
    return core_->owner();
}

const std::string &Arena::name() const
{
    return core_->heap.name();
}

bool Arena::contains(const void *address) const
{
    return core_->contains(address);
}

Window::Window(const Options &options) : core_(std::make_shared<WindowCore>(options)) {}
Window::~Window() = default;

Arena Window::shared_arena(const ArenaOptions &options)
{
    return Arena(core_->make_arena({}, options));
}

Arena Window::owned_arena(Side owner, const ArenaOptions &options)
{
    return Arena(core_->make_arena(owner, options));
}

void Window::acquire_ownership(Side side, const Writes &writes)
{
    for (const auto &arena : core_->arenas())
        arena->acquire_ownership(side, writes);
}

void Window::release_ownership(const Writes &writes)
{
    for (const auto &arena : core_->arenas())
        arena->release_ownership(writes);
}

void Window::acquire(Side side)
{
    for (const auto &arena : core_->arenas())
        arena->acquire(side);
}

void Window::release(Side side, const Writes &writes)
{
    for (const auto &arena : core_->arenas())
        arena->release(side, writes);
}

void Window::access(Side side, const std::vector<const void *> &pointers)
{
    core_->check(side);
    for (const auto &arena : core_->arenas())
        if (std::any_of(pointers.begin(), pointers.end(), [&](const void *one) { return arena->contains(one); }))
            arena->access(side);
}

void Window::access(Side side)
{
    for (const auto &arena : core_->arenas())
        arena->access(side);
}

void Window::touch(const void *begin, std::size_t bytes, bool to_write)
{
    for (const auto &arena : core_->arenas())
        arena->touch({begin, bytes}, to_write);
}

void Window::deallocate(void *block)
{
    if (!block)
        return;
    Heap *heap = run_of(core_->table, block).owner();
    if (!heap)
        throw Error("a block is given back twice at once");
    heap->deallocate(block);
}

bool Window::contains(const void *address) const
{
    return core_->table.contains(address);
}

void *Window::begin() const
{
    return core_->table.begin();
}

std::size_t Window::bytes() const
{
    return core_->table.bytes();
}

const std::vector<device::Device *> &Window::devices() const
{
    return core_->devices;
}

std::string Window::describe(const void *address) const
{
    return core_->describe(address);
}

State Window::state() const
{
    return core_->state();
}

} // namespace ptsched::arena
