// SPDX-License-Identifier: MIT
#include "libptsched/spmd/pairs/order.hpp"

#include <ptsched/base/error.hpp>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace ptsched::spmd {
namespace {

constexpr std::uint64_t top_bit = std::uint64_t{1} << 63;

/* A number of the host's byte order, at the top of the result. */
std::uint64_t number(std::string_view key)
{
    std::uint64_t value = 0;
    std::memcpy(&value, key.data(), std::min(key.size(), sizeof value));
    return key.size() < sizeof value ? value << (64 - 8 * key.size()) : value;
}

std::uint64_t leading_bytes(std::string_view key)
{
    std::uint64_t value = 0;
    std::memcpy(&value, key.data(), std::min(key.size(), sizeof value));
    return __builtin_bswap64(value);
}

/* Negative ones have their order turned round. */
std::uint64_t real(std::uint64_t value)
{
    return value & top_bit ? ~value : value | top_bit;
}

} // namespace

std::uint64_t KeyOrder::prefix(std::string_view key) const
{
    switch (program_.order) {
    case Order::bytes:
        return leading_bytes(key);
    case Order::unsigned_numbers:
        return number(key);
    case Order::signed_numbers:
        return number(key) ^ top_bit;
    case Order::real_numbers:
        return real(number(key));
    case Order::by_function:
        break;
    }
    return 0;
}

bool KeyOrder::before(std::string_view a, std::string_view b) const
{
    if (program_.order == Order::by_function) {
        if (program_.before(a, b))
            return true;
        if (program_.before(b, a))
            return false;
    } else if (program_.order != Order::bytes) {
        return prefix(a) < prefix(b);
    }
    return a < b;
}

std::vector<std::uint32_t> sorted_places(const KeyOrder &order, const Column &keys)
{
    struct Place {
        std::uint64_t prefix;
        std::uint32_t at;
    };
    if (keys.size() > std::numeric_limits<std::uint32_t>::max())
        throw Error("a block makes " + std::to_string(keys.size()) +
                    " pairs, and 4294967295 can be sorted at once: smaller blocks are needed");
    std::vector<Place> places(keys.size());
    for (std::uint32_t i = 0; i < places.size(); i++)
        places[i] = {order.prefix(keys[i]), i};
    const auto is_before = [&](const Place &a, const Place &b) {
        if (a.prefix != b.prefix)
            return a.prefix < b.prefix;
        if (order.before(keys[a.at], keys[b.at]))
            return true;
        return !order.before(keys[b.at], keys[a.at]) && a.at < b.at;
    };
    if (!std::is_sorted(places.begin(), places.end(), is_before))
        std::sort(places.begin(), places.end(), is_before);
    std::vector<std::uint32_t> order_of(places.size());
    std::transform(places.begin(), places.end(), order_of.begin(), [](const Place &place) { return place.at; });
    return order_of;
}

Pairs sorted(const KeyOrder &order, const Pairs &pairs)
{
    Pairs result(pairs.keys.width(), pairs.values.width());
    result.keys.reserve(pairs.size());
    result.values.reserve(pairs.size());
    for (const std::uint32_t place : sorted_places(order, pairs.keys))
        result.append(pairs.keys[place], pairs.values[place]);
    return result;
}

} // namespace ptsched::spmd
