/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Who comes first: entities in ordered trees; for the policy's own files. */
#ifndef PTSCHED_POLICY_ORDER_H
#define PTSCHED_POLICY_ORDER_H

#include "list.h"

/* The paper's rule orders nobody by weight: there, first come, first served. */
static inline bool ptsp_heavier(const struct ptsp_device *dev, const struct ptsp_entity *a,
				const struct ptsp_entity *b)
{
	return dev->params.kind == PTSP_WEIGHTED && a->standing > b->standing;
}

/* Whether the gang of @e goes first now. */
static inline bool ptsp_leads(const struct ptsp_device *dev, const struct ptsp_entity *e)
{
	return e->lead_until_ns > dev->now_ns && dev->params.kind == PTSP_WEIGHTED;
}

/* In a slice in which its gang goes first, an entity has so many turns before its equals. */
#define PTSP_LED_TURNS	5

/* Whether the next turn of @e is one of those that come before its equals'. */
static inline bool ptsp_goes_first(const struct ptsp_device *dev, const struct ptsp_entity *e)
{
	return e->led < PTSP_LED_TURNS && ptsp_leads(dev, e);
}

/* Put @e, which is settled, where its state and its budget belong: enum ptsp_place. */
void ptsp_place(struct ptsp_device *dev, struct ptsp_entity *e);

/* Take @e, which is in one of these, out of it. */
void ptsp_take_out(struct ptsp_device *dev, struct ptsp_entity *e);

static inline void ptsp_unplace(struct ptsp_device *dev, struct ptsp_entity *e)
{
	if (dev->lone == e)
		dev->lone = NULL;
	if (e->place)
		ptsp_take_out(dev, e);
}

/* Who is active alone, and has budget, is in no order until this. */
void ptsp_place_lone(struct ptsp_device *dev);

/* The waiter with budget that goes first; NULL: there is none. */
static inline struct ptsp_entity *ptsp_first_ready(const struct ptsp_device *dev)
{
	if (dev->lone && dev->lone->state == PTSP_WAITING)
		return dev->lone;
	return ptsp_tree_first(&dev->ready, order);
}

/* Move those whose budgets are no longer negative; not all at once. */
void ptsp_place_due(struct ptsp_device *dev);

/* When the first waiter will have budget, if nothing changes; PTSP_NEVER: all have. */
u64 ptsp_next_due(const struct ptsp_device *dev);

/* When the first member of @group, and of those it is in, will have budget may have changed. */
void ptsp_place_group(struct ptsp_device *dev, struct ptsp_group *group);

/* One of the holders without budget, if many hold; NULL: there is none. */
struct ptsp_entity *ptsp_first_overdrawn(struct ptsp_device *dev);

/* @e is active or not, or has another standing. */
void ptsp_rank(struct ptsp_device *dev, struct ptsp_entity *e);

/* The highest standing of all entities. */
u32 ptsp_top_standing(const struct ptsp_device *dev);

/* The one that stays active for the shortest time yet; NULL: there is none. */
static inline struct ptsp_entity *ptsp_first_lingerer(const struct ptsp_device *dev)
{
	if (dev->lone && dev->lone->state == PTSP_IDLE)
		return dev->lone;
	return ptsp_tree_first(&dev->lingerers, take);
}

/* @e, which is placed, stays active for a while yet, until linger_ns, or no longer. */
void ptsp_lingers(struct ptsp_device *dev, struct ptsp_entity *e);
void ptsp_returns(struct ptsp_device *dev, struct ptsp_entity *e);

/* The user's waiters or withheld_ns changed. */
void ptsp_place_user(struct ptsp_device *dev, struct ptsp_user *user);

/* Of the waiters without budget, who had the least of the time given away; NULL: none may. */
struct ptsp_entity *ptsp_least_given(struct ptsp_device *dev, u64 *next);

/* The use of @e, which is active or not, has changed (literal). */
void ptsp_count_use(struct ptsp_device *dev, struct ptsp_entity *e);

#endif /* PTSCHED_POLICY_ORDER_H */
