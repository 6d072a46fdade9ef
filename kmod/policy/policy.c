// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Turns: who waits, who holds, who is called back (policy.h says the rules).
 *
 * Among eligible waiters the highest weight goes first; budgets, not order,
 * give the others their share. A waiter that was eligible when it came calls a
 * lighter holder back at once. One that had used up its budget and has just
 * earned it again, or was itself called back a moment ago, lets the holder finish
 * its slice: else the two would hand over at every submission, and the lighter
 * one's share would go into hand-overs.
 */
#include "beside.h"
#include "budget.h"
#include "list.h"
#include "policy.h"

/* The slice is at least so many hand-overs, so that they cost 3 % at most. */
#define HANDOVERS_PER_SLICE	30
/* By so many hand-overs the next is admitted ahead: half of them take longer than the mean. */
#define LEAD			2
/* Who keeps another from its turn with given time: so many times as long its user gets none. */
#define WITHHELD		8
/* Shortest pause between two looks at a holder's falling budget. */
#define LOOK_SHIFT		4
/* Waiters whose nice is read again in each run: nothing announces a renice. */
#define SWEEP			16
/*
 * A longer gap says nothing about when the entity comes back. Programs with
 * frames or requests stay below; one that pauses for a second must not keep its
 * weight from the others meanwhile.
 */
#define GAP_MAX_NS		100000000ULL

static u64 average(u64 old, u64 new)
{
	return old ? (3 * old + new) / 4 : new;
}

u64 ptsp_slice(const struct ptsp_device *dev)
{
	return max_u64(dev->params.slice_ns, HANDOVERS_PER_SLICE * dev->handover_ns);
}

struct ptsp_entity *ptsp_first(const struct ptsp_device *dev)
{
	return ptsp_list_empty(&dev->entities) ? NULL : ptsp_entry(dev->entities.next, all);
}

struct ptsp_entity *ptsp_next(const struct ptsp_device *dev, const struct ptsp_entity *e)
{
	return e->all.next == &dev->entities ? NULL : ptsp_entry(e->all.next, all);
}

void ptsp_device_init(struct ptsp_device *dev, const struct ptsp_params *params,
		      const struct ptsp_ops *ops, u64 now)
{
	*dev = (struct ptsp_device){
		.params = *params,
		.ops = ops,
		.now_ns = now,
		.unwanted_ns = now,
		.quantum_ns = params->slice_ns,
	};
	ptsp_list_init(&dev->entities);
	ptsp_list_init(&dev->waiters);
	ptsp_list_init(&dev->holders);
	ptsp_list_init(&dev->lingerers);
	dev->sweep = &dev->waiters;
}

/* Budgets of one policy mean nothing to another: all start afresh. */
void ptsp_set_params(struct ptsp_device *dev, const struct ptsp_params *params, u64 now)
{
	bool afresh = params->kind != dev->params.kind || params->many != dev->params.many;
	struct ptsp_entity *e;

	ptsp_advance(dev, now);
	dev->params = *params;
	for (e = ptsp_first(dev); e; e = ptsp_next(dev, e)) {
		ptsp_settle(dev, e);
		if (!afresh)
			continue;
		ptsp_forget_pace(dev, e);
		e->budget_ns = 0;
		e->stamp_ns = now;
		e->credit_ns = 0;
		e->given = false;
		e->fresh = true;
		e->late = false;
		e->called_back = false;
		e->preempted = false;
		e->in_way = false;
		e->drained_ns = PTSP_NEVER;
	}
}

static void set_weight(struct ptsp_device *dev, struct ptsp_entity *e)
{
	u32 weight = dev->ops->weight(e);

	if (weight == e->weight)
		return;
	ptsp_settle(dev, e);
	if (e->active)
		dev->active_weight += (u64)weight - e->weight;
	e->weight = weight;
	dev->weights_changed = true;
}

void ptsp_join(struct ptsp_device *dev, struct ptsp_entity *e, struct ptsp_user *user,
	       const struct ptsp_entity *parent, u64 now)
{
	s64 budget;

	ptsp_advance(dev, now);
	ptsp_list_init(&e->queue);
	ptsp_list_add_before(&e->all, &dev->entities);
	dev->nr_entities++;
	dev->weights_changed = true;
	e->user = user;
	e->stamp_ns = now;
	e->vstamp = dev->vtime;
	e->weight = dev->ops->weight(e);
	if (parent) {
		budget = ptsp_budget(dev, parent, now);
		if (budget < 0)
			e->inherited_ns = (u64)-budget;
	}
	e->budget_ns = -(s64)e->inherited_ns;
	e->budget_ns -= (s64)ptsp_user_take(dev, user);
	ptsp_forget_pace(dev, e);
}

/* Out of the queue of waiters, without moving the sweep back. */
static void unqueue_waiter(struct ptsp_device *dev, struct ptsp_entity *e)
{
	if (dev->sweep == &e->queue)
		dev->sweep = e->queue.next;
	ptsp_list_del(&e->queue);
	dev->nr_waiters--;
	e->stats.wait_ns += dev->now_ns - e->wait_ns;
	dev->stats.wait_ns += dev->now_ns - e->wait_ns;
}

/* Neither waits nor holds any more; counts as active for a while yet. */
static void linger(struct ptsp_device *dev, struct ptsp_entity *e)
{
	struct ptsp_link *pos = dev->lingerers.prev;

	e->state = PTSP_IDLE;
	e->left_ns = dev->now_ns;
	e->linger_ns = dev->now_ns + max_u64(dev->params.grace_ns, 2 * e->gap_ns);
	while (pos != &dev->lingerers && ptsp_entry(pos, queue)->linger_ns > e->linger_ns)
		pos = pos->prev;
	ptsp_list_add_before(&e->queue, pos->next);
}

/*
 * Another gets in at last, or gives up. What a call-back takes at best is
 * nobody's fault; for more, the user whose time was given has to make up, or
 * draining slowly would cost nothing: given time makes no debt. It is the user
 * and not the process, of which there may be any number, one after another.
 */
static void withhold(struct ptsp_device *dev, struct ptsp_entity *h)
{
	u64 wait = dev->now_ns - h->in_way_ns, free = ptsp_slice(dev) >> PTSP_OVERRUN_SHIFT;

	if (h->in_way && wait > free)
		h->user->withheld_ns = max_u64(h->user->withheld_ns, dev->now_ns) +
				       WITHHELD * (wait - free);
	h->in_way = false;
}

/* The turn ends: what it overran is a penalty, one slice at most. */
static void end_turn(struct ptsp_device *dev, struct ptsp_entity *e)
{
	u64 overrun;

	ptsp_settle(dev, e);
	withhold(dev, e);
	if (e->late) {
		overrun = dev->now_ns - e->late_ns;
		e->stats.overrun_ns += overrun;
		dev->stats.overrun_ns += overrun;
		e->budget_ns -= (s64)min_u64(overrun, ptsp_slice(dev));
	}
	if (!e->given)
		dev->unwanted_ns = dev->now_ns;
	ptsp_list_del(&e->queue);
	dev->nr_holders--;
	e->recalled = e->called_back;
	e->given = false;
	e->late = false;
	e->called_back = false;
	e->preempted = false;
}

/* Where the claims of @e are kept: in its own place, a free one, or the oldest. */
static struct ptsp_claim *claim_of(struct ptsp_device *dev, const struct ptsp_entity *e)
{
	struct ptsp_claim *claim;

	for (claim = dev->claims; claim < dev->claims + dev->nr_claims; claim++)
		if (claim->by == e)
			return claim;
	if (dev->nr_claims < PTSP_CLAIMS)
		dev->nr_claims++;
	else
		claim = &dev->claims[dev->oldest_claim++ % PTSP_CLAIMS];
	*claim = (struct ptsp_claim){ .by = e };
	return claim;
}

/*
 * The median of those who take turns now: what others found beside others says
 * nothing. The lower of the two in the middle, so that of two claimants none
 * makes the slice longer.
 */
static void judge_handover(struct ptsp_device *dev)
{
	const struct ptsp_claim *claim;
	u64 sorted[PTSP_CLAIMS];
	u32 n = 0, pos;

	for (claim = dev->claims; claim < dev->claims + dev->nr_claims; claim++) {
		if (!claim->by->active)
			continue;
		for (pos = n++; pos && sorted[pos - 1] > claim->ns; pos--)
			sorted[pos] = sorted[pos - 1];
		sorted[pos] = claim->ns;
	}
	if (n)
		dev->handover_ns = sorted[(n - 1) / 2];
}

/* Told by the client: however large, it makes the slice ten times as long at most. */
static void claim_handover(struct ptsp_device *dev, const struct ptsp_entity *e, u64 ns)
{
	struct ptsp_claim *claim = claim_of(dev, e);

	ns = min_u64(ns, dev->now_ns - e->granted_ns);
	ns = min_u64(ns, dev->params.slice_ns * 10 / HANDOVERS_PER_SLICE);
	claim->ns = average(claim->ns, ns);
	if (dev->nr_claims == 1)
		dev->handover_ns = claim->ns;
	else
		judge_handover(dev);
}

static void forget_claim(struct ptsp_device *dev, const struct ptsp_entity *e)
{
	struct ptsp_claim *claim;

	for (claim = dev->claims; claim < dev->claims + dev->nr_claims; claim++) {
		if (claim->by == e) {
			*claim = dev->claims[--dev->nr_claims];
			return;
		}
	}
}

void ptsp_leave(struct ptsp_device *dev, struct ptsp_entity *e, u64 now)
{
	ptsp_advance(dev, now);
	ptsp_settle(dev, e);
	switch (e->state) {
	case PTSP_WAITING:
		unqueue_waiter(dev, e);
		break;
	case PTSP_HOLDING:
		end_turn(dev, e);
		break;
	case PTSP_IDLE:
		ptsp_list_del(&e->queue);
		break;
	}
	ptsp_deactivate(dev, e);
	ptsp_user_owe(dev, e->user, e);
	forget_claim(dev, e);
	ptsp_list_del(&e->all);
	dev->nr_entities--;
	dev->weights_changed = true;
}

/*
 * Not fresh is who comes straight back after a call-back: it was told to go, and
 * some microseconds of earnings are no reason to interrupt the next.
 */
static bool is_fresh(const struct ptsp_device *dev, const struct ptsp_entity *e)
{
	u64 pause = max_u64(dev->params.grace_ns, dev->handover_ns);

	return e->budget_ns >= 0 && !(e->recalled && dev->now_ns - e->left_ns <= pause);
}

void ptsp_wait(struct ptsp_device *dev, struct ptsp_entity *e, u64 now)
{
	ptsp_advance(dev, now);
	ptsp_settle(dev, e);
	set_weight(dev, e);
	if (e->left_ns)
		e->gap_ns = average(e->gap_ns, min_u64(now - e->left_ns, GAP_MAX_NS));
	ptsp_list_del(&e->queue);
	if (!e->active) {
		ptsp_activate(dev, e);
		judge_handover(dev);
	}
	e->state = PTSP_WAITING;
	e->wait_ns = now;
	e->fresh = is_fresh(dev, e);
	e->given_vt = max_u64(e->given_vt, dev->given_vt);
	ptsp_list_add_before(&e->queue, &dev->waiters);
	dev->nr_waiters++;
	ptsp_set_signals(dev, e, 0);
}

void ptsp_cancel(struct ptsp_device *dev, struct ptsp_entity *e, u64 now)
{
	ptsp_advance(dev, now);
	ptsp_settle(dev, e);
	unqueue_waiter(dev, e);
	linger(dev, e);
}

/*
 * A report may cover minutes in which the budget stood at its cap: what was
 * earned meanwhile pays for it. The paper's rule knows no such thing.
 */
static void debit(struct ptsp_device *dev, struct ptsp_entity *e, u64 ns)
{
	u64 paid = dev->params.kind == PTSP_LITERAL ? 0 : min_u64(ns, e->clipped_ns);

	e->clipped_ns -= paid;
	ptsp_charge(dev, e, ns - paid);
}

void ptsp_report(struct ptsp_device *dev, struct ptsp_entity *e, u64 gpu_ns, u32 submissions,
		 u64 now)
{
	u64 held = now - e->granted_ns;
	u64 gpu, beyond;

	ptsp_advance(dev, now);
	ptsp_settle(dev, e);
	gpu = min_u64(gpu_ns, held - e->turn_gpu_ns);
	e->turn_gpu_ns += gpu;
	e->stats.gpu_ns += gpu;
	dev->stats.gpu_ns += gpu;
	e->stats.submissions += submissions;
	dev->stats.submissions += submissions;
	if (submissions)
		e->use_ns = average(e->use_ns, gpu / submissions);
	ptsp_keep_pace(dev, e, gpu, submissions);

	/* Nobody waited for part of the turn: there, measured time is debited. */
	if (e->turn_gpu_ns <= e->turn_occupancy_ns || dev->params.kind == PTSP_NONE)
		return;
	beyond = min_u64(e->turn_gpu_ns - e->turn_occupancy_ns, held - e->contended_ns);
	if (beyond > e->turn_extra_ns) {
		debit(dev, e, beyond - e->turn_extra_ns);
		e->turn_extra_ns = beyond;
	}
}

void ptsp_drain(struct ptsp_device *dev, struct ptsp_entity *e, u64 drain_ns, u64 now)
{
	ptsp_advance(dev, now);
	if (e->state == PTSP_HOLDING && e->called_back)
		e->drained_ns = now + min_u64(drain_ns, dev->params.drain_ns);
}

void ptsp_set_preemptible(struct ptsp_device *dev, struct ptsp_entity *e, bool preemptible, u64 now)
{
	ptsp_advance(dev, now);
	e->preemptible = preemptible;
}

void ptsp_release(struct ptsp_device *dev, struct ptsp_entity *e, u64 handover_ns, u64 now)
{
	ptsp_advance(dev, now);
	end_turn(dev, e);
	linger(dev, e);
	claim_handover(dev, e, handover_ns);
	ptsp_set_signals(dev, e, 0);
}

/* Read some waiters' nice again, over several runs everybody's, and that of whom they wait for. */
static void sweep_weights(struct ptsp_device *dev)
{
	u32 left = min_u64(SWEEP, dev->nr_waiters);
	struct ptsp_entity *h;

	if (!left)
		return;
	for (h = ptsp_queue_first(&dev->holders); h; h = ptsp_queue_next(&dev->holders, h))
		set_weight(dev, h);
	while (left--) {
		if (dev->sweep == &dev->waiters)
			dev->sweep = dev->waiters.next;
		set_weight(dev, ptsp_entry(dev->sweep, queue));
		dev->sweep = dev->sweep->next;
	}
}

/* A called-back turn that does not drain may depend on a waiter: let it in. */
static void share_by_force(struct ptsp_device *dev, u64 *next)
{
	struct ptsp_entity *e;
	u64 limit;

	if (!dev->nr_waiters)
		return;
	for (e = ptsp_queue_first(&dev->holders); e; e = ptsp_queue_next(&dev->holders, e)) {
		if (!e->called_back || e->late)
			continue;
		limit = e->callback_ns + dev->params.drain_ns;
		if (limit > dev->now_ns) {
			*next = min_u64(*next, limit);
			continue;
		}
		e->late = true;
		e->late_ns = limit;
		e->stats.forced++;
		dev->stats.forced++;
		dev->ops->forced(e);
	}
}

/* The paper's rule orders nobody by weight: there, first come, first served. */
static bool heavier(const struct ptsp_device *dev, const struct ptsp_entity *a,
		    const struct ptsp_entity *b)
{
	return dev->params.kind == PTSP_WEIGHTED && a->weight > b->weight;
}

/* The eligible waiter that goes first; else NULL and when there will be one. */
static struct ptsp_entity *best_eligible(struct ptsp_device *dev, u64 *next)
{
	struct ptsp_entity *e, *best = NULL;
	u64 soonest = PTSP_NEVER;

	for (e = ptsp_queue_first(&dev->waiters); e; e = ptsp_queue_next(&dev->waiters, e)) {
		ptsp_settle(dev, e);
		if (e->budget_ns < 0 && dev->params.kind != PTSP_NONE)
			soonest = min_u64(soonest, ptsp_eligible_at(dev, e));
		else if (!best || heavier(dev, e, best))
			best = e;
	}
	if (best || ptsp_list_empty(&dev->waiters))
		return best;
	*next = min_u64(*next, soonest);
	/* Who stops being active leaves its share to the waiters: then they earn faster. */
	e = ptsp_queue_first(&dev->lingerers);
	if (e)
		*next = min_u64(*next, e->linger_ns);
	return NULL;
}

/* Whether @e may have time that is given away. */
static bool may_take(const struct ptsp_device *dev, const struct ptsp_entity *e, u64 *next)
{
	if (!dev->params.idle_sharing)
		return false;
	if (e->user->withheld_ns <= dev->now_ns)
		return true;
	*next = min_u64(*next, e->user->withheld_ns);
	return false;
}

/* The waiter that has had the least of the time given away, by weight; NULL: none may have any. */
static struct ptsp_entity *least_given(struct ptsp_device *dev, u64 *next)
{
	struct ptsp_entity *e, *least = NULL;

	for (e = ptsp_queue_first(&dev->waiters); e; e = ptsp_queue_next(&dev->waiters, e))
		if ((!least || e->given_vt < least->given_vt) && may_take(dev, e, next))
			least = e;
	return least;
}

/*
 * Whether @h keeps the turn from others. Not if it is late, nor if its work is
 * being taken off the device, which serves others meanwhile, nor if that will
 * have drained by the time that another's first work could arrive: the device
 * need not stand still while the turn is handed over.
 */
static bool keeps_turn(const struct ptsp_device *dev, const struct ptsp_entity *h, u64 *next)
{
	u64 at;

	if (h->late || h->preempted)
		return false;
	if (!ptsp_drains(h))
		return true;
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
	const struct ptsp_entity *away;

	if (!e->preemptible)
		return false;
	for (away = ptsp_queue_first(&dev->lingerers); away;
	     away = ptsp_queue_next(&dev->lingerers, away))
		if (away->budget_ns >= 0 &&
		    (!heavier(dev, away, e) || 2 * away->gap_ns < dev->params.grace_ns))
			return false;
	return true;
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

/* To whom the turn may go although its budget is negative, or NULL. */
static struct ptsp_entity *pick_taker(struct ptsp_device *dev, u64 *next)
{
	struct ptsp_entity *e, *least = least_given(dev, next);

	if (!least)
		return NULL;
	for (e = ptsp_queue_first(&dev->holders); e; e = ptsp_queue_next(&dev->holders, e))
		if (!e->given && keeps_turn(dev, e, next))
			return NULL;
	return awaits_nobody(dev, least, dev->nr_waiters + dev->nr_holders, next) ? least : NULL;
}

/* Whether no holder keeps the turn from @e; without one, from anybody. */
static bool turn_is_free(const struct ptsp_device *dev, const struct ptsp_entity *e, u64 *next)
{
	struct ptsp_entity *h;

	if (!ptsp_exclusive(dev))
		return true;
	for (h = ptsp_queue_first(&dev->holders); h; h = ptsp_queue_next(&dev->holders, h))
		if (!(e && !h->called_back && ptsp_go_together(dev, h, e)) &&
		    keeps_turn(dev, h, next))
			return false;
	return true;
}

/* Whether somebody might be let in beside the holders. */
static bool is_sociable(const struct ptsp_device *dev)
{
	const struct ptsp_entity *h = ptsp_queue_first(&dev->holders);

	return h && ptsp_is_sociable(dev, h);
}

static struct ptsp_entity *pick(struct ptsp_device *dev, u64 *next)
{
	struct ptsp_entity *best;
	bool is_free;
	u32 weight;

	if (!dev->nr_waiters)
		return NULL;
	is_free = turn_is_free(dev, NULL, next);
	if (!is_free && !is_sociable(dev))
		return NULL;
	do {
		best = best_eligible(dev, next);
		if (!best)
			return is_free ? pick_taker(dev, next) : NULL;
		weight = best->weight;
		set_weight(dev, best);
	} while (best->weight < weight);
	return is_free || turn_is_free(dev, best, next) ? best : NULL;
}

/* Until when those who still hold the turn said that they have work. */
static u64 busy_until(const struct ptsp_device *dev)
{
	struct ptsp_entity *h;
	u64 until = 0;

	for (h = ptsp_queue_first(&dev->holders); h; h = ptsp_queue_next(&dev->holders, h))
		if (h->drained_ns != PTSP_NEVER)
			until = max_u64(until, h->drained_ns);
		else if (h->preempted && !ptsp_is_off(dev, h))
			until = max_u64(until, dev->now_ns + dev->handover_ns);
	return until;
}

static void grant(struct ptsp_device *dev, struct ptsp_entity *e)
{
	struct ptsp_entity *h;

	unqueue_waiter(dev, e);
	e->busy_until_ns = busy_until(dev);
	e->given = e->budget_ns < 0 && dev->params.kind != PTSP_NONE;
	if (e->given)
		dev->given_vt = max_u64(dev->given_vt, e->given_vt);
	else
		for (h = ptsp_queue_first(&dev->holders); h; h = ptsp_queue_next(&dev->holders, h))
			withhold(dev, h);
	e->state = PTSP_HOLDING;
	e->turn = ++dev->turn;
	e->granted_ns = dev->now_ns;
	e->drained_ns = PTSP_NEVER;
	e->preempted = false;
	e->contended_ns = 0;
	e->turn_occupancy_ns = 0;
	e->turn_gpu_ns = 0;
	e->turn_extra_ns = 0;
	e->clipped_ns = 0;
	e->stats.turns++;
	dev->stats.turns++;
	ptsp_list_add_before(&e->queue, &dev->holders);
	dev->nr_holders++;
	ptsp_pace_begins(dev, e);
}

/* A holder without budget goes on with time that is given away, or must go. */
static bool overdrawn(struct ptsp_device *dev, struct ptsp_entity *h, u64 *next)
{
	const struct ptsp_entity *least;

	if (!may_take(dev, h, next))
		return true;
	if (!h->given) {
		h->given = true;
		h->given_vt = max_u64(h->given_vt, dev->given_vt);
	}
	least = least_given(dev, next);
	if (least && least->given_vt < h->given_vt)
		return true;
	*next = min_u64(*next, dev->now_ns + ptsp_slice(dev));
	return false;
}

/* After a slice at the latest: its weight may have changed. */
static void look_again(struct ptsp_device *dev, const struct ptsp_entity *h, u64 *next)
{
	u64 slice = ptsp_slice(dev);
	u64 pause = max_u64(min_u64((u64)h->budget_ns, slice), slice >> LOOK_SHIFT);

	*next = min_u64(*next, dev->now_ns + pause);
}

/* The paper's rule: who overdrew its budget submits nothing, whoever else is there. */
static bool recall_many(struct ptsp_device *dev, struct ptsp_entity *h,
			const struct ptsp_entity *top, u64 *next)
{
	struct ptsp_entity *e;

	if (dev->nr_active < 2)
		return false;
	if (h->budget_ns >= 0) {
		look_again(dev, h, next);
		return false;
	}
	if (!dev->params.idle_sharing || top)
		return true;
	for (e = ptsp_queue_first(&dev->holders); e; e = ptsp_queue_next(&dev->holders, e))
		if (e != h && e->budget_ns >= 0)
			return true;
	look_again(dev, &(struct ptsp_entity){ 0 }, next);
	return false;
}

static bool recall_exclusive(struct ptsp_device *dev, struct ptsp_entity *h,
			     const struct ptsp_entity *top, u64 *next)
{
	u64 slice = ptsp_slice(dev);

	if (top && (h->given || (top->fresh && heavier(dev, top, h))))
		return true;
	if (h->contended_ns < slice) {
		*next = min_u64(*next, dev->now_ns + slice - h->contended_ns);
		return false;
	}
	if (top && (h->budget_ns < 0 || !heavier(dev, h, top)))
		return true;
	if (h->budget_ns < 0)
		return overdrawn(dev, h, next);
	look_again(dev, h, next);
	return false;
}

static bool recall(struct ptsp_device *dev, struct ptsp_entity *h, const struct ptsp_entity *top,
		   u64 *next)
{
	if (dev->params.kind == PTSP_NONE)
		return false;
	if (dev->params.many)
		return recall_many(dev, h, top, next);
	return dev->nr_waiters && recall_exclusive(dev, h, top, next);
}

/*
 * Whether the work of a called-back holder is to be taken off the device: for a
 * heavier one that may interrupt, where it does not drain within a slice for
 * whoever could run, or where the next was let in beside it, and it is late or has
 * not drained when it said. Equals hand over by draining, which costs less.
 */
static bool must_preempt(struct ptsp_device *dev, struct ptsp_entity *h,
			 const struct ptsp_entity *top, u64 *next)
{
	u64 slice = ptsp_slice(dev), at = PTSP_NEVER;

	if (!h->preemptible || !ptsp_exclusive(dev))
		return false;
	if (h->late && dev->nr_holders > 1)
		return true;
	if (ptsp_drains(h) && ptsp_queue_next(&dev->holders, h))
		at = h->drained_ns + (slice >> PTSP_OVERRUN_SHIFT);
	if (top)
		at = min_u64(at, h->callback_ns + slice);
	if (at <= dev->now_ns || (top && top->fresh && heavier(dev, top, h)))
		return true;
	*next = min_u64(*next, at);
	return false;
}

/* Whether somebody on the device weighs more. */
static bool outweighed(struct ptsp_device *dev, const struct ptsp_entity *h)
{
	const struct ptsp_entity *e;

	if (dev->weights_changed) {
		dev->weights_changed = false;
		dev->top_weight = 0;
		for (e = ptsp_first(dev); e; e = ptsp_next(dev, e))
			if (e->weight > dev->top_weight)
				dev->top_weight = e->weight;
	}
	return dev->top_weight > h->weight;
}

/* Those that go together do not hand over to each other. */
static bool has_match_for(const struct ptsp_device *dev, const struct ptsp_link *queue,
			  const struct ptsp_entity *h)
{
	const struct ptsp_entity *e;

	for (e = ptsp_queue_first(queue); e; e = ptsp_queue_next(queue, e))
		if (e != h && e->weight >= h->weight && !ptsp_go_together(dev, h, e))
			return true;
	return false;
}

/*
 * Whether it matters what exactly @h has on the device, which costs a program of
 * many short kernels: where turns pass between equals, or budgets live from
 * reports. Of who outweighs all that are active, the clock charges the turn, and
 * they wait for its end seldom.
 */
static bool must_be_exact(const struct ptsp_device *dev, const struct ptsp_entity *h)
{
	return !ptsp_exclusive(dev) || has_match_for(dev, &dev->waiters, h) ||
	       has_match_for(dev, &dev->holders, h) || has_match_for(dev, &dev->lingerers, h);
}

/* Several have the turn, and not only because one of them is about to be through. */
static bool is_shared(const struct ptsp_device *dev)
{
	struct ptsp_entity *h;

	if (dev->nr_holders < 2)
		return false;
	if (!ptsp_exclusive(dev))
		return true;
	for (h = ptsp_queue_first(&dev->holders); h; h = ptsp_queue_next(&dev->holders, h))
		if (h->late)
			return true;
	return false;
}

static void preempt(struct ptsp_device *dev, struct ptsp_entity *h)
{
	bool escalation = h->callback_ns != dev->now_ns;

	h->preempted = true;
	h->preempted_ns = dev->now_ns;
	h->stats.preempts++;
	dev->stats.preempts++;
	h->stats.escalations += escalation;
	dev->stats.escalations += escalation;
}

/*
 * Decide for each holder whether it is called back. Of several that no longer go
 * together, the one that had the turn first keeps it. Returns whether one has just
 * ceased to keep others out.
 */
static bool call_back(struct ptsp_device *dev, const struct ptsp_entity *top, u64 *next)
{
	bool several = dev->nr_holders > 1 && ptsp_exclusive(dev), preempted = false;
	const struct ptsp_entity *first = NULL;
	struct ptsp_entity *h;

	for (h = ptsp_queue_first(&dev->holders); h; h = ptsp_queue_next(&dev->holders, h)) {
		ptsp_settle(dev, h);
		if (!h->called_back && (recall(dev, h, top, next) ||
					(first && !ptsp_go_together(dev, first, h)))) {
			h->called_back = true;
			h->callback_ns = dev->now_ns;
			h->stats.callbacks++;
			dev->stats.callbacks++;
		}
		if (!h->called_back) {
			first = several && !first ? h : first;
			continue;
		}
		if (top && h->given && !h->in_way) {
			h->in_way = true;
			h->in_way_ns = dev->now_ns;
		}
		if (!h->preempted && must_preempt(dev, h, top, next)) {
			preempt(dev, h);
			preempted = true;
		}
	}
	return preempted;
}

/* Calls back who must go, and tells each holder what it may know; returns what call_back() does. */
static bool review_holders(struct ptsp_device *dev, u64 *next)
{
	struct ptsp_entity *h, *top = best_eligible(dev, next);
	bool preempted = dev->nr_active > 1 && call_back(dev, top, next);
	bool wanted = top || least_given(dev, next);
	bool shared = is_shared(dev);

	h = ptsp_queue_first(&dev->holders);
	if (h && (dev->nr_holders > 1 || ptsp_is_beside(h)))
		ptsp_count_company(dev);
	for (; h; h = ptsp_queue_next(&dev->holders, h)) {
		u32 signals = PTSP_SIG_TURN;

		if (h->called_back)
			signals |= PTSP_SIG_CALLBACK;
		if (h->preempted)
			signals |= PTSP_SIG_PREEMPT;
		if (outweighed(dev, h))
			signals |= PTSP_SIG_OUTWEIGHED;
		if (wanted)
			signals |= PTSP_SIG_WANTED;
		if (dev->nr_active > 1)
			signals |= PTSP_SIG_CONTENDED;
		if (dev->nr_active > 1 && must_be_exact(dev, h))
			signals |= PTSP_SIG_EXACT;
		if (shared)
			signals |= PTSP_SIG_SHARED;
		if (ptsp_is_beside(h))
			signals |= PTSP_SIG_BESIDE;
		ptsp_set_signals(dev, h, signals);
	}
	return preempted;
}

/* Whether @e, if it asked now, would be let in beside all holders, whose work is then taken off. */
static bool would_interrupt(const struct ptsp_device *dev, const struct ptsp_entity *e,
			    const struct ptsp_entity *top)
{
	const struct ptsp_entity *h;

	if (!dev->nr_holders || !ptsp_exclusive(dev) || !is_fresh(dev, e))
		return false;
	if (top && !heavier(dev, e, top))
		return false;
	for (h = ptsp_queue_first(&dev->holders); h; h = ptsp_queue_next(&dev->holders, h))
		if (!heavier(dev, e, h) || !(h->preemptible || h->preempted || h->late))
			return false;
	return true;
}

/* Whether unused time would go to @e rather than to one that waits. */
static bool would_be_given(struct ptsp_device *dev, const struct ptsp_entity *e, u64 *next)
{
	const struct ptsp_entity *least = least_given(dev, next);

	return may_take(dev, e, next) && !(least && least->given_vt <= e->given_vt) &&
	       awaits_nobody(dev, e, dev->nr_waiters + dev->nr_holders + e->active, next);
}

bool ptsp_would_grant(struct ptsp_device *dev, struct ptsp_entity *e, u64 now)
{
	const struct ptsp_entity *best;
	u64 next = PTSP_NEVER;

	if (e->state != PTSP_IDLE)
		return false;
	ptsp_advance(dev, now);
	ptsp_settle(dev, e);
	set_weight(dev, e);
	best = best_eligible(dev, &next);
	if (!turn_is_free(dev, e, &next))
		return would_interrupt(dev, e, best);
	if (e->budget_ns < 0 && dev->params.kind != PTSP_NONE)
		return !best && would_be_given(dev, e, &next);
	return !best || heavier(dev, e, best);
}

/* To those who were here a moment ago: their first submission need not wait for the answer. */
static void preadmit(struct ptsp_device *dev)
{
	u64 next = PTSP_NEVER;
	const struct ptsp_entity *top = best_eligible(dev, &next);
	struct ptsp_entity *e;

	for (e = ptsp_queue_first(&dev->lingerers); e; e = ptsp_queue_next(&dev->lingerers, e)) {
		ptsp_settle(dev, e);
		ptsp_set_signals(dev, e, would_interrupt(dev, e, top) ? PTSP_SIG_PREADMITTED : 0);
	}
}

u64 ptsp_run(struct ptsp_device *dev, u64 now)
{
	struct ptsp_entity *e;
	u64 next = PTSP_NEVER;

	ptsp_advance(dev, now);
	sweep_weights(dev);
	share_by_force(dev, &next);
	do {
		/* What a grant has settled needs no timer. */
		for (next = PTSP_NEVER; (e = pick(dev, &next)); next = PTSP_NEVER)
			grant(dev, e);
	} while (review_holders(dev, &next));
	/* Each call-back has its limit, one made just now, too. */
	share_by_force(dev, &next);
	preadmit(dev);
	return max_u64(next, now + 1);
}
