// SPDX-License-Identifier: MIT
#include "libptsched/spmd/schedule/master.hpp"

#include <ptsched/base/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace ptsched::spmd::schedule {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
/* As the paper has it. */
constexpr std::uint64_t partitions_per_node = 2;
/* Of what a node could do, it gets that at once. */
constexpr double at_once = 3.0 / 4;
/* While as many ask as there are nodes, when all are ready is looked at so often. */
constexpr unsigned asks_for_look = 8;

} // namespace

Master::Master(std::vector<double> rates, Border border, MasterOptions options)
    : options_(std::move(options)), pool_(std::move(border), options_.grid), left_(static_cast<unsigned>(rates.size())),
      expected_bytes_(options_.expected_bytes)
{
    if (rates.empty())
        throw Error("a master has no node to hand out work to: at least one is needed");
    for (const double rate : rates) {
        if (!(rate > 0) || std::isinf(rate))
            throw Error("the rate of node " + std::to_string(nodes_.size()) + " is " + std::to_string(rate) +
                        ", and has to be a number above 0");
        nodes_.push_back({.told = rate});
        told_of_others_ += rate;
    }
}

void Master::add(const Range &input)
{
    pool_.add(input, options_.homes);
    for (const Home &home : options_.homes)
        if (home.who >= nodes_.size() || nodes_[home.who].failed)
            pool_.disown(home.who);
    input_bytes_ += input.size();
    expected_bytes_ = std::max(expected_bytes_, input_bytes_);
    changes_++;
    require_somebody();
}

void Master::expect(std::uint64_t bytes)
{
    expected_bytes_ = std::max(bytes, input_bytes_);
}

/* @sign 1: to the sums, -1: out of them. */
void Master::count(const Node &node, int sign)
{
    if (!node.is_measured()) {
        told_of_others_ += sign * node.told;
        return;
    }
    measured_nodes_ += static_cast<unsigned>(sign);
    measured_ += sign * node.measured();
    told_of_measured_ += sign * node.told;
    /* Nothing remains of rounding. */
    if (!measured_nodes_)
        measured_ = told_of_measured_ = 0;
}

double Master::rate(unsigned number) const
{
    const Node &node = nodes_.at(number);
    if (node.is_measured())
        return node.measured();
    return measured_nodes_ ? node.told * measured_ / told_of_measured_ : node.told;
}

double Master::rate() const
{
    return measured_ + told_of_others_ * (measured_nodes_ ? measured_ / told_of_measured_ : 1);
}

/* Bytes that the node will still do of what it has. */
double Master::left_of(unsigned number, double now) const
{
    const Node &node = nodes_[number];
    if (node.tells)
        return std::max(node.left - rate(number) * (now - node.told_at), 0.0);
    return node.under_way ? std::max(node.bytes_under_way - rate(number) * (now - node.free_since), 0.0) : 0;
}

/* When all will be ready, if all go on as so far. It changes little from one call to the next. */
double Master::ready_at(double now)
{
    if (looked_at_changes_ == changes_ && ++asked_ * asks_for_look < left_)
        return ready_at_;
    looked_at_changes_ = changes_;
    asked_ = 0;
    return ready_at_ = now + (left(now) + static_cast<double>(expected_bytes_ - input_bytes_)) / rate();
}

double Master::left(double now) const
{
    double bytes = static_cast<double>(pool_.bytes());
    for (unsigned i = 0; i < nodes_.size(); i++)
        if (!nodes_[i].failed)
            bytes += left_of(i, now);
    return bytes;
}

void Master::tell(unsigned number, double left, double rate, double now)
{
    Node &node = nodes_.at(number);
    if (node.failed || !(rate > 0))
        return;
    count(node, -1);
    node.tells = true;
    node.left = left;
    node.told_at = now;
    node.measured_bytes = rate;
    node.measured_seconds = 1;
    count(node, 1);
}

/*
 * The node's part of all, in as many partitions as each has; but not all of what it could do until all are ready: a
 * part of that it gets only then, when it is known how fast it was. Zero: others will be ready before it has done what
 * it has.
 */
std::uint64_t Master::size_for(unsigned number, double now)
{
    const Node &node = nodes_[number];
    const double part = rate(number) / rate(), all = static_cast<double>(expected_bytes_) * part;
    const double first =
        all * left_ / static_cast<double>(options_.partitions ? options_.partitions : partitions_per_node * left_);
    /* Before anything is measured, rates are no bytes per second. */
    const double could =
        measured_nodes_ ? rate(number) * (ready_at(now) - now) - left_of(number, now) : all - node.bytes_under_way;
    const double least = first * options_.smallest;
    if (node.under_way && could < least / 2)
        return 0;
    double size = could * at_once;
    if (could - size < least)
        size = std::max(could, least);
    return std::max({options_.least_bytes, static_cast<std::uint64_t>(std::min(first, size)), std::uint64_t{1}});
}

std::optional<Range> Master::take(unsigned node, double now)
{
    if (auto own = pool_.take(node, ~std::uint64_t{0}, Pool::From::front))
        return own;
    if (pool_.bytes_of(Pool::everybody)) {
        const std::uint64_t bytes = size_for(node, now);
        return bytes ? pool_.take(Pool::everybody, bytes, Pool::From::front) : std::nullopt;
    }
    if (!pool_.bytes() || nodes_[node].under_way)
        return std::nullopt;
    /* Who needs longest for what was to be his alone. */
    unsigned who = node;
    double longest = 0;
    for (unsigned i = 0; i < nodes_.size(); i++) {
        const double takes = static_cast<double>(pool_.bytes_of(i)) / rate(i);
        if (i != node && takes > longest) {
            longest = takes;
            who = i;
        }
    }
    return pool_.take(who, size_for(node, now), Pool::From::back);
}

std::optional<Partition> Master::next(unsigned number, double now)
{
    if (nodes_.at(number).failed)
        return std::nullopt;
    const auto range = take(number, now);
    if (!range)
        return copy_for(number, now);
    const std::uint64_t id = next_id_++;
    hold(under_way_[id] = {*range, {}}, number, now);
    return Partition{id, *range, false};
}

void Master::hold(Entry &entry, unsigned number, double now)
{
    Node &node = nodes_[number];
    if (!node.under_way++)
        node.free_since = now;
    node.bytes_under_way += static_cast<double>(entry.range.size());
    node.left += static_cast<double>(entry.range.size());
    entry.holders.push_back({number, now});
}

/* True if the node had it. */
bool Master::drop(Entry &entry, unsigned number)
{
    const auto had = std::erase_if(entry.holders, [&](const Holder &holder) { return holder.node == number; });
    if (had) {
        nodes_[number].under_way--;
        nodes_[number].bytes_under_way -= static_cast<double>(entry.range.size());
    }
    return had;
}

bool Master::may_copy(const Entry &entry, unsigned node) const
{
    return entry.holders.size() < options_.most_holders &&
           std::none_of(entry.holders.begin(), entry.holders.end(),
                        [&](const Holder &one) { return one.node == node; });
}

/*
 * Seconds until the partition is ready, by the holder that is so first. Each needs as long as its rate says; who has
 * had it for longer is thought to need as long again.
 */
double Master::remaining(const Entry &entry, double now) const
{
    double least = never;
    for (const Holder &holder : entry.holders) {
        const double has_had = now - since(holder), takes = static_cast<double>(entry.range.size()) / rate(holder.node);
        least = std::min(least, has_had < takes ? takes - has_had : has_had);
    }
    return least;
}

/* When it had done what it had before. */
double Master::since(const Holder &holder) const
{
    return std::max(holder.since, nodes_[holder.node].free_since);
}

/* A copy that would take so long is worth while. */
double Master::limit(const Entry &entry, unsigned node) const
{
    return options_.straggler * static_cast<double>(entry.range.size()) / rate(node);
}

double Master::ask_again_at(unsigned node, double now) const
{
    double at = never;
    if (nodes_.at(node).failed || nodes_[node].under_way || !(options_.straggler > 0) || !measured_nodes_)
        return never;
    for (const auto &[id, entry] : under_way_) {
        if (!may_copy(entry, node))
            continue;
        double late = now;
        if (remaining(entry, now) <= limit(entry, node))
            for (const Holder &one : entry.holders)
                late = std::max(late, since(one) + std::max(static_cast<double>(entry.range.size()) / rate(one.node),
                                                            limit(entry, node)));
        at = std::min(at, late);
    }
    return at;
}

std::optional<Partition> Master::copy_for(unsigned number, double now)
{
    if (nodes_[number].under_way || !(options_.straggler > 0) || !measured_nodes_)
        return std::nullopt;
    auto latest = under_way_.end();
    double longest = 0;
    for (auto at = under_way_.begin(); at != under_way_.end(); ++at) {
        const double left = may_copy(at->second, number) ? remaining(at->second, now) : 0;
        if (left > longest && left > limit(at->second, number)) {
            longest = left;
            latest = at;
        }
    }
    if (latest == under_way_.end())
        return std::nullopt;
    hold(latest->second, number, now);
    copies_made_++;
    return Partition{latest->first, latest->second.range, true};
}

void Master::measure(unsigned number, const Entry &entry, double now)
{
    Node &node = nodes_[number];
    if (node.tells)
        return;
    const auto holder =
        std::find_if(entry.holders.begin(), entry.holders.end(), [&](const Holder &one) { return one.node == number; });
    const bool first = !measured_nodes_;
    count(node, -1);
    node.measured_bytes += static_cast<double>(entry.range.size());
    node.measured_seconds += std::max(now - std::max(holder->since, node.free_since), 0.0);
    node.free_since = now;
    count(node, 1);
    /* Now that something is known of times, those who wait can be told when to ask again. */
    if (first && measured_nodes_)
        changes_++;
}

bool Master::done(unsigned number, std::uint64_t id, double now)
{
    if (!is_needed(number, id))
        return false;
    auto found = under_way_.extract(id);
    Entry &entry = found.mapped();
    measure(number, entry, now);
    copies_won_ += entry.holders.front().node != number;
    while (!entry.holders.empty())
        drop(entry, entry.holders.front().node);
    done_[id] = {number, entry.range};
    done_bytes_ += entry.range.size();
    /* It may have got nothing before, as it had this. */
    if (!nodes_[number].under_way && pool_.bytes())
        changes_++;
    return true;
}

bool Master::is_needed(unsigned node, std::uint64_t id) const
{
    const auto found = under_way_.find(id);
    return found != under_way_.end() && std::any_of(found->second.holders.begin(), found->second.holders.end(),
                                                    [&](const Holder &one) { return one.node == node; });
}

void Master::give_back(unsigned number, std::uint64_t id, double now)
{
    const auto found = under_way_.find(id);
    nodes_.at(number).free_since = now;
    if (found == under_way_.end() || !drop(found->second, number) || !found->second.holders.empty())
        return;
    pool_.add(found->second.range);
    under_way_.erase(found);
    changes_++;
}

void Master::fail(unsigned number, bool results_are_lost)
{
    Node &node = nodes_.at(number);
    if (node.failed)
        return;
    node.failed = true;
    left_--;
    count(node, -1);
    pool_.disown(number);
    for (auto at = under_way_.begin(); at != under_way_.end();) {
        Entry &entry = at->second;
        if (drop(entry, number) && entry.holders.empty()) {
            pool_.add(entry.range);
            at = under_way_.erase(at);
        } else {
            ++at;
        }
    }
    if (results_are_lost)
        std::erase_if(done_, [&](const auto &one) {
            if (one.second.who != number)
                return false;
            pool_.add(one.second.range);
            done_bytes_ -= one.second.range.size();
            return true;
        });
    changes_++;
    require_somebody();
}

void Master::require_somebody() const
{
    if (!left_ && !finished())
        throw Error("all " + std::to_string(nodes_.size()) + " nodes have failed, and " +
                    std::to_string(input_bytes_ - done_bytes_) + " of " + std::to_string(input_bytes_) +
                    " bytes of input have no result");
}

std::vector<Home> Master::homes() const
{
    std::vector<Home> homes;
    for (const auto &[id, home] : done_)
        homes.push_back(home);
    return homes;
}

} // namespace ptsched::spmd::schedule
