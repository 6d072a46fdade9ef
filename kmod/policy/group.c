// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Groups of entities, as the host makes them and sets their weights. */
#include "activity.h"
#include "earning.h"
#include "order.h"
#include "policy.h"
#include "vtime.h"

bool ptsp_group_init(struct ptsp_device *dev, struct ptsp_group *group, struct ptsp_group *parent,
		     u32 weight, u64 now)
{
	u32 depth = parent ? parent->depth + 1 : 1;

	if (depth > PTSP_DEPTH)
		return false;
	ptsp_advance(dev, now);
	ptsp_advance_group(dev, parent);
	*group = (struct ptsp_group){
		.parent = parent,
		.weight = weight,
		.depth = depth,
		.stamp_ns = dev->now_ns,
		.above = parent ? parent->absent_vtime : dev->absent_vtime,
	};
	return true;
}

void ptsp_group_set_weight(struct ptsp_device *dev, struct ptsp_group *group, u32 weight, u64 now)
{
	ptsp_advance(dev, now);
	ptsp_advance_group(dev, group);
	if (group->active_weight)
		ptsp_reweigh(dev, group->parent, group->weight, weight);
	group->weight = weight;
	ptsp_place_group(dev, group);
	/* Who goes first among all others may be another now. */
	dev->refresh = dev->entities.next;
}
