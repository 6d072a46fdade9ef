// SPDX-License-Identifier: MIT
#include "samples/pool/irregular/reference.hpp"

#include <ptsched/device/device.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace ptsched::irregular {

namespace {

struct Way {
    Node node;
    unsigned long long before; /* rounds from the root to it */
};

} // namespace

Tree search_on_host(const Shape &shape)
{
    Tree tree{};
    std::vector<Way> level, next;
    for (unsigned i = 0; i < shape.roots; i++)
        level.push_back({make_root(i, shape), 0});
    for (; !level.empty(); level.swap(next), tree.found.levels++) {
        unsigned slowest = 0;
        next.clear();
        for (const auto &[node, before] : level) {
            for (unsigned lane = 0; lane < lanes; lane++)
                tree.found.sum += work(node, lane);
            slowest = std::max(slowest, node.rounds);
            tree.work += node.rounds;
            tree.longest = std::max(tree.longest, before + node.rounds);
            for (unsigned i = 0; i < count_children(node); i++)
                next.push_back({make_child(node, i, shape), before + node.rounds});
        }
        tree.found.nodes += level.size();
        tree.width = std::max<unsigned long long>(tree.width, level.size());
        tree.slowest += slowest;
    }
    return tree;
}

void expect(const Tree &tree, const Found &found, const char *by)
{
    const Found &right = tree.found;
    if (found.nodes != right.nodes || found.sum != right.sum || found.levels != right.levels)
        throw device::Error("irregular: " + std::string(by) + " has found " + std::to_string(found.nodes) +
                            " nodes in " + std::to_string(found.levels) + " levels, of the value " +
                            std::to_string(found.sum) + "; there are " + std::to_string(right.nodes) + " in " +
                            std::to_string(right.levels) + ", of " + std::to_string(right.sum));
}

} // namespace ptsched::irregular
