/* SPDX-License-Identifier: MIT */
/* Types of the tests' functions, for the host's compiler and for that of kernels. */
#ifndef TEST_ARENA_CALL_TYPES_H
#define TEST_ARENA_CALL_TYPES_H

#include <ptsched/arena/call/signature.h>

/* More than a slot has room for. */
struct Large {
    unsigned long long words[100];
};
struct Pair {
    int a;
    double b;
};
PTSCHED_ARENA_TYPE(Pair);

/* An element of a list whose nodes are in memory that both sides reach. */
struct Node {
    Node *next;
    unsigned long long value;
};

#endif /* TEST_ARENA_CALL_TYPES_H */
