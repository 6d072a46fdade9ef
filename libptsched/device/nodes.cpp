// SPDX-License-Identifier: MIT
#include "libptsched/device/nodes.hpp"

#include <cstdlib>
#include <filesystem>
#include <map>

namespace ptsched::device {

namespace {

/* 0 where the kernel knows no nodes. */
int node_of(int cpu, const std::string &folder)
{
    const std::string name = "node";
    std::error_code error;
    std::filesystem::directory_iterator entries(folder + "/cpu" + std::to_string(cpu), error);
    while (!error && entries != std::filesystem::directory_iterator()) {
        const std::string entry = entries->path().filename();
        if (entry.compare(0, name.size(), name) == 0)
            return std::atoi(entry.c_str() + name.size());
        entries.increment(error);
    }
    return 0;
}

cpu_set_t allowed_now()
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    /* A machine with more than CPU_SETSIZE of them does not say. */
    if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0 || !CPU_COUNT(&allowed))
        CPU_SET(0, &allowed);
    return allowed;
}

} // namespace

Nodes::Nodes(const cpu_set_t &allowed, const std::string &folder)
{
    std::map<int, std::vector<int>> nodes;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed))
            nodes[node_of(cpu, folder)].push_back(cpu);
    for (const auto &[number, cpus] : nodes) {
        cpu_set_t of_node;
        CPU_ZERO(&of_node);
        for (int cpu : cpus) {
            CPU_SET(cpu, &of_node);
            node_of_.push_back(count());
        }
        processors_.push_back(of_node);
    }
}

const Nodes &Nodes::get()
{
    static const Nodes &nodes = *new Nodes(allowed_now());
    return nodes;
}

OnNode::OnNode(const Nodes &nodes, unsigned node)
{
    cpu_set_t there;
    if (nodes.count() < 2 || sched_getaffinity(0, sizeof(before_), &before_) < 0)
        return;
    CPU_AND(&there, &before_, &nodes.processors_of(node));
    moved_ = CPU_COUNT(&there) && sched_setaffinity(0, sizeof(there), &there) == 0;
}

OnNode::~OnNode()
{
    if (moved_)
        sched_setaffinity(0, sizeof(before_), &before_);
}

} // namespace ptsched::device
