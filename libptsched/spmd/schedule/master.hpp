/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_SPMD_SCHEDULE_MASTER_HPP
#define PTSCHED_SPMD_SCHEDULE_MASTER_HPP

#include "libptsched/spmd/schedule/pool.hpp"

#include <map>
#include <optional>
#include <vector>

namespace ptsched::spmd::schedule {

struct MasterOptions {
    /* Of all input that there is at first; zero: twice the number of nodes. They are larger for faster nodes. */
    std::uint64_t partitions = 0;
    /* If not zero: borders are at multiples of that, whoever is there, so that sums in their order are always the same.
     */
    std::uint64_t partition_bytes = 0;
    /* Nobody gets less, but for the last one. */
    std::uint64_t least_bytes = 1;
    /*
     * A node that would have nothing to do gets a copy of a partition which, by the rate of who has it, will be ready
     * only after more than so many times as long as the copy takes. Zero: never.
     */
    double straggler = 2;
    /* Of one partition under way at once, the first one counted. */
    unsigned most_copies = 2;
    /* Who is to have what at first, for instance what it has had in the last iteration; the rest is for everybody. */
    std::vector<Home> homes;
};

struct Partition {
    std::uint64_t id = 0; /* of copies, the same */
    Range range;
    bool copy = false; /* somebody else has it, too, and may be first */
};

/*
 * Hands out the input in partitions to nodes that ask for them, larger ones to those that are faster; what a node had
 * that has failed goes to others, and at the end what takes too long is done by somebody else, too. Knows no clock, no
 * threads and no messages: @now is seconds of any clock that does not go back. A node may have several partitions at
 * once. One thread at a time.
 *
 * Where so many nodes ask that it cannot answer in time, there are several: see tree.hpp.
 */
class Master {
public:
    /* @rates: bytes per second of each node, as measured or by the model; only their ratios count. Throws Error. */
    Master(std::vector<double> rates, Border border, MasterOptions options = {});

    /* More input, of whole records, that no other call had. */
    void add(const Range &input);

    /* None: nothing now. It may ask again when something has changed: changes() is another number then. */
    std::optional<Partition> next(unsigned node, double now);
    /*
     * The node has the result. False: it is to throw that away, as somebody else was first or it counts as failed. A
     * result is to reach others only after true.
     */
    bool done(unsigned node, std::uint64_t id, double now);
    /* It could not do it, and goes on: somebody else has to. */
    void give_back(unsigned node, std::uint64_t id);
    /*
     * Nothing more comes from it. What it has under way goes to others; so does what it has done, if those results are
     * lost with it. Throws Error if no node is left and there is something to do.
     */
    void fail(unsigned node, bool results_are_lost);

    /* All input has a result. */
    bool finished() const { return done_bytes_ == input_bytes_; }
    std::uint64_t input_bytes() const { return input_bytes_; }
    std::uint64_t done_bytes() const { return done_bytes_; }
    /* What nobody has yet. */
    std::uint64_t waiting_bytes() const { return pool_.bytes(); }
    /* A node that got nothing is to ask again if this has changed. */
    std::uint64_t changes() const { return changes_; }
    /* Whether somebody else is done with it or it was taken away: who is at it may stop. */
    bool is_needed(unsigned node, std::uint64_t id) const;

    std::size_t nodes() const { return nodes_.size(); }
    bool failed(unsigned node) const { return nodes_.at(node).failed; }
    /* Bytes per second, as measured so far. */
    double rate(unsigned node) const { return nodes_.at(node).rate; }
    /* Who has done what, by ranges; of use as MasterOptions::homes of the next iteration. */
    std::vector<Home> homes() const;
    std::uint64_t copies_made() const { return copies_made_; }
    std::uint64_t copies_won() const { return copies_won_; }
    std::uint64_t partitions_made() const { return next_id_; }

private:
    struct Node {
        double rate;
        bool failed = false;
        double busy_since = 0;
        std::uint64_t under_way = 0; /* partitions */
        double measured_bytes = 0, measured_seconds = 0;
    };
    struct Holder {
        unsigned node;
        double since;
    };
    struct Entry {
        Range range;
        std::vector<Holder> holders;
        bool copied = false;
    };

    std::uint64_t size_for(unsigned node) const;
    std::optional<Partition> copy_for(unsigned node, double now);
    double ready_at(const Entry &entry, double now) const;
    void hold(Entry &entry, unsigned node, double now);
    void let_go(Entry &entry, unsigned node);
    void measure(Node &node, const Range &range, double seconds);

    Border border_;
    MasterOptions options_;
    Pool pool_;
    std::vector<Node> nodes_;
    std::map<std::uint64_t, Entry> under_way_;
    struct Done {
        Range range;
        unsigned node;
    };
    std::map<std::uint64_t, Done> done_;
    std::uint64_t input_bytes_ = 0, done_bytes_ = 0, first_input_ = 0, changes_ = 0, next_id_ = 0;
    std::uint64_t copies_made_ = 0, copies_won_ = 0;
};

} // namespace ptsched::spmd::schedule

#endif /* PTSCHED_SPMD_SCHEDULE_MASTER_HPP */
