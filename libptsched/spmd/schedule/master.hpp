/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_SPMD_SCHEDULE_MASTER_HPP
#define PTSCHED_SPMD_SCHEDULE_MASTER_HPP

#include "libptsched/spmd/schedule/pool.hpp"

#include <map>
#include <optional>
#include <vector>

namespace ptsched::spmd::schedule {

struct MasterOptions {
    /*
     * All input is in so many if nodes do not differ; zero: twice their number. Faster nodes get larger ones, and the
     * last ones are smaller, so that all are ready at the same time: there are some more of these.
     */
    std::uint64_t partitions = 0;
    /* All input that there will be, if it comes in several parts; zero: what add() has first. */
    std::uint64_t expected_bytes = 0;
    /* Not zero: borders are the first ones at or after multiples of that, for SplitOptions::block_bytes. */
    std::uint64_t grid = 0;
    /* Nobody gets less, but for the last ones. */
    std::uint64_t least_bytes = 1;
    /* The last partitions are not smaller than the first one by more than that. */
    double smallest = 1.0 / 32;
    /*
     * Who has nothing to do gets a copy of a partition that, by the rate of who has it, will be ready only after more
     * than so many times as long as the copy takes. Zero: never.
     */
    double straggler = 1.25;
    /* Of a partition, at once; the first one counts. */
    unsigned most_holders = 2;
    /* Which node is to have which partition at first, for instance what it had in the last iteration. */
    std::vector<Home> homes = {};
};

struct Partition {
    std::uint64_t id = 0; /* copies have the same */
    Range range = {};
    bool copy = false; /* somebody else has it, too, and may be first */
};

/*
 * Hands out the input in partitions to nodes that ask for them. What a node had that has failed goes to others, and at
 * the end what takes too long is done by somebody else, too. Knows no clock, no threads and no messages: @now is
 * seconds of any clock that does not go back. A node may have several partitions, and does them one after another. One
 * thread at a time. A call takes time that grows with the logarithm of the number of partitions, but where a node has
 * nothing to do: there with the number of those that are under way.
 */
class Master {
public:
    /* @rates: of each node, as measured or by the model; only their ratios count. Throws Error. */
    Master(std::vector<double> rates, Border border, MasterOptions options = {});

    /* Input, of whole records, that no other call had. Throws Error if no node is left. */
    void add(const Range &input);

    /* So much input there will be, as it seems now, that which was added included. */
    void expect(std::uint64_t bytes);

    /*
     * What a node that does several partitions at a time says of itself: bytes that are left of what it has, and its
     * rate. Otherwise both follow from when it was given what, and when it was done.
     */
    void tell(unsigned node, double left, double rate, double now);
    /* Bytes that are left of all so far, as it seems. */
    double left(double now) const;

    /* None: nothing now. The node is to ask again when changes() is another number, or at ask_again_at(). */
    std::optional<Partition> next(unsigned node, double now);
    /* When a partition will be late enough for a copy, by what is known at @now; infinite: never. */
    double ask_again_at(unsigned node, double now) const;
    std::uint64_t changes() const { return changes_; }
    /*
     * The node has the result. False: it is to throw that away, as somebody else was first or it counts as failed. So a
     * result may reach others only after true.
     */
    bool done(unsigned node, std::uint64_t id, double now);
    /* False: somebody else was first, and who is at it may stop; it then calls give_back(). */
    bool is_needed(unsigned node, std::uint64_t id) const;
    /* Of one that somebody has; throws std::out_of_range if nobody has. */
    const Range &range(std::uint64_t id) const { return under_way_.at(id).range; }
    /* The node has not done it, and goes on; anybody may get it next, in other partitions. */
    void give_back(unsigned node, std::uint64_t id, double now);
    /*
     * Nothing more comes from it. What it has under way goes to others; so does what it has done, if those results are
     * lost with it. Throws Error if no node is left and there is something to do.
     */
    void fail(unsigned node, bool results_are_lost);

    /* All input so far has a result. */
    bool finished() const { return done_bytes_ == input_bytes_; }
    std::uint64_t input_bytes() const { return input_bytes_; }
    std::uint64_t done_bytes() const { return done_bytes_; }
    /* What nobody has yet. */
    std::uint64_t waiting_bytes() const { return pool_.bytes(); }

    unsigned nodes() const { return static_cast<unsigned>(nodes_.size()); }
    bool failed(unsigned node) const { return nodes_.at(node).failed; }
    /* As measured so far, bytes per second; of who has done nothing, what the constructor was told, in that unit. */
    double rate(unsigned node) const;
    /* Of all that have not failed. */
    double rate() const;
    /* Who has done which partition: MasterOptions::homes of the next iteration. */
    std::vector<Home> homes() const;
    std::uint64_t partitions_made() const { return next_id_; }
    std::uint64_t copies_made() const { return copies_made_; }
    std::uint64_t copies_won() const { return copies_won_; }

private:
    struct Node {
        double told;
        bool failed = false;
        double free_since = 0; /* when the last of those that were done before was */
        unsigned under_way = 0;
        double bytes_under_way = 0;
        /* As it says itself, and when it did. */
        bool tells = false;
        double left = 0, told_at = 0;
        double measured_bytes = 0, measured_seconds = 0;

        bool is_measured() const { return measured_seconds > 0; }
        double measured() const { return measured_bytes / measured_seconds; }
    };
    struct Holder {
        unsigned node;
        double since;
    };
    struct Entry {
        Range range;
        std::vector<Holder> holders; /* the first one has had it first */
    };

    double left_of(unsigned node, double now) const;
    double ready_at(double now);
    std::uint64_t size_for(unsigned node, double now);
    std::optional<Range> take(unsigned node, double now);
    std::optional<Partition> copy_for(unsigned node, double now);
    bool may_copy(const Entry &entry, unsigned node) const;
    double remaining(const Entry &entry, double now) const;
    double since(const Holder &holder) const;
    double limit(const Entry &entry, unsigned node) const;
    void hold(Entry &entry, unsigned node, double now);
    bool drop(Entry &entry, unsigned node);
    void measure(unsigned node, const Entry &entry, double now);
    void count(const Node &node, int sign);
    void require_somebody() const;

    const MasterOptions options_;
    Pool pool_;
    std::vector<Node> nodes_;
    unsigned left_; /* nodes that have not failed */
    unsigned measured_nodes_ = 0;
    /* Of those: the sum of what is measured, of what was told about the same, and of what was told about others. */
    double measured_ = 0, told_of_measured_ = 0, told_of_others_ = 0;
    std::map<std::uint64_t, Entry> under_way_;
    std::map<std::uint64_t, Home> done_; /* by their numbers */
    std::uint64_t input_bytes_ = 0, done_bytes_ = 0, expected_bytes_ = 0, changes_ = 0, next_id_ = 0;
    /* When all will be ready, and since when that has not been looked at. */
    double ready_at_ = 0;
    std::uint64_t looked_at_changes_ = 0, asked_ = 0;
    std::uint64_t copies_made_ = 0, copies_won_ = 0;
};

} // namespace ptsched::spmd::schedule

#endif /* PTSCHED_SPMD_SCHEDULE_MASTER_HPP */
