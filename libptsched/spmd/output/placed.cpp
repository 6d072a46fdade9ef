// SPDX-License-Identifier: MIT
#include "libptsched/spmd/output/placed.hpp"

#include <ptsched/base/error.hpp>

#include <algorithm>
#include <cstring>
#include <string>

namespace ptsched::spmd {

std::byte *Placed::room(std::uint64_t first, std::size_t count, std::size_t value_bytes)
{
    const std::uint64_t places = memory_.size() / value_bytes_;
    if (value_bytes != value_bytes_)
        throw Error("a value has " + std::to_string(value_bytes) +
                    " bytes, and Output::value_bytes says that each has " + std::to_string(value_bytes_));
    if (first > places || count > places - first)
        throw Error("key " + std::to_string(static_cast<std::int64_t>(std::max(first, places))) +
                    " has no place: Output::into has " + std::to_string(places) + ", from 0 on");
    count_.fetch_add(count, std::memory_order_relaxed);
    return memory_.data() + first * value_bytes_;
}

std::size_t consecutive(std::span<const std::uint64_t> keys, std::size_t first)
{
    std::size_t count = 1;
    while (first + count < keys.size() && keys[first + count] == keys[first] + count)
        count++;
    return count;
}

void Placed::store(const Pairs &pairs)
{
    const std::span keys(reinterpret_cast<const std::uint64_t *>(pairs.keys.data()), pairs.size());
    for (std::size_t i = 0; i < keys.size();) {
        /* Those of one size lie one behind the other, too. */
        const std::size_t bytes = pairs.values[i].size();
        std::size_t count = 1;
        for (const std::size_t most = consecutive(keys, i); count < most && pairs.values[i + count].size() == bytes;)
            count++;
        std::memcpy(room(keys[i], count, bytes), pairs.values[i].data(), count * bytes);
        i += count;
    }
}

} // namespace ptsched::spmd
