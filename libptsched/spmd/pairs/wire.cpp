// SPDX-License-Identifier: MIT
#include "libptsched/spmd/pairs/wire.hpp"

#include <ptsched/base/error.hpp>

namespace ptsched::spmd {
namespace {

struct Head {
    std::uint64_t pairs, key_bytes, value_bytes;
};

std::size_t ends_bytes(std::uint64_t pairs, std::size_t width)
{
    return width == any_width ? pairs * sizeof(std::uint64_t) : 0;
}

void pack(const Column &column, Buffer &to)
{
    if (!column.is_fixed())
        to.append(column.ends().data(), column.ends().size() * sizeof(std::uint64_t));
    to.append(column.data(), column.bytes());
}

const std::byte *unpack(const std::byte *from, std::uint64_t pairs, std::uint64_t bytes, Column &column)
{
    std::vector<std::uint64_t> ends(column.is_fixed() ? 0 : pairs);
    if (!ends.empty())
        std::memcpy(ends.data(), from, ends.size() * sizeof(std::uint64_t));
    from += ends.size() * sizeof(std::uint64_t);
    if (!ends.empty() && ends.back() != bytes)
        throw Error("pairs that came from a file or a rank have been damaged");
    column.assign(from, bytes, std::move(ends));
    return from + bytes;
}

} // namespace

void pack(const Pairs &pairs, Buffer &to)
{
    const Head head{pairs.size(), pairs.keys.bytes(), pairs.values.bytes()};
    to.append(&head, sizeof head);
    pack(pairs.keys, to);
    pack(pairs.values, to);
}

Pairs unpack(std::span<const std::byte> packed, std::size_t key_width, std::size_t value_width)
{
    Head head{};
    if (packed.size() >= sizeof head)
        std::memcpy(&head, packed.data(), sizeof head);
    const std::uint64_t expected = sizeof head + ends_bytes(head.pairs, key_width) +
                                   ends_bytes(head.pairs, value_width) + head.key_bytes + head.value_bytes;
    if (packed.size() != expected)
        throw Error("pairs that came from a file or a rank have " + std::to_string(packed.size()) + " bytes, not " +
                    std::to_string(expected));
    Pairs pairs(key_width, value_width);
    const std::byte *const values = unpack(packed.data() + sizeof head, head.pairs, head.key_bytes, pairs.keys);
    unpack(values, head.pairs, head.value_bytes, pairs.values);
    if (pairs.keys.size() != head.pairs || pairs.values.size() != head.pairs)
        throw Error("pairs that came from a file or a rank are not of this job's types");
    return pairs;
}

} // namespace ptsched::spmd
