/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Who may have the turn beside whom; for the policy's own files. */
#ifndef PTSCHED_POLICY_BESIDE_H
#define PTSCHED_POLICY_BESIDE_H

#include "structures.h"

/* A new entity, or budgets that start afresh: nothing is known of its pace. */
void ptsp_forget_pace(struct ptsp_device *dev, struct ptsp_entity *e);

/* The turn of @e begins. */
static inline void ptsp_pace_begins(struct ptsp_device *dev, struct ptsp_entity *e)
{
	e->told_ns = dev->now_ns;
	e->mixed = false;
	e->company = 1;
}

/* What @e, a holder, told of its use since the last time, or since its turn began. */
void ptsp_keep_pace(struct ptsp_device *dev, struct ptsp_entity *e, u64 gpu_ns, u32 submissions);

/*
 * Whether @e may have the turn beside others of its weight: the device serves
 * several at once, @e leaves it idle for much of a turn, and did not suffer beside
 * others lately.
 */
bool ptsp_is_sociable(const struct ptsp_device *dev, const struct ptsp_entity *e);

/* Whether @a and @b may have the turn beside each other. */
bool ptsp_go_together(const struct ptsp_device *dev, const struct ptsp_entity *a,
		      const struct ptsp_entity *b);

/*
 * Whether @e, which asks for the turn, leaves @h on the device below it, since it
 * has no pauses in which it would lose more by that than by taking it off.
 */
bool ptsp_goes_above(const struct ptsp_device *dev, const struct ptsp_entity *e,
		     const struct ptsp_entity *h);

/* Count anew who is beside whom: a turn began, ended, or was called back. */
void ptsp_count_company(struct ptsp_device *dev);

#endif /* PTSCHED_POLICY_BESIDE_H */
