// SPDX-License-Identifier: MIT
/* The C interface, on top of what arena.hpp has. */
#include "libptsched/base/c_struct.hpp"
#include "libptsched/base/c_values.hpp"
#include <ptsched/arena.h>
#include <ptsched/arena.hpp>

#include <cstddef>

using namespace ptsched;
using arena::Side;

static_assert(static_cast<int>(arena::Memory::managed) == PTSCHED_ARENA_MANAGED &&
              static_cast<int>(device::Attach::required) == PTSCHED_ARENA_MUST_ATTACH);

struct ptsched_arena_window {
    arena::Window window;
};

struct ptsched_arena {
    arena::Arena arena;
};

namespace {

/* Sizes that structures had in the first version, by the last member that they had there. */
constexpr std::size_t first_options = offsetof(ptsched_arena_options, checked) + sizeof(ptsched_arena_options::checked),
                      first_state = offsetof(ptsched_arena_state, copy_ns) + sizeof(ptsched_arena_state::copy_ns);

/* No exception is no fault of the call but those that attempt() knows. */
template <typename Function> int attempt(Function function)
{
    return ptsched::attempt<device::Fault>([&]() -> int {
        try {
            function();
            return 0;
        } catch (const device::OutOfMemory &error) {
            return fail(ENOMEM, error.what());
        }
    });
}

Side side_of(int number)
{
    if (number < PTSCHED_ARENA_HOST)
        throw Error("side is " + std::to_string(number) + ", and can be PTSCHED_ARENA_HOST, or a GPU from 0 on");
    return number == PTSCHED_ARENA_HOST ? Side::host() : Side::gpu(static_cast<unsigned>(number));
}

arena::Options options_of(const ptsched_arena_options &given)
{
    const ptsched_arena_options known = as_known(given, first_options, "ptsched_arena_options");
    arena::Options options;
    options.devices = devices_of(device::gpus(), known.devices, known.device_count, "window");
    options.bytes = known.bytes;
    options.memory = value_of<arena::Memory>(known.memory, 2, "memory");
    options.attach = value_of<device::Attach>(known.attach, 3, "attach");
    options.checked = known.checked;
    return options;
}

arena::Writes writes_of(const ptsched_arena_range *writes, std::size_t count)
{
    if (!writes && count)
        throw Error("writes is NULL, and count " + std::to_string(count) + ": without writes it is 0");
    if (!writes)
        return {};
    std::vector<arena::Range> ranges;
    for (std::size_t i = 0; i < count; i++)
        ranges.push_back({writes[i].begin, writes[i].bytes});
    return ranges;
}

/* Of the arena, or all of the window. */
template <typename Function> int of(ptsched_arena_window *window, ptsched_arena *arena, Function function)
{
    return attempt([&] {
        auto &all = needed(window, "window").window;
        if (arena)
            function(arena->arena);
        else
            function(all);
    });
}

std::uint64_t nanoseconds(double seconds)
{
    return static_cast<std::uint64_t>(seconds * 1e9);
}

void *allocate(ptsched_arena *arena, std::size_t alignment, std::size_t bytes, const void *caller)
{
    void *block = nullptr;
    attempt([&] { block = needed(arena, "arena").arena.allocate(bytes, alignment, {nullptr, 0, caller}); });
    return block;
}

} // namespace

const char *ptsched_arena_error_text(void)
{
    return error_text();
}

int ptsched_arena_open_window(const struct ptsched_arena_options *options, struct ptsched_arena_window **window)
{
    return attempt([&] {
        auto &made = needed(window, "window");
        made = nullptr;
        made = new ptsched_arena_window{arena::Window(options ? options_of(*options) : arena::Options())};
    });
}

void ptsched_arena_close_window(struct ptsched_arena_window *window)
{
    delete window;
}

int ptsched_arena_contains(const struct ptsched_arena_window *window, const void *address)
{
    return window && window->window.contains(address);
}

int ptsched_arena_create(struct ptsched_arena_window *window, int owner, std::size_t expected_bytes, const char *name,
                         struct ptsched_arena **arena)
{
    return attempt([&] {
        auto &made = needed(arena, "arena");
        auto &all = needed(window, "window").window;
        const arena::ArenaOptions options{name ? name : "", expected_bytes};
        made = nullptr;
        made = new ptsched_arena{owner == PTSCHED_ARENA_SHARED ? all.shared_arena(options)
                                                               : all.owned_arena(side_of(owner), options)};
    });
}

void ptsched_arena_destroy(struct ptsched_arena *arena)
{
    delete arena;
}

void *ptsched_arena_malloc(struct ptsched_arena *arena, std::size_t bytes)
{
    return allocate(arena, alignof(std::max_align_t), bytes, __builtin_return_address(0));
}

void *ptsched_arena_aligned_alloc(struct ptsched_arena *arena, std::size_t alignment, std::size_t bytes)
{
    return allocate(arena, alignment, bytes, __builtin_return_address(0));
}

int ptsched_arena_free(struct ptsched_arena *arena, void *block)
{
    return attempt([&] { needed(arena, "arena").arena.deallocate(block); });
}

int ptsched_arena_acquire_ownership(struct ptsched_arena_window *window, struct ptsched_arena *arena, int side,
                                    const struct ptsched_arena_range *writes, std::size_t count)
{
    return of(window, arena, [&](auto &which) { which.acquire_ownership(side_of(side), writes_of(writes, count)); });
}

int ptsched_arena_release_ownership(struct ptsched_arena_window *window, struct ptsched_arena *arena,
                                    const struct ptsched_arena_range *writes, std::size_t count)
{
    return of(window, arena, [&](auto &which) { which.release_ownership(writes_of(writes, count)); });
}

int ptsched_arena_acquire(struct ptsched_arena_window *window, struct ptsched_arena *arena, int side)
{
    return of(window, arena, [&](auto &which) { which.acquire(side_of(side)); });
}

int ptsched_arena_release(struct ptsched_arena_window *window, struct ptsched_arena *arena, int side,
                          const struct ptsched_arena_range *writes, std::size_t count)
{
    return of(window, arena, [&](auto &which) { which.release(side_of(side), writes_of(writes, count)); });
}

int ptsched_arena_access(struct ptsched_arena_window *window, struct ptsched_arena *arena, int side)
{
    return of(window, arena, [&](auto &which) { which.access(side_of(side)); });
}

int ptsched_arena_touch(struct ptsched_arena_window *window, const void *begin, std::size_t bytes, int to_write)
{
    return attempt([&] { needed(window, "window").window.touch(begin, bytes, to_write != 0); });
}

int ptsched_arena_owner(const struct ptsched_arena *arena)
{
    const auto owner = arena ? arena->arena.owner() : std::nullopt;
    if (!owner)
        return PTSCHED_ARENA_SHARED;
    return owner->is_host() ? PTSCHED_ARENA_HOST : static_cast<int>(owner->number());
}

int ptsched_arena_get_state(struct ptsched_arena_window *window, struct ptsched_arena_state *state)
{
    return attempt([&] {
        const arena::State now = needed(window, "window").window.state();
        const ptsched_arena_state known{0,
                                        now.bytes,
                                        now.made,
                                        now.arenas,
                                        now.blocks,
                                        now.block_bytes,
                                        now.read_faults,
                                        now.write_faults,
                                        now.twins,
                                        now.compared_pages,
                                        now.different_words,
                                        now.to_gpus,
                                        now.to_host,
                                        now.made_shared,
                                        nanoseconds(now.fault_seconds),
                                        nanoseconds(now.difference_seconds),
                                        nanoseconds(now.copy_seconds)};
        give_known(needed(state, "state"), known, first_state, "ptsched_arena_state");
    });
}
