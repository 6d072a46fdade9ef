/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Budgets and their refill: private to the policy. */
#ifndef PTSCHED_POLICY_BUDGET_H
#define PTSCHED_POLICY_BUDGET_H

#include "arithmetic.h"
#include "policy.h"

/* A running average; the first value is one. */
static inline u64 ptsp_average(u64 old, u64 new_value)
{
	return old ? (3 * old + new_value) / 4 : new_value;
}

/* One entity at a time has the turn; else each is held back by its own budget, or nobody is. */
static inline bool ptsp_exclusive(const struct ptsp_device *dev)
{
	return !dev->params.many && dev->params.kind != PTSP_NONE;
}

/* Called back, it said when it will be through; the next may be let in before that. */
static inline bool ptsp_drains(const struct ptsp_entity *holder)
{
	return holder->drained_ns != PTSP_NEVER && !holder->late;
}

/* Of a slice, how much longer than told it may drain, or how long it takes to be taken off. */
#define PTSP_OVERRUN_SHIFT	2

/*
 * Whether the work of @holder was to be taken off the device so long ago that
 * the device's time is that of others, whether the turn was given back or not.
 */
static inline bool ptsp_is_off(const struct ptsp_device *dev, const struct ptsp_entity *holder)
{
	return holder->preempted &&
	       dev->now_ns - holder->preempted_ns >= ptsp_slice(dev) >> PTSP_OVERRUN_SHIFT;
}

static inline void ptsp_set_signals(struct ptsp_device *dev, struct ptsp_entity *e, u32 signals)
{
	u32 old = e->signals;

	if (signals == old)
		return;
	e->signals = signals;
	dev->ops->signal(e, old);
}

/* Bring the device's clock, earnings and charges up to @now. */
void ptsp_advance(struct ptsp_device *dev, u64 now);

/* Bring the entity's budget and what is counted of its turn up to the device's clock. */
void ptsp_settle(struct ptsp_device *dev, struct ptsp_entity *e);

/* Somebody is about to wait, or nobody any more, which changes what holders keep. */
void ptsp_settle_holders(struct ptsp_device *dev);

/* Debit @ns; time that was given away does not lower the budget below its floor. */
void ptsp_charge(struct ptsp_device *dev, struct ptsp_entity *e, u64 ns);

/* The virtual time at which the budget of @e, settled and negative, will be zero. */
u64 ptsp_due(const struct ptsp_device *dev, const struct ptsp_entity *e);

/* Start or stop counting among those who earn; both need a settled entity. */
void ptsp_activate(struct ptsp_device *dev, struct ptsp_entity *e);
void ptsp_deactivate(struct ptsp_device *dev, struct ptsp_entity *e);

/* What a dead entity owes, or has saved (below 0), goes to its user, and on to a new one. */
void ptsp_user_owe(struct ptsp_device *dev, struct ptsp_user *user, const struct ptsp_entity *e);
s64 ptsp_user_take(struct ptsp_device *dev, struct ptsp_user *user);

#endif /* PTSCHED_POLICY_BUDGET_H */
