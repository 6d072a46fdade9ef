/* SPDX-License-Identifier: MIT */
/* What is wrong with a graph, said with names. All throw Error. */
#ifndef PTSCHED_PTASK_GRAPH_CHECKS_HPP
#define PTSCHED_PTASK_GRAPH_CHECKS_HPP

#include "libptsched/ptask/graph/channel.hpp"

namespace ptsched::ptask {

class Checks {
public:
    static void port(const Task &task, const Port &port);
    static void task(const Task &task);
    static void kernel(const std::string &task, const DeviceKernel &kernel);
    /* The threads that somebody says. */
    static void given(const std::string &task, const Geometry &geometry);
    /* What code of it can have; @output: for whose records there are threads, or null. */
    static void geometry(const Task &task, const device::Code &code, const Geometry &geometry, const Port *output);
    /* Null stands for the world. */
    static void ends(const Graph &graph, const Port *from, const Port *to, std::size_t capacity);
    static void cycle(const Port &from, const Port &to);
    static void loop(const Port &from, const Port &to, const Port &again);
    /* Before the graph is run. */
    static void complete(const Graph &graph);

private:
    static void size(const Task &task, const Port &port);
    static std::unordered_set<const Task *> reached(const Task &from, bool over_initial);
    static void complete(const Port &port);
    static void body(const Channel &loop, const Graph &graph);
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_GRAPH_CHECKS_HPP */
