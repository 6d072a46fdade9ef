// SPDX-License-Identifier: MIT
/* A master and nodes in virtual time. */
#include "libptsched/spmd/schedule/master.hpp"

#include "tests/spmd/model/cases.hpp"

#include <limits>
#include <map>
#include <set>

namespace test {
namespace {

using namespace ptsched::spmd::schedule;

constexpr double never = std::numeric_limits<double>::infinity();
const Border any_byte = [](std::uint64_t at) { return at; };

/* Nodes that ask as they may, and do bytes at their speeds; zero: never ready. */
class Cluster {
public:
    Cluster(Master &master, std::vector<double> speeds)
        : master_(master), speeds_(std::move(speeds)), done_by_(speeds_.size()), asked_at_(speeds_.size(), ~0ull)
    {
    }

    void fail_at(double when, unsigned node, bool results_are_lost)
    {
        events_.emplace(when, Event{Event::fails, node, {}, results_are_lost});
    }
    /* Until all is done; false if it stands still before. */
    bool run()
    {
        for (unsigned i = 0; i < speeds_.size(); i++)
            ask(i);
        while (!master_.finished() && !events_.empty()) {
            const auto [when, event] = *events_.begin();
            events_.erase(events_.begin());
            now_ = when;
            happens(event);
            for (unsigned i = 0; i < speeds_.size(); i++)
                if (!busy_.count(i) && asked_at_[i] != master_.changes())
                    ask(i);
        }
        return master_.finished();
    }

    double now() const { return now_; }
    /* Results that count, by the nodes that still have them. */
    std::vector<Range> results() const
    {
        std::vector<Range> all;
        for (const auto &of_node : done_by_)
            all.insert(all.end(), of_node.begin(), of_node.end());
        return all;
    }
    const std::vector<std::vector<Range>> &done_by() const { return done_by_; }
    const std::vector<Range> &partitions() const { return partitions_; }

private:
    struct Event {
        enum { ends, fails, asks } kind;
        unsigned node;
        Partition partition;
        bool results_are_lost;
    };

    void happens(const Event &event)
    {
        if (master_.failed(event.node))
            return;
        switch (event.kind) {
        case Event::ends:
            busy_.erase(event.node);
            if (master_.done(event.node, event.partition.id, now_))
                done_by_[event.node].push_back(event.partition.range);
            ask(event.node);
            break;
        case Event::fails:
            if (event.results_are_lost)
                done_by_[event.node].clear();
            busy_.insert(event.node);
            master_.fail(event.node, event.results_are_lost);
            break;
        case Event::asks:
            if (!busy_.count(event.node))
                ask(event.node);
            break;
        }
    }
    void ask(unsigned node)
    {
        asked_at_[node] = master_.changes();
        const auto partition = master_.next(node, now_);
        if (partition) {
            busy_.insert(node);
            if (!partition->copy)
                partitions_.push_back(partition->range);
            if (speeds_[node] > 0)
                events_.emplace(now_ + static_cast<double>(partition->range.size()) / speeds_[node],
                                Event{Event::ends, node, *partition, false});
            return;
        }
        const double again = master_.ask_again_at(node, now_);
        if (again < never)
            events_.emplace(std::max(again, now_) + 1e-6, Event{Event::asks, node, {}, false});
    }

    Master &master_;
    std::vector<double> speeds_;
    std::multimap<double, Event> events_;
    std::set<unsigned> busy_;
    std::vector<std::vector<Range>> done_by_;
    std::vector<std::uint64_t> asked_at_;
    std::vector<Range> partitions_;
    double now_ = 0;
};

std::vector<double> random_rates(int most = 12)
{
    std::vector<double> rates(*rc::gen::inRange(1, most));
    for (double &rate : rates)
        rate = *rc::gen::inRange(1, 100);
    return rates;
}

void test_once()
{
    holds("each record counts once, whichever nodes fail", [] {
        const Records records = random_records(400);
        const auto rates = random_rates();
        MasterOptions options;
        options.partitions = *rc::gen::element(0u, 1u, 5u, 50u);
        options.grid = *rc::gen::element(0u, 0u, 30u);
        options.straggler = *rc::gen::element(0, 2);
        options.least_bytes = *rc::gen::element(1u, 100u);
        Master master(rates, records.border(), options);
        master.add({0, records.bytes()});

        /* Nodes are not as fast as they were thought to be; the first one does not fail. */
        std::vector<double> speeds = rates;
        for (double &speed : speeds)
            speed *= *rc::gen::inRange(1, 10);
        Cluster cluster(master, speeds);
        for (unsigned i = 1; i < rates.size(); i++)
            if (*rc::gen::inRange(0, 3) == 0)
                cluster.fail_at(*rc::gen::inRange(0, 100) / 10.0, i, *rc::gen::arbitrary<bool>());
        RC_ASSERT(cluster.run());
        RC_ASSERT(are_all_of(cluster.results(), {0, records.bytes()}));
        RC_ASSERT(master.done_bytes() == records.bytes() && !master.waiting_bytes());
        for (const Range &range : cluster.partitions())
            RC_ASSERT(records.are_whole(range));
        const auto cuts = options.grid ? records.grid(options.grid) : std::vector<std::uint64_t>{};
        for (const Range &range : cluster.partitions())
            RC_ASSERT(!options.grid || std::binary_search(cuts.begin(), cuts.end(), range.end));
        std::vector<Range> homes;
        for (const Home &home : master.homes())
            homes.push_back(home.range);
        RC_ASSERT(are_all_of(homes, {0, records.bytes()}));
    });
}

void test_sizes()
{
    /* Nodes that are alike: twice as many as nodes, but for what is divided at the end. */
    Master equal(std::vector<double>(10, 1), any_byte);
    equal.add({0, 1000000});
    Cluster ten(equal, std::vector<double>(10, 1));
    CHECK(ten.run());
    CHECK(equal.partitions_made() >= 20 && equal.partitions_made() <= 50);
    CHECK(ten.partitions().front().size() == 50000);

    /* Large ones to the end: each node has one, and what it could not know then. */
    MasterOptions large;
    large.partitions = 10;
    large.smallest = 0.25;
    Master few(std::vector<double>(10, 1), any_byte, large);
    few.add({0, 1000000});
    CHECK(Cluster(few, std::vector<double>(10, 1)).run());
    CHECK_EQ(few.partitions_made(), 20U);

    holds("the first partition of a node is its part, by its rate", [] {
        const auto rates = random_rates();
        double all = 0;
        for (const double rate : rates)
            all += rate;
        MasterOptions options;
        options.partitions = *rc::gen::element(0u, 100u);
        Master master(rates, any_byte, options);
        master.add({0, 1000000000});
        const double of_each = options.partitions ? 100.0 / static_cast<double>(rates.size()) : 2;
        for (unsigned i = 0; i < rates.size(); i++) {
            const auto partition = master.next(i, 0);
            const double part = 1e9 * rates[i] / all / of_each;
            RC_ASSERT(partition && static_cast<double>(partition->range.size()) <= part * 1.51 + 1);
            RC_ASSERT(i || near(static_cast<double>(partition->range.size()), part, 1e-5));
        }
    });
}

/* Nodes that are unequal and known, or unequal and found out: not far from as fast as they are together. */
void test_balance()
{
    std::vector<double> speeds;
    double all = 0;
    for (int i = 0; i < 64; i++) {
        speeds.push_back(1e6 * (1 + i % 4));
        all += speeds.back();
    }
    const auto takes = [&](const std::vector<double> &told, const MasterOptions &options) {
        Master master(told, any_byte, options);
        master.add({0, 10000000000});
        Cluster cluster(master, speeds);
        CHECK(cluster.run());
        return cluster.now() * all / 1e10;
    };
    CHECK(takes(speeds, {}) < 1.05);
    CHECK(takes(std::vector<double>(64, 1), {.partitions = 64 * 8}) < 1.10);
    /* Equal partitions of the paper, handed out to unequal nodes: for comparison. */
    CHECK(takes(std::vector<double>(64, 1), {.expected_bytes = 0, .straggler = 0}) > 1.05);
}

void test_straggler()
{
    /* One of eight stands still in the middle: others do what it had. */
    std::vector<double> rates(8, 1e6);
    Master master(rates, any_byte);
    master.add({0, 80000000});
    auto speeds = rates;
    speeds[7] = 0;
    Cluster cluster(master, speeds);
    CHECK(cluster.run());
    CHECK(are_all_of(cluster.results(), {0, 80000000}));
    CHECK_EQ(master.copies_made(), std::uint64_t{1});
    CHECK_EQ(master.copies_won(), std::uint64_t{1});
    /* 80 / 7 at best; the copy begins when it is late enough. */
    CHECK(cluster.now() < 2.2 * 80 / 7);

    Master without(rates, any_byte, {.straggler = 0});
    without.add({0, 80000000});
    Cluster waits(without, speeds);
    CHECK(!waits.run());
}

void test_copies()
{
    Master master({1, 1, 1}, any_byte, {.partitions = 2});
    master.add({0, 100});
    const auto a = master.next(0, 0), b = master.next(1, 0);
    CHECK(a && b && !a->copy && a->range.size() + b->range.size() <= 100);
    while (const auto rest = master.next(2, 0))
        CHECK(master.done(2, rest->id, 0));
    CHECK(master.done(1, b->id, 10));
    /* The other one has had 10 s, and a copy takes as long: not yet. */
    CHECK(!master.next(1, 10));
    const double again = master.ask_again_at(1, 10);
    CHECK(again > 10 && again < never);
    CHECK(!master.next(1, again - 0.5));
    const auto copy = master.next(1, again + 0.5);
    CHECK(copy && copy->copy && copy->id == a->id && copy->range == a->range);
    /* No third one. */
    CHECK(!master.next(2, 1000));
    CHECK(master.is_needed(0, a->id) && master.is_needed(1, a->id));
    CHECK(master.done(1, copy->id, again + 5));
    CHECK(!master.is_needed(0, a->id));
    CHECK(!master.done(0, a->id, again + 6));
    CHECK(master.finished());
    CHECK_EQ(master.done_bytes(), std::uint64_t{100});
}

void test_failures()
{
    Master master({1, 1}, any_byte);
    master.add({0, 100});
    const auto first = master.next(0, 0);
    CHECK(first && master.done(0, first->id, 1));
    const auto second = master.next(0, 1);
    const std::uint64_t changes = master.changes();
    master.fail(0, true);
    CHECK(master.changes() != changes);
    CHECK_EQ(master.waiting_bytes(), std::uint64_t{100});
    CHECK(!master.done(0, second->id, 2));
    CHECK(!master.next(0, 2));
    CHECK(master.next(1, 2)->range.begin == 0);
    const std::string error = error_of([&] { master.fail(1, false); });
    CHECK(error.find("all 2 nodes have failed, and 100 of 100 bytes") != std::string::npos);

    /* Results that others have already stay. */
    Master kept({1, 1}, any_byte);
    kept.add({0, 100});
    const auto done = kept.next(0, 0);
    CHECK(kept.done(0, done->id, 1));
    kept.fail(0, false);
    CHECK_EQ(kept.done_bytes(), done->range.size());
    /* All is done when the last one fails: nobody is needed. */
    while (const auto rest = kept.next(1, 2))
        CHECK(kept.done(1, rest->id, 3));
    CHECK(error_of([&] { kept.fail(1, false); }).empty());
    CHECK(kept.finished());
    CHECK(error_of([&] { kept.add({100, 200}); }).find("have failed") != std::string::npos);
}

void test_iterations()
{
    const std::vector<double> speeds{1e6, 2e6, 4e6, 4e6};
    std::vector<Home> homes;
    std::vector<std::vector<Range>> before;
    for (int iteration = 0; iteration < 4; iteration++) {
        Master master(speeds, any_byte, {.homes = homes});
        master.add({0, 110000000});
        Cluster cluster(master, speeds);
        CHECK(cluster.run());
        CHECK(are_all_of(cluster.results(), {0, 110000000}));
        CHECK(cluster.now() < 11);
        if (iteration > 1)
            CHECK(cluster.done_by() == before);
        before = cluster.done_by();
        homes = master.homes();
    }
    /* A home that has failed is nobody's, and one's own that takes too long is helped with. */
    Master master(speeds, any_byte, {.homes = homes});
    master.add({0, 110000000});
    Cluster cluster(master, speeds);
    cluster.fail_at(1, 3, true);
    CHECK(cluster.run());
    CHECK(are_all_of(cluster.results(), {0, 110000000}));
}

void test_errors()
{
    CHECK(error_of([] { Master({}, any_byte); }).find("at least one") != std::string::npos);
    CHECK(error_of([] { Master({1, 0}, any_byte); }).find("the rate of node 1 is 0") != std::string::npos);
    CHECK(error_of([] { Master({never}, any_byte); }).find("above 0") != std::string::npos);
    Master empty({1}, any_byte);
    CHECK(empty.finished());
    empty.add({0, 0});
    CHECK(empty.finished() && !empty.next(0, 0));
}

/* One that is given back is somebody's again, unless another has it, too. */
void test_given_back()
{
    Master master({1, 1}, any_byte, {.partitions = 1});
    master.add({0, 100});
    const auto first = master.next(0, 0);
    CHECK(first && first->range.size() < 100);
    const std::uint64_t changes = master.changes();
    master.give_back(0, first->id, 1);
    CHECK(master.changes() != changes);
    CHECK_EQ(master.waiting_bytes(), std::uint64_t{100});
    CHECK(!master.done(0, first->id, 2));
    CHECK(master.next(1, 2)->range.begin == 0);
}

} // namespace

std::vector<tap::Case> master_cases()
{
    return {
        {"a master has each record done once", test_once},
        {"sizes of partitions", test_sizes},
        {"unequal nodes are ready at the same time", test_balance},
        {"a node that stands still does not stop all", test_straggler},
        {"the first of copies counts", test_copies},
        {"nodes that fail", test_failures},
        {"partitions stay where they are in iterations", test_iterations},
        {"partitions that are given back", test_given_back},
        {"what a master refuses", test_errors},
    };
}

} // namespace test
