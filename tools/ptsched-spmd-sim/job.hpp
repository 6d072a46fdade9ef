/* SPDX-License-Identifier: MIT */
/* Nodes, masters and messages between them, in the order of events. */
#ifndef SPMD_SIM_JOB_HPP
#define SPMD_SIM_JOB_HPP

#include "libptsched/spmd/schedule/group.hpp"
#include "tools/ptsched-spmd-sim/cluster.hpp"
#include "tools/ptsim/random.hpp"

#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <queue>

namespace spmd_sim {

/* What happens to a node. Infinite: that does not. */
struct NodeFate {
    double rate;
    double slow_from;
    double fails_at;
};

std::vector<NodeFate> fates_of(const Cluster &cluster);

class Job {
public:
    Job(const Cluster &cluster, std::vector<NodeFate> fates);

    Outcome run();

private:
    using Partition = ptsched::spmd::schedule::Partition;
    using Master = ptsched::spmd::schedule::Master;
    using Group = ptsched::spmd::schedule::Group;

    struct Node : NodeFate {
        unsigned server = 0, number = 0; /* whom it asks, and which of that one's it is */
        bool failed = false, asked = false, runs = false;
        std::uint64_t run = 0;     /* the number of what it does; other ends are of what was stopped */
        std::deque<Partition> has; /* the first one is what it does */
    };
    /* Who answers messages, one after another. The first one is the master of all. */
    struct Server {
        double free_at = 0, busy = 0;
        std::uint64_t seen_changes = 0;
        std::vector<char> waits;      /* those who asked and have no answer yet */
        std::vector<double> wakes_at; /* of those, when they are to be looked at again */
        std::map<std::uint64_t, std::vector<unsigned>> holders;
        bool asked = false; /* it is a group's, and has asked above */
    };
    struct Message {
        unsigned from = 0;
        std::optional<std::uint64_t> done = {};
        bool asks = false;
        double left = 0, rate = 0; /* of a group: bytes, and bytes per second */
        std::optional<Partition> from_above = {};
        std::optional<std::uint64_t> to_come = {}; /* after that, from above */
    };
    struct Event {
        enum Kind { handled, answer, stop, ends, wake, fails, detected } kind;
        unsigned who; /* a server; of answer, stop, ends, fails, detected: a node */
        Message message = {};
        Partition partition = {};
        std::uint64_t run = 0;
    };
    struct Entry {
        double at;
        std::uint64_t order;
        Event event;

        bool operator<(const Entry &other) const { return at != other.at ? at > other.at : order > other.order; }
    };

    void make_masters();
    void at(double when, Event event);
    void happens(const Event &event);

    /* Of servers. */
    Master &master(unsigned server) { return server && !groups_.empty() ? groups_[server - 1]->members() : *root_; }
    bool is_group(unsigned server) const { return server > 0; }
    bool serves_groups(unsigned server) const { return !server && !groups_.empty(); }
    unsigned node_of(unsigned server, unsigned number) const { return first_node_[server] + number; }
    double serve(unsigned server, double arrival);
    void send(unsigned server, Message message);
    void handle(unsigned server, const Message &message);
    void take_result(unsigned server, const Message &message);
    void answer(unsigned server, unsigned number, bool costs);
    void tell_above(unsigned server);
    void look_at_changes(unsigned server);

    /* Of nodes. */
    void begin(Node &node);
    double seconds_for(const Node &node, const ptsched::spmd::schedule::Range &range);
    void ask(Node &node, std::optional<std::uint64_t> done = {});
    void stop(Node &node, std::uint64_t id);
    void fail(unsigned node);

    bool finished() const;
    void check() const;

    const Cluster cluster_;
    ptsim::Random random_;
    std::vector<Node> nodes_;
    std::vector<Server> servers_;
    std::vector<unsigned> first_node_; /* of each server's */
    std::unique_ptr<Master> root_;
    std::vector<std::unique_ptr<Group>> groups_;
    std::priority_queue<Entry> events_;
    double now_ = 0, total_rate_ = 0;
    std::uint64_t bytes_ = 0, order_ = 0;
    unsigned undetected_ = 0; /* failed nodes of which masters do not know */
    Outcome outcome_;
};

} // namespace spmd_sim

#endif /* SPMD_SIM_JOB_HPP */
