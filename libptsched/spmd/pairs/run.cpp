// SPDX-License-Identifier: MIT
#include "libptsched/spmd/pairs/run.hpp"

#include "libptsched/spmd/pairs/table.hpp"

#include <algorithm>
#include <iterator>

namespace ptsched::spmd {
namespace {

/* Small enough that a merge has one of each run in memory, large enough for a disk. */
constexpr std::size_t chunk_bytes = 512 << 10;
/* Of what need not be copied to be less. */
constexpr std::size_t most_chunk_bytes = 64 << 20;
/* On average: a message, or a piece of a file, costs as much as some copies. */
constexpr std::size_t least_chunk_bytes = 16 << 10;

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

std::vector<Run> make_runs(const Program &program, const std::shared_ptr<Spill> &spill, Pairs &&pairs,
                           std::uint64_t place, std::uint32_t buckets)
{
    const std::vector<std::uint32_t> places = sorted_places(KeyOrder(program), pairs.keys);
    std::vector<Run> runs;
    if (buckets == 1 && !program.combines() && pairs.bytes() <= most_chunk_bytes &&
        std::is_sorted(places.begin(), places.end())) {
        runs.push_back({.place = place});
        runs[0].chunks.emplace_back(spill, std::move(pairs));
        return runs;
    }
    std::vector<RunWriter> writers;
    for (std::uint32_t i = 0; i < buckets; i++)
        writers.emplace_back(spill, program.key_width, program.value_width, place);
    Combined combined(program);
    for (std::size_t i = 0; i < places.size();) {
        const std::string_view key = pairs.keys[places[i]];
        RunWriter &writer = writers[buckets > 1 ? bucket_of(key, buckets) : 0];
        if (!program.combines()) {
            writer.append(key, pairs.values[places[i++]]);
            continue;
        }
        combined.begin(pairs.values[places[i]]);
        for (i++; i < places.size() && pairs.keys[places[i]] == key; i++)
            combined.add(pairs.values[places[i]]);
        writer.append(key, combined.value());
    }
    for (RunWriter &writer : writers)
        runs.push_back(writer.finish());
    return runs;
}

namespace {

/* In their order then. */
bool are_apart(const KeyOrder &order, std::vector<Run> &runs)
{
    std::erase_if(runs, [](const Run &run) { return run.chunks.empty(); });
    std::sort(runs.begin(), runs.end(), [&](const Run &a, const Run &b) {
        return order.before(a.chunks.front().first_key(), b.chunks.front().first_key());
    });
    for (std::size_t i = 1; i < runs.size(); i++)
        if (!order.before(runs[i - 1].chunks.back().last_key(), runs[i].chunks.front().first_key()))
            return false;
    return true;
}

/* What is too small to be a chunk is copied into one. */
Run glued(const Program &program, const std::shared_ptr<Spill> &spill, std::vector<Run> runs)
{
    Run all;
    all.place = ~std::uint64_t{0};
    Pairs some(program.key_width, program.value_width);
    const auto end_chunk = [&] {
        all.chunks.emplace_back(spill, std::exchange(some, Pairs(program.key_width, program.value_width)));
    };
    for (Run &run : runs) {
        all.place = std::min(all.place, run.place);
        for (Chunk &chunk : run.chunks) {
            some.append(chunk.take());
            if (some.bytes() >= chunk_bytes)
                end_chunk();
        }
    }
    if (!some.empty())
        end_chunk();
    return all;
}

bool are_worth_their_chunks(const std::vector<Run> &runs)
{
    std::uint64_t bytes = 0, chunks = 0;
    for (const Run &run : runs) {
        bytes += run.bytes();
        chunks += run.chunks.size();
    }
    return runs.size() == 1 || bytes >= chunks * least_chunk_bytes;
}

Run linked(std::vector<Run> runs)
{
    Run all = std::move(runs.front());
    for (std::size_t i = 1; i < runs.size(); i++) {
        all.place = std::min(all.place, runs[i].place);
        std::move(runs[i].chunks.begin(), runs[i].chunks.end(), std::back_inserter(all.chunks));
    }
    return all;
}

} // namespace

std::optional<Run> joined(const KeyOrder &order, std::vector<Run> &runs)
{
    if (!are_apart(order, runs) || runs.empty() || !are_worth_their_chunks(runs))
        return std::nullopt;
    return linked(std::exchange(runs, {}));
}

Run merge_runs(const Program &program, const std::shared_ptr<Spill> &spill, std::vector<Run> runs, bool combine)
{
    std::uint64_t place = ~std::uint64_t{0};
    for (const Run &run : runs)
        place = std::min(place, run.place);
    if (runs.size() == 1)
        return std::move(runs.front());
    const KeyOrder order(program);
    if (are_apart(order, runs) && !runs.empty())
        return are_worth_their_chunks(runs) ? linked(std::move(runs)) : glued(program, spill, std::move(runs));
    RunWriter writer(spill, program.key_width, program.value_width, place);
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

} // namespace ptsched::spmd
