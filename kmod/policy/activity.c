// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Who is active: waits, holds, or was here a moment ago. The active earn together, and who
 * stays away for long ceases to be one of them, at the instant that was foreseen.
 */
#include "activity.h"
#include "budget.h"
#include "earning.h"
#include "list.h"
#include "order.h"
#include "vtime.h"

void ptsp_forget_preadmission(struct ptsp_device *dev, struct ptsp_entity *e)
{
	if (!(e->signals & PTSP_SIG_PREADMITTED))
		return;
	ptsp_list_del(&e->queue);
	dev->nr_preadmitted--;
	ptsp_set_signals(dev, e, 0);
}

void ptsp_advance(struct ptsp_device *dev, u64 now)
{
	u32 left = PTSP_AT_ONCE;
	struct ptsp_entity *e;

	if (dev->params.kind == PTSP_LITERAL)
		ptsp_refresh_quantum(dev);
	while ((e = ptsp_first_lingerer(dev)) && e->linger_ns <= now) {
		if (!left--) {
			dev->more = true;
			break;
		}
		ptsp_step(dev, max_u64(e->linger_ns, dev->now_ns));
		ptsp_returns(dev, e);
		ptsp_settle(dev, e);
		ptsp_deactivate(dev, e);
		ptsp_forget_preadmission(dev, e);
	}
	ptsp_step(dev, now);
}

void ptsp_activate(struct ptsp_device *dev, struct ptsp_entity *e)
{
	if (e->active)
		return;
	ptsp_place_lone(dev);
	e->active = true;
	e->brought_ns = e->budget_ns;
	dev->entity_weight += e->weight;
	dev->nr_active++;
	ptsp_start_earning(dev, e->user->group, e->weight);
	e->stamp.vtime = ptsp_vtime(dev, e->user->group);
	ptsp_rank(dev, e);
	ptsp_count_use(dev, e);
}

void ptsp_deactivate(struct ptsp_device *dev, struct ptsp_entity *e)
{
	if (!e->active)
		return;
	ptsp_unplace(dev, e);
	e->active = false;
	e->credit_ns = 0;
	dev->entity_weight -= e->weight;
	dev->nr_active--;
	ptsp_stop_earning(dev, e->user->group, e->weight, e->brought_ns - e->budget_ns);
	if (!dev->nr_active)
		dev->excess_ns = 0;
	e->stamp = ptsp_stamp_at(dev, e->user->group, false, dev->now_ns);
	ptsp_rank(dev, e);
	ptsp_count_use(dev, e);
}
