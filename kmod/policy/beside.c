// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Equals beside each other, and lighter ones below a heavier.
 *
 * A program that is bound by its launches leaves the device idle for much of its
 * turn. Two of them, one after the other, get half as far as each alone; beside
 * each other, the hardware's time slices give each what the other leaves. Equal
 * weights have equal slices and pay equal parts, so that budgets need not know
 * who used how much.
 *
 * Whether it is good for an entity is measured, not guessed: where it submits
 * less, beside n - 1 others, than an n-th of what it does in a turn of its own,
 * it has turns of its own for a while, each time for longer. So one that says
 * that it leaves the device idle, and does not, takes no more from others than
 * its part, but for one measurement each time.
 *
 * A heavier one whose turns are few long pieces of work leaves the device to
 * lighter ones most cheaply where these are not taken off at all: their time slices
 * are short, so that its work gets onto the device soon and stays there, and they
 * go on at once when it ends. It says so itself, as it knows its pauses.
 */
#include "arithmetic.h"
#include "beside.h"
#include "list.h"
#include "order.h"
#include "state.h"
#include "vtime.h"

/* In a turn of its own, of a thousandth each: busier ones gain little from company. */
#define BUSY_ALL	1000
#define BUSY_MAX	750
/* Of a gang's member, which has nothing to do while its fellows do not get on. */
#define BUSY_MAX_IN_GANG	500
/* What is measured over less than this says little. */
#define ALONE_NS	20000000ULL
#define BESIDE_NS	100000000ULL
/* Who works tells of its use sooner; a longer time is a pause, and says nothing. */
#define PAUSE_NS	250000000ULL
/* Beside others, where that fills the device, how much each has alone is looked at so often. */
#define BUSY_BESIDE	900
#define STALE_NS	10000000000ULL
/* More than so many eighths of an n-th are to be left to each of n. */
#define LEFT_EIGHTHS	7
/* Of who suffered: the first time alone, and the longest. */
#define APART_MIN_NS	1000000000ULL
#define APART_MAX_NS	64000000000ULL
/* Fraction bits of a pace, in submissions per ns. */
#define PACE_SHIFT	32

void ptsp_forget_pace(struct ptsp_device *dev, struct ptsp_entity *e)
{
	e->busy = BUSY_ALL;
	e->pace_alone = 0;
	e->alone = (struct ptsp_span){ 0 };
	e->beside = (struct ptsp_span){ 0 };
	e->told_ns = dev->now_ns;
	e->mixed = true;
	e->judged_ns = 0;
	e->apart_ns = 0;
	e->apart_until_ns = 0;
}

static u64 pace(const struct ptsp_span *span)
{
	return div_u64_u64(min_u64(span->submissions, ~0U) << PACE_SHIFT, span->held_ns);
}

static u32 busy(const struct ptsp_span *span)
{
	u64 ns = min_u64(span->gpu_ns, span->held_ns);

	return (u32)div_u64_u64(ns, div_u64_u64(span->held_ns, BUSY_ALL));
}

static void judge_alone(const struct ptsp_device *dev, struct ptsp_entity *e)
{
	u64 now = pace(&e->alone);
	u32 busy_now = busy(&e->alone);

	/* That it is busy counts at once, that it is not slowly: its work may just have ended. */
	e->busy = busy_now > e->busy || !e->judged_ns ? busy_now : (3 * e->busy + busy_now) / 4;
	e->pace_alone = e->pace_alone ? (3 * e->pace_alone + now) / 4 : now;
	e->judged_ns = dev->now_ns;
	e->alone = (struct ptsp_span){ 0 };
}

static void judge_beside(const struct ptsp_device *dev, struct ptsp_entity *e)
{
	if (pace(&e->beside) * e->company * 8 < e->pace_alone * LEFT_EIGHTHS) {
		e->apart_ns = min_u64(max_u64(2 * e->apart_ns, APART_MIN_NS), APART_MAX_NS);
		e->apart_until_ns = dev->now_ns + e->apart_ns;
	} else {
		e->apart_ns /= 2;
	}
	/* What is measured beside others is its part. Turns of its own are to show the rest. */
	if (busy(&e->beside) * e->company >= BUSY_BESIDE &&
	    dev->now_ns - e->judged_ns >= STALE_NS) {
		e->busy = BUSY_ALL;
		e->judged_ns = 0;
	}
	e->beside = (struct ptsp_span){ 0 };
}

void ptsp_keep_pace(struct ptsp_device *dev, struct ptsp_entity *e, u64 gpu_ns, u32 submissions)
{
	struct ptsp_span *span = ptsp_is_beside(e) ? &e->beside : &e->alone;
	u64 held_ns = dev->now_ns - e->told_ns;

	e->told_ns = dev->now_ns;
	if (e->mixed || held_ns > PAUSE_NS) {
		e->mixed = false;
		return;
	}
	span->held_ns += held_ns;
	span->gpu_ns += gpu_ns;
	span->submissions += submissions;
	if (span->held_ns < ALONE_NS)
		return;
	if (span == &e->alone)
		judge_alone(dev, e);
	else if (span->held_ns >= BESIDE_NS)
		judge_beside(dev, e);
}

bool ptsp_is_sociable(const struct ptsp_device *dev, const struct ptsp_entity *e)
{
	/* Only gangs lead. */
	u32 busy_max = e->lead_until_ns ? BUSY_MAX_IN_GANG : BUSY_MAX;

	return dev->params.kind == PTSP_WEIGHTED && ptsp_exclusive(dev) &&
	       dev->params.idle_sharing && e->preemptible && e->busy <= busy_max &&
	       e->apart_until_ns <= dev->now_ns;
}

/* Of the same weight in every respect: they earn the same, and neither goes first. */
static bool are_equals(const struct ptsp_entity *a, const struct ptsp_entity *b)
{
	if (a->standing != b->standing)
		return false;
	return a->user->group == b->user->group || ptsp_rate(a) == ptsp_rate(b);
}

bool ptsp_go_together(const struct ptsp_device *dev, const struct ptsp_entity *a,
		      const struct ptsp_entity *b)
{
	return are_equals(a, b) && ptsp_is_sociable(dev, a) && ptsp_is_sociable(dev, b);
}

bool ptsp_goes_above(const struct ptsp_device *dev, const struct ptsp_entity *e,
		     const struct ptsp_entity *h)
{
	return e->tolerates && e->fresh && h->preemptible && !dev->above &&
	       ptsp_exclusive(dev) && ptsp_heavier(dev, e, h);
}

static void set_company(struct ptsp_entity *h, u32 n)
{
	if (n == h->company)
		return;
	h->company = n;
	h->mixed = true;
	h->beside = (struct ptsp_span){ 0 };
}

/* Those of one weight that are sociable all go together: no need to look at each two. */
void ptsp_count_company(struct ptsp_device *dev)
{
	const struct ptsp_entity *one = NULL;
	struct ptsp_entity *h;
	u32 n = 0;

	for (h = ptsp_queue_first(&dev->holders); h; h = ptsp_queue_next(&dev->holders, h)) {
		if (!ptsp_is_sociable(dev, h))
			continue;
		one = one ? one : h;
		n += are_equals(h, one);
	}
	for (h = ptsp_queue_first(&dev->holders); h; h = ptsp_queue_next(&dev->holders, h))
		set_company(h, one && ptsp_go_together(dev, one, h) ? n : 1);
	for (h = ptsp_queue_first(&dev->leaving); h; h = ptsp_queue_next(&dev->leaving, h))
		set_company(h, 1);
}
