/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What decisions do to entities, and what these ask of decisions; for the policy's own files. */
#ifndef PTSCHED_POLICY_DECIDE_H
#define PTSCHED_POLICY_DECIDE_H

#include "order.h"

/* Of a slice, the shortest pause between two looks at what nothing announces. */
#define PTSP_LOOK_SHIFT	4

/* Whether the hardware serves @h briefly at a time, as it is told that a heavier one may come. */
static inline bool ptsp_has_brief_slices(const struct ptsp_device *dev, const struct ptsp_entity *h)
{
	return h->preemptible && ptsp_top_standing(dev) > h->standing;
}

/* Whether @h, which has the turn, is to leave the device at once for @e, which has budget. */
static inline bool ptsp_interrupts(const struct ptsp_device *dev, const struct ptsp_entity *e,
				   const struct ptsp_entity *h)
{
	if (ptsp_goes_first(dev, e) && !ptsp_leads(dev, h) && e->standing >= h->standing)
		return true;
	return e->fresh && ptsp_heavier(dev, e, h);
}

/* The eligible waiter that goes first; else NULL and when there will be one. */
struct ptsp_entity *ptsp_best_eligible(struct ptsp_device *dev, u64 *next);

/* Whether @e may have time that is given away. */
bool ptsp_may_take(const struct ptsp_device *dev, const struct ptsp_entity *e, u64 *next);

/*
 * Call back who must go, and tell all who have the turn what they may know. Returns
 * whether one has just ceased to keep others out.
 */
bool ptsp_review_holders(struct ptsp_device *dev, u64 *next);

/* The weight of @e is read again. */
void ptsp_set_weight(struct ptsp_device *dev, struct ptsp_entity *e);

/* A waiter has the turn. */
void ptsp_grant(struct ptsp_device *dev, struct ptsp_entity *e);

/* A holder is to give the turn back. */
void ptsp_call_back(struct ptsp_device *dev, struct ptsp_entity *h);

/* It has not done so: since then others are admitted beside it. */
void ptsp_make_late(struct ptsp_device *dev, struct ptsp_entity *h, u64 since);

/* Its work is to be taken off the device. */
void ptsp_preempt(struct ptsp_device *dev, struct ptsp_entity *h);

/* Who has lighter ones below it has them no longer. */
void ptsp_clear_below(struct ptsp_device *dev);

/* Make new settings known to some of those that do not go by them yet. */
void ptsp_refresh_some(struct ptsp_device *dev);

/*
 * Not fresh is who comes straight back after a call-back: it was told to go, and
 * some microseconds of earnings are no reason to interrupt the next.
 */
bool ptsp_is_fresh(const struct ptsp_device *dev, const struct ptsp_entity *e);

/* A holder, where many may be, is told what all others are told. */
void ptsp_tell_one(struct ptsp_device *dev, struct ptsp_entity *h);

#endif /* PTSCHED_POLICY_DECIDE_H */
