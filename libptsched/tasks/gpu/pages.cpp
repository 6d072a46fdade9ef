// SPDX-License-Identifier: MIT
#include "libptsched/tasks/gpu/pages.hpp"

#include <algorithm>

namespace ptsched::tasks {

namespace {

using device::Advice;
using device::Allocation;

/* Rows that are far apart, and long, are moved one by one; others with what is between them. */
template <typename Do> void for_each_part(const Entry &entry, Do act)
{
    constexpr std::size_t long_row = 64 << 10;
    const Range &range = entry.range;
    const auto first = static_cast<std::size_t>(range.begin - static_cast<std::byte *>(entry.managed->host_address()));
    const std::size_t all = entry.managed->bytes();
    const auto part = [&](std::size_t from, std::size_t bytes) {
        if (from < all)
            act(Allocation::Part{from, std::min(bytes, all - from)});
    };
    if (range.rows == 1 || range.row_bytes < long_row) {
        part(first, range.span());
        return;
    }
    for (std::size_t row = 0; row < range.rows; row++)
        part(first + row * range.pitch, range.row_bytes);
}

/* What several devices read, each may have; what one writes, is best left there. */
void advise(Entry &entry, Mode mode, unsigned index, device::Device &device)
{
    const std::uint64_t others = entry.on_devices & ~(std::uint64_t{1} << index);
    Allocation &memory = *entry.managed;
    if (!writes(mode)) {
        if (!others || entry.is_read_mostly)
            return;
        for_each_part(entry, [&](const Allocation::Part &part) { memory.advise(Advice::read_mostly, device, part); });
        entry.is_read_mostly = true;
        return;
    }
    if (entry.is_read_mostly)
        for_each_part(entry, [&](const Allocation::Part &part) { memory.withdraw(Advice::read_mostly, device, part); });
    entry.is_read_mostly = false;
    if (entry.preferred == static_cast<int>(index))
        return;
    for_each_part(entry,
                  [&](const Allocation::Part &part) { memory.advise(Advice::preferred_location, device, part); });
    entry.preferred = static_cast<int>(index);
}

} // namespace

void move_to_device(Entry &entry, Mode mode, unsigned index, device::Device &device, device::Queue &queue,
                    device::Queue *ahead)
{
    advise(entry, mode, index, device);
    if (entry.on_devices >> index & 1)
        return;
    device::Queue &by = ahead ? *ahead : queue;
    for_each_part(entry, [&](const Allocation::Part &part) { entry.managed->prefetch(device, by, part); });
    if (ahead)
        queue.after(ahead->mark());
}

device::MarkerPtr move_to_host(Entry &entry, device::Queue &queue)
{
    for_each_part(entry, [&](const Allocation::Part &part) { entry.managed->prefetch(device::host(), queue, part); });
    return queue.mark();
}

} // namespace ptsched::tasks
