// SPDX-License-Identifier: MIT
#include "samples/pool/irregular/measure.hpp"

#include "samples/common/hand.hpp"
#include "samples/pool/irregular/hand.h"
#include "samples/pool/irregular/reference.hpp"
#include <ptsched/pool.hpp>

#include <chrono>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>

namespace ptsched::irregular {

namespace {

using Clock = std::chrono::steady_clock;
using samples::Report;
using samples::Settings;
using samples::spread_of;

/* The first is the one that counts; the others are the same tree with other costs, and nodes that cost all the same. */
constexpr Shape measured[] = {{39, 128, 32, 6}, {39, 128, 16, 6}, {39, 128, 64, 6}, {39, 128, 128, 6},
                              {39, 128, 16, 8}, {39, 128, 64, 4}, {39, 128, 64, 2}, {39, 128, 64, 0}};
constexpr Shape checked{26, 8, 1, 4};
/* How many blocks the pool has, each of which is tried. */
constexpr unsigned numbers_of_blocks[] = {32, 64, 128, 256};

/* A node waits behind none: what another costs nobody knows. */
pool::Options options_for(device::Device &gpu, const Settings &settings, unsigned blocks)
{
    return {
        .kernel = [=](device::Device &one) { return device::cuda_code(one, settings.module, "irregular"); },
        .devices = {&gpu},
        .threads = lanes,
        .blocks = blocks,
        .depth = 1,
        .idle = std::chrono::seconds(10),
    };
}

/* One thread pops nodes and pushes their children. */
Found search(pool::Pool<Node> &pool, const Shape &shape)
{
    Found found{};
    std::vector<Node> back(64), next;
    for (unsigned i = 0; i < shape.roots; i++)
        next.push_back(make_root(i, shape));
    for (std::size_t open = next.size(); open; open += next.size()) {
        pool.push_all(std::span<const Node>(next));
        next.clear();
        const std::size_t count = pool.pop_some(back);
        for (const Node &node : std::span(back).first(count)) {
            found.nodes++;
            found.sum += node.value;
            found.levels = std::max(found.levels, node.depth + 1u);
            for (unsigned i = 0; i < node.children; i++)
                next.push_back(make_child(node, i, shape));
        }
        open -= count;
    }
    return found;
}

/* Seconds. The pool is there before, as by hand all is prepared before. */
double time_pool(device::Device &gpu, const Settings &settings, unsigned blocks, const Shape &shape, const Tree &tree)
{
    pool::Pool<Node> pool(options_for(gpu, settings, blocks));
    search(pool, {shape.seed, shape.roots, 1, 0});
    const auto begin = Clock::now();
    const Found found = search(pool, shape);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    expect(tree, found, "the pool");
    return seconds;
}

/* The forms without a pool. */
class ByHand {
public:
    explicit ByHand(const std::string &path)
        : library_(path), forms_(library_.find<const char *const>("hand_forms")),
          search_(library_.find<decltype(hand_search)>("hand_search"))
    {
    }

    std::vector<std::string> forms() const
    {
        std::vector<std::string> all;
        for (const char *const *form = forms_; *form; form++)
            all.push_back(*form);
        return all;
    }

    double time(int form, const Shape &shape, const Tree &tree) const
    {
        Found found{};
        double seconds = 0;
        if (const char *wrong = search_(form, &shape, &found, &seconds))
            throw device::Error("irregular by hand, " + forms().at(static_cast<std::size_t>(form)) + ": " + wrong);
        expect(tree, found, forms_[form]);
        return seconds;
    }

private:
    const samples::Hand library_;
    const char *const *const forms_;
    decltype(hand_search) *const search_;
};

void describe(const Shape &shape, const Tree &tree)
{
    const double nodes = static_cast<double>(tree.found.nodes), levels = tree.found.levels;
    std::printf("%.0f nodes in %.0f levels, %.0f in each and %llu at most; rounds of work: %.0f in a node, %.0f in the "
                "dearest of a level, %llu on the longest way down, %llu in all; dearest nodes cost %u times the "
                "cheapest\n",
                nodes, levels, nodes / levels, tree.width, static_cast<double>(tree.work) / nodes,
                static_cast<double>(tree.slowest) / levels, tree.longest, tree.work, 1u << shape.doubling);
}

using Times = std::map<std::string, std::vector<double>>;

/* All of them one after another, and again. Milliseconds. */
Times time_all(device::Device &gpu, const Settings &settings, const ByHand *by_hand, const Shape &shape,
               const Tree &tree)
{
    Times times;
    for (unsigned round = 0; round <= settings.rounds(); round++) {
        const auto add = [&](const std::string &name, double seconds) {
            if (round)
                times[name].push_back(seconds * 1000);
        };
        if (by_hand)
            for (int form = 0; const std::string &name : by_hand->forms())
                add("by-hand/" + name, by_hand->time(form++, shape, tree));
        for (const unsigned blocks : numbers_of_blocks)
            add("blocks/" + std::to_string(blocks), time_pool(gpu, settings, blocks, shape, tree));
    }
    return times;
}

/* Of those whose names begin so, but for one. */
double best_of(const Times &times, const std::string &begin, const std::string &but)
{
    double best = std::numeric_limits<double>::infinity();
    for (const auto &[name, values] : times)
        if (name.starts_with(begin) && name != but)
            best = std::min(best, spread_of(values).median);
    return best;
}

std::string name_of(const Shape &shape)
{
    if (shape.grain == measured[0].grain && shape.doubling == measured[0].doubling)
        return "irregular";
    return "irregular/cost-" + std::to_string(shape.grain) + "-to-" + std::to_string(shape.grain << shape.doubling);
}

void measure_shape(device::Device &gpu, const Settings &settings, const ByHand *by_hand, const Shape &shape,
                   Report &report)
{
    const std::string name = name_of(shape);
    const Tree tree = search_on_host(shape);
    describe(shape, tree);
    const Times times = time_all(gpu, settings, by_hand, shape, tree);
    for (const auto &[form, values] : times)
        report.record(name + "/" + form + "_ms", spread_of(values), "ms");
    if (!by_hand)
        return;
    const std::string queue = "by-hand/own-queue";
    const double ours = best_of(times, "blocks/", "");
    report.record(name, best_of(times, "by-hand/", queue) / ours, "", "the best without a pool over ours");
    report.record(name + "/own-queue", spread_of(times.at(queue)).median / ours, "",
                  "a queue on the device, for this program alone, over ours");
}

} // namespace

void check(device::Device &gpu, const Settings &settings)
{
    pool::Pool<Node> pool(options_for(gpu, settings, 4));
    expect(search_on_host(checked), search(pool, checked), "the pool");
}

void measure(device::Device &gpu, const Settings &settings, Report &report)
{
    const auto by_hand = settings.hand.empty() ? nullptr : std::make_unique<ByHand>(settings.hand);
    for (const Shape &shape : measured)
        measure_shape(gpu, settings, by_hand.get(), shape, report);
}

} // namespace ptsched::irregular
