/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What can be seen of the structures alone; for the policy's own files. */
#ifndef PTSCHED_POLICY_STATE_H
#define PTSCHED_POLICY_STATE_H

#include "structures.h"

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

/* Whether @e has the turn beside another that is not about to go. */
static inline bool ptsp_is_beside(const struct ptsp_entity *e)
{
	return e->company > 1;
}

/* Whether the holder @h keeps the turn with what a heavier one leaves of the device. */
static inline bool ptsp_is_below(const struct ptsp_device *dev, const struct ptsp_entity *h)
{
	return dev->above && dev->above != h && !h->called_back;
}

static inline void ptsp_set_signals(struct ptsp_device *dev, struct ptsp_entity *e, u32 signals)
{
	u32 old = e->signals;

	if (signals == old)
		return;
	e->signals = signals;
	dev->ops->signal(e, old);
}

#endif /* PTSCHED_POLICY_STATE_H */
