// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Virtual time: earnings per weight.
 *
 * Policy weighted: the device's runs at 1/W, W being the weight of all who are active
 * at the top: entities of no group, and groups that have an active member. A group
 * earns as an entity of its weight would; its own virtual time runs at what it earns,
 * over the weight of its active members, entities and groups. So a budget in a group
 * is worth the same as one elsewhere, and what a group gets does not depend on how
 * many there are in it. A group's clock is brought up to date when somebody looks.
 *
 * Who is not active earns too, by a virtual time of its own, and nobody loses by it.
 *
 * What a member has spent beyond its earnings when it goes is paid by those of its
 * group who stay; of a group that nobody stays in, by those beside the group.
 *
 * Policy literal knows no groups: virtual time is what each entity earned.
 */
#include "list.h"
#include "policy.h"
#include "vtime.h"

/* The paper updates its budgets every 10 us; no quantum is shorter. */
#define QUANTUM_MIN_NS	10000ULL
/* While the active have too much, such a part of what there is to earn is earned yet. */
#define EXCESS_SHIFT	3
/* What a debt of a group is reckoned ahead for at most, before it is looked at again. */
#define AHEAD_NS	(PTSP_LONG_NS >> 4)
/* Two weights one above the other, and so on, still differ. */
#define STANDING_SHIFT	8
/* A rate is never zero. */
#define RATE_MIN	(1ULL << (PTSP_RATE_SHIFT / 2))

void ptsp_refresh_quantum(struct ptsp_device *dev)
{
	const struct ptsp_entity *least = ptsp_tree_first(&dev->uses, use);
	u64 min_use = least ? least->use_ns : 0;

	dev->quantum_ns = max_u64(div_u64_u64(min_use * dev->params.alpha, 1000), QUANTUM_MIN_NS);
}

/* The whole quanta that have passed since the last refill at @now. */
static u64 quanta(const struct ptsp_device *dev, u64 now)
{
	return div_u64_u64(now - dev->tick_ns, dev->quantum_ns) * dev->quantum_ns;
}

/*
 * What is earned beyond @earned, or less: an excess is paid with most of what there
 * is to earn, a lack made good by twice as much.
 */
static s64 correction(s64 excess, u64 earned)
{
	if (excess > 0)
		return -(s64)min_u64((u64)excess, earned - (earned >> EXCESS_SHIFT));
	return (s64)min_u64((u64)-excess, earned);
}

/* The inverse of @earned + correction(): how much is to be earned for it to be @wanted. */
static u64 uncorrected(s64 excess, u64 wanted)
{
	u64 lack = (u64)-excess;

	if (excess > 0)
		return min_u64(wanted << EXCESS_SHIFT, wanted + (u64)excess);
	return wanted / 2 <= lack ? (wanted + 1) / 2 : wanted - lack;
}

/* The virtual time at @now of those at the top who are active, or of the others. */
static inline u64 vtime_at(const struct ptsp_device *dev, bool active, u64 now)
{
	u64 vtime = active ? dev->vtime : dev->absent_vtime;
	u64 dt = now - dev->now_ns;

	if (dev->params.kind == PTSP_LITERAL)
		return vtime + ptsp_fixed(quanta(dev, now));
	/* As nearly always. */
	if (!dt)
		return vtime;
	dt = min_u64(dt, PTSP_LONG_NS);
	return vtime + ptsp_virtual(dev, active ? dt + (u64)correction(dev->excess_ns, dt) : dt);
}

void ptsp_advance_corrected(struct ptsp_device *dev, u64 now)
{
	u64 dt = min_u64(now - dev->now_ns, PTSP_LONG_NS), quantum;

	if (dev->params.kind == PTSP_LITERAL) {
		quantum = quanta(dev, now);
		dev->vtime += ptsp_fixed(quantum);
		dev->absent_vtime += ptsp_fixed(quantum);
		dev->tick_ns += quantum;
		return;
	}
	dev->vtime = vtime_at(dev, true, now);
	dev->excess_ns += correction(dev->excess_ns, dt);
	dev->absent_vtime += ptsp_virtual(dev, dt);
}

/* A group's clock as it will be, and the virtual time above that it goes by. */
struct clock {
	u64 above;
	u64 time;
	u64 vtime;
	u64 absent_vtime;
	u64 rest;
	u64 absent_rest;
	s64 excess;
};

static u64 weight_above(const struct ptsp_device *dev, const struct ptsp_group *group)
{
	return group->parent ? group->parent->active_weight : dev->active_weight;
}

/* What the group earns while the virtual time above goes on by @vtime, in @dt. */
static u64 earned_by_group(const struct ptsp_device *dev, const struct ptsp_group *group,
			   u64 vtime, u64 dt)
{
	u64 most = ptsp_fixed(dt);

	if (dt > PTSP_LONG_NS)
		return mul_div(most, group->weight,
			       max_u64(weight_above(dev, group), group->weight));
	/* With a fraction of a nanosecond, where the product has room for it. */
	if (vtime >> 44)
		return min_u64(mul_shr(vtime, group->weight, PTSP_VSHIFT), dt) << PTSP_VSHIFT;
	return min_u64(vtime * group->weight, most);
}

/* Not a fraction is lost, however often a group's clock is looked at. */
static void run_vtime(u64 *vtime, u64 *rest, u64 earned, u64 weight)
{
	u64 passed = div_u64_u64(earned + *rest, weight);

	*vtime += passed;
	*rest += earned - passed * weight;
}

static struct clock clock_at(const struct ptsp_device *dev, const struct ptsp_group *group, u64 now)
{
	struct clock at = {
		.above = group->above,
		.time = group->time,
		.vtime = group->vtime,
		.absent_vtime = group->absent_vtime,
		.rest = group->rest,
		.absent_rest = group->absent_rest,
		.excess = group->excess,
	};
	u64 weight = max_u64(group->active_weight, 1), passed, earned;
	s64 corrected;

	if (group->stamp_ns == now)
		return at;
	at.above = ptsp_stamp_at(dev, group->parent, group->active_weight, now).vtime;
	passed = at.above - group->above;
	if (dev->params.kind == PTSP_LITERAL) {
		at.time += passed;
		at.vtime += passed;
		at.absent_vtime += passed;
		return at;
	}
	earned = earned_by_group(dev, group, passed, now - group->stamp_ns);
	corrected = correction(group->excess, earned);
	at.time += earned;
	run_vtime(&at.absent_vtime, &at.absent_rest, earned, weight);
	run_vtime(&at.vtime, &at.rest, earned + (u64)corrected, weight);
	at.excess += corrected;
	return at;
}

struct ptsp_stamp ptsp_stamp_later(const struct ptsp_device *dev, const struct ptsp_group *group,
				   bool active, u64 now)
{
	struct ptsp_stamp stamp = { .ns = now };
	struct clock at;

	if (!group) {
		stamp.vtime = vtime_at(dev, active, now);
		return stamp;
	}
	at = clock_at(dev, group, now);
	stamp.time = at.time;
	stamp.vtime = active ? at.vtime : at.absent_vtime;
	return stamp;
}

void ptsp_advance_clock(struct ptsp_device *dev, struct ptsp_group *group)
{
	struct clock at;

	ptsp_advance_group(dev, group->parent);
	at = clock_at(dev, group, dev->now_ns);
	group->above = at.above;
	group->time = at.time;
	group->vtime = at.vtime;
	group->absent_vtime = at.absent_vtime;
	group->rest = at.rest;
	group->absent_rest = at.absent_rest;
	group->excess = at.excess;
	group->stamp_ns = dev->now_ns;
}

/* After a time that the difference of two virtual times does not hold. */
u64 ptsp_earned_in_long(const struct ptsp_device *dev, const struct ptsp_group *group, u32 weight,
			u64 dt)
{
	u64 earned = mul_div(dt, weight,
			     max_u64(group ? group->active_weight : dev->active_weight, weight));

	for (; group; group = group->parent)
		earned = mul_div(earned, group->weight,
				 max_u64(weight_above(dev, group), group->weight));
	return earned;
}

u64 ptsp_vtime_above(struct ptsp_device *dev, struct ptsp_group *group, u64 vtime)
{
	u64 weight = max_u64(group->active_weight, 1), left, most = AHEAD_NS << PTSP_VSHIFT;

	ptsp_advance_group(dev, group);
	left = vtime - group->vtime;
	if ((s64)left <= 0)
		return group->above;
	if (dev->params.kind == PTSP_LITERAL)
		return group->above + left;
	left = left >= div_u64_u64(most, weight) ? most : left * weight;
	if (left <= group->rest)
		return group->above;
	left = min_u64(uncorrected(group->excess, left - group->rest), ptsp_fixed(PTSP_LONG_NS));
	return group->above + div_u64_u64(left + group->weight - 1, group->weight);
}

u64 ptsp_instant_of(const struct ptsp_device *dev, u64 vtime)
{
	u64 left = vtime - dev->vtime, weight = max_u64(dev->active_weight, 1), ns;

	if ((s64)left <= 0)
		return dev->now_ns;
	if (dev->params.kind == PTSP_LITERAL) {
		ns = (left >> PTSP_VSHIFT) + dev->quantum_ns - 1;
		return dev->tick_ns + div_u64_u64(ns, dev->quantum_ns) * dev->quantum_ns;
	}
	/* The product may not fit, and by then everything will have changed. */
	if (left >> PTSP_VSHIFT >= div_u64_u64(PTSP_LONG_NS, weight))
		return dev->now_ns + PTSP_LONG_NS;
	ns = (left * weight + (1 << PTSP_VSHIFT) - 1) >> PTSP_VSHIFT;
	return dev->now_ns + uncorrected(dev->excess_ns, ns);
}

u64 ptsp_rate(const struct ptsp_entity *e)
{
	u64 rate = (u64)e->weight << PTSP_RATE_SHIFT, weight = e->weight;
	const struct ptsp_group *group;

	for (group = e->user->group; group; group = group->parent) {
		rate = mul_div(rate, group->weight, max_u64(group->active_weight, weight));
		weight = group->weight;
	}
	return max_u64(rate, RATE_MIN);
}

u32 ptsp_standing(const struct ptsp_entity *e)
{
	u64 standing = (u64)e->weight << STANDING_SHIFT;
	const struct ptsp_group *group;

	for (group = e->user->group; group; group = group->parent)
		standing = min_u64(standing * group->weight / PTSP_GROUP_WEIGHT, ~0U);
	return (u32)max_u64(standing, 1);
}
