/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Budgets and their refill: private to the policy. */
#ifndef PTSCHED_POLICY_BUDGET_H
#define PTSCHED_POLICY_BUDGET_H

#include "arithmetic.h"
#include "policy.h"
#include "state.h"

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

/* From the device's clock to @now nothing changed: bring earnings and charges up to that. */
void ptsp_step(struct ptsp_device *dev, u64 now);

/* Bring the entity's budget and what is counted of its turn up to the device's clock. */
void ptsp_settle(struct ptsp_device *dev, struct ptsp_entity *e);

/* Somebody is about to wait, or nobody any more, which changes what holders keep. */
void ptsp_settle_holders(struct ptsp_device *dev);

/* Debit @ns; time that was given away does not lower the budget below its floor. */
void ptsp_charge(struct ptsp_device *dev, struct ptsp_entity *e, u64 ns);

/* The virtual time at which the budget of @e, settled and negative, will be zero. */
u64 ptsp_due(const struct ptsp_device *dev, const struct ptsp_entity *e);

/* What a dead entity owes, or has saved (below 0), goes to its user, and on to a new one. */
void ptsp_user_owe(struct ptsp_device *dev, struct ptsp_user *user, const struct ptsp_entity *e);
s64 ptsp_user_take(struct ptsp_device *dev, struct ptsp_user *user);

#endif /* PTSCHED_POLICY_BUDGET_H */
