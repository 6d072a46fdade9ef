// SPDX-License-Identifier: MIT
#include "libptsched/spmd/pairs/shared_table.hpp"

#include <bit>

namespace ptsched::spmd {

SharedTable::SharedTable(const Program &program, unsigned threads) : program_(program)
{
    for (unsigned i = 0; i < std::bit_ceil(threads); i++)
        parts_.emplace_back(program);
}

/* A table is locked once for all that goes to it. The bits that name it are none that tables or buckets look at. */
Pairs SharedTable::add(const Pairs &pairs, unsigned thread, std::size_t most)
{
    const std::size_t mask = parts_.size() - 1;
    std::vector<std::uint32_t> part_of(pairs.size()), ends(parts_.size() + 1), order(pairs.size());
    for (std::size_t i = 0; i < pairs.size(); i++) {
        part_of[i] = static_cast<std::uint32_t>(hash_of(pairs.keys[i]) >> 32 & mask);
        ends[part_of[i] + 1]++;
    }
    for (std::size_t part = 0; part < parts_.size(); part++)
        ends[part + 1] += ends[part];
    std::vector<std::uint32_t> at(ends.begin(), ends.end() - 1);
    for (std::size_t i = 0; i < pairs.size(); i++)
        order[at[part_of[i]]++] = static_cast<std::uint32_t>(i);
    Pairs much(program_.key_width, program_.value_width);
    for (std::size_t step = 0; step < parts_.size(); step++) {
        const std::size_t number = (thread + step) & mask;
        Part &part = parts_[number];
        const Guard guard(part.mutex);
        for (std::uint32_t i = ends[number]; i < ends[number + 1]; i++)
            part.table.emit(pairs.keys[order[i]], pairs.values[order[i]]);
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
