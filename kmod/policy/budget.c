// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Budgets as functions of time: an entity earns its weight times the virtual time
 * that passed (vtime.c), by policy literal q each T, with q = T = alpha * min(t). Nothing
 * is updated while nobody looks, however many there are. An entity that is not active
 * earns too (a debt is repaid in absence).
 *
 * Who comes, spends more than it earns and goes would so leave the others with
 * more than there is to have: all would have budget, and the heaviest would take
 * all of it. What it has spent so is therefore taken from the earnings of those who
 * stay, and what it has saved is theirs, until it comes back with the entity or
 * another of its user: the budgets of the active sum to what they brought.
 */
#include "budget.h"
#include "list.h"
#include "vtime.h"

/* Fraction bits of given time, which nothing ever lowers: enough for 208 days of it at weight 1. */
#define GIVEN_SHIFT	10

/*
 * The most that an entity may save up by not using the device: of the slice that was set,
 * since one in force for long hand-overs may be ten times as long, for a moment.
 */
static s64 base_cap(const struct ptsp_device *dev, const struct ptsp_entity *e)
{
	if (dev->params.kind == PTSP_LITERAL)
		return (s64)mul_div(e->weight, dev->sum_use_ns,
				    max_u64(dev->entity_weight, e->weight));
	return 2 * (s64)dev->params.slice_ns;
}

/*
 * Whether @e keeps what it earns beyond its cap: who waits must not lose by that,
 * nor who spends more than it earns meanwhile, since others wait for its turn. The
 * paper's rule clips all.
 */
static bool keeps_all(const struct ptsp_device *dev, const struct ptsp_entity *e)
{
	if (dev->params.kind == PTSP_LITERAL)
		return false;
	return e->state == PTSP_WAITING ||
	       (e->state == PTSP_HOLDING && dev->nr_waiters && ptsp_exclusive(dev));
}

static void earn(const struct ptsp_device *dev, struct ptsp_entity *copy, u64 now)
{
	const struct ptsp_group *group = copy->user->group;
	struct ptsp_stamp stamp = ptsp_stamp_at(dev, group, copy->active, now);

	copy->budget_ns += (s64)ptsp_earned(dev, group, copy->weight, &copy->stamp, &stamp);
	copy->stamp = stamp;
}

/*
 * Credit what was earned until @now. @copy is the entity, or a copy of it whose
 * budget is only asked for. What is kept beyond the cap raises it until it is spent.
 */
static void settle(const struct ptsp_device *dev, struct ptsp_entity *copy, u64 now)
{
	s64 base = base_cap(dev, copy);

	/* Of an instant nothing is earned, but with another quantum. */
	if (copy->stamp.ns != now || dev->params.kind == PTSP_LITERAL)
		earn(dev, copy, now);
	if (!keeps_all(dev, copy) && copy->budget_ns > base + (s64)copy->credit_ns) {
		copy->clipped_ns += (u64)copy->budget_ns - copy->credit_ns - (u64)base;
		copy->budget_ns = base + (s64)copy->credit_ns;
	}
	copy->credit_ns = copy->budget_ns > base ? (u64)(copy->budget_ns - base) : 0;
}

static void charge_turn(struct ptsp_device *dev, struct ptsp_entity *e, u64 ns)
{
	ptsp_charge(dev, e, ns);
	e->turn_occupancy_ns += ns;
	e->stats.occupancy_ns += ns;
	if (e->given) {
		e->stats.given_ns += ns;
		dev->stats.given_ns += ns;
	}
}

static void count_held(struct ptsp_device *dev, struct ptsp_entity *e)
{
	u64 dt = dev->now_ns - e->counted_ns;

	e->counted_ns = dev->now_ns;
	e->stats.held_ns += dt;
	if (e->late && !dev->params.many)
		e->contended_ns += dt;
}

void ptsp_settle(struct ptsp_device *dev, struct ptsp_entity *e)
{
	ptsp_advance_group(dev, e->user->group);
	settle(dev, e, dev->now_ns);
	if (e->state != PTSP_HOLDING)
		return;
	count_held(dev, e);
	if (e->late && !e->preempted) {
		charge_turn(dev, e, dev->late_vt - e->late_vstamp);
		e->late_vstamp = dev->late_vt;
	}
}

static void settle_queue(struct ptsp_device *dev, const struct ptsp_link *queue)
{
	struct ptsp_entity *e;

	for (e = ptsp_queue_first(queue); e; e = ptsp_queue_next(queue, e))
		ptsp_settle(dev, e);
}

void ptsp_settle_holders(struct ptsp_device *dev)
{
	if (!ptsp_exclusive(dev))
		return;
	settle_queue(dev, &dev->holders);
	settle_queue(dev, &dev->leaving);
}

struct ptsp_stats ptsp_stats_of(const struct ptsp_device *dev, const struct ptsp_entity *e)
{
	struct ptsp_stats stats = e->stats;

	if (e->state == PTSP_HOLDING)
		stats.held_ns += dev->now_ns - e->counted_ns;
	return stats;
}

s64 ptsp_budget(const struct ptsp_device *dev, const struct ptsp_entity *e, u64 now)
{
	struct ptsp_entity copy = *e;

	settle(dev, &copy, now);
	return copy.budget_ns;
}

s64 ptsp_cap(const struct ptsp_device *dev, const struct ptsp_entity *e)
{
	struct ptsp_entity copy = *e;

	settle(dev, &copy, dev->now_ns);
	return base_cap(dev, e) + (s64)copy.credit_ns;
}

u64 ptsp_due(const struct ptsp_device *dev, const struct ptsp_entity *e)
{
	u32 rate = dev->params.kind == PTSP_LITERAL ? 1 : e->weight;
	u64 debt = min_u64((u64)-e->budget_ns, PTSP_LONG_NS) << PTSP_VSHIFT;

	return e->stamp.vtime + div_u64_u64(debt + rate - 1, rate);
}

/* Given time over weight; rounded up: it is free for nobody. */
static u64 given_vtime(const struct ptsp_entity *e, u64 ns)
{
	const u32 shift = GIVEN_SHIFT + PTSP_RATE_SHIFT;
	u64 rate;

	if (!e->user->group) {
		ns = min_u64(ns, PTSP_NEVER >> GIVEN_SHIFT);
		return div_u64_u64(ns << GIVEN_SHIFT, e->weight) + 1;
	}
	rate = ptsp_rate(e);
	/* The quotient has 64 bits. */
	return mul_div(min_u64(ns, rate << (63 - shift)), 1ULL << shift, rate) + 1;
}

void ptsp_charge(struct ptsp_device *dev, struct ptsp_entity *e, u64 ns)
{
	s64 floor = -(s64)max_u64(ptsp_slice(dev), e->use_ns);
	s64 after = e->budget_ns - (s64)ns;

	if (e->given) {
		e->given_vt += given_vtime(e, ns);
		if (after < floor)
			after = e->budget_ns < floor ? e->budget_ns : floor;
	}
	e->budget_ns = after;
}

/* Those whose work the device does: of the holders, not who is off it while others are not. */
struct occupants {
	u32 all;
	u32 draining;	/* told to go, and said when they will be through */
};

static struct occupants count_occupants(const struct ptsp_device *dev)
{
	const struct ptsp_entity *e;
	/* Who is below another has what that one leaves. */
	u32 keeping = dev->above ? 1 : dev->nr_keeping;
	struct occupants n = { .all = keeping + dev->nr_late_on };

	for (e = ptsp_queue_first(&dev->leaving); e; e = ptsp_queue_next(&dev->leaving, e)) {
		if (ptsp_is_off(dev, e))
			continue;
		n.all++;
		n.draining += ptsp_drains(e);
	}
	return n;
}

/* Who drains pays, with the late, for the time in which the next has been let in already. */
static bool pays(const struct ptsp_device *dev, const struct ptsp_entity *e,
		 const struct occupants *n)
{
	if (n->all && ptsp_is_off(dev, e))
		return false;
	return !n->draining || ptsp_drains(e);
}

static void charge_queue(struct ptsp_device *dev, const struct ptsp_link *queue,
			 const struct occupants *n, u64 dt, u64 share)
{
	/* A slice is what others wait for. */
	u64 waited = dev->nr_waiters || dev->nr_holders > 1 ? dt : 0;
	struct ptsp_entity *e;

	for (e = ptsp_queue_first(queue); e; e = ptsp_queue_next(queue, e)) {
		if (ptsp_is_below(dev, e))
			continue;
		e->contended_ns += waited;
		if (!pays(dev, e, n))
			continue;
		/* Beside each other they may be for minutes: what these earned pays first. */
		if (ptsp_is_beside(e))
			count_held(dev, e);
		else
			ptsp_settle(dev, e);
		charge_turn(dev, e, share);
		dev->stats.occupancy_ns += share;
	}
}

/*
 * The time of a turn goes by: while others are active, it costs. The late, of whom
 * there may be any number, are charged when they are looked at.
 */
static void charge_holders(struct ptsp_device *dev, u64 dt)
{
	struct occupants n = count_occupants(dev);
	u32 payers = n.draining ? n.draining + dev->nr_late_on :
		     n.all ? n.all : dev->nr_holders - dev->nr_late;
	u64 share = div_u64_u64(dt, max_u64(payers, 1));

	charge_queue(dev, &dev->holders, &n, dt, share);
	charge_queue(dev, &dev->leaving, &n, dt, share);
	dev->late_vt += share;
	dev->stats.occupancy_ns += share * dev->nr_late_on;
}

/*
 * From the device's clock to @now nothing changed. Where any number may hold
 * turns, holding one says nothing about use: as in the paper, what the clients
 * measured is debited (ptsp_report()).
 */
void ptsp_step(struct ptsp_device *dev, u64 now)
{
	bool contended = dev->nr_waiters || (dev->nr_holders && dev->nr_active > 1);
	u64 dt = now - dev->now_ns;

	/* With another quantum, a refill may be due at once. */
	if (!dt && dev->params.kind != PTSP_LITERAL)
		return;
	ptsp_advance_vtime(dev, now);
	dev->now_ns = now;
	dev->stats.held_ns += dt * dev->nr_holders;
	if (contended && ptsp_exclusive(dev))
		charge_holders(dev, dt);
}

u64 ptsp_user_debt(const struct ptsp_device *dev, const struct ptsp_user *user, u64 now)
{
	struct ptsp_stamp stamp;
	u64 repaid;

	if (user->debt_ns <= 0)
		return 0;
	stamp = ptsp_stamp_at(dev, user->group, false, now);
	repaid = ptsp_earned(dev, user->group, user->weight, &user->stamp, &stamp);
	return repaid < (u64)user->debt_ns ? (u64)user->debt_ns - repaid : 0;
}

bool ptsp_user_owes(const struct ptsp_device *dev, const struct ptsp_user *user, u64 now)
{
	return user->withheld_ns > now || ptsp_user_debt(dev, user, now);
}

/* What @e owes of its own, or with the sign turned, has saved while it was active. */
static s64 own_debt(const struct ptsp_entity *e)
{
	s64 brought = e->brought_ns > 0 ? e->brought_ns : 0;

	if (e->budget_ns > brought)
		return brought - e->budget_ns;
	return e->budget_ns + (s64)e->inherited_ns < 0 ? -e->budget_ns - (s64)e->inherited_ns : 0;
}

void ptsp_user_owe(struct ptsp_device *dev, struct ptsp_user *user, const struct ptsp_entity *e)
{
	s64 least = -base_cap(dev, e);

	user->debt_ns = ptsp_user_take(dev, user) + own_debt(e);
	if (user->debt_ns < least)
		user->debt_ns = least;
	user->weight = e->weight;
	user->stamp = ptsp_stamp_at(dev, user->group, false, dev->now_ns);
}

s64 ptsp_user_take(struct ptsp_device *dev, struct ptsp_user *user)
{
	s64 debt = user->debt_ns < 0 ? user->debt_ns : (s64)ptsp_user_debt(dev, user, dev->now_ns);

	user->debt_ns = 0;
	return debt;
}
