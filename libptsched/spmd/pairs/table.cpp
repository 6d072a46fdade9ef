// SPDX-License-Identifier: MIT
#include "libptsched/spmd/pairs/table.hpp"

#include <ptsched/base/error.hpp>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ptsched::spmd {

std::uint64_t hash_of(std::string_view key)
{
    return XXH3_64bits(key.data(), key.size());
}

Table::Table(const Program &program)
    : program_(program), slots_(256), keys_(program.key_width), values_(program.value_width)
{
}

void Table::emit(std::string_view key, std::string_view value)
{
    /* The bits that say where a key is reduced are others, or keys of one place would be close here. */
    const auto hash = static_cast<std::uint32_t>(hash_of(key));
    for (std::size_t i = hash;; i++) {
        Slot &slot = slots_[i & (slots_.size() - 1)];
        if (slot.place == 0)
            return add_new(slot, hash, key, value);
        if (slot.hash != hash || keys_[slot.place - 1] != key)
            continue;
        if (program_.combine)
            program_.combine(values_.data() + (slot.place - 1) * values_.width(),
                             reinterpret_cast<const std::byte *>(value.data()));
        else
            program_.combine_strings(strings_[slot.place - 1], value);
        return;
    }
}

void Table::add_new(Slot &slot, std::uint32_t hash, std::string_view key, std::string_view value)
{
    slot = {hash, static_cast<std::uint32_t>(keys_.size() + 1)};
    keys_.append(key);
    if (values_.is_fixed()) {
        values_.append(value);
    } else {
        strings_.emplace_back(value);
        string_bytes_ += value.size();
    }
    if (keys_.size() * 2 > slots_.size())
        grow();
}

void Table::grow()
{
    if (slots_.size() > std::size_t{1} << 31)
        throw Error("a block has more than 2147483648 different keys: smaller blocks are needed");
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot &slot : old) {
        if (slot.place == 0)
            continue;
        std::size_t i = slot.hash;
        while (slots_[i & (slots_.size() - 1)].place != 0)
            i++;
        slots_[i & (slots_.size() - 1)] = slot;
    }
}

std::size_t Table::footprint() const
{
    return slots_.size() * sizeof(Slot) + keys_.footprint() + values_.footprint() +
           strings_.capacity() * sizeof(std::string) + string_bytes_;
}

Pairs Table::take()
{
    Pairs pairs(program_.key_width, program_.value_width);
    std::swap(pairs.keys, keys_);
    std::swap(pairs.values, values_);
    for (const std::string &value : strings_)
        pairs.values.append(value);
    strings_.clear();
    string_bytes_ = 0;
    slots_.assign(256, Slot{});
    return pairs;
}

} // namespace ptsched::spmd
