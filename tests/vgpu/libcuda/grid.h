/* SPDX-License-Identifier: MIT */
/*
 * The blocks of one launch. They run one after another on the caller's thread, as long as each ends soon. If one waits
 * for others or for the host, or just runs on, another thread goes on with the next block: so many blocks are
 * unfinished at once as the device has room for.
 */
#ifndef VGPU_LIBCUDA_GRID_H
#define VGPU_LIBCUDA_GRID_H

#include "tests/vgpu/include/vgpu_module.h"

#include <cstdint>

namespace vgpu {

struct GridCall {
    const vgpu_module &module;
    const vgpu_kernel &kernel;
    const vgpu_launch &launch;
    void *const *params;
    bool cooperative;
    uint64_t resident_blocks; /* how many the device has room for */
};

/* Returns when the last block has ended. */
vgpu_sum run_grid(const GridCall &call);

/* What modules call. */
extern const vgpu_calls kernel_calls;

} // namespace vgpu

#endif /* VGPU_LIBCUDA_GRID_H */
