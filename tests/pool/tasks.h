/* SPDX-License-Identifier: MIT */
/* The tasks of the tests, for the host's compiler and for that of kernels. */
#ifndef TEST_POOL_TASKS_H
#define TEST_POOL_TASKS_H

struct Square {
    double value, result;
    unsigned long long id;
};

/* Of the most bytes that there may be. */
struct Reverse {
    unsigned int values[64];
};

/* Says that it has begun, and waits until *flag is not 0; words in the host's memory. */
struct Wait {
    const unsigned int *flag;
    unsigned int *begun;
    unsigned long long seen;
};

/* Adds to what is in memory, and says what was there. */
struct Add {
    unsigned long long *at;
    unsigned long long by, before;
};

/* Is at fault. */
struct Trap {
    unsigned long long id, unused;
};

/* Tasks of graphs, whose members are ports: y = by * x. */
struct Multiply {
    const int *x;
    int *y;
    unsigned int n;
    int by;
};

/* In place, of natural numbers only. */
struct Increment {
    int *x;
    unsigned long long *where; /* the address of x goes there */
    unsigned int n;
    unsigned int unused;
};

#endif /* TEST_POOL_TASKS_H */
