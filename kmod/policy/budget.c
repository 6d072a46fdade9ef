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
 * Who comes, spends more than it earns and goes would so leave the others with
 * more than there is to have: all would have budget, and the heaviest would take
 * all of it. What it has spent so is therefore taken from the earnings of those who
 * stay, and what it has saved is theirs, until it comes back with the entity or
 * another of its user: the budgets of the active sum to what they brought.
 *
 * Policy literal: every entity earns q each T, with q = T = alpha * min(t): the
 * virtual time is what each of them earned.
 */
#include "beside.h"
#include "budget.h"
#include "decide.h"
#include "list.h"
#include "order.h"

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
/* While the active have too much, such a part of what there is to earn is earned yet. */
#define EXCESS_SHIFT	3

/* The paper's q = T = alpha * min(t), over those who use the device. */
static void refresh_quantum(struct ptsp_device *dev)
{
	const struct ptsp_entity *least = ptsp_tree_first(&dev->uses, use);
	u64 min_use = least ? least->use_ns : 0;

	dev->quantum_ns = max_u64(div_u64_u64(min_use * dev->params.alpha, 1000), QUANTUM_MIN_NS);
}

/* What @weight earned from @stamp, @vstamp to @now at virtual time @vtime. */
static u64 earned(const struct ptsp_device *dev, u32 weight, u64 stamp, u64 vstamp, u64 now,
		  u64 vtime)
{
	u64 dt = now - stamp;

	if (dt > LONG_NS)
		return mul_div(dt, weight, max_u64(dev->active_weight, weight));
	if (dev->params.kind == PTSP_LITERAL)
		return (vtime - vstamp) >> VSHIFT;
	return min_u64(dt, mul_shr(vtime - vstamp, weight, VSHIFT));
}

/* The whole quanta that have passed since the last refill at @now. */
static u64 quanta(const struct ptsp_device *dev, u64 now)
{
	return div_u64_u64(now - dev->tick_ns, dev->quantum_ns) * dev->quantum_ns;
}

/*
 * What is earned in @dt beyond it, or less: an excess is paid with most of what there
 * is to earn, a lack made good by twice as much.
 */
static s64 correction(const struct ptsp_device *dev, u64 dt)
{
	if (dev->excess_ns > 0)
		return -(s64)min_u64((u64)dev->excess_ns, dt - (dt >> EXCESS_SHIFT));
	return (s64)min_u64((u64)-dev->excess_ns, dt);
}

/* How far virtual time runs while @ns are earned; alone in the world, everybody earns all of it. */
static u64 virtual(const struct ptsp_device *dev, u64 ns)
{
	return div_u64_u64(ns << VSHIFT, max_u64(dev->active_weight, 1));
}

/* The virtual time at @now of those who are active, or of the others. */
static inline u64 vtime_at(const struct ptsp_device *dev, bool active, u64 now)
{
	u64 vtime = active ? dev->vtime : dev->absent_vtime;
	u64 dt = now - dev->now_ns;

	if (dev->params.kind == PTSP_LITERAL)
		return vtime + (min_u64(quanta(dev, now), LONG_NS) << VSHIFT);
	/* As nearly always. */
	if (!dt)
		return vtime;
	dt = min_u64(dt, LONG_NS);
	return vtime + virtual(dev, active ? dt + (u64)correction(dev, dt) : dt);
}

/* The inverse of @dt + correction(): how long it takes to earn @ns, all together. */
static u64 time_to_earn(const struct ptsp_device *dev, u64 ns)
{
	u64 slow, lack = (u64)-dev->excess_ns;

	if (dev->excess_ns <= 0)
		return ns / 2 <= lack ? (ns + 1) / 2 : ns - lack;
	/* With an eighth, one part is earned while the excess falls by seven. */
	slow = (u64)dev->excess_ns / ((1 << EXCESS_SHIFT) - 1);
	return ns <= slow ? ns << EXCESS_SHIFT : ns + (u64)dev->excess_ns;
}

/* The most that an entity may save up by not using the device. */
static s64 base_cap(const struct ptsp_device *dev, const struct ptsp_entity *e)
{
	if (dev->params.kind == PTSP_LITERAL)
		return (s64)mul_div(e->weight, dev->sum_use_ns,
				    max_u64(dev->active_weight, e->weight));
	return 2 * (s64)ptsp_slice(dev);
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

/*
 * Credit what was earned until @now. @copy is the entity, or a copy of it whose
 * budget is only asked for. What is kept beyond the cap raises it until it is spent.
 */
static void settle(const struct ptsp_device *dev, struct ptsp_entity *copy, u64 now)
{
	u64 vtime = vtime_at(dev, copy->active, now);
	s64 base = base_cap(dev, copy);

	copy->budget_ns += (s64)earned(dev, copy->weight, copy->stamp_ns, copy->vstamp, now, vtime);
	copy->stamp_ns = now;
	copy->vstamp = vtime;
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
	u64 debt = min_u64((u64)-e->budget_ns, LONG_NS) << VSHIFT;

	return e->vstamp + div_u64_u64(debt + rate - 1, rate);
}

u64 ptsp_instant_of(const struct ptsp_device *dev, u64 vtime)
{
	u64 left = vtime - dev->vtime, weight = max_u64(dev->active_weight, 1), ns;

	if ((s64)left <= 0)
		return dev->now_ns;
	if (dev->params.kind == PTSP_LITERAL) {
		ns = (left >> VSHIFT) + dev->quantum_ns - 1;
		return dev->tick_ns + div_u64_u64(ns, dev->quantum_ns) * dev->quantum_ns;
	}
	/* The product may not fit, and by then everything will have changed. */
	if (left >> VSHIFT >= div_u64_u64(LONG_NS, weight))
		return dev->now_ns + LONG_NS;
	ns = (left * weight + (1 << VSHIFT) - 1) >> VSHIFT;
	return dev->now_ns + time_to_earn(dev, ns);
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

static void advance_vtime(struct ptsp_device *dev, u64 now)
{
	u64 dt = min_u64(now - dev->now_ns, LONG_NS), quantum;

	if (dev->params.kind == PTSP_LITERAL) {
		quantum = quanta(dev, now);
		dev->vtime += min_u64(quantum, LONG_NS) << VSHIFT;
		dev->absent_vtime += min_u64(quantum, LONG_NS) << VSHIFT;
		dev->tick_ns += quantum;
		return;
	}
	if (dev->excess_ns) {
		dev->vtime = vtime_at(dev, true, now);
		dev->excess_ns += correction(dev, dt);
		dev->absent_vtime += virtual(dev, dt);
		return;
	}
	dt = virtual(dev, dt);
	dev->vtime += dt;
	dev->absent_vtime += dt;
}

/*
 * From the device's clock to @now nothing changed. Where any number may hold
 * turns, holding one says nothing about use: as in the paper, what the clients
 * measured is debited (ptsp_report()).
 */
static void step(struct ptsp_device *dev, u64 now)
{
	bool contended = dev->nr_waiters || (dev->nr_holders && dev->nr_active > 1);
	u64 dt = now - dev->now_ns;

	/* With another quantum, a refill may be due at once. */
	if (!dt && dev->params.kind != PTSP_LITERAL)
		return;
	advance_vtime(dev, now);
	dev->now_ns = now;
	dev->stats.held_ns += dt * dev->nr_holders;
	if (contended && ptsp_exclusive(dev))
		charge_holders(dev, dt);
}

void ptsp_advance(struct ptsp_device *dev, u64 now)
{
	u32 left = PTSP_AT_ONCE;
	struct ptsp_entity *e;

	if (dev->params.kind == PTSP_LITERAL)
		refresh_quantum(dev);
	while ((e = ptsp_first_lingerer(dev)) && e->linger_ns <= now) {
		if (!left--) {
			dev->more = true;
			break;
		}
		step(dev, max_u64(e->linger_ns, dev->now_ns));
		ptsp_returns(dev, e);
		ptsp_settle(dev, e);
		ptsp_deactivate(dev, e);
		ptsp_forget_preadmission(dev, e);
	}
	step(dev, now);
}

void ptsp_activate(struct ptsp_device *dev, struct ptsp_entity *e)
{
	if (e->active)
		return;
	ptsp_place_lone(dev);
	e->active = true;
	e->vstamp = dev->vtime;
	e->brought_ns = e->budget_ns;
	dev->active_weight += e->weight;
	dev->nr_active++;
	ptsp_rank(dev, e);
	ptsp_count_use(dev, e);
}

void ptsp_deactivate(struct ptsp_device *dev, struct ptsp_entity *e)
{
	if (!e->active)
		return;
	e->active = false;
	e->vstamp = dev->absent_vtime;
	e->credit_ns = 0;
	dev->active_weight -= e->weight;
	dev->nr_active--;
	dev->excess_ns = dev->nr_active ? dev->excess_ns + e->brought_ns - e->budget_ns : 0;
	ptsp_unplace(dev, e);
	ptsp_rank(dev, e);
	ptsp_count_use(dev, e);
}

u64 ptsp_user_debt(const struct ptsp_device *dev, const struct ptsp_user *user, u64 now)
{
	u64 vtime = vtime_at(dev, false, now);
	u64 repaid;

	if (user->debt_ns <= 0)
		return 0;
	repaid = earned(dev, user->weight, user->stamp_ns, user->vstamp, now, vtime);
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
	user->stamp_ns = dev->now_ns;
	user->vstamp = dev->absent_vtime;
}

s64 ptsp_user_take(struct ptsp_device *dev, struct ptsp_user *user)
{
	s64 debt = user->debt_ns < 0 ? user->debt_ns : (s64)ptsp_user_debt(dev, user, dev->now_ns);

	user->debt_ns = 0;
	return debt;
}
