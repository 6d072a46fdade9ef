// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * To whom the turn goes (policy.h says the rules). What becomes of who has it is in
 * review.c.
 *
 * Among eligible waiters the highest weight goes first; budgets, not order,
 * give the others their share. A waiter that was eligible when it came calls a
 * lighter holder back at once. One that had used up its budget and has just
 * earned it again, or was itself called back a moment ago, lets the holder finish
 * its slice: else the two would hand over at every submission, and the lighter
 * one's share would go into hand-overs.
 */
#include "activity.h"
#include "beside.h"
#include "budget.h"
#include "decide.h"
#include "list.h"
#include "order.h"

/* By so many hand-overs the next is admitted ahead: half of them take longer than the mean. */
#define LEAD			2
/* So many waiters' nice is read again each time; of a crowd, a few now and then. */
#define SWEEP			16
#define SWEEP_OF_CROWD		2
/* Long before the difference of two virtual times is too large, budgets are settled. */
#define SETTLE_NS		600000000000ULL
/* So often is the first of the waiters another because its nice has changed. */
#define RENICED			4
/* So many may submit before they ask; so many are looked at for it. */
#define PREADMITTED		16

bool ptsp_is_fresh(const struct ptsp_device *dev, const struct ptsp_entity *e)
{
	u64 pause = max_u64(dev->params.grace_ns, dev->handover_ns);

	return e->budget_ns >= 0 && !(e->recalled && dev->now_ns - e->left_ns <= pause);
}

/* Read some waiters' nice again, over several runs everybody's, and that of whom they wait for. */
static void sweep_weights(struct ptsp_device *dev)
{
	bool crowd = dev->nr_waiters > SWEEP;
	u32 left = crowd ? SWEEP_OF_CROWD : dev->nr_waiters;
	struct ptsp_entity *e;

	if (!left || (crowd && dev->now_ns - dev->swept_ns < ptsp_slice(dev) >> PTSP_LOOK_SHIFT))
		return;
	dev->swept_ns = dev->now_ns;
	if (ptsp_exclusive(dev) && dev->nr_keeping <= PTSP_COMPANY)
		for (e = ptsp_queue_first(&dev->holders); e; e = ptsp_queue_next(&dev->holders, e))
			ptsp_set_weight(dev, e);
	while (left--) {
		if (dev->sweep == &dev->waiters)
			dev->sweep = dev->waiters.next;
		e = ptsp_entry(dev->sweep, queue);
		dev->sweep = dev->sweep->next;
		/* It came just now. */
		if (e->wait_ns == dev->now_ns)
			continue;
		ptsp_set_weight(dev, e);
		if (dev->now_ns - e->stamp.ns < SETTLE_NS)
			continue;
		ptsp_settle(dev, e);
		ptsp_place(dev, e);
	}
}

/* A called-back turn that does not drain may depend on a waiter: let it in. */
static void share_by_force(struct ptsp_device *dev, u64 *next)
{
	u32 left = PTSP_AT_ONCE;
	struct ptsp_entity *h;
	u64 limit;

	while (dev->nr_waiters && (h = ptsp_queue_first(&dev->leaving))) {
		limit = h->callback_ns + dev->params.drain_ns;
		if (limit > dev->now_ns || !left--) {
			*next = min_u64(*next, limit);
			return;
		}
		ptsp_make_late(dev, h, limit);
		dev->ops->forced(h);
		/* Not told of more from here on: it knows that it has to go. */
		ptsp_set_signals(dev, h, h->signals | PTSP_SIG_SHARED);
	}
}

struct ptsp_entity *ptsp_best_eligible(struct ptsp_device *dev, u64 *next)
{
	struct ptsp_entity *e, *best = ptsp_first_ready(dev);

	if (best || !dev->nr_waiters)
		return best;
	*next = min_u64(*next, ptsp_next_due(dev));
	/* Who stops being active leaves its share to the waiters: then they earn faster. */
	e = ptsp_first_lingerer(dev);
	if (e)
		*next = min_u64(*next, e->linger_ns);
	return NULL;
}

/* The same by weights that are read now. */
static struct ptsp_entity *best_by_nice(struct ptsp_device *dev, u64 *next)
{
	struct ptsp_entity *best = ptsp_best_eligible(dev, next);
	u32 standing, left = RENICED;

	while (best && left--) {
		standing = best->standing;
		ptsp_set_weight(dev, best);
		if (best->standing >= standing)
			break;
		best = ptsp_best_eligible(dev, next);
	}
	return best;
}

bool ptsp_may_take(const struct ptsp_device *dev, const struct ptsp_entity *e, u64 *next)
{
	if (!dev->params.idle_sharing)
		return false;
	if (e->user->withheld_ns <= dev->now_ns)
		return true;
	*next = min_u64(*next, e->user->withheld_ns);
	return false;
}

/*
 * Whether @h keeps the turn from others. Called back, not if its work
 * is being taken off the device, which serves others meanwhile, nor if that will
 * have drained by the time that another's first work could arrive: the device
 * need not stand still while the turn is handed over. But beside another, who has
 * brief time slices would get next to nothing of the device, and pay for all of it.
 */
static bool keeps_turn(const struct ptsp_device *dev, const struct ptsp_entity *h, u64 *next)
{
	u64 at;

	if (h->preempted)
		return false;
	if (!ptsp_drains(h))
		return true;
	if (ptsp_has_brief_slices(dev, h))
		at = h->drained_ns + (ptsp_slice(dev) >> PTSP_LOOK_SHIFT);
	else
		at = h->drained_ns - min_u64(h->drained_ns, LEAD * dev->handover_ns);
	if (at <= dev->now_ns)
		return false;
	*next = min_u64(*next, at);
	return true;
}

/*
 * Whether all who are away for a moment could interrupt @e when they come back,
 * and are, on average, away for too long to be waited for.
 */
static bool would_yield(const struct ptsp_device *dev, const struct ptsp_entity *e)
{
	const struct rb_node *last = ptsp_tree_last(&dev->back);

	if (!e->preemptible)
		return false;
	return !last || (!dev->nr_soon && ptsp_heavier(dev, ptsp_node_entry(last, order), e));
}

/*
 * Whether @e, which has no budget, need not wait for an eligible entity to come
 * back: @present are all that are active, all others would be let in, or grace is over.
 */
static bool awaits_nobody(const struct ptsp_device *dev, const struct ptsp_entity *e, u32 present,
			  u64 *next)
{
	u64 at = dev->unwanted_ns + dev->params.grace_ns;

	if (dev->nr_active == present || would_yield(dev, e) || at <= dev->now_ns)
		return true;
	*next = min_u64(*next, at);
	return false;
}

/* To whom the turn, which is free, may go although its budget is negative, or NULL. */
static struct ptsp_entity *pick_taker(struct ptsp_device *dev, u64 *next)
{
	struct ptsp_entity *least = ptsp_least_given(dev, next);

	if (!least || dev->nr_regular)
		return NULL;
	return awaits_nobody(dev, least, dev->nr_waiters + dev->nr_holders, next) ? least : NULL;
}

/* Whether no holder keeps the turn from @e; without one, from anybody. */
static bool turn_is_free(const struct ptsp_device *dev, const struct ptsp_entity *e, u64 *next)
{
	struct ptsp_entity *h;

	if (!ptsp_exclusive(dev))
		return true;
	if (dev->nr_keeping && (!e || dev->nr_keeping >= PTSP_COMPANY))
		return false;
	for (h = ptsp_queue_first(&dev->holders); h; h = ptsp_queue_next(&dev->holders, h))
		if (!ptsp_go_together(dev, h, e) && !ptsp_goes_above(dev, e, h))
			return false;
	for (h = ptsp_queue_first(&dev->leaving); h; h = ptsp_queue_next(&dev->leaving, h))
		if (keeps_turn(dev, h, next))
			return false;
	return true;
}

/* Whether somebody might be let in beside the holders, or above them. */
static bool may_be_joined(const struct ptsp_device *dev)
{
	const struct ptsp_entity *h = ptsp_queue_first(&dev->holders);

	return h && (ptsp_is_sociable(dev, h) || (h->preemptible && !dev->above));
}

static struct ptsp_entity *pick(struct ptsp_device *dev, u64 *next)
{
	bool is_free = turn_is_free(dev, NULL, next);
	struct ptsp_entity *best;

	if (!is_free && !may_be_joined(dev))
		return NULL;
	best = best_by_nice(dev, next);
	if (!best)
		return is_free ? pick_taker(dev, next) : NULL;
	return is_free || turn_is_free(dev, best, next) ? best : NULL;
}

/*
 * Whether one of a higher @standing would be let in beside all holders, whose work is
 * then taken off, if it asked now.
 */
static bool can_be_interrupted(const struct ptsp_device *dev, const struct ptsp_entity *top,
			       u32 *standing)
{
	const struct ptsp_entity *h;

	*standing = top ? top->standing : 0;
	if (!dev->nr_holders || !ptsp_exclusive(dev) || dev->params.kind != PTSP_WEIGHTED)
		return false;
	for (h = ptsp_queue_first(&dev->holders); h; h = ptsp_queue_next(&dev->holders, h)) {
		if (!h->preemptible)
			return false;
		*standing = (u32)max_u64(*standing, h->standing);
	}
	for (h = ptsp_queue_first(&dev->leaving); h; h = ptsp_queue_next(&dev->leaving, h)) {
		if (!h->preemptible && !h->preempted)
			return false;
		*standing = (u32)max_u64(*standing, h->standing);
	}
	return true;
}

/* Whether unused time would go to @e rather than to one that waits. */
static bool would_be_given(struct ptsp_device *dev, const struct ptsp_entity *e, u64 *next)
{
	const struct ptsp_entity *least = ptsp_least_given(dev, next);

	return ptsp_may_take(dev, e, next) && !dev->nr_regular &&
	       !(least && least->given_vt <= e->given_vt) &&
	       awaits_nobody(dev, e, dev->nr_waiters + dev->nr_holders + e->active, next);
}

bool ptsp_would_grant(struct ptsp_device *dev, struct ptsp_entity *e, u64 now)
{
	const struct ptsp_entity *best;
	u64 next = PTSP_NEVER;
	u32 standing;

	if (e->state != PTSP_IDLE)
		return false;
	ptsp_advance(dev, now);
	ptsp_place_lone(dev);
	ptsp_refresh_some(dev);
	ptsp_place_due(dev);
	ptsp_settle(dev, e);
	ptsp_set_weight(dev, e);
	ptsp_place(dev, e);
	best = ptsp_best_eligible(dev, &next);
	e->fresh = ptsp_is_fresh(dev, e);
	if (!turn_is_free(dev, e, &next))
		return can_be_interrupted(dev, best, &standing) && e->standing > standing &&
		       e->fresh;
	if (e->budget_ns < 0 && dev->params.kind != PTSP_NONE)
		return !best && would_be_given(dev, e, &next);
	return !best || ptsp_heavier(dev, e, best);
}

/* Who was told so, and would wait now. */
static void withdraw_preadmissions(struct ptsp_device *dev, bool interruptible, u32 standing)
{
	struct ptsp_entity *e, *after;

	for (e = ptsp_queue_first(&dev->preadmitted); e; e = after) {
		after = ptsp_queue_next(&dev->preadmitted, e);
		ptsp_settle(dev, e);
		if (!interruptible || e->standing <= standing || !ptsp_is_fresh(dev, e))
			ptsp_forget_preadmission(dev, e);
	}
}

/*
 * To the heaviest of those who were here a moment ago: their first submission need
 * not wait for the answer.
 */
static void preadmit(struct ptsp_device *dev)
{
	u32 away = dev->nr_active - dev->nr_waiters - dev->nr_holders;
	u64 next = PTSP_NEVER;
	u32 standing, left = PREADMITTED;
	const struct rb_node *node;
	struct ptsp_entity *e;
	bool interruptible;

	if (!away)
		return;
	interruptible = can_be_interrupted(dev, ptsp_best_eligible(dev, &next), &standing);
	withdraw_preadmissions(dev, interruptible, standing);
	if (!interruptible)
		return;
	for (node = rb_first_cached(&dev->back); node && left--; node = rb_next(node)) {
		e = ptsp_node_entry(node, order);
		if (e->standing <= standing || dev->nr_preadmitted >= PREADMITTED)
			return;
		if (e->signals & PTSP_SIG_PREADMITTED || !ptsp_is_fresh(dev, e))
			continue;
		ptsp_list_add_before(&e->queue, &dev->preadmitted);
		dev->nr_preadmitted++;
		ptsp_set_signals(dev, e, PTSP_SIG_PREADMITTED);
	}
}

static void grant_some(struct ptsp_device *dev, u64 *next)
{
	u32 left = PTSP_AT_ONCE;
	struct ptsp_entity *e;

	/* What a grant has settled needs no timer. */
	for (*next = PTSP_NEVER; dev->nr_waiters && (e = pick(dev, next)); *next = PTSP_NEVER) {
		if (!left--) {
			dev->more = true;
			return;
		}
		ptsp_grant(dev, e);
		if (!ptsp_exclusive(dev))
			ptsp_tell_one(dev, e);
	}
}

static void decide(struct ptsp_device *dev, u64 *next)
{
	/* Who is alone is looked at anyway. */
	if (!dev->lone)
		sweep_weights(dev);
	if (!ptsp_list_empty(&dev->leaving))
		share_by_force(dev, next);
	do {
		grant_some(dev, next);
	} while (ptsp_review_holders(dev, next));
	/* Each call-back has its limit, one made just now, too. */
	if (dev->nr_waiters)
		share_by_force(dev, next);
}

u64 ptsp_run(struct ptsp_device *dev, u64 now)
{
	u64 next = PTSP_NEVER;

	dev->more = false;
	ptsp_advance(dev, now);
	if (dev->refresh != &dev->entities)
		ptsp_refresh_some(dev);
	if (!dev->lone)
		ptsp_place_due(dev);
	if (dev->nr_waiters || dev->nr_holders)
		decide(dev, &next);
	if (dev->nr_preadmitted || dev->nr_holders)
		preadmit(dev);
	return dev->more ? now + 1 : max_u64(next, now + 1);
}
