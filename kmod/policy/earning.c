// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Who earns: weights of members, of their groups, and of the groups that those are in. A
 * group is in order by its members (order.c), so that it moves with them.
 */
#include "earning.h"
#include "order.h"
#include "vtime.h"

/* Up to the first group that was active before. */
void ptsp_start_earning(struct ptsp_device *dev, struct ptsp_group *group, u32 weight)
{
	for (; group; group = group->parent) {
		ptsp_advance_group(dev, group);
		group->active_weight += weight;
		if (group->active_weight > weight) {
			ptsp_place_group(dev, group);
			return;
		}
		group->above = ptsp_vtime(dev, group->parent);
		weight = group->weight;
	}
	dev->active_weight += weight;
}

void ptsp_stop_earning(struct ptsp_device *dev, struct ptsp_group *group, u32 weight, s64 over_ns)
{
	s64 over = over_ns < 0 ? -(s64)ptsp_fixed((u64)-over_ns) : (s64)ptsp_fixed((u64)over_ns);

	for (; group; group = group->parent) {
		ptsp_advance_group(dev, group);
		group->active_weight -= weight;
		group->excess += over;
		if (group->active_weight) {
			ptsp_place_group(dev, group);
			return;
		}
		over = group->excess;
		group->excess = 0;
		group->above = group->parent ? group->parent->absent_vtime : dev->absent_vtime;
		weight = group->weight;
	}
	dev->active_weight -= weight;
	dev->excess_ns += over >> PTSP_VSHIFT;
}

void ptsp_reweigh(struct ptsp_device *dev, struct ptsp_group *group, u32 old, u32 weight)
{
	if (!group) {
		dev->active_weight += (u64)weight - old;
		return;
	}
	ptsp_advance_group(dev, group);
	group->active_weight += (u64)weight - old;
	ptsp_place_group(dev, group);
}
