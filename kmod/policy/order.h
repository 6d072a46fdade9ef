/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Who comes first: entities in ordered trees; for the policy's own files. */
#ifndef PTSCHED_POLICY_ORDER_H
#define PTSCHED_POLICY_ORDER_H

#include "policy.h"

#define ptsp_node_entry(node, member) \
	((struct ptsp_entity *)((char *)(node) - offsetof(struct ptsp_entity, member)))

/* The first of a tree, by the member that links it there; NULL: it is empty. */
#define ptsp_tree_first(tree, member) ({ \
	struct rb_node *first_ = rb_first_cached(tree); \
	first_ ? ptsp_node_entry(first_, member) : NULL; })

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
