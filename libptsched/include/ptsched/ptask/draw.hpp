/* SPDX-License-Identifier: MIT */
/* A graph as a picture, and what it did as one. */
#ifndef PTSCHED_PTASK_DRAW_HPP
#define PTSCHED_PTASK_DRAW_HPP

#include <ptsched/ptask/graph.hpp>

#pragma GCC visibility push(default)

namespace ptsched::ptask {

/*
 * For dot(1): a box for each task with its ports, blue if it has run in a CUDA graph; an arrow for each channel, dashed
 * where it ends a loop.
 */
std::string draw(const Graph &graph);

} // namespace ptsched::ptask

#pragma GCC visibility pop

#endif /* PTSCHED_PTASK_DRAW_HPP */
