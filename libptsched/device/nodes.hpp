/* SPDX-License-Identifier: MIT */
/* The NUMA nodes of the processors that the process may use. */
#ifndef PTSCHED_DEVICE_NODES_HPP
#define PTSCHED_DEVICE_NODES_HPP

#include <sched.h>
#include <string>
#include <vector>

namespace ptsched::device {

class Nodes {
public:
    /* Of processors in @allowed, by what the kernel says in @folder: there, those of a node are named for it. */
    explicit Nodes(const cpu_set_t &allowed, const std::string &folder = "/sys/devices/system/cpu");
    /* Those of the process when it was asked for the first time. */
    static const Nodes &get();

    unsigned processors() const { return static_cast<unsigned>(node_of_.size()); }
    unsigned count() const { return static_cast<unsigned>(processors_.size()); }
    /* Where one of so many parts belongs, so that each processor has as many, and neighbours are together. */
    unsigned of_part(std::size_t part, std::size_t parts) const { return node_of_[part * node_of_.size() / parts]; }
    const cpu_set_t &processors_of(unsigned node) const { return processors_[node]; }

private:
    std::vector<cpu_set_t> processors_; /* of each node */
    std::vector<unsigned> node_of_;     /* of each processor, in the order of nodes */
};

/* The calling thread is on processors of a node as long as this lives, as far as it may be. */
class OnNode {
public:
    OnNode(const Nodes &nodes, unsigned node);
    ~OnNode();
    OnNode(const OnNode &) = delete;
    OnNode &operator=(const OnNode &) = delete;

private:
    bool moved_ = false;
    cpu_set_t before_;
};

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_NODES_HPP */
