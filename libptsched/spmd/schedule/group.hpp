/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_SPMD_SCHEDULE_GROUP_HPP
#define PTSCHED_SPMD_SCHEDULE_GROUP_HPP

#include "libptsched/spmd/schedule/master.hpp"

#include <deque>

namespace ptsched::spmd::schedule {

/*
 * Where so many nodes ask that one master cannot answer in time: nodes in groups, each with a master of its own, which
 * is one node, as fast as all of its members, to the master above. So that has as many to answer as there are groups,
 * and is asked for as much as a group has to do. About as many groups as each has members is what costs all masters
 * least.
 *
 * Whenever a group has something for the master above, it is to tell() it what is left of members() and their rate.
 * That master is to make no copies (MasterOptions::straggler is 0): what stands still is in a group, which does. A
 * member that fails and loses results has them done again by its group, after that may have said that all is done: the
 * job has ended when the master above and all groups are finished(). As Master, for one thread at a time.
 */
class Group {
public:
    /* MasterOptions::expected_bytes is to be what the group will have of all input, by its rate. */
    Group(std::vector<double> rates, Border border, MasterOptions options = {})
        : planned_bytes_(options.expected_bytes), members_(std::move(rates), std::move(border), std::move(options))
    {
    }

    /* For what they ask; but done() and fail() are called here. */
    Master &members() { return members_; }
    const Master &members() const { return members_; }

    /* It is time to ask above for more: of what it has, a half is handed out. */
    bool wants() const { return members_.waiting_bytes() < last_bytes_ / 2 || !last_bytes_; }
    /*
     * What it gets from above, perhaps nothing, where @to_come of what is left will be its part: so the last partitions
     * of its members are small. Throws Error if no member is left.
     */
    void take(const Partition &partition, std::uint64_t to_come);
    /* As those of Master. */
    bool done(unsigned member, std::uint64_t id, double now);
    void fail(unsigned member, bool results_are_lost);
    /* The next one of those from above all of which is done. */
    std::optional<std::uint64_t> take_done();
    bool finished() const { return members_.finished(); }

private:
    struct Taken {
        Partition partition;
        std::uint64_t left; /* bytes that have no result */
        bool told = false;
    };

    template <typename Each> void each_in(const Range &range, Each each);

    const std::uint64_t planned_bytes_;
    Master members_;
    std::map<std::uint64_t, Taken> taken_; /* by where they begin */
    std::deque<std::uint64_t> done_;
    std::uint64_t last_bytes_ = 0;
};

} // namespace ptsched::spmd::schedule

#endif /* PTSCHED_SPMD_SCHEDULE_GROUP_HPP */
