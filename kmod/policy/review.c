// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Those who have the turn: who of them is called back, whose work is taken off the
 * device, and what each of them is told.
 */
#include "beside.h"
#include "budget.h"
#include "decide.h"
#include "handover.h"
#include "list.h"
#include "order.h"

/* So many equals are looked at to see whether all of them go together. */
#define EQUALS			16

/* A holder without budget goes on with time that is given away, or must go. */
static bool overdrawn(struct ptsp_device *dev, struct ptsp_entity *h, u64 *next)
{
	const struct ptsp_entity *least;

	if (!ptsp_may_take(dev, h, next))
		return true;
	if (!h->given) {
		h->given = true;
		dev->nr_regular--;
		h->given_vt = max_u64(h->given_vt, dev->given_vt);
	}
	least = ptsp_least_given(dev, next);
	if (least && least->given_vt < h->given_vt)
		return true;
	*next = min_u64(*next, dev->now_ns + ptsp_slice(dev));
	return false;
}

/* After a slice at the latest: its weight may have changed. */
static void look_again(struct ptsp_device *dev, const struct ptsp_entity *h, u64 *next)
{
	u64 slice = ptsp_slice(dev);
	u64 pause = max_u64(min_u64((u64)h->budget_ns, slice), slice >> PTSP_LOOK_SHIFT);

	*next = min_u64(*next, dev->now_ns + pause);
}

static bool recall_exclusive(struct ptsp_device *dev, struct ptsp_entity *h,
			     const struct ptsp_entity *top, u64 *next)
{
	u64 slice = ptsp_slice_of(dev, h);

	if (top && (h->given || ptsp_interrupts(dev, top, h)))
		return true;
	if (h->contended_ns < slice) {
		*next = min_u64(*next, dev->now_ns + slice - h->contended_ns);
		return false;
	}
	if (top && (h->budget_ns < 0 || !ptsp_heavier(dev, h, top)))
		return true;
	if (h->budget_ns < 0)
		return overdrawn(dev, h, next);
	look_again(dev, h, next);
	return false;
}

/* Who of those that have the turn got it last, if that was later than @h. */
static const struct ptsp_entity *successor(const struct ptsp_device *dev,
					   const struct ptsp_entity *h)
{
	const struct ptsp_entity *last = ptsp_queue_last(&dev->holders);
	const struct ptsp_entity *leaver = ptsp_queue_last(&dev->leaving);

	if (!last || (leaver && leaver->turn > last->turn))
		last = leaver;
	return last && last->turn > h->turn ? last : NULL;
}

/*
 * For how long @h, beside which @next was let in, may have work after it should have drained:
 * not long where it gets on slowly, or, as another gang leads, may wait for what has no turn.
 */
static u64 overrun_allowed(const struct ptsp_device *dev, const struct ptsp_entity *h,
			   const struct ptsp_entity *next)
{
	bool led_out = ptsp_leads(dev, next) && !ptsp_leads(dev, h);
	bool soon = led_out || ptsp_has_brief_slices(dev, h);

	return ptsp_slice(dev) >> (soon ? PTSP_LOOK_SHIFT : PTSP_OVERRUN_SHIFT);
}

/*
 * Whether the work of a called-back holder is to be taken off the device: for a
 * heavier one that may interrupt, where it does not drain within its slice for
 * whoever could run, or where the next was let in beside it, and it has not drained
 * when it said. Equals hand over by draining, which costs less, unless one leads.
 */
static bool must_preempt(struct ptsp_device *dev, struct ptsp_entity *h,
			 const struct ptsp_entity *top, u64 *next)
{
	const struct ptsp_entity *beside = ptsp_drains(h) ? successor(dev, h) : NULL;
	u64 at = PTSP_NEVER;

	if (!h->preemptible)
		return false;
	if (beside)
		at = h->drained_ns + overrun_allowed(dev, h, beside);
	if (top)
		at = min_u64(at, h->callback_ns + ptsp_slice_of(dev, h));
	if (at <= dev->now_ns || (top && ptsp_interrupts(dev, top, h)))
		return true;
	*next = min_u64(*next, at);
	return false;
}

/*
 * Whether it matters what exactly @h has on the device, which costs a program of
 * many short kernels: where turns pass between equals that do not go together, or
 * budgets live from reports. Of who outweighs all that are active, the clock
 * charges the turn, and they wait for its end seldom.
 */
static bool must_be_exact(const struct ptsp_device *dev, const struct ptsp_entity *h)
{
	const struct rb_node *node = rb_first_cached(&dev->active);
	const struct ptsp_entity *e;
	u32 left = EQUALS;

	for (; node; node = rb_next(node)) {
		e = ptsp_node_entry(node, rank);
		if (e->standing < h->standing)
			return false;
		if (e != h && (!left-- || !ptsp_go_together(dev, h, e)))
			return true;
	}
	return false;
}

/* Those who had the turn while any number might: the last ones go first, not all in one call. */
static void call_crowd_back(struct ptsp_device *dev)
{
	u32 left = PTSP_AT_ONCE;

	while (dev->nr_keeping > PTSP_COMPANY) {
		if (!left--) {
			dev->more = true;
			return;
		}
		ptsp_call_back(dev, ptsp_queue_last(&dev->holders));
	}
}

/* Whether @h may have the turn beside @first, or below who is above. */
static bool may_stay(const struct ptsp_device *dev, const struct ptsp_entity *first,
		     const struct ptsp_entity *h)
{
	if (dev->above)
		return h == dev->above || ptsp_heavier(dev, dev->above, h);
	return !first || ptsp_go_together(dev, first, h);
}

/* Of several that no longer go together, the one that had the turn first keeps it. */
static void call_holders_back(struct ptsp_device *dev, const struct ptsp_entity *top, u64 *next)
{
	const struct ptsp_entity *first = NULL;
	struct ptsp_entity *h, *after;

	for (h = ptsp_queue_first(&dev->holders); h; h = after) {
		after = ptsp_queue_next(&dev->holders, h);
		ptsp_settle(dev, h);
		if ((dev->nr_waiters && recall_exclusive(dev, h, top, next)) ||
		    !may_stay(dev, first, h))
			ptsp_call_back(dev, h);
		else if (!first)
			first = h;
	}
}

/* Takes off whose turn should have ended; returns whether one ceased to keep others out. */
static bool preempt_leaving(struct ptsp_device *dev, const struct ptsp_entity *top, u64 *next)
{
	u32 left = PTSP_AT_ONCE;
	struct ptsp_entity *h;
	bool preempted = false;

	for (h = ptsp_queue_last(&dev->leaving); h && left--;
	     h = ptsp_queue_prev(&dev->leaving, h)) {
		if (top && h->given && !h->in_way) {
			h->in_way = true;
			h->in_way_ns = dev->now_ns;
		}
		if (!h->preempted && must_preempt(dev, h, top, next)) {
			ptsp_preempt(dev, h);
			preempted = true;
		}
	}
	return preempted;
}

/* The late, once others are there. */
static void preempt_late(struct ptsp_device *dev)
{
	struct ptsp_entity *h;

	while (dev->nr_holders > 1 && (h = ptsp_queue_first(&dev->late)) && h->preemptible &&
	       !h->preempted) {
		ptsp_preempt(dev, h);
		ptsp_set_signals(dev, h, h->signals | PTSP_SIG_PREEMPT);
	}
}

/* What a holder is told beside what all are told. */
static u32 own_signals(const struct ptsp_device *dev, const struct ptsp_entity *h, u32 top_standing)
{
	u32 signals = PTSP_SIG_TURN;

	if (h->called_back)
		signals |= PTSP_SIG_CALLBACK;
	if (h->preempted)
		signals |= PTSP_SIG_PREEMPT;
	if (top_standing > h->standing)
		signals |= PTSP_SIG_OUTWEIGHED;
	if (dev->nr_active > 1 && (!ptsp_exclusive(dev) || must_be_exact(dev, h)))
		signals |= PTSP_SIG_EXACT;
	if (ptsp_is_beside(h))
		signals |= PTSP_SIG_BESIDE;
	if (dev->above && dev->nr_keeping > 1 && !h->called_back)
		signals |= h == dev->above ? PTSP_SIG_ABOVE : PTSP_SIG_BELOW;
	return signals;
}

/* @shared: several have the turn, and not only because one of them is about to be through. */
static u32 common_signals(struct ptsp_device *dev, const struct ptsp_entity *top, bool shared,
			  u64 *next)
{
	u32 signals = 0;

	if (dev->nr_waiters && (top || ptsp_least_given(dev, next)))
		signals |= PTSP_SIG_WANTED;
	if (dev->nr_active > 1)
		signals |= PTSP_SIG_CONTENDED;
	if (shared && dev->nr_holders > 1)
		signals |= PTSP_SIG_SHARED;
	return signals;
}

/* The last ones: those who were called back just now are among them. */
static void tell_queue(struct ptsp_device *dev, const struct ptsp_link *queue, u32 signals,
		       u32 top_standing)
{
	u32 left = PTSP_AT_ONCE;
	struct ptsp_entity *h;

	for (h = ptsp_queue_last(queue); h && left--; h = ptsp_queue_prev(queue, h))
		ptsp_set_signals(dev, h, signals | own_signals(dev, h, top_standing));
}

static bool first_is_beside(const struct ptsp_link *queue)
{
	const struct ptsp_entity *first = ptsp_queue_first(queue);

	return first && ptsp_is_beside(first);
}

/* Those below are to wait for their turns as others do, after a slice: or they might for ever. */
static void limit_above(struct ptsp_device *dev, u64 *next)
{
	u64 slice = ptsp_slice(dev), passed = dev->above->contended_ns;

	if (dev->nr_keeping < 2)
		return;
	if (passed >= slice)
		ptsp_clear_below(dev);
	else
		*next = min_u64(*next, dev->now_ns + slice - passed);
}

/* Calls back who must go, and tells all; returns what preempt_leaving() does. */
static bool review_exclusive(struct ptsp_device *dev, u64 *next)
{
	const struct ptsp_entity *top;
	bool preempted = false;
	u32 signals, top_standing;

	if (!dev->nr_holders)
		return false;
	top = dev->nr_waiters ? ptsp_best_eligible(dev, next) : NULL;
	call_crowd_back(dev);
	if (dev->above)
		limit_above(dev, next);
	if (dev->nr_active > 1 && dev->nr_keeping <= PTSP_COMPANY) {
		call_holders_back(dev, top, next);
		preempted = preempt_leaving(dev, top, next);
		preempt_late(dev);
	}
	signals = common_signals(dev, top, dev->nr_late, next);
	if (dev->nr_holders - dev->nr_late > 1 || first_is_beside(&dev->holders) ||
	    first_is_beside(&dev->leaving))
		ptsp_count_company(dev);
	top_standing = ptsp_top_standing(dev);
	tell_queue(dev, &dev->holders, signals, top_standing);
	if (!ptsp_list_empty(&dev->leaving))
		tell_queue(dev, &dev->leaving, signals, top_standing);
	return preempted;
}

void ptsp_tell_one(struct ptsp_device *dev, struct ptsp_entity *h)
{
	ptsp_set_signals(dev, h, dev->told | own_signals(dev, h, dev->told_standing));
}

/* The paper's rule: who overdrew its budget submits nothing, whoever else is there. */
static void call_overdrawn_back(struct ptsp_device *dev, const struct ptsp_entity *top, u64 *next)
{
	u32 left = PTSP_AT_ONCE;
	struct ptsp_entity *h;

	if (dev->nr_active < 2 || !dev->nr_overdrawn)
		return;
	if (dev->params.idle_sharing && !top && dev->nr_overdrawn == dev->nr_keeping) {
		*next = min_u64(*next, dev->now_ns + (ptsp_slice(dev) >> PTSP_LOOK_SHIFT));
		return;
	}
	while ((h = ptsp_first_overdrawn(dev))) {
		if (!left--) {
			dev->more = true;
			return;
		}
		ptsp_call_back(dev, h);
		ptsp_tell_one(dev, h);
	}
}

/* Where any number may hold the turn, they are told of a change by and by. */
static void review_many(struct ptsp_device *dev, u64 *next)
{
	const struct ptsp_entity *top = ptsp_best_eligible(dev, next);
	u32 signals, top_standing, left = PTSP_AT_ONCE;
	struct ptsp_entity *h;

	call_overdrawn_back(dev, top, next);
	signals = common_signals(dev, top, true, next);
	top_standing = ptsp_top_standing(dev);
	/* With whoever is active beside it, a holder is told to be exact, too. */
	if (signals != dev->told || top_standing != dev->told_standing)
		dev->untold = dev->nr_keeping;
	dev->told = signals;
	dev->told_standing = top_standing;
	while (dev->untold && (h = ptsp_queue_first(&dev->holders))) {
		if (!left--) {
			dev->more = true;
			return;
		}
		dev->untold--;
		ptsp_list_del(&h->queue);
		ptsp_list_add_before(&h->queue, &dev->holders);
		ptsp_tell_one(dev, h);
	}
}

bool ptsp_review_holders(struct ptsp_device *dev, u64 *next)
{
	if (ptsp_exclusive(dev))
		return review_exclusive(dev, next);
	review_many(dev, next);
	return false;
}
