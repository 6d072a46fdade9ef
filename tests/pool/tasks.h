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

/* Waits until *flag is not 0, which the host sets; a word in the host's memory. */
struct Wait {
    const unsigned int *flag;
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

#endif /* TEST_POOL_TASKS_H */
