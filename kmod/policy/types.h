/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The kernel's short names of types, in user space, too. */
#ifndef PTSCHED_POLICY_TYPES_H
#define PTSCHED_POLICY_TYPES_H

#include <linux/types.h>
#ifndef __KERNEL__
#include <stdbool.h>
#include <stddef.h>
typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
#endif

#endif /* PTSCHED_POLICY_TYPES_H */
