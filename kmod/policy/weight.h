/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The CPU scheduler's weights, for the policy and whoever shows them. */
#ifndef PTSCHED_POLICY_WEIGHT_H
#define PTSCHED_POLICY_WEIGHT_H

#include "types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** ptsp_nice_to_weight - the kernel's own table; nice 0 is 1024, 1.25 times per step */
u32 ptsp_nice_to_weight(int nice);

/** ptsp_share_to_weight - as the kernel does with a cgroup's cpu.weight: 100 is 1024 */
u32 ptsp_share_to_weight(u32 share);

#ifdef __cplusplus
}
#endif

#endif /* PTSCHED_POLICY_WEIGHT_H */
