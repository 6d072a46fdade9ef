// SPDX-License-Identifier: MIT
#include "libptsched/spmd/run/reduce.hpp"

#include <ptsched/base/error.hpp>
#include <ptsched/device/parallel.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

namespace ptsched::spmd {
namespace {

/* Of results that are copied at a time, and are there twice meanwhile. */
constexpr std::size_t many_bytes = 256 << 20, worth_all_processors = 4 << 20;

/* One key at a time. */
class Reducer {
public:
    Reducer(const Program &program, RunWriter &writer)
        : program_(program), writer_(writer), combined_(program), key_(program.key_width), values_(program.value_width),
          result_(program.value_width)
    {
    }

    /* @merge stands at the first value of a key, and then at that of the next one. */
    void reduce(Merge &merge)
    {
        key_.clear();
        key_.append(merge.key());
        values_.clear();
        if (program_.combines())
            combine(merge);
        else
            gather(merge);
        if (program_.reduce) {
            result_.clear();
            program_.reduce(key_[0], values_, 0, values_.size(), result_);
            writer_.append(key_[0], result_[0]);
            return;
        }
        for (std::size_t i = 0; i < values_.size(); i++)
            writer_.append(key_[0], values_[i]);
    }
    std::string_view key() const { return key_[0]; }

private:
    bool is_same(const Merge &merge) const { return !merge.at_end() && merge.key() == key_[0]; }
    void combine(Merge &merge)
    {
        combined_.begin(merge.value());
        for (merge.next(); is_same(merge); merge.next())
            combined_.add(merge.value());
        values_.append(combined_.value());
    }
    void gather(Merge &merge)
    {
        for (; is_same(merge); merge.next())
            values_.append(merge.value());
    }

    const Program &program_;
    RunWriter &writer_;
    Combined combined_;
    Column key_, values_, result_; /* columns, so that items are aligned */
};

std::string hexadecimal(std::string_view bytes)
{
    std::string text = "0x";
    for (const char byte : bytes.substr(0, 32)) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(byte));
        text += digits;
    }
    return text;
}

} // namespace

std::string name_of_key(const Program &program, std::string_view key)
{
    if (program.key_width == any_width)
        return "\"" + std::string(key.substr(0, 64)) + (key.size() > 64 ? "\"..." : "\"");
    std::uint64_t number = 0;
    std::memcpy(&number, key.data(), std::min(key.size(), sizeof number));
    if (program.order == Order::unsigned_numbers)
        return std::to_string(number);
    const unsigned unused = 64 - 8 * static_cast<unsigned>(std::min(key.size(), sizeof number));
    if (program.order == Order::signed_numbers)
        return std::to_string(static_cast<std::int64_t>(number << unused) >> unused);
    return hexadecimal(key);
}

Run reduce_runs(const Program &program, const std::shared_ptr<Spill> &spill, std::vector<Run> runs)
{
    const KeyOrder order(program);
    if (!program.combines() && !program.reduce)
        if (std::optional<Run> all = joined(order, runs))
            return std::move(*all);
    RunWriter writer(spill, program.key_width, program.value_width, 0);
    Merge merge(order, std::move(runs));
    Reducer reducer(program, writer);
    while (!merge.at_end()) {
        try {
            reducer.reduce(merge);
        } catch (const std::exception &error) {
            throw Error("reducing key " + name_of_key(program, reducer.key()) + ": " + error.what());
        }
    }
    return writer.finish();
}

void for_each_pair(const Program &program, std::vector<Run> runs,
                   const std::function<void(std::string_view key, std::string_view value)> &each)
{
    const KeyOrder order(program);
    for (Merge merge(order, std::move(runs)); !merge.at_end(); merge.next())
        each(merge.key(), merge.value());
}

namespace {

/* By all processors, which new pages need more than bytes do. */
void append_side_by_side(std::vector<Pairs> parts, Pairs &to)
{
    struct Copy {
        std::byte *to;
        const Column *from;
    };
    std::size_t keys = to.keys.bytes(), values = to.values.bytes();
    for (const Pairs &part : parts) {
        keys += part.keys.bytes();
        values += part.values.bytes();
    }
    to.keys.reserve_bytes(keys);
    to.values.reserve_bytes(values);
    std::vector<Copy> copies;
    for (const Pairs &part : parts) {
        copies.push_back({to.keys.grow_as(part.keys), &part.keys});
        copies.push_back({to.values.grow_as(part.values), &part.values});
    }
    const auto copy_some = [&](std::size_t begin, std::size_t end) {
        for (; begin < end; begin++)
            if (const Copy &copy = copies[begin]; copy.from->bytes() > 0)
                std::memcpy(copy.to, copy.from->data(), copy.from->bytes());
    };
    if (keys + values >= worth_all_processors)
        device::parallel_for(copies.size(), copy_some);
    else
        copy_some(0, copies.size());
}

void append_chunks(Run &run, Pairs &to)
{
    std::vector<Pairs> parts;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < run.chunks.size(); i++) {
        parts.push_back(run.chunks[i].take());
        bytes += parts.back().bytes();
        if (bytes < many_bytes && i + 1 < run.chunks.size())
            continue;
        append_side_by_side(std::exchange(parts, {}), to);
        bytes = 0;
    }
}

/* Of runs, in memory; in their order by keys. */
struct Item {
    std::uint64_t prefix;
    std::uint32_t part, at;
};

/* Some items for each of several ranges of keys, by their prefixes. */
std::vector<std::vector<Item>> by_ranges(const std::vector<Item> &items)
{
    constexpr std::size_t ranges = 32, samples_of_each = 16;
    std::vector<std::uint64_t> samples;
    for (std::size_t i = 0; i < ranges * samples_of_each; i++)
        samples.push_back(items[i * items.size() / (ranges * samples_of_each)].prefix);
    std::sort(samples.begin(), samples.end());
    std::vector<std::uint64_t> ends;
    for (std::size_t i = 1; i < ranges; i++)
        ends.push_back(samples[i * samples_of_each]);
    std::vector<std::vector<Item>> found(ranges);
    for (const Item &item : items)
        found[static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), item.prefix) - ends.begin())]
            .push_back(item);
    return found;
}

/* The same as a merge, by all processors: each has the pairs of some range of keys. */
void append_by_ranges(const KeyOrder &order, std::vector<Run> runs, Pairs &to)
{
    std::sort(runs.begin(), runs.end(), [](const Run &a, const Run &b) { return a.place < b.place; });
    std::vector<Pairs> parts;
    std::vector<Item> items;
    for (Run &run : runs)
        for (Chunk &chunk : run.chunks) {
            parts.push_back(chunk.take());
            for (std::uint32_t at = 0; at < parts.back().size(); at++)
                items.push_back(
                    {order.prefix(parts.back().keys[at]), static_cast<std::uint32_t>(parts.size() - 1), at});
        }
    std::vector<std::vector<Item>> ranges = by_ranges(items);
    std::vector<Pairs> made;
    for (std::size_t i = 0; i < ranges.size(); i++)
        made.emplace_back(to.keys.width(), to.values.width());
    const auto before = [&](const Item &a, const Item &b) {
        const std::string_view one = parts[a.part].keys[a.at], other = parts[b.part].keys[b.at];
        if (a.prefix != b.prefix)
            return a.prefix < b.prefix;
        if (order.before(one, other) || order.before(other, one))
            return order.before(one, other);
        return a.part != b.part ? a.part < b.part : a.at < b.at;
    };
    device::parallel_for(ranges.size(),
                         [&](std::size_t begin, std::size_t end) {
                             for (; begin < end; begin++) {
                                 std::sort(ranges[begin].begin(), ranges[begin].end(), before);
                                 for (const Item &item : ranges[begin])
                                     made[begin].append(parts[item.part].keys[item.at],
                                                        parts[item.part].values[item.at]);
                             }
                         },
                         {.chunks = device::Chunks::dynamic, .grain = 1});
    append_side_by_side(std::move(made), to);
}

/* Whether they are worth all processors, and few enough to be there twice. */
bool are_for_all_processors(const std::vector<Run> &runs)
{
    constexpr std::uint64_t fewest_pairs = 4096, most_bytes = 64 << 20;
    std::uint64_t pairs = 0, bytes = 0;
    for (const Run &run : runs) {
        pairs += run.size();
        bytes += run.bytes();
    }
    return runs.size() > 1 && pairs >= fewest_pairs && bytes <= most_bytes;
}

} // namespace

void append_all(const Program &program, std::vector<Run> runs, Pairs &to)
{
    const KeyOrder order(program);
    if (std::optional<Run> all = joined(order, runs))
        return append_chunks(*all, to);
    if (program.order != Order::by_function && are_for_all_processors(runs))
        return append_by_ranges(order, std::move(runs), to);
    for_each_pair(program, std::move(runs),
                  [&to](std::string_view key, std::string_view value) { to.append(key, value); });
}

} // namespace ptsched::spmd
