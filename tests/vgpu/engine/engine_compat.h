/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* The kernel's integer types, in the kernel and out of it. */
#ifndef VGPU_ENGINE_COMPAT_H
#define VGPU_ENGINE_COMPAT_H

#ifdef __KERNEL__
#include <linux/math64.h>
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>

typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;

static inline u64 div64_u64(u64 dividend, u64 divisor)
{
	return dividend / divisor;
}
#endif

#endif /* VGPU_ENGINE_COMPAT_H */
