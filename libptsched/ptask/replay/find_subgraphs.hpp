/* SPDX-License-Identifier: MIT */
/* Which parts of a graph are given to a GPU as one. */
#ifndef PTSCHED_PTASK_REPLAY_FIND_SUBGRAPHS_HPP
#define PTSCHED_PTASK_REPLAY_FIND_SUBGRAPHS_HPP

#include "libptsched/ptask/replay/subgraph.hpp"

namespace ptsched::ptask {

class Subgraphs {
public:
    /* All of a graph that are worth it. */
    static std::vector<Subgraph> find(const std::vector<std::unique_ptr<TaskImpl>> &tasks);

private:
    static bool fits(const PortImpl &port);
    static bool fits(const TaskImpl &task);
    static bool is_worth_it(const std::vector<TaskImpl *> &tasks);
    static std::vector<TaskImpl *> ordered(const std::vector<std::unique_ptr<TaskImpl>> &tasks);
    static std::vector<std::vector<TaskImpl *>> connected(const std::vector<TaskImpl *> &ordered);
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_REPLAY_FIND_SUBGRAPHS_HPP */
