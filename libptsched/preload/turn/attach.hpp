/* SPDX-License-Identifier: MIT */
/* How the process becomes one of the scheduler's clients on a device. */
#ifndef PTSCHED_PRELOAD_TURN_ATTACH_HPP
#define PTSCHED_PRELOAD_TURN_ATTACH_HPP

#define PTSCHED_CUDA_ABI_TYPES_ONLY
#include "libptsched/cuda/cuda_abi.h"

namespace ptsched::preload {

class Device;

/* Once; afterwards the device is scheduled or open for good. */
void attach(Device &device);

/*
 * The program has made a context, if it was not known. What its first submission would wait for is done now: to make a
 * context takes much longer. @created: by cuCtxCreate() and the like, hence no primary context.
 */
void context_begins(CUcontext handle, bool created);

} // namespace ptsched::preload

#endif
