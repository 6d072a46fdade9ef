/* SPDX-License-Identifier: MIT */
/* What a module for the virtual GPU (a shared object made by vgpu-cc) exports, under the name vgpu_module. */
#ifndef VGPU_MODULE_H
#define VGPU_MODULE_H

#include <stdint.h>

#define VGPU_MODULE_VERSION 2
#define VGPU_WARP_THREADS 32

struct vgpu_launch {
    uint32_t grid[3];
    uint32_t block[3];
};

struct vgpu_index {
    uint32_t x, y, z;
};

/* What became of threads, or'ed together. */
enum {
    VGPU_COST_GIVEN = 1, /* one has said what it costs */
    VGPU_TRAPPED = 2,    /* one has called __trap() */
    VGPU_WAITED = 4,     /* one has waited for the host, or might have: what it costs means nothing */
    VGPU_MAY_WAIT = 8    /* one has looked at what others change, and may wait for it another time */
};

/* Of the thread that runs: exchanged, with its index, when another takes its place. */
struct vgpu_state {
    uint64_t cost_ns;
    uint32_t polls;
    uint8_t starts_next; /* its stack goes on with the block's next thread when it ends */
    uint8_t has_waited;
};

/* Of the block that runs. */
struct vgpu_sum {
    uint64_t longest_ns; /* of the threads that have ended */
    uint32_t flags;
};

/* Where all of it is for the calling thread of the host. */
struct vgpu_variables {
    struct vgpu_index *thread_index, *block_index, *block_dim, *grid_dim;
    struct vgpu_state *state;
    struct vgpu_sum *sum;
};

/*
 * What the driver does for a kernel. All but the last return once other threads have done their part, which run
 * meanwhile; or -1, if one has trapped: then the caller is to end as well.
 */
struct vgpu_calls {
    /* __syncthreads(); *count: how many came with a predicate */
    int (*block_barrier)(int predicate, uint32_t *count);
    /* The lanes of a mask show each other a value; *present: those that have not ended before. */
    int (*warp_meeting)(uint32_t mask, uint64_t value, uint64_t values[VGPU_WARP_THREADS], uint32_t *present);
    int (*grid_barrier)(void);
    /* Others may run, and what this one waits for come. */
    int (*yield)(void);
    int (*is_cooperative)(void);
};

struct vgpu_kernel {
    const char *name;
    uint32_t param_count;
    const uint32_t *param_sizes;
    const uint32_t *param_offsets;
    uint32_t flags; /* VGPU_MAY_WAIT, if that can be told from its parameters */
    /* Runs the thread whose index is set, and those after it while it starts_next. */
    void (*run)(void *const *params);
};

struct vgpu_module {
    uint32_t version;
    uint32_t kernel_count;
    const struct vgpu_kernel *kernels;
    void (*find_variables)(struct vgpu_variables *variables);
    const struct vgpu_calls **calls; /* set before a kernel runs */
};

#endif /* VGPU_MODULE_H */
