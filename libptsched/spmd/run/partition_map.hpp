/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_SPMD_RUN_PARTITION_MAP_HPP
#define PTSCHED_SPMD_RUN_PARTITION_MAP_HPP

#include "libptsched/spmd/input/source.hpp"
#include "libptsched/spmd/pairs/run.hpp"
#include "libptsched/spmd/run/engine.hpp"
#include "libptsched/spmd/run/timeline.hpp"
#include "libptsched/spmd/run/workers.hpp"
#include "libptsched/spmd/schedule/split.hpp"
#include <ptsched/spmd/core.hpp>

#include <deque>
#include <optional>
#include <set>

namespace ptsched::spmd {

/* What all stages of a rank's run have in common. All of it outlives them. */
struct Setting {
    const Work &work;
    std::shared_ptr<Spill> spill;
    Workers &workers;
    Timeline &timeline;
    Stopwatch &watch;
    std::uint32_t buckets = 1; /* of keys, of all ranks together */
    std::span<const std::byte> parameters = {};
    bool again = false;         /* a kept job */
    std::uint64_t grid = 0;     /* of blocks, of an ordered job */
    Placed *placed = nullptr;   /* not null: where all pairs that this rank maps go */
    Engine *combiner = nullptr; /* not null: one that is no mapper, and combines what they map */

    const Program &program() const { return work.program; }
    /* Pairs of a key may become one before all of them are there. */
    bool combines_early() const { return work.program.combines() && !work.ordered; }
};

/* A device for a partition. */
struct Mapper {
    Engine *engine;
    schedule::SplitDevice part;
};

/*
 * Maps one partition on all devices of a node: engines get blocks as they become idle, and what they give is sorted, by
 * buckets. Its steps are done by whoever has ended the one before; nobody waits.
 */
class PartitionMap {
public:
    /* @ended: called once, by any thread, when take() may be called; it does not destroy what it is told of. */
    PartitionMap(const Setting &setting, const schedule::Range &range, std::vector<Mapper> mappers,
                 schedule::SplitOptions options, std::function<void()> ended);
    /* Waits until it has ended; if it need not, stop() first. */
    ~PartitionMap();
    PartitionMap(const PartitionMap &) = delete;
    PartitionMap &operator=(const PartitionMap &) = delete;

    /* Once; may throw what the borders of records do. */
    void start();
    /* No more blocks: its result is not needed. */
    void stop();
    /* Nearly: engines will be idle before another partition can be had. */
    bool is_near_end() const;
    /* Bytes that are done. */
    std::uint64_t progress() const;
    /* One run for each bucket; throws what has gone wrong. Once. */
    std::vector<Run> take();
    /* What each of the mappers has done, when it has ended. */
    const std::vector<Report::Device> &devices() const { return reports_; }
    /* Which of the mappers has done what, when it has ended. */
    std::vector<schedule::Home> homes() const;
    std::uint64_t pairs() const { return pairs_; }
    const schedule::Range &range() const { return range_; }

private:
    /* Of a device. */
    struct Lane {
        unsigned under_way = 0;
        std::set<unsigned> free = {}; /* numbers for the timeline */
        double busy_since = 0;
        std::deque<schedule::Range> cells = {}; /* of the block that it is at, of an ordered job */
        std::uint64_t block = 0;
    };
    struct Given {
        unsigned device;
        unsigned lane;
        std::uint64_t block;
        schedule::Range range;
        double begin;
        bool last; /* see Piece */
    };

    bool pump(Lock &lock) PTSCHED_REQUIRES(mutex_);
    std::optional<Given> next(unsigned device) PTSCHED_REQUIRES(mutex_);
    void add_cells(Lane &lane, const schedule::Block &block) PTSCHED_REQUIRES(mutex_);
    void give(const Given &given);
    void fetch_and_start(const Given &given);
    void mapped(const Given &given, const std::shared_ptr<const void> &keeper, Pairs &&pairs, std::exception_ptr error);
    void settle(Pairs &&pairs, std::uint64_t place);
    void settle_by_workers(const Given &given, Pairs &&pairs);
    void combine(unsigned worker, const PairRange &some, std::uint64_t place);
    bool adds_helpers(std::size_t count);
    void helper_ended(std::exception_ptr error);
    Engine &collector(unsigned number) const;
    unsigned collectors() const;
    void end_piece(const Given &given, std::exception_ptr error);
    void collect();
    void collected(Pairs &&pairs, std::exception_ptr error);
    void part_ended(std::exception_ptr error);
    void merge();
    void merge_bucket(std::uint32_t bucket);
    static bool is_worth_a_worker(const Engine &engine, const Pairs &pairs);
    void end();
    /* Of what is kept a thread has nothing left: who takes it may be the last that has it. */
    void keep_error(std::exception_ptr &&error) PTSCHED_REQUIRES(mutex_);

    const Setting &setting_;
    const detail::Source &source_;
    const schedule::Range range_;
    const std::vector<Mapper> mappers_;
    std::vector<Mutex> starting_; /* of each collector: one thread at a time gives it something */
    const std::function<void()> ended_;

    mutable Mutex mutex_;
    std::condition_variable changed_;
    schedule::Split split_ PTSCHED_GUARDED_BY(mutex_);
    std::vector<Lane> lanes_ PTSCHED_GUARDED_BY(mutex_);
    std::map<std::uint64_t, unsigned> cells_left_ PTSCHED_GUARDED_BY(mutex_); /* of a block */
    std::vector<std::vector<Run>> runs_ PTSCHED_GUARDED_BY(mutex_);           /* by buckets */
    std::vector<Run> merged_ PTSCHED_GUARDED_BY(mutex_);
    std::exception_ptr error_ PTSCHED_GUARDED_BY(mutex_);
    bool pumps_ PTSCHED_GUARDED_BY(mutex_) = false, again_ PTSCHED_GUARDED_BY(mutex_) = false;
    bool stops_ PTSCHED_GUARDED_BY(mutex_) = false, maps_ PTSCHED_GUARDED_BY(mutex_) = true;
    bool done_ PTSCHED_GUARDED_BY(mutex_) = true;     /* nothing is to be waited for before start() */
    unsigned helpers_ PTSCHED_GUARDED_BY(mutex_) = 0; /* workers that make input, or sort what GPUs have mapped */
    unsigned parts_ PTSCHED_GUARDED_BY(mutex_) = 0;   /* of collecting or merging that are under way */
    std::vector<Report::Device> reports_;
    std::uint64_t pairs_ = 0;
};

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_RUN_PARTITION_MAP_HPP */
