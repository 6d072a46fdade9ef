// SPDX-License-Identifier: MIT
#include "libptsched/spmd/pairs/run.hpp"

#include "libptsched/spmd/pairs/table.hpp"

#include <algorithm>

namespace ptsched::spmd {
namespace {

/* Small enough that a merge has one of each run in memory, large enough for a disk. */
constexpr std::size_t chunk_bytes = 512 << 10;

} // namespace

std::uint64_t Run::size() const
{
    std::uint64_t sum = 0;
    for (const Chunk &chunk : chunks)
        sum += chunk.size();
    return sum;
}

std::uint64_t Run::bytes() const
{
    std::uint64_t sum = 0;
    for (const Chunk &chunk : chunks)
        sum += chunk.bytes();
    return sum;
}

RunWriter::RunWriter(std::shared_ptr<Spill> spill, std::size_t key_width, std::size_t value_width, std::uint64_t place)
    : spill_(std::move(spill)), pairs_(key_width, value_width)
{
    run_.place = place;
}

void RunWriter::append(std::string_view key, std::string_view value)
{
    pairs_.append(key, value);
    if (pairs_.bytes() >= chunk_bytes)
        end_chunk();
}

void RunWriter::end_chunk()
{
    Pairs full(pairs_.keys.width(), pairs_.values.width());
    std::swap(full, pairs_);
    run_.chunks.emplace_back(spill_, std::move(full));
}

Run RunWriter::finish()
{
    if (!pairs_.empty())
        end_chunk();
    return std::move(run_);
}

Merge::Merge(const KeyOrder &order, std::vector<Run> runs) : order_(order)
{
    for (Run &run : runs) {
        auto reader = std::make_unique<Reader>(Reader{.run = std::move(run)});
        if (!advance(*reader))
            continue;
        heap_.push_back(reader.get());
        readers_.push_back(std::move(reader));
    }
    std::make_heap(heap_.begin(), heap_.end(), [this](const Reader *a, const Reader *b) { return after(*a, *b); });
}

std::string_view Merge::value() const
{
    const Reader &reader = *heap_.front();
    return reader.pairs.values[reader.at - 1];
}

/* @at is behind the pair that it is at. False: there is none. */
bool Merge::advance(Reader &reader)
{
    while (reader.at == reader.pairs.size()) {
        if (reader.chunk == reader.run.chunks.size())
            return false;
        reader.pairs = reader.run.chunks[reader.chunk++].take();
        reader.at = 0;
    }
    reader.key = reader.pairs.keys[reader.at++];
    reader.prefix = order_.prefix(reader.key);
    return true;
}

bool Merge::after(const Reader &a, const Reader &b) const
{
    if (a.prefix != b.prefix)
        return a.prefix > b.prefix;
    if (order_.before(a.key, b.key))
        return false;
    return order_.before(b.key, a.key) || a.run.place > b.run.place;
}

void Merge::next()
{
    if (!advance(*heap_.front())) {
        std::swap(heap_.front(), heap_.back());
        heap_.pop_back();
    }
    sift_down();
}

void Merge::sift_down()
{
    for (std::size_t i = 0;;) {
        std::size_t least = 2 * i + 1;
        if (least >= heap_.size())
            return;
        if (least + 1 < heap_.size() && after(*heap_[least], *heap_[least + 1]))
            least++;
        if (!after(*heap_[i], *heap_[least]))
            return;
        std::swap(heap_[i], heap_[least]);
        i = least;
    }
}

void Combined::begin(std::string_view value)
{
    if (!program_.combine) {
        string_ = value;
        return;
    }
    fixed_.clear();
    fixed_.append(value.data(), value.size());
}

std::string_view Combined::value() const
{
    if (program_.combine)
        return {reinterpret_cast<const char *>(fixed_.data()), fixed_.size()};
    return string_;
}

void Combined::add(std::string_view value)
{
    if (program_.combine)
        program_.combine(fixed_.data(), reinterpret_cast<const std::byte *>(value.data()));
    else
        program_.combine_strings(string_, value);
}

Run make_run(const Program &program, const std::shared_ptr<Spill> &spill, const Pairs &pairs, std::uint64_t place,
             bool combine)
{
    RunWriter writer(spill, program.key_width, program.value_width, place);
    const std::vector<std::uint32_t> places = sorted_places(KeyOrder(program), pairs.keys);
    Combined combined(program);
    for (std::size_t i = 0; i < places.size();) {
        const std::string_view key = pairs.keys[places[i]];
        if (!combine) {
            writer.append(key, pairs.values[places[i++]]);
            continue;
        }
        combined.begin(pairs.values[places[i]]);
        for (i++; i < places.size() && pairs.keys[places[i]] == key; i++)
            combined.add(pairs.values[places[i]]);
        writer.append(key, combined.value());
    }
    return writer.finish();
}

Run merge_runs(const Program &program, const std::shared_ptr<Spill> &spill, std::vector<Run> runs, bool combine)
{
    std::uint64_t place = ~std::uint64_t{0};
    for (const Run &run : runs)
        place = std::min(place, run.place);
    if (runs.size() == 1)
        return std::move(runs.front());
    RunWriter writer(spill, program.key_width, program.value_width, place);
    const KeyOrder order(program);
    Merge merge(order, std::move(runs));
    Combined combined(program);
    std::string key;
    while (!merge.at_end()) {
        if (!combine) {
            writer.append(merge.key(), merge.value());
            merge.next();
            continue;
        }
        key = merge.key();
        combined.begin(merge.value());
        for (merge.next(); !merge.at_end() && merge.key() == key; merge.next())
            combined.add(merge.value());
        writer.append(key, combined.value());
    }
    return writer.finish();
}

std::uint32_t bucket_of(std::string_view key, std::uint32_t buckets)
{
    return static_cast<std::uint32_t>(((hash_of(key) >> 32) * buckets) >> 32);
}

std::vector<Pairs> in_buckets(const Pairs &pairs, std::uint32_t buckets)
{
    std::vector<Pairs> result;
    result.reserve(buckets);
    for (std::uint32_t i = 0; i < buckets; i++)
        result.emplace_back(pairs.keys.width(), pairs.values.width());
    for (std::size_t i = 0; i < pairs.size(); i++)
        result[bucket_of(pairs.keys[i], buckets)].append(pairs.keys[i], pairs.values[i]);
    return result;
}

} // namespace ptsched::spmd
