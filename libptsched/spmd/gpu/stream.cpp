// SPDX-License-Identifier: MIT
#include "libptsched/spmd/gpu/stream.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace ptsched::spmd {

namespace {

constexpr std::uint64_t usual_entries = 1 << 16; /* of a table */
constexpr std::uint64_t entries_grow_by = 8;
constexpr std::uint64_t most_row_bytes = 256 << 20; /* of all blocks of threads */
constexpr std::uint64_t bytes_of_token = 16; /* of input without records: it is guessed that a pair comes of so many */

std::uint64_t items_of(const Block &block)
{
    return block.records ? block.records : (block.bytes + bytes_of_token - 1) / bytes_of_token;
}

std::uint64_t power_of_two(std::uint64_t least)
{
    std::uint64_t power = 1;
    while (power < least)
        power *= 2;
    return power;
}

template <typename T> T *pointer(device::Address address)
{
    return static_cast<T *>(device::host_pointer(address));
}

} // namespace

device::Address Room::of(std::size_t bytes)
{
    if (!memory_.empty() && memory_.bytes() >= bytes)
        return memory_.address();
    memory_ = {};
    for (;;) {
        try {
            memory_ = device::Allocation::on_device(gpu_, std::max<std::size_t>(bytes, 1));
            return memory_.address();
        } catch (const device::OutOfMemory &) {
            if (!kept_.drop_one())
                throw;
        }
    }
}

Stream::Stream(device::Device &gpu, int number, const Program &program, const Functions *functions, KeptInput &kept)
    : gpu_(gpu), number_(number), program_(program), functions_(functions), kept_(kept),
      queue_(device::QueuePool::of(gpu).take()), bus_(*queue_), input_(gpu, kept), parameters_(gpu, kept),
      keys_(gpu, kept), values_(gpu, kept), rows_(gpu, kept), flags_(gpu, kept), entries_(gpu, kept),
      entry_values_(gpu, kept), counts_(device::Allocation::on_device(gpu, sizeof(gpu::Counts))),
      counts_here_(device::Allocation::pinned(2 * sizeof(gpu::Counts)))
{
    launch_.counts = pointer<gpu::Counts>(counts_.address());
}

Stream::~Stream()
{
    device::settle(*queue_);
}

Pairs Stream::map(const Piece &piece)
{
    /* An error leaves work in the queue that uses the piece, and what this has. */
    struct Settled {
        device::Queue &queue;
        ~Settled() { device::settle(queue); }
    } settled{*queue_};
    copy_ = nullptr; /* of one that has failed */
    bring_parameters(piece.block.parameters);
    bring_input(piece);
    Pairs made = functions_ ? map_by_functions(piece) : map_by_host(piece);
    if (copy_)
        kept_.keep(piece.block, std::move(copy_));
    copy_ = nullptr;
    found_ = {};
    return made;
}

void Stream::bring_input(const Piece &piece)
{
    const Block &block = piece.block;
    found_ = piece.again ? kept_.find(block) : KeptInput::Found{};
    if (found_.copy) {
        launch_.data = pointer<unsigned char>(found_.copy->address() + found_.offset);
        return;
    }
    if (piece.again && block.bytes)
        copy_ = kept_.make(gpu_, block.bytes);
    const device::Address to = copy_ ? copy_->address() : input_.of(block.bytes);
    bus_.upload(to, block.data, block.bytes);
    launch_.data = pointer<unsigned char>(to);
}

void Stream::bring_parameters(std::span<const std::byte> parameters)
{
    launch_.parameter_bytes = parameters.size();
    if (parameters.size() == last_parameters_.size() &&
        std::equal(parameters.begin(), parameters.end(), last_parameters_.begin()))
        return;
    const device::Address to = parameters_.of(parameters.size());
    launch_.parameters = pointer<unsigned char>(to);
    last_parameters_.clear();
    bus_.upload(to, parameters.data(), parameters.size());
    last_parameters_.assign(parameters.begin(), parameters.end());
}

Pairs Stream::map_by_functions(const Piece &piece)
{
    const Block &block = piece.block;
    functions_->check(block);
    const gpu::Traits &traits = functions_->traits();
    if (traits.is_text && block.bytes > std::numeric_limits<std::uint32_t>::max())
        throw Error("a block of " + std::to_string(block.bytes) +
                    " bytes is more than GPUs have of text at a time, 4294967295: Job::block_bytes is to be smaller");
    launch_.bytes = block.bytes;
    launch_.first = block.first;
    launch_.records = traits.record_bytes ? block.bytes / traits.record_bytes : block.records;
    launch_.record_bytes = launch_.records ? block.bytes / launch_.records : 0;
    return traits.way == gpu::Way::dense ? map_to_rows(piece) : map_to_list(piece);
}

/* A thread for each item. */
unsigned Stream::blocks_for(std::uint64_t items) const
{
    return static_cast<unsigned>(std::clamp<std::uint64_t>(
        (items + functions_->traits().threads - 1) / functions_->traits().threads, 1, functions_->most_blocks()));
}

/* Records may be large: those of a function that maps a block have many threads each. */
unsigned Stream::list_blocks_for(const Block &block) const
{
    return blocks_for(std::max<std::uint64_t>(launch_.records, (block.bytes + bytes_of_token - 1) / bytes_of_token));
}

/* The next run counts from zero. */
void Stream::start_count()
{
    auto *const here = static_cast<gpu::Counts *>(counts_here_.host_address());
    here[1] = {};
    queue_->upload(counts_.address(), &here[1], sizeof(gpu::Counts));
}

/* Waits for the run, and says how much there is. */
gpu::Counts Stream::count(const Block &block)
{
    queue_->download(counts_here_.host_address(), counts_.address(), sizeof(gpu::Counts));
    queue_->finish();
    const gpu::Counts counts = *static_cast<const gpu::Counts *>(counts_here_.host_address());
    if (!counts.wrong)
        return counts;
    const gpu::Traits &traits = functions_->traits();
    const std::string where =
        " (" + program_.gpu.kernels.name + ", of records from " + std::to_string(block.first) + " on)";
    if (traits.way == gpu::Way::dense)
        throw Error("a key is " + std::to_string(counts.wrong_key) +
                    ", and the functions for GPUs have said that all are below " + std::to_string(traits.keys) + where);
    throw Error("a key is a byte string of " + std::to_string(counts.wrong_key) +
                " bytes, and on GPUs they have 1 to " + std::to_string(gpu::most_text_bytes) + where);
}

/* A table that was too small is larger the next time. */
void Stream::make_table(std::uint64_t entries)
{
    if (entries <= table_size_)
        return;
    table_size_ = 0;
    launch_.entries = pointer<unsigned long long>(entries_.of(entries * sizeof(std::uint64_t)));
    launch_.entry_values = pointer<unsigned char>(entry_values_.of(entries * functions_->traits().value_bytes));
    launch_.entry_count = entries;
    launch_.step = gpu::Step::clear;
    functions_->run(*queue_, launch_, functions_->most_blocks());
    table_size_ = entries;
}

void Stream::run_to_list(std::uint64_t capacity)
{
    const gpu::Traits &traits = functions_->traits();
    if (capacity > list_room_) {
        list_room_ = 0;
        launch_.keys = pointer<unsigned char>(keys_.of(capacity * traits.key_bytes));
        launch_.values = pointer<unsigned char>(values_.of(capacity * traits.value_bytes));
        list_room_ = capacity;
    }
    launch_.capacity = list_room_;
}

/*
 * A list that was too short is as long as it must be when the functions run once more; but what a table that was too
 * small has left to the list goes to a larger one.
 */
Pairs Stream::map_to_list(const Piece &piece)
{
    const Block &block = piece.block;
    const gpu::Traits &traits = functions_->traits();
    const bool is_table = traits.way == gpu::Way::table;
    std::uint64_t capacity = launch_.records ? launch_.records * traits.most_pairs : items_of(block);
    if (is_table) {
        make_table(power_of_two(std::max(table_needed_, std::min(usual_entries, 2 * capacity))));
        capacity = table_size_;
    }
    for (;;) {
        run_to_list(capacity);
        start_count();
        launch_.step = gpu::Step::map;
        functions_->run(*queue_, launch_, list_blocks_for(block));
        if (is_table) {
            launch_.step = gpu::Step::gather;
            functions_->run(*queue_, launch_, functions_->most_blocks());
        }
        const gpu::Counts counts = count(block);
        if (is_table)
            table_needed_ = std::max<std::uint64_t>(
                table_needed_, std::min<std::uint64_t>(2 * counts.pairs, entries_grow_by * table_size_));
        if (counts.pairs <= list_room_)
            return bring_list(block, counts.pairs);
        if (is_table && table_needed_ > table_size_) {
            make_table(power_of_two(table_needed_));
            capacity = table_size_;
            continue;
        }
        capacity = counts.pairs;
    }
}

Pairs Stream::bring_list(const Block &block, std::uint64_t count)
{
    const gpu::Traits &traits = functions_->traits();
    Pairs made = pairs();
    if (!count)
        return made;
    const auto keys = reinterpret_cast<device::Address>(launch_.keys),
               values = reinterpret_cast<device::Address>(launch_.values);
    if (traits.is_text) {
        std::vector<std::uint64_t> words(count);
        bus_.download(reinterpret_cast<std::byte *>(words.data()), keys, count * sizeof(std::uint64_t));
        name_texts(made.keys, block, words);
    } else {
        bring_column(made.keys, keys, count, traits.key_bytes);
    }
    bring_column(made.values, values, count, traits.value_bytes);
    return made;
}

/* Of byte strings, which the host has, too. */
void Stream::name_texts(Column &to, const Block &block, const std::vector<std::uint64_t> &words)
{
    to.reserve(words.size());
    for (const std::uint64_t word : words)
        to.append(block.text().substr(word >> (gpu::length_bits + gpu::tag_bits),
                                      word >> gpu::tag_bits & gpu::most_text_bytes));
}

void Stream::bring_column(Column &to, device::Address from, std::size_t count, std::size_t width)
{
    if (to.is_fixed()) {
        bus_.download(to.grow(count), from, count * width);
        return;
    }
    std::vector<std::byte> items(count * width);
    bus_.download(items.data(), from, items.size());
    to.reserve(to.size() + count);
    for (std::size_t i = 0; i < count; i++)
        to.append({reinterpret_cast<const char *>(items.data()) + i * width, width});
}

/* One after another, pieces add to the same rows, unless one is to be alone: then it has as many as it wants. */
unsigned Stream::rows_for(const Piece &piece) const
{
    const std::uint64_t row = std::uint64_t{functions_->traits().keys} * functions_->traits().value_bytes;
    const std::uint64_t most = std::clamp<std::uint64_t>(most_row_bytes / row, 1, functions_->most_blocks());
    const std::uint64_t items = launch_.records ? launch_.records : items_of(piece.block);
    return static_cast<unsigned>(piece.alone ? std::min<std::uint64_t>(most, blocks_for(items)) : most);
}

Pairs Stream::map_to_rows(const Piece &piece)
{
    const gpu::Traits &traits = functions_->traits();
    const unsigned kept = row_count_;
    if (kept && piece.alone)
        throw Error("a piece is to be alone, and pairs of others are kept");
    launch_.is_fresh = kept == 0;
    const unsigned blocks = kept ? kept : rows_for(piece);
    if (!kept) {
        launch_.rows = pointer<unsigned char>(rows_.of(std::size_t{blocks} * traits.keys * traits.value_bytes));
        launch_.row_flags = pointer<unsigned int>(flags_.of(std::size_t{blocks} * traits.keys * sizeof(unsigned int)));
    }
    row_count_ = 0; /* what fails has spoilt them */
    start_count();
    launch_.step = gpu::Step::map;
    functions_->run(*queue_, launch_, blocks);
    count(piece.block);
    row_count_ = blocks;
    return piece.alone ? collect() : pairs();
}

Pairs Stream::collect()
{
    const gpu::Traits &traits = functions_->traits();
    const std::size_t keys = traits.keys;
    launch_.row_count = std::exchange(row_count_, 0);
    launch_.keys = pointer<unsigned char>(keys_.of(keys * sizeof(unsigned int)));
    launch_.values = pointer<unsigned char>(values_.of(keys * traits.value_bytes));
    launch_.step = gpu::Step::fold;
    const std::size_t elements = keys * std::max<std::size_t>(traits.value_bytes / 4, 1);
    functions_->run(*queue_, launch_, static_cast<unsigned>((elements + traits.threads - 1) / traits.threads));
    std::vector<unsigned int> flags(keys);
    std::vector<std::byte> values(keys * traits.value_bytes);
    bus_.download(reinterpret_cast<std::byte *>(flags.data()), reinterpret_cast<device::Address>(launch_.keys),
                  keys * sizeof(unsigned int));
    bus_.download(values.data(), reinterpret_cast<device::Address>(launch_.values), values.size());
    Pairs made = pairs();
    for (std::uint64_t key = 0; key < keys; key++)
        if (flags[key])
            made.append({reinterpret_cast<const char *>(&key), program_.key_width},
                        {reinterpret_cast<const char *>(values.data()) + key * traits.value_bytes, traits.value_bytes});
    return made;
}

} // namespace ptsched::spmd
