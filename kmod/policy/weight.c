// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* The CPU scheduler's weights, so that nice means the same for the GPU. */
#include "weight.h"

/* As in kernel/sched/core.c, which does not export it: 1.25 times per step. */
static const u32 weights[40] = {
	88761, 71755, 56483, 46273, 36291,	/* -20 */
	29154, 23254, 18705, 14949, 11916,	/* -15 */
	9548, 7620, 6100, 4904, 3906,		/* -10 */
	3121, 2501, 1991, 1586, 1277,		/*  -5 */
	1024, 820, 655, 526, 423,		/*   0 */
	335, 272, 215, 172, 137,		/*   5 */
	110, 87, 70, 56, 45,			/*  10 */
	36, 29, 23, 18, 15,			/*  15 */
};

u32 ptsp_nice_to_weight(int nice)
{
	if (nice < -20)
		nice = -20;
	if (nice > 19)
		nice = 19;
	return weights[nice + 20];
}

u32 ptsp_share_to_weight(u32 share)
{
	return (share * 1024 + 50) / 100;
}
