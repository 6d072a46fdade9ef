/* SPDX-License-Identifier: MIT */
/* What follows from what depends on what in a subgraph: which waits are needed, and where values are in its memory. */
#ifndef PTSCHED_PTASK_REPLAY_SUBGRAPH_ORDER_HPP
#define PTSCHED_PTASK_REPLAY_SUBGRAPH_ORDER_HPP

#include "libptsched/ptask/replay/subgraph.hpp"

namespace ptsched::ptask {

/* For a subgraph whose steps, inputs and outputs are known. */
void use_order(Subgraph &subgraph);

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_REPLAY_SUBGRAPH_ORDER_HPP */
