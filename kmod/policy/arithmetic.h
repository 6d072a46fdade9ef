/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Wide products and quotients, in the kernel and elsewhere: private to the policy. */
#ifndef PTSCHED_POLICY_ARITHMETIC_H
#define PTSCHED_POLICY_ARITHMETIC_H

#include "types.h"

#ifdef __KERNEL__

#include <linux/math64.h>

#define div_u64_u64(a, b)	div64_u64(a, b)
#define mul_shr(a, mul, shift)	mul_u64_u32_shr(a, mul, shift)
#define mul_div(a, b, c)	mul_u64_u64_div_u64(a, b, c)

#else

#define div_u64_u64(a, b)	((a) / (b))
#define mul_shr(a, mul, shift)	((u64)(((__uint128_t)(a) * (mul)) >> (shift)))

/* The kernel's faults on x86, too, where the quotient has more than 64 bits. */
static inline u64 mul_div(u64 a, u64 b, u64 c)
{
	__uint128_t quotient = (__uint128_t)a * b / c;

	if (quotient >> 64)
		__builtin_trap();
	return (u64)quotient;
}

#endif

static inline u64 min_u64(u64 a, u64 b)
{
	return a < b ? a : b;
}

static inline u64 max_u64(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* A running average; the first value is one. */
static inline u64 ptsp_average(u64 old, u64 new_value)
{
	return old ? (3 * old + new_value) / 4 : new_value;
}

#endif /* PTSCHED_POLICY_ARITHMETIC_H */
