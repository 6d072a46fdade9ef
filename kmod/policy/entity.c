// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * The life of an entity on a device: it joins, waits, reports, gives the turn back
 * and leaves. What is decided then is in decide.c.
 */
#include "activity.h"
#include "beside.h"
#include "budget.h"
#include "decide.h"
#include "earning.h"
#include "handover.h"
#include "list.h"
#include "order.h"
#include "vtime.h"

/* Who keeps another from its turn with given time: so many times as long its user gets none. */
#define WITHHELD		12
/*
 * A longer gap says nothing about when the entity comes back. Programs with
 * frames or requests stay below; one that pauses for a second must not keep its
 * weight from the others meanwhile.
 */
#define GAP_MAX_NS		100000000ULL

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
		.tick_ns = now,
		.unwanted_ns = now,
		.quantum_ns = params->slice_ns,
	};
	ptsp_list_init(&dev->entities);
	ptsp_list_init(&dev->waiters);
	ptsp_list_init(&dev->holders);
	ptsp_list_init(&dev->leaving);
	ptsp_list_init(&dev->late);
	ptsp_list_init(&dev->preadmitted);
	dev->sweep = &dev->waiters;
	dev->refresh = &dev->entities;
}

/* Budgets of one policy mean nothing to another: all start afresh, by and by. */
void ptsp_set_params(struct ptsp_device *dev, const struct ptsp_params *params, u64 now)
{
	ptsp_advance(dev, now);
	if (params->kind != dev->params.kind || params->many != dev->params.many) {
		dev->generation++;
		dev->excess_ns = 0;
	}
	dev->params = *params;
	if (!ptsp_exclusive(dev))
		dev->above = NULL;
	dev->tick_ns = now;
	dev->refresh = dev->entities.next;
}

/* Out of the queue that @e is in as a holder. */
static void unqueue_holder(struct ptsp_device *dev, struct ptsp_entity *e)
{
	ptsp_list_del(&e->queue);
	if (e->late) {
		dev->nr_late--;
		dev->nr_late_on -= !e->preempted;
	} else if (!e->called_back) {
		dev->nr_keeping--;
		dev->nr_regular -= !e->given;
	}
}

static void queue_holder(struct ptsp_device *dev, struct ptsp_entity *e)
{
	ptsp_list_add_before(&e->queue, &dev->holders);
	dev->nr_keeping++;
	dev->nr_regular += !e->given;
}

static void start_afresh(struct ptsp_device *dev, struct ptsp_entity *e)
{
	bool holds = e->state == PTSP_HOLDING;
	struct ptsp_group *group;

	ptsp_forget_pace(dev, e);
	if (holds)
		unqueue_holder(dev, e);
	for (group = e->user->group; group; group = group->parent)
		group->excess = 0;
	e->generation = dev->generation;
	e->budget_ns = 0;
	e->brought_ns = 0;
	e->credit_ns = 0;
	e->given = false;
	e->fresh = true;
	e->late = false;
	e->called_back = false;
	e->preempted = false;
	e->in_way = false;
	e->drained_ns = PTSP_NEVER;
	if (holds)
		queue_holder(dev, e);
}

/* What is @e's was changed: its weight, or its groups'. */
static void take_standing(struct ptsp_device *dev, struct ptsp_entity *e)
{
	e->standing = ptsp_standing(e);
	ptsp_rank(dev, e);
	ptsp_place(dev, e);
}

void ptsp_refresh_some(struct ptsp_device *dev)
{
	u32 left = PTSP_AT_ONCE;
	struct ptsp_entity *e;

	while (dev->refresh != &dev->entities) {
		if (!left--) {
			dev->more = true;
			return;
		}
		e = ptsp_entry(dev->refresh, all);
		dev->refresh = dev->refresh->next;
		ptsp_settle(dev, e);
		if (e->generation != dev->generation)
			start_afresh(dev, e);
		ptsp_count_use(dev, e);
		take_standing(dev, e);
		if (e->state == PTSP_HOLDING && !ptsp_exclusive(dev))
			ptsp_tell_one(dev, e);
	}
}

void ptsp_set_weight(struct ptsp_device *dev, struct ptsp_entity *e)
{
	u32 weight = dev->ops->weight(e);

	if (weight == e->weight)
		return;
	ptsp_settle(dev, e);
	ptsp_unplace(dev, e);
	if (e->active) {
		dev->entity_weight += (u64)weight - e->weight;
		ptsp_reweigh(dev, e->user->group, e->weight, weight);
	}
	e->weight = weight;
	take_standing(dev, e);
}

void ptsp_join(struct ptsp_device *dev, struct ptsp_entity *e, struct ptsp_user *user,
	       const struct ptsp_entity *parent, u64 now)
{
	s64 budget;

	ptsp_advance(dev, now);
	ptsp_list_init(&e->queue);
	ptsp_list_add_before(&e->all, &dev->entities);
	dev->nr_entities++;
	e->user = user;
	e->generation = dev->generation;
	ptsp_advance_group(dev, user->group);
	e->stamp = ptsp_stamp_at(dev, user->group, false, now);
	e->weight = dev->ops->weight(e);
	e->standing = ptsp_standing(e);
	if (parent) {
		budget = ptsp_budget(dev, parent, now);
		if (budget < 0)
			e->inherited_ns = (u64)-budget;
	}
	e->budget_ns = -(s64)e->inherited_ns;
	e->budget_ns -= ptsp_user_take(dev, user);
	/* What was saved under other settings may be more than can be now. */
	ptsp_settle(dev, e);
	ptsp_forget_pace(dev, e);
	ptsp_rank(dev, e);
}

void ptsp_move(struct ptsp_device *dev, struct ptsp_entity *e, struct ptsp_user *user, u64 now)
{
	ptsp_advance(dev, now);
	ptsp_settle(dev, e);
	ptsp_unplace(dev, e);
	if (e->active)
		ptsp_stop_earning(dev, e->user->group, e->weight, e->brought_ns - e->budget_ns);
	e->user = user;
	e->brought_ns = e->budget_ns;
	ptsp_advance_group(dev, user->group);
	if (e->active)
		ptsp_start_earning(dev, user->group, e->weight);
	e->stamp = ptsp_stamp_at(dev, user->group, e->active, now);
	take_standing(dev, e);
}

/* Out of the queue of waiters, without moving the sweep back. */
static void unqueue_waiter(struct ptsp_device *dev, struct ptsp_entity *e)
{
	if (dev->sweep == &e->queue)
		dev->sweep = e->queue.next;
	ptsp_list_del(&e->queue);
	ptsp_unplace(dev, e);
	if (dev->nr_waiters == 1 && dev->nr_holders)
		ptsp_settle_holders(dev);
	dev->nr_waiters--;
	e->stats.wait_ns += dev->now_ns - e->wait_ns;
	dev->stats.wait_ns += dev->now_ns - e->wait_ns;
}

/* Neither waits nor holds any more; counts as active for a while yet. */
static void linger(struct ptsp_device *dev, struct ptsp_entity *e)
{
	e->state = PTSP_IDLE;
	e->left_ns = dev->now_ns;
	e->linger_ns = dev->now_ns + max_u64(dev->params.grace_ns, 2 * e->gap_ns);
	ptsp_place(dev, e);
	ptsp_lingers(dev, e);
}

/* @e, which is idle, goes: to wait, or for ever. */
static void stop_lingering(struct ptsp_device *dev, struct ptsp_entity *e)
{
	ptsp_forget_preadmission(dev, e);
	if (e->active)
		ptsp_returns(dev, e);
}

/*
 * Another gets in at last, or gives up. What a call-back takes at best is
 * nobody's fault; for more, the user whose time was given has to make up, or
 * draining slowly would cost nothing: given time makes no debt. It is the user
 * and not the process, of which there may be any number, one after another.
 */
static void withhold_for(struct ptsp_device *dev, struct ptsp_user *user, u64 since)
{
	u64 wait = dev->now_ns - since, free = ptsp_slice(dev) >> PTSP_OVERRUN_SHIFT;

	if (wait <= free)
		return;
	user->withheld_ns = max_u64(user->withheld_ns, dev->now_ns) + WITHHELD * (wait - free);
	ptsp_place_user(dev, user);
}

static void withhold(struct ptsp_device *dev, struct ptsp_entity *h)
{
	if (h->in_way)
		withhold_for(dev, h->user, h->in_way_ns);
	h->in_way = false;
}

/* The same for who is late, or drains for longer than it told: others share the device with it. */
static void withhold_overrun(struct ptsp_device *dev, struct ptsp_entity *e)
{
	if (e->late)
		withhold_for(dev, e->user, e->late_ns);
	else if (e->given && e->called_back && e->drained_ns <= dev->now_ns)
		withhold_for(dev, e->user, e->drained_ns);
}

/* The turn ends: what it overran is a penalty, one slice at most. */
static void end_turn(struct ptsp_device *dev, struct ptsp_entity *e)
{
	u64 overrun;

	ptsp_settle(dev, e);
	withhold(dev, e);
	withhold_overrun(dev, e);
	ptsp_unplace(dev, e);
	if (e->late) {
		overrun = dev->now_ns - e->late_ns;
		e->stats.overrun_ns += overrun;
		dev->stats.overrun_ns += overrun;
		e->budget_ns -= (s64)min_u64(overrun, ptsp_slice(dev));
	}
	if (!e->given)
		dev->unwanted_ns = dev->now_ns;
	unqueue_holder(dev, e);
	if (dev->above == e)
		dev->above = NULL;
	dev->nr_holders--;
	e->recalled = e->called_back;
	e->given = false;
	e->late = false;
	e->called_back = false;
	e->preempted = false;
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
		stop_lingering(dev, e);
		break;
	}
	ptsp_deactivate(dev, e);
	ptsp_user_owe(dev, e->user, e);
	ptsp_forget_claim(dev, e);
	rb_erase_cached(&e->rank, e->ranked);
	if (dev->refresh == &e->all)
		dev->refresh = e->all.next;
	ptsp_list_del(&e->all);
	dev->nr_entities--;
}

/* Who was called back and comes straight back has not paused: its usual pause is no shorter. */
static void note_gap(struct ptsp_entity *e, u64 gap)
{
	if (!e->recalled || gap > e->gap_ns)
		e->gap_ns = ptsp_average(e->gap_ns, gap);
}

void ptsp_wait(struct ptsp_device *dev, struct ptsp_entity *e, u64 now)
{
	ptsp_advance(dev, now);
	ptsp_settle(dev, e);
	ptsp_set_weight(dev, e);
	stop_lingering(dev, e);
	if (e->left_ns)
		note_gap(e, min_u64(now - e->left_ns, GAP_MAX_NS));
	if (!e->active) {
		ptsp_activate(dev, e);
		ptsp_judge_handover(dev);
	}
	e->state = PTSP_WAITING;
	e->wait_ns = now;
	e->arrival = ++dev->arrivals;
	e->fresh = ptsp_is_fresh(dev, e);
	e->given_vt = max_u64(e->given_vt, dev->given_vt);
	ptsp_list_add_before(&e->queue, &dev->waiters);
	if (!dev->nr_waiters && dev->nr_holders)
		ptsp_settle_holders(dev);
	dev->nr_waiters++;
	ptsp_place(dev, e);
}

void ptsp_cancel(struct ptsp_device *dev, struct ptsp_entity *e, u64 now)
{
	ptsp_advance(dev, now);
	ptsp_settle(dev, e);
	unqueue_waiter(dev, e);
	linger(dev, e);
}

void ptsp_lead(struct ptsp_device *dev, struct ptsp_entity *e, u64 until_ns, u64 now)
{
	ptsp_advance(dev, now);
	e->lead_until_ns = until_ns;
	e->led = e->state == PTSP_HOLDING;
	if (e->state != PTSP_WAITING)
		return;
	ptsp_settle(dev, e);
	ptsp_place(dev, e);
}

/* Until when those who were called back and still hold the turn said that they have work. */
static u64 busy_until(const struct ptsp_device *dev)
{
	struct ptsp_entity *h;
	u64 until = 0;

	for (h = ptsp_queue_first(&dev->leaving); h; h = ptsp_queue_next(&dev->leaving, h))
		if (h->drained_ns != PTSP_NEVER)
			until = max_u64(until, h->drained_ns);
		else if (h->preempted && !ptsp_is_off(dev, h))
			until = max_u64(until, dev->now_ns + dev->handover_ns);
	return until;
}

void ptsp_grant(struct ptsp_device *dev, struct ptsp_entity *e)
{
	struct ptsp_entity *h;

	if (e->stamp.ns != dev->now_ns)
		ptsp_settle(dev, e);
	unqueue_waiter(dev, e);
	e->busy_until_ns = ptsp_exclusive(dev) ? busy_until(dev) : 0;
	e->given = e->budget_ns < 0 && dev->params.kind != PTSP_NONE;
	if (e->given)
		dev->given_vt = max_u64(dev->given_vt, e->given_vt);
	else if (ptsp_exclusive(dev))
		for (h = ptsp_queue_first(&dev->leaving); h; h = ptsp_queue_next(&dev->leaving, h))
			withhold(dev, h);
	e->state = PTSP_HOLDING;
	if (ptsp_goes_first(dev, e))
		e->led++;
	e->turn = ++dev->turn;
	e->granted_ns = dev->now_ns;
	e->counted_ns = dev->now_ns;
	e->drained_ns = PTSP_NEVER;
	e->preempted = false;
	e->contended_ns = 0;
	e->turn_occupancy_ns = 0;
	e->turn_gpu_ns = 0;
	e->turn_extra_ns = 0;
	e->clipped_ns = 0;
	e->stats.turns++;
	dev->stats.turns++;
	dev->nr_holders++;
	h = ptsp_queue_first(&dev->holders);
	if (h && ptsp_goes_above(dev, e, h))
		dev->above = e;
	queue_holder(dev, e);
	if (dev->params.many)
		ptsp_place(dev, e);
	ptsp_pace_begins(dev, e);
}

void ptsp_call_back(struct ptsp_device *dev, struct ptsp_entity *h)
{
	unqueue_holder(dev, h);
	ptsp_unplace(dev, h);
	if (dev->above == h)
		dev->above = NULL;
	h->called_back = true;
	h->callback_ns = dev->now_ns;
	h->stats.callbacks++;
	dev->stats.callbacks++;
	ptsp_list_add_before(&h->queue, &dev->leaving);
}

/* Where work can be taken off the device, that is to be done first. */
static void queue_late(struct ptsp_device *dev, struct ptsp_entity *h)
{
	bool first = h->preemptible && !h->preempted;

	ptsp_list_del(&h->queue);
	ptsp_list_add_before(&h->queue, first ? dev->late.next : &dev->late);
}

void ptsp_make_late(struct ptsp_device *dev, struct ptsp_entity *h, u64 since)
{
	ptsp_settle(dev, h);
	withhold(dev, h);
	/* Nobody gives it the time that it takes from here on. */
	h->given = false;
	h->late = true;
	h->late_ns = since;
	h->late_vstamp = dev->late_vt;
	dev->nr_late++;
	dev->nr_late_on += !h->preempted;
	queue_late(dev, h);
	h->stats.forced++;
	dev->stats.forced++;
}

void ptsp_preempt(struct ptsp_device *dev, struct ptsp_entity *h)
{
	bool escalation = h->callback_ns != dev->now_ns;

	ptsp_settle(dev, h);
	h->preempted = true;
	h->preempted_ns = dev->now_ns;
	h->stats.preempts++;
	dev->stats.preempts++;
	h->stats.escalations += escalation;
	dev->stats.escalations += escalation;
	if (h->late) {
		dev->nr_late_on--;
		queue_late(dev, h);
	}
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

/* Nobody else was active for part of the turn: there, measured time is debited. */
static void debit_unwanted(struct ptsp_device *dev, struct ptsp_entity *e, u64 held)
{
	u64 beyond;

	if (e->turn_gpu_ns <= e->turn_occupancy_ns || dev->params.kind == PTSP_NONE)
		return;
	beyond = min_u64(e->turn_gpu_ns - e->turn_occupancy_ns, held - e->contended_ns);
	if (beyond > e->turn_extra_ns) {
		debit(dev, e, beyond - e->turn_extra_ns);
		e->turn_extra_ns = beyond;
	}
}

void ptsp_report(struct ptsp_device *dev, struct ptsp_entity *e, u64 gpu_ns, u32 submissions,
		 u64 now)
{
	u64 held = now - e->granted_ns;
	u64 gpu;

	ptsp_advance(dev, now);
	ptsp_settle(dev, e);
	gpu = min_u64(gpu_ns, held - e->turn_gpu_ns);
	e->turn_gpu_ns += gpu;
	e->stats.gpu_ns += gpu;
	dev->stats.gpu_ns += gpu;
	e->stats.submissions += submissions;
	dev->stats.submissions += submissions;
	if (submissions) {
		e->use_ns = ptsp_average(e->use_ns, gpu / submissions);
		ptsp_count_use(dev, e);
	}
	ptsp_keep_pace(dev, e, gpu, submissions);
	debit_unwanted(dev, e, held);
	if (dev->params.many) {
		ptsp_set_weight(dev, e);
		ptsp_place(dev, e);
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
	if (e->late)
		queue_late(dev, e);
}

void ptsp_clear_below(struct ptsp_device *dev)
{
	struct ptsp_entity *h, *after;

	for (h = ptsp_queue_first(&dev->holders); h; h = after) {
		after = ptsp_queue_next(&dev->holders, h);
		if (h == dev->above)
			continue;
		ptsp_call_back(dev, h);
		ptsp_preempt(dev, h);
	}
	dev->above = NULL;
}

void ptsp_tolerate(struct ptsp_device *dev, struct ptsp_entity *e, bool tolerates, u64 now)
{
	ptsp_advance(dev, now);
	if (tolerates && e->state != PTSP_IDLE)
		return;
	e->tolerates = tolerates;
	if (!tolerates && dev->above == e)
		ptsp_clear_below(dev);
}

void ptsp_release(struct ptsp_device *dev, struct ptsp_entity *e, u64 handover_ns, u64 now)
{
	ptsp_advance(dev, now);
	end_turn(dev, e);
	linger(dev, e);
	/* For how long it kept what nobody wanted says nothing. */
	if (dev->nr_waiters || e->recalled)
		ptsp_claim_handover(dev, e, handover_ns);
	ptsp_set_signals(dev, e, 0);
}
