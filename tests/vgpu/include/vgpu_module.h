/* SPDX-License-Identifier: MIT */
/* What a module for the virtual GPU (a shared object made by vgpu-cc) exports, under the name vgpu_module. */
#ifndef VGPU_MODULE_H
#define VGPU_MODULE_H

#include <stdint.h>

#define VGPU_MODULE_VERSION 1

struct vgpu_launch {
    uint32_t grid[3];
    uint32_t block[3];
};

/*
 * What became of a grid: it did not say what it costs, it did, one of its threads called __trap(), or it has waited for
 * the host and may do so each time.
 */
enum { VGPU_KERNEL_RAN, VGPU_KERNEL_COST_GIVEN, VGPU_KERNEL_TRAPPED, VGPU_KERNEL_WAITED };

struct vgpu_kernel {
    const char *name;
    uint32_t param_count;
    const uint32_t *param_sizes;
    const uint32_t *param_offsets;
    /* Runs every thread of the grid, or those before one that traps. */
    int (*run)(const struct vgpu_launch *launch, void *const *params, uint64_t *cost_ns);
};

struct vgpu_module {
    uint32_t version;
    uint32_t kernel_count;
    const struct vgpu_kernel *kernels;
};

#endif /* VGPU_MODULE_H */
