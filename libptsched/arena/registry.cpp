// SPDX-License-Identifier: MIT
/* The windows of the process, for pointers that may lead nowhere else. */
#include "libptsched/arena/core.hpp"

#include <array>
#include <cstdio>

namespace ptsched::arena {

namespace {

constexpr std::size_t most_windows = 64;

/* Who looks at an entry while it changes finds no bytes there. */
struct Entry {
    std::atomic<std::uintptr_t> begin{0};
    std::atomic<std::size_t> bytes{0};
};

std::array<Entry, most_windows> entries;
ptsched::Mutex changes;

std::uintptr_t number_of(const void *address)
{
    return reinterpret_cast<std::uintptr_t>(address);
}

bool is_shared(const void *address)
{
    for (const Entry &entry : entries)
        if (const std::size_t bytes = entry.bytes.load(std::memory_order_acquire);
            number_of(address) - entry.begin.load(std::memory_order_relaxed) < bytes)
            return true;
    return false;
}

} // namespace

void add_window(const void *begin, std::size_t bytes)
{
    const Guard lock(changes);
    for (Entry &entry : entries) {
        if (entry.bytes.load(std::memory_order_relaxed))
            continue;
        entry.begin.store(number_of(begin), std::memory_order_relaxed);
        entry.bytes.store(bytes, std::memory_order_release);
        return;
    }
    throw Error("there are " + std::to_string(most_windows) + " windows, and can be no more at once");
}

void remove_window(const void *begin)
{
    const Guard lock(changes);
    for (Entry &entry : entries)
        if (entry.begin.load(std::memory_order_relaxed) == number_of(begin))
            entry.bytes.store(0, std::memory_order_release);
}

namespace detail {

void check_shared(const void *holder, const void *pointer)
{
    char text[160];
    if (!pointer || is_shared(pointer))
        return;
    std::snprintf(text, sizeof(text),
                  "the shared pointer at %p (%s) is given %p, which is private memory: it must lead into a window",
                  holder, is_shared(holder) ? "in a window" : "in private memory", pointer);
    throw Error(text);
}

} // namespace detail

} // namespace ptsched::arena
