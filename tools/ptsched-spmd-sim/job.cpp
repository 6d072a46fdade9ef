// SPDX-License-Identifier: MIT
#include "tools/ptsched-spmd-sim/job.hpp"

#include "tools/ptsched-spmd-sim/node.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace spmd_sim {

namespace {

using namespace ptsched::spmd::schedule;

constexpr double never = std::numeric_limits<double>::infinity();
/* A group asks so often, as nodes of its size would. */
constexpr double partitions_per_group = 8;

const Border any_byte = [](std::uint64_t at) { return at; };

} // namespace

Job::Job(const Cluster &cluster, std::vector<NodeFate> fates) : cluster_(cluster), random_(cluster.seed + 1)
{
    double good = 0;
    for (const NodeFate &fate : fates) {
        nodes_.push_back({});
        static_cast<NodeFate &>(nodes_.back()) = fate;
        total_rate_ += fate.rate;
        if (fate.slow_from == never && fate.fails_at == never)
            good += fate.rate;
    }
    bytes_ = static_cast<std::uint64_t>(total_rate_ * cluster.seconds);
    make_masters();
    outcome_.efficiency = static_cast<double>(bytes_) / good;
    for (unsigned i = 0; i < nodes_.size(); i++)
        if (nodes_[i].fails_at < never)
            at(nodes_[i].fails_at, {.kind = Event::fails, .who = i});
}

void Job::make_masters()
{
    const unsigned count = std::max(1u, cluster_.groups), total = static_cast<unsigned>(nodes_.size());
    std::vector<double> of_groups;
    const bool tree = cluster_.groups > 0;
    servers_.resize(tree ? count + 1 : 1);
    first_node_.resize(servers_.size(), 0);

    MasterOptions options;
    options.straggler = cluster_.copies && !cluster_.equal_partitions ? options.straggler : 0;
    if (cluster_.equal_partitions)
        options.grid = std::max<std::uint64_t>(
            1, static_cast<std::uint64_t>(std::ceil(static_cast<double>(bytes_) / (cluster_.partitions * total))));
    for (unsigned g = 0; g < count; g++) {
        const unsigned first = static_cast<unsigned>(std::uint64_t{g} * total / count);
        const unsigned end = static_cast<unsigned>(std::uint64_t{g + 1} * total / count);
        const unsigned server = tree ? g + 1 : 0;
        std::vector<double> told;
        first_node_[server] = first;
        double rate = 0;
        for (unsigned i = first; i < end; i++) {
            nodes_[i].server = server;
            nodes_[i].number = i - first;
            told.push_back(cluster_.rates_are_known ? nodes_[i].rate : cluster_.rate);
            rate += told.back();
        }
        of_groups.push_back(rate);
        options.partitions = static_cast<std::uint64_t>(std::lround(cluster_.partitions * (end - first)));
        options.expected_bytes = 0;
        if (tree)
            options.expected_bytes = static_cast<std::uint64_t>(
                static_cast<double>(bytes_) *
                (cluster_.rates_are_known ? rate / total_rate_ : 1.0 * (end - first) / total));
        servers_[server].waits.resize(end - first);
        servers_[server].wakes_at.resize(end - first, never);
        if (tree)
            groups_.push_back(std::make_unique<Group>(told, any_byte, options));
        else
            root_ = std::make_unique<Master>(told, any_byte, options);
    }
    if (tree) {
        options.expected_bytes = 0;
        options.straggler = 0;
        options.partitions = static_cast<std::uint64_t>(partitions_per_group * count);
        servers_[0].waits.resize(count);
        servers_[0].wakes_at.resize(count, never);
        root_ = std::make_unique<Master>(of_groups, any_byte, options);
    }
    root_->add({0, bytes_});
    for (unsigned s = 0; s < servers_.size(); s++)
        servers_[s].seen_changes = master(s).changes();
}

void Job::at(double when, Event event)
{
    events_.push({when, order_++, std::move(event)});
}

Outcome Job::run()
{
    for (Node &node : nodes_)
        ask(node);
    while (!finished()) {
        if (events_.empty())
            throw std::logic_error("a job stands still before it is done");
        const Entry entry = events_.top();
        events_.pop();
        now_ = entry.at;
        happens(entry.event);
    }
    check();
    outcome_.seconds = now_;
    outcome_.efficiency /= now_;
    for (const Server &server : servers_)
        outcome_.master_busy = std::max(outcome_.master_busy, std::min(server.busy, now_) / now_);
    for (unsigned s = 0; s < servers_.size(); s++)
        if (!serves_groups(s)) {
            outcome_.partitions += master(s).partitions_made();
            outcome_.copies += master(s).copies_made();
        }
    return outcome_;
}

void Job::happens(const Event &event)
{
    switch (event.kind) {
    case Event::handled:
        handle(event.who, event.message);
        break;
    case Event::wake:
        servers_[event.who].wakes_at[event.message.from] = never;
        if (servers_[event.who].waits[event.message.from])
            answer(event.who, event.message.from, true);
        break;
    case Event::fails:
        nodes_[event.who].failed = true;
        undetected_++;
        at(now_ + cluster_.detection, {.kind = Event::detected, .who = event.who});
        break;
    case Event::detected:
        fail(event.who);
        break;
    case Event::answer:
    case Event::stop:
    case Event::ends: {
        Node &node = nodes_[event.who];
        if (node.failed)
            break;
        if (event.kind == Event::stop) {
            stop(node, event.partition.id);
        } else if (event.kind == Event::answer) {
            node.asked = false;
            node.has.push_back(event.partition);
            begin(node);
            ask(node);
        } else if (event.run == node.run) {
            const std::uint64_t id = node.has.front().id;
            node.has.pop_front();
            node.runs = false;
            begin(node);
            ask(node, id);
        }
        break;
    }
    }
}

/* When the server is done with a message that it gets then. */
double Job::serve(unsigned number, double arrival)
{
    Server &server = servers_[number];
    server.free_at = std::max(server.free_at, arrival) + cluster_.message;
    server.busy += cluster_.message;
    outcome_.messages++;
    return server.free_at;
}

void Job::send(unsigned server, Message message)
{
    const double when = serve(server, now_ + cluster_.latency);
    at(when, {.kind = Event::handled, .who = server, .message = std::move(message)});
}

void Job::handle(unsigned server, const Message &message)
{
    if (message.from_above)
        servers_[server].asked = false;
    if (message.to_come)
        groups_[server - 1]->take(message.from_above.value_or(Partition{}), *message.to_come);
    if (message.rate > 0)
        root_->tell(message.from, message.left, message.rate, now_);
    if (message.done)
        take_result(server, message);
    if (!message.to_come && (message.asks || servers_[server].waits[message.from]))
        answer(server, message.from, false);
    look_at_changes(server);
    if (is_group(server))
        tell_above(server);
}

void Job::take_result(unsigned number, const Message &message)
{
    Server &server = servers_[number];
    const bool counts = is_group(number) ? groups_[number - 1]->done(message.from, *message.done, now_)
                                         : root_->done(message.from, *message.done, now_);
    if (!counts)
        return;
    for (const unsigned other : server.holders[*message.done])
        if (other != message.from)
            at(serve(number, now_) + cluster_.latency,
               {.kind = Event::stop, .who = node_of(number, other), .partition = {.id = *message.done}});
    server.holders.erase(*message.done);
}

/* Something for who asks; else it waits. */
void Job::answer(unsigned number, unsigned client, bool costs)
{
    Server &server = servers_[number];
    Master &from = master(number);
    if (from.failed(client))
        return;
    const auto partition = from.next(client, now_);
    const bool waited = server.waits[client];
    server.waits[client] = !partition;
    if (!partition && serves_groups(number)) {
        if (!waited)
            at(serve(client + 1, now_ + cluster_.latency),
               {.kind = Event::handled, .who = client + 1, .message = {.to_come = 0}});
        return;
    }
    if (!partition) {
        const double again = from.ask_again_at(client, now_);
        if (again < server.wakes_at[client]) {
            server.wakes_at[client] = again;
            /* A little later, so that it is not just before. */
            at(std::max(again, now_) + 1e-6, {.kind = Event::wake, .who = number, .message = {.from = client}});
        }
        return;
    }
    const double sent = costs ? serve(number, now_) : now_;
    if (serves_groups(number)) {
        const double to_come = static_cast<double>(from.waiting_bytes()) * from.rate(client) / from.rate();
        at(serve(client + 1, sent + cluster_.latency),
           {.kind = Event::handled,
            .who = client + 1,
            .message = {.from_above = *partition, .to_come = static_cast<std::uint64_t>(to_come)}});
        return;
    }
    server.holders[partition->id].push_back(client);
    at(sent + cluster_.latency, {.kind = Event::answer, .who = node_of(number, client), .partition = *partition});
}

/* What is new for those who wait. */
void Job::look_at_changes(unsigned number)
{
    Server &server = servers_[number];
    while (server.seen_changes != master(number).changes()) {
        server.seen_changes = master(number).changes();
        for (unsigned client = 0; client < server.waits.size(); client++)
            if (server.waits[client])
                answer(number, client, true);
    }
}

/* What a group's master has for the one above. */
void Job::tell_above(unsigned server)
{
    Group &group = *groups_[server - 1];
    const double left = group.members().left(now_), rate = group.members().rate();
    while (const auto id = group.take_done())
        send(0, {.from = server - 1, .done = id, .left = left, .rate = rate});
    if (servers_[server].asked || !group.wants())
        return;
    servers_[server].asked = true;
    send(0, {.from = server - 1, .asks = true, .left = left, .rate = rate});
}

double Job::seconds_for(const Node &node, const Range &range)
{
    const double seconds = cluster_.splits
                               ? time_of_split(cluster_, node.rate, range, random_)
                               : static_cast<double>(range.size()) / node.rate * random_.lognormal(1, cluster_.noise);
    const double usual = std::clamp(node.slow_from - now_, 0.0, seconds);
    return usual + (usual < seconds ? (seconds - usual) * cluster_.straggler_factor : 0);
}

void Job::begin(Node &node)
{
    if (node.runs || node.has.empty())
        return;
    node.runs = true;
    const double seconds = seconds_for(node, node.has.front().range);
    const auto number = static_cast<unsigned>(&node - nodes_.data());
    if (seconds < never)
        at(now_ + seconds, {.kind = Event::ends, .who = number, .run = ++node.run});
}

/* In one message, what it has done and that it would do more. */
void Job::ask(Node &node, std::optional<std::uint64_t> done)
{
    const bool asks = !node.asked && node.has.size() < 1 + cluster_.ahead;
    node.asked = node.asked || asks;
    if (done || asks)
        send(node.server, {.from = node.number, .done = done, .asks = asks});
}

/* Somebody else was first. */
void Job::stop(Node &node, std::uint64_t id)
{
    const auto found = std::find_if(node.has.begin(), node.has.end(), [&](auto &one) { return one.id == id; });
    if (found == node.has.end())
        return;
    if (found == node.has.begin()) {
        node.runs = false;
        node.run++;
    }
    node.has.erase(found);
    begin(node);
    ask(node);
}

void Job::fail(unsigned number)
{
    const Node &node = nodes_[number];
    undetected_--;
    if (is_group(node.server))
        groups_[node.server - 1]->fail(node.number, cluster_.results_are_lost);
    else
        root_->fail(node.number, cluster_.results_are_lost);
    servers_[node.server].waits[node.number] = false;
    look_at_changes(node.server);
    if (is_group(node.server))
        tell_above(node.server);
}

bool Job::finished() const
{
    return root_->finished() && !undetected_ &&
           std::all_of(groups_.begin(), groups_.end(), [](const auto &group) { return group->finished(); });
}

/* Each byte of the input has one result, on a node that lives. */
void Job::check() const
{
    std::vector<Range> results;
    for (unsigned s = groups_.empty() ? 0 : 1; s < servers_.size(); s++)
        for (const Home &home : (s ? groups_[s - 1]->members() : *root_).homes()) {
            if (cluster_.results_are_lost && nodes_[node_of(s, home.who)].failed)
                throw std::logic_error("a result is on a node that has failed");
            results.push_back(home.range);
        }
    std::sort(results.begin(), results.end(), [](const Range &a, const Range &b) { return a.begin < b.begin; });
    std::uint64_t end = 0;
    for (const Range &range : results) {
        if (range.begin != end)
            throw std::logic_error("the input has no result, or several, at byte " + std::to_string(end));
        end = range.end;
    }
    if (end != bytes_)
        throw std::logic_error("the input has no result from byte " + std::to_string(end) + " on");
}

} // namespace spmd_sim
