/* SPDX-License-Identifier: MIT */
/* What a task writes, for the host's compiler and for that of kernels. */
#ifndef SAMPLES_TASKBENCH_CELL_H
#define SAMPLES_TASKBENCH_CELL_H

/* Of a line of the cache, so that no two are written in one. Who reads it sees which task has written it. */
struct alignas(64) Cell {
    unsigned int step, point;
    double value;
};

/* What a kernel is given: it can have at most so many cells to read. */
template <unsigned most> struct GpuTask {
    Cell *out;
    const Cell *in[most];
    unsigned int in_points[most];
    unsigned int reads, step, point;
    unsigned int *wrong; /* in the host's memory: set if it has read what another task has written */
    unsigned long iterations;
};

constexpr unsigned gpu_few_reads = 3, gpu_most_reads = 32, gpu_threads = 32;

#endif /* SAMPLES_TASKBENCH_CELL_H */
