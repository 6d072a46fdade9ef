/* SPDX-License-Identifier: MIT */
/* Pairs in the order of their keys, and what becomes of several such runs. */
#ifndef PTSCHED_SPMD_PAIRS_RUN_HPP
#define PTSCHED_SPMD_PAIRS_RUN_HPP

#include "libptsched/spmd/pairs/order.hpp"
#include "libptsched/spmd/pairs/spill.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace ptsched::spmd {

/* The chunks are in order, too. */
struct Run {
    /* Of a key that several runs have, the values of the one with the smaller place come first. */
    std::uint64_t place = 0;
    std::vector<Chunk> chunks = {};

    std::uint64_t size() const;
    std::uint64_t bytes() const;
};

/* Makes a run of pairs that come in order. */
class RunWriter {
public:
    RunWriter(std::shared_ptr<Spill> spill, std::size_t key_width, std::size_t value_width, std::uint64_t place);

    void append(std::string_view key, std::string_view value);
    Run finish();

private:
    void end_chunk();

    std::shared_ptr<Spill> spill_;
    Pairs pairs_;
    Run run_;
};

/* Goes through several runs as if they were one. It has the memory of the chunks that it is at. */
class Merge {
public:
    Merge(const KeyOrder &order, std::vector<Run> runs);
    Merge(const Merge &) = delete;
    Merge &operator=(const Merge &) = delete;

    bool at_end() const { return heap_.empty(); }
    /* Valid until next(). */
    std::string_view key() const { return heap_.front()->key; }
    std::string_view value() const;
    void next();

private:
    struct Reader {
        Run run = {};
        std::size_t chunk = 0; /* the next one */
        Pairs pairs{1, 1};
        std::size_t at = 0;
        std::uint64_t prefix = 0;
        std::string_view key = {};
    };

    bool advance(Reader &reader);
    bool after(const Reader &a, const Reader &b) const;
    void sift_down();

    const KeyOrder &order_;
    std::vector<std::unique_ptr<Reader>> readers_;
    std::vector<Reader *> heap_; /* the least one first */
};

/* A combined value as it grows. Not thread-safe. */
class Combined {
public:
    explicit Combined(const Program &program) : program_(program) {}

    void begin(std::string_view value);
    void add(std::string_view value);
    std::string_view value() const;

private:
    const Program &program_;
    Buffer fixed_; /* aligned for the value's type, unlike a string */
    std::string string_;
};

/*
 * A run for each of @buckets of pairs in any order, with one value for each key if the program combines. Values of a
 * key keep their order.
 */
std::vector<Run> make_runs(const Program &program, const std::shared_ptr<Spill> &spill, Pairs &&pairs,
                           std::uint64_t place, std::uint32_t buckets);
/*
 * The same pairs as one run, without a copy, if all keys of each run come before those of the next, in whatever order,
 * and its chunks are worth being sent as they are; else they stay. Its place is that of the first one.
 */
std::optional<Run> joined(const KeyOrder &order, std::vector<Run> &runs);
/* One run of several, which have one value for each key if @combine says so, and then it has. Its place is likewise. */
Run merge_runs(const Program &program, const std::shared_ptr<Spill> &spill, std::vector<Run> runs, bool combine);

/* Which of @buckets a key belongs to. */
std::uint32_t bucket_of(std::string_view key, std::uint32_t buckets);

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_PAIRS_RUN_HPP */
