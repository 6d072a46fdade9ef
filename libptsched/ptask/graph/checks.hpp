/* SPDX-License-Identifier: MIT */
/* What is wrong with a graph, said with names. All throw Error. */
#ifndef PTSCHED_PTASK_GRAPH_CHECKS_HPP
#define PTSCHED_PTASK_GRAPH_CHECKS_HPP

#include "libptsched/ptask/graph/channel.hpp"

#include <unordered_set>

namespace ptsched::ptask {

class Checks {
public:
    static void port(const TaskImpl &task, const PortImpl &port);
    static void task(const TaskImpl &task);
    static void kernel(const std::string &task, const DeviceKernel &kernel);
    /* The threads that somebody says. */
    static void given(const std::string &task, const Geometry &geometry);
    /* What code of it can have; @output: for whose records there are threads, or null. */
    static void geometry(const TaskImpl &task, const device::Code &code, const Geometry &geometry,
                         const PortImpl *output);
    /* Of a graph that was run already, or not. Null stands for the world. */
    static void ends(const GraphImpl &graph, bool started, const PortImpl *from, const PortImpl *to,
                     std::size_t capacity);
    static void cycle(const PortImpl &from, const PortImpl &to);
    static void loop(const PortImpl &from, const PortImpl &to, const PortImpl &again);
    using Tasks = std::vector<std::unique_ptr<TaskImpl>>;
    using Channels = std::vector<std::unique_ptr<Channel>>;
    /* Of a graph that is to be run. */
    static void complete(const Tasks &tasks, const Channels &channels);

private:
    static void size(const TaskImpl &task, const PortImpl &port);
    static std::unordered_set<const TaskImpl *> reached(const TaskImpl &from, bool over_initial);
    static void complete(const PortImpl &port);
    static void body(const Channel &loop, const Channels &channels);
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_GRAPH_CHECKS_HPP */
