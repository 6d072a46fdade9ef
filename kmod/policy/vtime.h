/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Virtual time, the device's and those of groups: private to the policy. */
#ifndef PTSCHED_POLICY_VTIME_H
#define PTSCHED_POLICY_VTIME_H

#include "arithmetic.h"
#include "structures.h"

/* Fraction bits of virtual time: exact to 0.1 ns at the largest nice weight. */
#define PTSP_VSHIFT	20
/* Beyond this, an entity is simply as old as the clock says: no overflow. */
#define PTSP_LONG_NS	3600000000000ULL
/* Fraction bits of ptsp_rate(). */
#define PTSP_RATE_SHIFT	20

/* In units of virtual time. */
static inline u64 ptsp_fixed(u64 ns)
{
	return min_u64(ns, PTSP_LONG_NS) << PTSP_VSHIFT;
}

/* The paper's q = T = alpha * min(t), over those who use the device. */
void ptsp_refresh_quantum(struct ptsp_device *dev);

struct ptsp_stamp ptsp_stamp_later(const struct ptsp_device *dev, const struct ptsp_group *group,
				   bool active, u64 now);

/*
 * The stamp of members of @group (NULL: of none) at @now, which the device's clock
 * has not passed; @active: of those who are.
 */
static inline struct ptsp_stamp ptsp_stamp_at(const struct ptsp_device *dev,
					      const struct ptsp_group *group, bool active, u64 now)
{
	struct ptsp_stamp stamp = { .ns = now };

	if (group || now != dev->now_ns || dev->params.kind == PTSP_LITERAL)
		return ptsp_stamp_later(dev, group, active, now);
	stamp.vtime = active ? dev->vtime : dev->absent_vtime;
	return stamp;
}

u64 ptsp_earned_in_long(const struct ptsp_device *dev, const struct ptsp_group *group, u32 weight,
			u64 dt);

/* What @weight in @group earned from one stamp to another. */
static inline u64 ptsp_earned(const struct ptsp_device *dev, const struct ptsp_group *group,
			      u32 weight, const struct ptsp_stamp *from,
			      const struct ptsp_stamp *to)
{
	u64 dt = to->ns - from->ns, vtime = to->vtime - from->vtime;

	if (dt > PTSP_LONG_NS)
		return ptsp_earned_in_long(dev, group, weight, dt);
	if (dev->params.kind == PTSP_LITERAL)
		return vtime >> PTSP_VSHIFT;
	/* Rounded up: who is due by virtual time would else be looked at again and again. */
	if (group)
		dt = (to->time - from->time + (1 << PTSP_VSHIFT) - 1) >> PTSP_VSHIFT;
	return min_u64(dt, mul_shr(vtime, weight, PTSP_VSHIFT));
}

/* How far virtual time runs while @ns are earned; alone in the world, everybody earns all of it. */
static inline u64 ptsp_virtual(const struct ptsp_device *dev, u64 ns)
{
	return div_u64_u64(ns << PTSP_VSHIFT, max_u64(dev->active_weight, 1));
}

void ptsp_advance_corrected(struct ptsp_device *dev, u64 now);

/* From the device's clock to @now nothing changed. */
static inline void ptsp_advance_vtime(struct ptsp_device *dev, u64 now)
{
	u64 passed;

	if (dev->params.kind == PTSP_LITERAL || dev->excess_ns) {
		ptsp_advance_corrected(dev, now);
		return;
	}
	passed = ptsp_virtual(dev, min_u64(now - dev->now_ns, PTSP_LONG_NS));
	dev->vtime += passed;
	dev->absent_vtime += passed;
}

void ptsp_advance_clock(struct ptsp_device *dev, struct ptsp_group *group);

/* Bring the virtual time of @group, if any, up to the device's clock. */
static inline void ptsp_advance_group(struct ptsp_device *dev, struct ptsp_group *group)
{
	if (group && group->stamp_ns != dev->now_ns)
		ptsp_advance_clock(dev, group);
}

/* The virtual time of active members of @group; it is as old as the last advance. */
static inline u64 ptsp_vtime(const struct ptsp_device *dev, const struct ptsp_group *group)
{
	return group ? group->vtime : dev->vtime;
}

/* The group's parent's virtual time at which the group's own will be @vtime, if nothing changes. */
u64 ptsp_vtime_above(struct ptsp_device *dev, struct ptsp_group *group, u64 vtime);

/* The instant at which the device's virtual time will be @vtime, if nothing changes. */
u64 ptsp_instant_of(const struct ptsp_device *dev, u64 vtime);

/*
 * What @e weighs against all others of the device, whatever their groups, if it
 * earns now; with PTSP_RATE_SHIFT fraction bits.
 */
u64 ptsp_rate(const struct ptsp_entity *e);

/*
 * Who goes first: weight by weight up to the root. Unlike its rate it says nothing of
 * how many there are.
 */
u32 ptsp_standing(const struct ptsp_entity *e);

#endif /* PTSCHED_POLICY_VTIME_H */
