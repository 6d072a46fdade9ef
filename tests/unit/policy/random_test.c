// SPDX-License-Identifier: MIT
/*
 * The policy's invariants over random events: joins, departures, waits, cancels,
 * releases, reports (true and false), renices, changed settings and late timers.
 * The seed is printed; PTSCHED_SEED repeats a run.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <linux/ptsched.h>

#include "kmod/policy/beside.h"
#include "kmod/policy/policy.h"
#include "tests/unit/policy/cases.h"

#define EVENTS		1000000
#define NR		24
#define USERS		3
#define GROUPS		4
#define MS		1000000ULL

struct task {
	struct ptsp_entity e;	/* first: the ops get this pointer */
	int nice;
	bool here;
	s64 penalty_ns;
};

struct world {
	struct ptsp_device dev;
	struct task tasks[NR];
	struct ptsp_user users[USERS][GROUPS + 1];	/* the last ones are in no group */
	struct ptsp_group groups[GROUPS];	/* each of them in the one before it, but the first two */
	u64 now, timer;
	u64 random;
	u64 exclusive_since;	/* settings as they are now have been in force since */
	u64 occupancy_then;
	unsigned int preadmitted;	/* so often it was asked for, and held */
	unsigned int beside;		/* so often was a turn had beside others */
	unsigned int above;		/* and with lighter ones below */
};

static struct world world;

static u64 draw(u64 n)
{
	world.random ^= world.random << 13;
	world.random ^= world.random >> 7;
	world.random ^= world.random << 17;
	return world.random % n;
}

static u32 task_weight(const struct ptsp_entity *e)
{
	return ptsp_nice_to_weight(((const struct task *)e)->nice);
}

/*
 * In exclusive mode, from a clean start, @e has been let in beside none but those that
 * are late, are being taken off, told when they leave, or go together with it or below.
 */
static void check_exclusion(const struct ptsp_entity *e)
{
	if (world.dev.params.many || world.dev.params.kind == PTSP_NONE)
		return;
	for (unsigned int i = 0; i < NR; i++) {
		const struct ptsp_entity *o = &world.tasks[i].e;

		if (world.tasks[i].here && o != e && o->state == PTSP_HOLDING && !o->late &&
		    !o->preempted && o->drained_ns == PTSP_NEVER &&
		    o->granted_ns > world.exclusive_since)
			assert_true(world.dev.above == e || world.dev.above == o ||
				    ptsp_go_together(&world.dev, o, e));
	}
}

static void task_signal(struct ptsp_entity *e, u32 old)
{
	assert_int_not_equal(e->signals, old);
	if (e->signals & ~old & PTSP_SIG_TURN)
		check_exclusion(e);
	world.beside += !!(e->signals & ~old & PTSP_SIG_BESIDE);
	world.above += !!(e->signals & ~old & PTSP_SIG_ABOVE);
	/* Who does not hold it is told at most that it could have the turn. */
	if (!(e->signals & PTSP_SIG_TURN))
		assert_int_equal(e->signals & ~PTSP_SIG_PREADMITTED, 0);
	else
		assert_false(e->signals & PTSP_SIG_PREADMITTED);
	/* A call-back is not taken back while the turn lasts. */
	if ((old & PTSP_SIG_CALLBACK) && (e->signals & PTSP_SIG_TURN) &&
	    world.now != world.exclusive_since)
		assert_true(e->signals & PTSP_SIG_CALLBACK);
}

static void task_forced(struct ptsp_entity *e)
{
	assert_int_equal(e->state, PTSP_HOLDING);
	assert_true(e->callback_ns + world.dev.params.drain_ns <= world.now);
}

static const struct ptsp_ops task_ops = {
	.weight = task_weight,
	.signal = task_signal,
	.forced = task_forced,
};

static struct ptsp_user *draw_user(void)
{
	return &world.users[draw(USERS)][draw(GROUPS + 1)];
}

static void make_groups(void)
{
	for (unsigned int i = 0; i < GROUPS; i++) {
		assert_true(ptsp_group_init(&world.dev, &world.groups[i],
					    i > 1 ? &world.groups[i - 1] : NULL,
					    1 + (u32)draw(PTSCHED_WEIGHT_MAX), 0));
		for (unsigned int user = 0; user < USERS; user++)
			world.users[user][i].group = &world.groups[i];
	}
}

static struct ptsp_params random_params(void)
{
	struct ptsp_params params = ptsp_default_params();

	params.kind = (enum ptsp_kind)(draw(4) ? PTSP_WEIGHTED : draw(3));
	params.idle_sharing = draw(2);
	params.many = !draw(4);
	params.slice_ns = MS / 10 + draw(20 * MS);
	params.grace_ns = draw(5 * MS);
	params.drain_ns = MS + draw(100 * MS);
	return params;
}

/* Whether what was told at the last run still holds: no timer was late, and nobody has changed since. */
static bool told_holds(void)
{
	if (world.timer <= world.now)
		return false;
	for (unsigned int i = 0; i < NR; i++) {
		const struct task *t = &world.tasks[i];

		if (t->here && (task_weight(&t->e) != t->e.weight ||
				(t->e.state == PTSP_WAITING &&
				 ptsp_budget(&world.dev, &t->e, world.now) >= 0)))
			return false;
	}
	return true;
}

static void ask(struct task *t)
{
	bool preadmitted = (t->e.signals & PTSP_SIG_PREADMITTED) && told_holds();

	ptsp_wait(&world.dev, &t->e, world.now);
	if (!preadmitted)
		return;
	world.preadmitted++;
	ptsp_run(&world.dev, world.now);
	assert_int_equal(t->e.state, PTSP_HOLDING);
}

static void event(void)
{
	struct task *t = &world.tasks[draw(NR)];
	struct ptsp_device *dev = &world.dev;
	u64 now = world.now;

	if (!draw(20000)) {
		struct ptsp_params params = random_params();

		ptsp_set_params(dev, &params, now);
		world.exclusive_since = now;
		world.occupancy_then = dev->stats.occupancy_ns;
	} else if (!t->here) {
		struct task *parent = &world.tasks[draw(NR)];

		memset(t, 0, sizeof(*t));
		t->nice = (int)draw(40) - 20;
		t->here = true;
		ptsp_join(dev, &t->e, draw_user(),
			  parent->here && parent != t && draw(2) ? &parent->e : NULL, now);
		assert_true(t->e.budget_ns <= ptsp_cap(dev, &t->e));
		ptsp_set_preemptible(dev, &t->e, draw(2), now);
	} else if (!draw(200)) {
		ptsp_set_preemptible(dev, &t->e, !t->e.preemptible, now);
	} else if (!draw(20)) {
		ptsp_tolerate(dev, &t->e, draw(2), now);
	} else if (!draw(20)) {
		ptsp_lead(dev, &t->e, now + draw(60 * MS), now);
	} else if (!draw(50)) {
		ptsp_leave(dev, &t->e, now);
		t->here = false;
	} else if (!draw(50)) {
		t->nice = (int)draw(40) - 20;
	} else if (!draw(100)) {
		ptsp_move(dev, &t->e, draw_user(), now);
	} else if (!draw(1000)) {
		ptsp_group_set_weight(dev, &world.groups[draw(GROUPS)],
				      1 + (u32)draw(PTSCHED_WEIGHT_MAX), now);
	} else if (t->e.state == PTSP_IDLE) {
		ask(t);
	} else if (t->e.state == PTSP_WAITING) {
		if (!draw(20))
			ptsp_cancel(dev, &t->e, now);
	} else if (!draw(3)) {
		ptsp_report(dev, &t->e, draw(20) ? draw(3 * MS) : PTSP_NEVER / 4, (u32)draw(4), now);
	} else if ((t->e.signals & PTSP_SIG_CALLBACK) && draw(2)) {
		ptsp_drain(dev, &t->e, draw(20) ? draw(10 * MS) : PTSP_NEVER, now);
	} else if ((t->e.signals & PTSP_SIG_CALLBACK) || !draw(3)) {
		ptsp_release(dev, &t->e, draw(MS), now);
	}
}

static void check_entity(const struct task *t)
{
	const struct ptsp_entity *e = &t->e;
	s64 budget = ptsp_budget(&world.dev, e, world.now);

	assert_true(budget <= ptsp_cap(&world.dev, e));
	assert_true(e->stats.gpu_ns <= e->stats.held_ns);
	assert_true(e->stats.occupancy_ns <= e->stats.held_ns);
	assert_true(e->stats.given_ns <= e->stats.occupancy_ns);
	assert_int_equal(!!(e->signals & PTSP_SIG_TURN), e->state == PTSP_HOLDING);
	assert_true(e->state == PTSP_IDLE || e->active);
}

static bool is_outweighed(const struct ptsp_entity *e)
{
	for (unsigned int i = 0; i < NR; i++) {
		const struct task *t = &world.tasks[i];

		if (t->here && t->e.standing > e->standing)
			return true;
	}
	return false;
}

/* It said that it drains: the next is let in two hand-overs before that, or beside who has brief time slices, after it. */
static bool is_drained(const struct ptsp_entity *e)
{
	if (!e->called_back || e->drained_ns == PTSP_NEVER)
		return false;
	if (e->preemptible && is_outweighed(e))
		return e->drained_ns + ptsp_slice(&world.dev) / 16 <= world.now;
	return e->drained_ns <= world.now + 2 * world.dev.handover_ns;
}

/* Others are admitted beside it: late, being taken off, or drained. */
static bool is_leaving(const struct task *t)
{
	const struct ptsp_entity *e = &t->e;

	return e->state == PTSP_HOLDING && (e->late || e->preempted || is_drained(e));
}

/* It said when it drains, the next was let in beside it, and it is taken off if it does not. */
static bool is_watched(const struct task *t)
{
	const struct ptsp_entity *e = &t->e;

	return e->state == PTSP_HOLDING && e->preemptible && !e->preempted && e->called_back &&
	       e->drained_ns != PTSP_NEVER && world.dev.nr_holders > 1;
}

/* What the active members of @group, or of none, weigh together. */
static u64 active_weight(const struct ptsp_group *group)
{
	u64 weight = 0;

	for (unsigned int i = 0; i < NR; i++) {
		const struct task *t = &world.tasks[i];

		if (t->here && t->e.active && t->e.user->group == group)
			weight += t->e.weight;
	}
	for (unsigned int i = 0; i < GROUPS; i++)
		if (world.groups[i].parent == group && world.groups[i].active_weight)
			weight += world.groups[i].weight;
	return weight;
}

static void check_groups(void)
{
	assert_true(active_weight(NULL) == world.dev.active_weight);
	for (unsigned int i = 0; i < GROUPS; i++)
		assert_true(active_weight(&world.groups[i]) == world.groups[i].active_weight);
}

static void check(void)
{
	const struct ptsp_device *dev = &world.dev;
	u32 here = 0, waiters = 0, holders = 0, leaving = 0, active = 0, eligible = 0, watched = 0;
	u64 weight = 0;

	for (unsigned int i = 0; i < NR; i++) {
		const struct task *t = &world.tasks[i];

		if (!t->here)
			continue;
		check_entity(t);
		here++;
		holders += t->e.state == PTSP_HOLDING;
		leaving += is_leaving(t);
		watched += is_watched(t);
		active += t->e.active;
		weight += t->e.active ? t->e.weight : 0;
		if (t->e.state == PTSP_WAITING) {
			waiters++;
			eligible += ptsp_budget(dev, &t->e, world.now) >= 0;
		}
	}
	assert_int_equal(here, dev->nr_entities);
	assert_int_equal(waiters, dev->nr_waiters);
	assert_int_equal(holders, dev->nr_holders);
	assert_int_equal(active, dev->nr_active);
	assert_true(weight == dev->entity_weight);
	check_groups();

	/* Charges of an instant sum to at most that instant. */
	assert_true(dev->stats.occupancy_ns - world.occupancy_then <=
		    world.now - world.exclusive_since);

	if (dev->params.kind == PTSP_NONE)
		assert_int_equal(waiters, 0);
	else if (holders == leaving || dev->params.many)
		assert_int_equal(eligible, 0);
	/* Where somebody waits, or is below another, something will happen: a timer, or a call-back obeyed. */
	if (waiters)
		assert_true(world.timer != PTSP_NEVER || holders);
	else if (!dev->params.many)
		assert_true(world.timer == PTSP_NEVER || watched || dev->above);
}

static u64 seed(void)
{
	const char *given = getenv("PTSCHED_SEED");

	return given ? strtoull(given, NULL, 0) : (u64)time(NULL) * 2654435761u + 1;
}

static void test_invariants(void **state)
{
	struct ptsp_params params = ptsp_default_params();

	(void)state;
	world.random = seed() | 1;
	printf("# PTSCHED_SEED=%llu\n", (unsigned long long)world.random);
	ptsp_device_init(&world.dev, &params, &task_ops, 0);
	make_groups();
	world.timer = PTSP_NEVER;
	for (unsigned int i = 0; i < EVENTS; i++) {
		u64 pause = draw(4) ? draw(MS / 2) : draw(8) ? draw(10 * MS) : 0;

		/* Timers come, now and then late. */
		while (world.timer <= world.now + pause) {
			u64 late = draw(10) ? 0 : draw(3 * MS);

			world.now = (world.timer > world.now ? world.timer : world.now) + late;
			pause = pause > late ? pause - late : 0;
			world.timer = ptsp_run(&world.dev, world.now);
			check();
		}
		world.now += pause;
		event();
		world.timer = ptsp_run(&world.dev, world.now);
		check();
	}
	assert_int_not_equal(world.preadmitted, 0);
	assert_int_not_equal(world.beside, 0);
	assert_int_not_equal(world.above, 0);
}

/* Whatever the load was, once every holder obeys, every waiter gets its turn. */
static void test_nobody_waits_for_ever(void **state)
{
	struct ptsp_params params = world.dev.params;
	bool served[NR] = { false };
	unsigned int left = 0;

	(void)state;
	/* The lightest repay a debt for hours, in light groups for weeks: by long turns and in heavy ones, that is in fewer steps. */
	params.slice_ns = PTSCHED_SLICE_MAX_NS;
	ptsp_set_params(&world.dev, &params, world.now);
	for (unsigned int i = 0; i < GROUPS; i++)
		ptsp_group_set_weight(&world.dev, &world.groups[i], PTSCHED_WEIGHT_MAX, world.now);
	for (unsigned int i = 0; i < NR; i++) {
		struct task *t = &world.tasks[i];

		if (t->here && t->e.state == PTSP_IDLE)
			ptsp_wait(&world.dev, &t->e, world.now);
		left += t->here;
	}
	for (unsigned int runs = 0; left; runs++) {
		u64 next = ptsp_run(&world.dev, world.now);
		bool moved = false;

		assert_true(runs < 100 * EVENTS);
		for (unsigned int i = 0; i < NR; i++) {
			struct task *t = &world.tasks[i];

			if (!t->here || t->e.state != PTSP_HOLDING)
				continue;
			left -= !served[i];
			served[i] = true;
			if (t->e.signals & PTSP_SIG_CALLBACK) {
				ptsp_release(&world.dev, &t->e, 0, world.now);
				ptsp_wait(&world.dev, &t->e, world.now);
				moved = true;
			}
		}
		assert_true(moved || !left || next != PTSP_NEVER);
		if (!moved && left)
			world.now = next;
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_invariants),
		cmocka_unit_test(test_nobody_waits_for_ever),
	};

	return run_cases("policy invariants", tests);
}
