// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Budgets as functions of time.
 *
 * Policy weighted: the device has a virtual time that runs at 1/W, W being the
 * weight of all active entities; an entity earns its weight times the virtual
 * time that passed. Nothing is updated while nobody looks, however many there
 * are. An entity that is not active earns too (a debt is repaid in absence), but
 * W does not count it, so the active lose nothing to it.
 *
 * Policy literal: every entity earns q each T, with q = T = alpha * min(t).
 */
#include "beside.h"
#include "budget.h"
#include "list.h"

#ifdef __KERNEL__
#include <linux/math64.h>
#define div_u64_u64(a, b)	div64_u64(a, b)
#define mul_shr(a, mul, shift)	mul_u64_u32_shr(a, mul, shift)
#define mul_div(a, b, c)	mul_u64_u64_div_u64(a, b, c)
#else
#define div_u64_u64(a, b)	((a) / (b))
#define mul_shr(a, mul, shift)	((u64)(((__uint128_t)(a) * (mul)) >> (shift)))
/* The kernel's faults on x86, too, where the quotient has more than 64 bits. */
static u64 mul_div(u64 a, u64 b, u64 c)
{
	__uint128_t quotient = (__uint128_t)a * b / c;

	if (quotient >> 64)
		__builtin_trap();
	return (u64)quotient;
}
#endif

/* Fraction bits of virtual time: exact to 0.1 ns at the largest nice weight. */
#define VSHIFT		20
/* That of given time, which nothing ever lowers: enough for 208 days of it at weight 1. */
#define GIVEN_SHIFT	10
/* Beyond this, an entity is simply as old as the clock says: no overflow. */
#define LONG_NS		3600000000000ULL
/* The paper updates its budgets every 10 us; no quantum is shorter. */
#define QUANTUM_MIN_NS	10000ULL

/* The paper's q = T = alpha * min(t) and sum(t), over those who use the device. */
static void refresh_literal(struct ptsp_device *dev)
{
	const struct ptsp_entity *e;
	u64 min_use = 0;

	dev->sum_use_ns = 0;
	for (e = ptsp_first(dev); e; e = ptsp_next(dev, e)) {
		if (!e->active || !e->use_ns)
			continue;
		dev->sum_use_ns += e->use_ns;
		if (!min_use || e->use_ns < min_use)
			min_use = e->use_ns;
	}
	dev->quantum_ns = max_u64(div_u64_u64(min_use * dev->params.alpha, 1000), QUANTUM_MIN_NS);
}

/* What @weight earned from @stamp, @vstamp to @now at virtual time @vtime. */
static u64 earned(u32 weight, u64 stamp, u64 vstamp, u64 now, u64 vtime)
{
	u64 dt = now - stamp;

	if (dt > LONG_NS)
		return dt;
	return min_u64(dt, mul_shr(vtime - vstamp, weight, VSHIFT));
}

/* How far virtual time runs in @dt; alone in the world, everybody earns all of it. */
static u64 virtual(const struct ptsp_device *dev, u64 dt)
{
	return div_u64_u64(min_u64(dt, LONG_NS) << VSHIFT, max_u64(dev->active_weight, 1));
}

/* The most that an entity may save up by not using the device. */
static s64 base_cap(const struct ptsp_device *dev, const struct ptsp_entity *e)
{
	if (dev->params.kind == PTSP_LITERAL)
		return (s64)mul_div(e->weight, dev->sum_use_ns,
				    max_u64(dev->active_weight, e->weight));
	return 2 * (s64)ptsp_slice(dev);
}

s64 ptsp_cap(const struct ptsp_device *dev, const struct ptsp_entity *e)
{
	return base_cap(dev, e) + (s64)e->credit_ns;
}

/*
 * Credit what was earned until @now. @copy is the entity, or a copy of it whose
 * budget is only asked for. What a waiter earns beyond its cap raises the cap
 * until it is spent: it must not lose by being kept waiting (the paper's rule
 * clips it).
 */
static void settle(const struct ptsp_device *dev, struct ptsp_entity *copy, u64 now, u64 vtime)
{
	s64 base = base_cap(dev, copy);
	u64 income;

	if (dev->params.kind == PTSP_LITERAL) {
		income = div_u64_u64(now - copy->stamp_ns, dev->quantum_ns) * dev->quantum_ns;
		copy->stamp_ns += income;
	} else {
		income = earned(copy->weight, copy->stamp_ns, copy->vstamp, now, vtime);
		copy->stamp_ns = now;
	}
	copy->vstamp = vtime;
	copy->budget_ns += (s64)income;
	if (copy->state != PTSP_WAITING || dev->params.kind == PTSP_LITERAL) {
		if (copy->budget_ns > base + (s64)copy->credit_ns) {
			copy->clipped_ns += (u64)copy->budget_ns - copy->credit_ns - (u64)base;
			copy->budget_ns = base + (s64)copy->credit_ns;
		}
	}
	copy->credit_ns = copy->budget_ns > base ? (u64)(copy->budget_ns - base) : 0;
}

void ptsp_settle(struct ptsp_device *dev, struct ptsp_entity *e)
{
	settle(dev, e, dev->now_ns, dev->vtime);
}

s64 ptsp_budget(const struct ptsp_device *dev, const struct ptsp_entity *e, u64 now)
{
	struct ptsp_entity copy = *e;

	settle(dev, &copy, now, dev->vtime + virtual(dev, now - dev->now_ns));
	return copy.budget_ns;
}

u64 ptsp_eligible_at(const struct ptsp_device *dev, const struct ptsp_entity *e)
{
	u64 debt, quanta, total;

	if (e->budget_ns >= 0)
		return dev->now_ns;
	debt = (u64)-e->budget_ns;
	if (dev->params.kind == PTSP_LITERAL) {
		quanta = div_u64_u64(debt + dev->quantum_ns - 1, dev->quantum_ns);
		return e->stamp_ns + quanta * dev->quantum_ns;
	}
	total = max_u64(dev->active_weight, e->weight);
	/* What is earned until then does not pay for it; its quotient may not fit. */
	if (debt >= mul_div(LONG_NS, e->weight, total))
		return dev->now_ns + LONG_NS;
	/* One more than the debt, since earnings are rounded down. */
	return dev->now_ns + mul_div(debt + 1, total, e->weight) + 1;
}

void ptsp_charge(struct ptsp_device *dev, struct ptsp_entity *e, u64 ns)
{
	s64 floor = -(s64)max_u64(ptsp_slice(dev), e->use_ns);
	s64 after = e->budget_ns - (s64)ns;
	u64 vt;

	if (e->given) {
		/* Rounded up: it is free for nobody. */
		vt = min_u64(ns, PTSP_NEVER >> GIVEN_SHIFT) << GIVEN_SHIFT;
		e->given_vt += div_u64_u64(vt, e->weight) + 1;
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
	struct occupants n = { 0 };

	for (e = ptsp_queue_first(&dev->holders); e; e = ptsp_queue_next(&dev->holders, e)) {
		if (ptsp_is_off(dev, e))
			continue;
		n.all++;
		n.draining += ptsp_drains(e);
	}
	return n;
}

/* Who drains pays alone for the time in which the next has been let in already. */
static bool pays(const struct ptsp_device *dev, const struct ptsp_entity *e,
		 const struct occupants *n)
{
	if (n->all && ptsp_is_off(dev, e))
		return false;
	return !n->draining || ptsp_drains(e);
}

/* The time of a turn goes by: while others wait, it costs. */
static void charge_holders(struct ptsp_device *dev, u64 dt)
{
	struct occupants n = count_occupants(dev);
	u32 payers = n.draining ? n.draining : n.all ? n.all : dev->nr_holders;
	u64 share = div_u64_u64(dt, max_u64(payers, 1));
	struct ptsp_entity *e;

	for (e = ptsp_queue_first(&dev->holders); e; e = ptsp_queue_next(&dev->holders, e)) {
		e->contended_ns += dt;
		if (!pays(dev, e, &n))
			continue;
		/* Beside each other they may be for minutes: what these earned pays first. */
		if (!ptsp_is_beside(e))
			ptsp_settle(dev, e);
		ptsp_charge(dev, e, share);
		e->turn_occupancy_ns += share;
		e->stats.occupancy_ns += share;
		dev->stats.occupancy_ns += share;
		if (e->given) {
			e->stats.given_ns += share;
			dev->stats.given_ns += share;
		}
	}
}

/*
 * From the device's clock to @now nothing changed. Where any number may hold
 * turns, holding one says nothing about use: as in the paper, what the clients
 * measured is debited (ptsp_report()).
 */
static void step(struct ptsp_device *dev, u64 now)
{
	bool contended = dev->nr_waiters || (ptsp_exclusive(dev) && dev->nr_holders > 1);
	struct ptsp_entity *e;
	u64 dt = now - dev->now_ns;

	if (!dt)
		return;
	dev->vtime += virtual(dev, dt);
	dev->now_ns = now;
	for (e = ptsp_queue_first(&dev->holders); e; e = ptsp_queue_next(&dev->holders, e)) {
		e->stats.held_ns += dt;
		dev->stats.held_ns += dt;
	}
	if (contended && !dev->params.many)
		charge_holders(dev, dt);
}

void ptsp_advance(struct ptsp_device *dev, u64 now)
{
	struct ptsp_entity *e;

	if (dev->params.kind == PTSP_LITERAL)
		refresh_literal(dev);
	while ((e = ptsp_queue_first(&dev->lingerers)) && e->linger_ns <= now) {
		step(dev, max_u64(e->linger_ns, dev->now_ns));
		ptsp_list_del(&e->queue);
		ptsp_settle(dev, e);
		ptsp_deactivate(dev, e);
		ptsp_set_signals(dev, e, 0);
	}
	step(dev, now);
}

void ptsp_activate(struct ptsp_device *dev, struct ptsp_entity *e)
{
	if (e->active)
		return;
	e->active = true;
	dev->active_weight += e->weight;
	dev->nr_active++;
}

void ptsp_deactivate(struct ptsp_device *dev, struct ptsp_entity *e)
{
	if (!e->active)
		return;
	e->active = false;
	e->credit_ns = 0;
	dev->active_weight -= e->weight;
	dev->nr_active--;
}

u64 ptsp_user_debt(const struct ptsp_device *dev, const struct ptsp_user *user, u64 now)
{
	u64 vtime = dev->vtime + virtual(dev, now - dev->now_ns);
	u64 repaid;

	if (!user->debt_ns)
		return 0;
	repaid = earned(user->weight, user->stamp_ns, user->vstamp, now, vtime);
	return repaid < (u64)user->debt_ns ? (u64)user->debt_ns - repaid : 0;
}

bool ptsp_user_owes(const struct ptsp_device *dev, const struct ptsp_user *user, u64 now)
{
	return user->withheld_ns > now || ptsp_user_debt(dev, user, now);
}

void ptsp_user_owe(struct ptsp_device *dev, struct ptsp_user *user, const struct ptsp_entity *e)
{
	s64 own = -e->budget_ns - (s64)e->inherited_ns;

	user->debt_ns = (s64)ptsp_user_debt(dev, user, dev->now_ns);
	if (own > 0)
		user->debt_ns += own;
	user->weight = e->weight;
	user->stamp_ns = dev->now_ns;
	user->vstamp = dev->vtime;
}

u64 ptsp_user_take(struct ptsp_device *dev, struct ptsp_user *user)
{
	u64 debt = ptsp_user_debt(dev, user, dev->now_ns);

	user->debt_ns = 0;
	return debt;
}
