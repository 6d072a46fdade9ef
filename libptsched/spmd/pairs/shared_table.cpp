// SPDX-License-Identifier: MIT
#include "libptsched/spmd/pairs/shared_table.hpp"

#include <bit>

namespace ptsched::spmd {

SharedTable::SharedTable(const Program &program, unsigned threads) : program_(program)
{
    for (unsigned i = 0; i < std::bit_ceil(threads); i++)
        parts_.emplace_back(program);
}

/* The bits that name a table are none that tables or buckets look at. */
SharedTable::Order SharedTable::order_of(const PairRange &some) const
{
    const std::size_t mask = parts_.size() - 1;
    Order order{std::vector<std::uint32_t>(some.count), std::vector<std::uint32_t>(parts_.size() + 1)};
    std::vector<std::uint32_t> part_of(some.count);
    for (std::size_t i = 0; i < some.count; i++) {
        part_of[i] = static_cast<std::uint32_t>(hash_of(some.pairs.keys[some.first + i]) >> 32 & mask);
        order.begins[part_of[i] + 1]++;
    }
    for (std::size_t part = 0; part < parts_.size(); part++)
        order.begins[part + 1] += order.begins[part];
    std::vector<std::uint32_t> at(order.begins.begin(), order.begins.end() - 1);
    for (std::size_t i = 0; i < some.count; i++)
        order.places[at[part_of[i]]++] = static_cast<std::uint32_t>(i);
    return order;
}

/* A table is locked once for all that goes to it. */
Pairs SharedTable::add(const PairRange &some, unsigned thread, std::size_t most)
{
    const Order order = order_of(some);
    Pairs much(program_.key_width, program_.value_width);
    for (std::size_t step = 0; step < parts_.size(); step++) {
        const std::size_t number = (thread + step) & (parts_.size() - 1);
        Part &part = parts_[number];
        const Guard guard(part.mutex);
        for (std::uint32_t i = order.begins[number]; i < order.begins[number + 1]; i++) {
            const std::size_t at = some.first + order.places[i];
            part.table.emit(some.pairs.keys[at], some.pairs.values[at]);
        }
        if (part.table.footprint() > most)
            much.append(part.table.take());
    }
    return much;
}

std::size_t SharedTable::size(unsigned table) const
{
    const Part &part = parts_[table];
    const Guard guard(part.mutex);
    return part.table.size();
}

Pairs SharedTable::take(unsigned table)
{
    Part &part = parts_[table];
    const Guard guard(part.mutex);
    return part.table.take();
}

} // namespace ptsched::spmd
