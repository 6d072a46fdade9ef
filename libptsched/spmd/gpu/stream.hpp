/* SPDX-License-Identifier: MIT */
/* One stream of a GPU that maps pieces, one after another, with the memory that it needs for that. */
#ifndef PTSCHED_SPMD_GPU_STREAM_HPP
#define PTSCHED_SPMD_GPU_STREAM_HPP

#include "libptsched/spmd/gpu/bus.hpp"
#include "libptsched/spmd/gpu/functions.hpp"
#include "libptsched/spmd/gpu/kept_input.hpp"
#include "libptsched/spmd/run/engine.hpp"
#include <ptsched/device/queue_pool.hpp>

namespace ptsched::spmd {

/* Of a GPU; what is in it is lost when it grows. Kept input makes room for it. */
class Room {
public:
    Room(device::Device &gpu, KeptInput &kept) : gpu_(gpu), kept_(kept) {}
    /* For @bytes at least. Nothing uses what was there. Throws OutOfMemory. */
    device::Address of(std::size_t bytes);

private:
    device::Device &gpu_;
    KeptInput &kept_;
    device::Allocation memory_;
};

/* What is given blocks the calling thread until it is done; one at a time. */
class Stream {
public:
    /* All outlive it. @functions: null if the program has a host function. */
    Stream(device::Device &gpu, int number, const Program &program, const Functions *functions, KeptInput &kept);
    /* Waits for what its queue has. */
    ~Stream();
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;

    /* Throws Error, also for what the functions have done wrong. */
    Pairs map(const Piece &piece);
    /* Whether there are pairs that collect() would bring. */
    bool keeps() const { return row_count_ > 0; }
    Pairs collect();
    void forget() { row_count_ = 0; }

private:
    class Called;

    Pairs pairs() const { return Pairs(program_.key_width, program_.value_width); }
    void bring_input(const Piece &piece);
    void bring_parameters(std::span<const std::byte> parameters);
    Pairs map_by_functions(const Piece &piece);
    Pairs map_to_list(const Piece &piece);
    Pairs map_to_rows(const Piece &piece);
    Pairs map_by_host(const Piece &piece);
    void wait();
    device::Address results_room();
    void start_fold();
    Pairs folded();
    void make_table(std::uint64_t entries);
    void run_to_list(std::uint64_t capacity);
    unsigned blocks_for(std::uint64_t items) const;
    unsigned list_blocks_for(const Block &block) const;
    unsigned rows_for(const Piece &piece) const;
    void start_count();
    gpu::Counts count(const Block &block);
    gpu::Counts checked(const gpu::Counts &counts, const Block &block);
    Pairs bring_list(const Block &block, std::uint64_t count);
    void bring_column(Column &to, device::Address from, std::size_t count, std::size_t width);
    static void name_texts(Column &to, const Block &block, const std::vector<std::uint64_t> &words);

    device::Device &gpu_;
    const int number_;
    const Program &program_;
    const Functions *const functions_;
    KeptInput &kept_;
    const device::PooledQueue queue_;
    Bus bus_;
    Room input_, parameters_, keys_, values_, rows_, flags_, entries_, entry_values_;
    KeptInput::Place place_;                 /* of the piece, if it is to stay */
    KeptInput::Place found_;                 /* where it stays already */
    std::vector<std::byte> last_parameters_; /* those that are on the GPU */
    device::Allocation parameters_here_;     /* where few come from */
    const std::size_t result_bytes_;         /* of dense keys: counts, flags and values, one behind the other */
    const device::Allocation counts_, counts_here_;
    bool are_zero_ = false; /* the counts on the GPU */
    gpu::Launch launch_{};
    unsigned row_count_ = 0;       /* of blocks, that have pairs */
    std::uint64_t list_room_ = 0;  /* pairs */
    std::uint64_t table_size_ = 0; /* entries */
};

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_GPU_STREAM_HPP */
