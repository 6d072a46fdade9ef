/* SPDX-License-Identifier: MIT */
/* Memory for pairs, and files for those that do not fit. */
#ifndef PTSCHED_SPMD_PAIRS_SPILL_HPP
#define PTSCHED_SPMD_PAIRS_SPILL_HPP

#include "libptsched/base/lock.hpp"
#include <ptsched/base/fd.hpp>
#include <ptsched/spmd/pairs.hpp>

#include <atomic>
#include <memory>
#include <string>

namespace ptsched::spmd {

/*
 * A rank's. Its file has no name, so that it is gone when the process is, however that ends; what is no longer needed
 * of it is given back to the file system. Thread-safe.
 */
class Spill {
public:
    /* @memory: bytes of pairs that stay there. @folder: of the file; empty: $TMPDIR, else /tmp. */
    Spill(std::size_t memory, std::string folder);

    std::size_t memory() const { return memory_; }
    /* Bytes that went to the file so far. */
    std::uint64_t written() const { return end_.load(std::memory_order_relaxed); }

private:
    friend class Chunk;

    bool reserve(std::size_t bytes);
    void release(std::size_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
    int file();
    std::uint64_t write(const Buffer &bytes);
    void read(std::uint64_t at, std::byte *to, std::size_t bytes);
    void forget(std::uint64_t at, std::size_t bytes);

    const std::size_t memory_;
    const std::string folder_;
    std::atomic<std::size_t> used_{0};
    std::atomic<std::uint64_t> end_{0};
    Mutex opening_;
    UniqueFd file_ PTSCHED_GUARDED_BY(opening_);
};

/* Some pairs, in memory or in the file. */
class Chunk {
public:
    /* Throws Error if they have to go to the file and the disk is full. */
    Chunk(std::shared_ptr<Spill> spill, Pairs pairs);
    Chunk(Chunk &&) noexcept;
    Chunk &operator=(Chunk &&) noexcept;
    ~Chunk();

    std::size_t size() const { return size_; }
    std::size_t bytes() const { return bytes_; }
    /* Also when they have been taken. */
    std::string_view first_key() const { return first_key_; }
    std::string_view last_key() const { return last_key_; }
    /* It has none then. */
    Pairs take();

private:
    void drop();

    std::shared_ptr<Spill> spill_;
    std::size_t size_ = 0, bytes_ = 0;
    std::size_t reserved_ = 0;          /* of the memory for pairs */
    std::uint64_t at_ = 0, packed_ = 0; /* in the file; 0 bytes: it is in memory */
    Pairs pairs_;
    std::string first_key_, last_key_;
};

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_PAIRS_SPILL_HPP */
