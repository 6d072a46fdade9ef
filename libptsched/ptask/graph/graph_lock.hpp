/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PTASK_GRAPH_GRAPH_LOCK_HPP
#define PTSCHED_PTASK_GRAPH_GRAPH_LOCK_HPP

#include "libptsched/base/lock.hpp"

namespace ptsched::ptask {

/*
 * What protects a graph, with its tasks and channels: Scheduler::mutex() as the analysis sees it, which cannot tell
 * graphs apart. It is never defined. Comes before a datablock's lock.
 */
extern Mutex graph_lock;

#define PTASK_GUARDED PTSCHED_GUARDED_BY(graph_lock)
#define PTASK_LOCKED PTSCHED_REQUIRES(graph_lock)

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_GRAPH_GRAPH_LOCK_HPP */
