/* SPDX-License-Identifier: MIT */
/* Lists that the host and kernels of the tests both walk. */
#ifndef TEST_ARENA_NODES_H
#define TEST_ARENA_NODES_H

#include <ptsched/arena/shared.hpp>

struct Node {
    ptsched::arena::shared<Node *> next;
    unsigned int value;
    unsigned int written; /* by the other side */
};

#endif /* TEST_ARENA_NODES_H */
