/* SPDX-License-Identifier: MIT */
/* The tasks of the graph, for the host's compiler and for that of kernels. */
#ifndef SAMPLES_POOL_GRAPH_TASKS_H
#define SAMPLES_POOL_GRAPH_TASKS_H

/* y = by * x + 1, of @n numbers. */
struct Scale {
    const float *x;
    float *y;
    unsigned int n;
    float by;
};

#endif /* SAMPLES_POOL_GRAPH_TASKS_H */
