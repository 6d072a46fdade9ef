// SPDX-License-Identifier: MIT
#include "libptsched/spmd/gpu/stream.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <thread>

namespace ptsched::spmd {

namespace {

constexpr std::uint64_t usual_entries = 1 << 16; /* of a table */
constexpr std::uint64_t entries_grow_by = 8;
constexpr std::uint64_t most_row_bytes = 256 << 20; /* of all blocks of threads */
constexpr std::uint64_t bytes_of_token = 16; /* of input without records: it is guessed that a pair comes of so many */
constexpr std::size_t few_bytes = 64 << 10;  /* of parameters, which have page-locked memory */
/* Who waits for a copy of megabytes looks so often. */
constexpr std::chrono::microseconds look_again{20};

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

/* Of dense keys: counts, then whether there are values, then these; else counts. */
std::size_t result_bytes_of(const Functions *functions)
{
    if (!functions || functions->traits().way != gpu::Way::dense)
        return sizeof(gpu::Counts);
    const gpu::Traits &traits = functions->traits();
    return device::align_up(sizeof(gpu::Counts)) + device::align_up(traits.keys * sizeof(unsigned int)) +
           std::size_t{traits.keys} * traits.value_bytes;
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
      entry_values_(gpu, kept), result_bytes_(result_bytes_of(functions)),
      counts_(device::Allocation::on_device(gpu, result_bytes_)),
      counts_here_(device::Allocation::pinned(device::align_up(result_bytes_) + sizeof(gpu::Counts)))
{
    launch_.counts = pointer<gpu::Counts>(counts_.address());
}

Stream::~Stream()
{
    device::settle(*queue_);
}

Pairs Stream::map(const Piece &piece)
{
    /* What uses the piece, and what this has, ends whatever is thrown. */
    const Settled settled{*queue_};
    place_ = {}; /* of one that has failed */
    bring_parameters(piece.block.parameters);
    bring_input(piece);
    Pairs made = functions_ ? map_by_functions(piece) : map_by_host(piece);
    if (place_.copy)
        kept_.keep(piece.block, place_);
    place_ = found_ = {};
    return made;
}

void Stream::bring_input(const Piece &piece)
{
    const Block &block = piece.block;
    found_ = piece.again ? kept_.find(block) : KeptInput::Place{};
    if (found_.copy) {
        launch_.data = pointer<unsigned char>(found_.address());
        return;
    }
    if (piece.again && block.bytes)
        place_ = kept_.make(gpu_, block);
    const device::Address to = place_.copy ? place_.address() : input_.of(block.bytes);
    launch_.data = pointer<unsigned char>(to);
    if (!place_.copy)
        return bus_.upload(to, block.data, block.bytes);
    for (const schedule::Range &range : kept_.missing(block, place_)) {
        const std::uint64_t offset = range.begin - block.offset;
        bus_.upload(to + offset, block.data + offset, range.size());
    }
}

void Stream::bring_parameters(std::span<const std::byte> parameters)
{
    launch_.parameter_bytes = parameters.size();
    if (parameters.size() == last_parameters_.size() &&
        std::equal(parameters.begin(), parameters.end(), last_parameters_.begin()))
        return;
    /* They are lost, whether there is room for others or not. */
    last_parameters_.clear();
    const device::Address to = parameters_.of(parameters.size());
    launch_.parameters = pointer<unsigned char>(to);
    if (!parameters.empty() && parameters.size() <= few_bytes) {
        /* Nothing reads it any more: a piece waits for all that it has given the queue. */
        if (parameters_here_.empty())
            parameters_here_ = device::Allocation::pinned(few_bytes);
        std::memcpy(parameters_here_.host_address(), parameters.data(), parameters.size());
        queue_->upload(to, parameters_here_.host_address(), parameters.size());
    } else {
        bus_.upload(to, parameters.data(), parameters.size());
    }
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
    if (std::exchange(are_zero_, false))
        return;
    auto *const zero = reinterpret_cast<gpu::Counts *>(static_cast<std::byte *>(counts_here_.host_address()) +
                                                       device::align_up(result_bytes_));
    *zero = {};
    queue_->upload(counts_.address(), zero, sizeof(gpu::Counts));
}

/*
 * For what the queue has. While input is copied, processors have other blocks to map, which who looks all the time
 * would take one from; what has no copy is short.
 */
void Stream::wait()
{
    if (!found_.copy) {
        const device::MarkerPtr last = queue_->mark();
        while (!last->reached())
            std::this_thread::sleep_for(look_again);
    }
    queue_->finish();
}

/* Waits for the run, and says how much there is. */
gpu::Counts Stream::count(const Block &block)
{
    queue_->download(counts_here_.host_address(), counts_.address(), sizeof(gpu::Counts));
    wait();
    return checked(*static_cast<const gpu::Counts *>(counts_here_.host_address()), block);
}

gpu::Counts Stream::checked(const gpu::Counts &counts, const Block &block)
{
    if (!counts.wrong) {
        are_zero_ = counts.pairs == 0;
        return counts;
    }
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
        make_table(power_of_two(std::max(functions_->entries_needed(), std::min(usual_entries, 2 * capacity))));
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
            functions_->need_entries(std::min<std::uint64_t>(2 * counts.pairs, entries_grow_by * table_size_));
        if (counts.pairs <= list_room_)
            return bring_list(block, counts.pairs);
        if (is_table && functions_->entries_needed() > table_size_) {
            make_table(power_of_two(functions_->entries_needed()));
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
    bus_.download(to.grow_strings(count, width), from, count * width);
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
    if (!piece.alone && !piece.last) {
        count(piece.block);
        row_count_ = blocks;
        return pairs();
    }
    launch_.row_count = blocks;
    start_fold();
    wait();
    checked(*static_cast<const gpu::Counts *>(counts_here_.host_address()), piece.block);
    return folded();
}

/* All that comes home comes by one copy. */
void Stream::start_fold()
{
    const gpu::Traits &traits = functions_->traits();
    const device::Address flags = counts_.address() + device::align_up(sizeof(gpu::Counts));
    launch_.keys = pointer<unsigned char>(flags);
    launch_.values = pointer<unsigned char>(flags + device::align_up(std::size_t{traits.keys} * sizeof(unsigned int)));
    launch_.step = gpu::Step::fold;
    const std::size_t elements = std::size_t{traits.keys} * std::max<std::size_t>(traits.value_bytes / 4, 1),
                      of_block = std::max(traits.threads / gpu::parts_of_fold, 1U);
    functions_->run(*queue_, launch_, static_cast<unsigned>((elements + of_block - 1) / of_block));
    queue_->download(counts_here_.host_address(), counts_.address(), result_bytes_);
}

Pairs Stream::folded()
{
    const gpu::Traits &traits = functions_->traits();
    const char *const flags =
        static_cast<const char *>(counts_here_.host_address()) + device::align_up(sizeof(gpu::Counts));
    const char *const values = flags + device::align_up(std::size_t{traits.keys} * sizeof(unsigned int));
    Pairs made = pairs();
    for (std::uint64_t key = 0; key < traits.keys; key++) {
        unsigned int is_there = 0;
        std::memcpy(&is_there, flags + key * sizeof is_there, sizeof is_there);
        if (is_there)
            made.append({reinterpret_cast<const char *>(&key), program_.key_width},
                        {values + key * traits.value_bytes, traits.value_bytes});
    }
    return made;
}

Pairs Stream::collect()
{
    launch_.row_count = std::exchange(row_count_, 0);
    start_fold();
    queue_->finish();
    return folded();
}

} // namespace ptsched::spmd
