// SPDX-License-Identifier: MIT
/*
 * Thousands of entities: no call of the policy concerns more of them than it says,
 * and what is put off is done in the calls that follow.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kmod/policy/policy.h"
#include "tests/unit/policy/cases.h"

#define NR	3000
#define MS	1000000ULL
/* Of all that one call does at once, nothing is done for more than PTSP_AT_ONCE. */
#define BOUND	(8 * PTSP_AT_ONCE)

struct task {
	struct ptsp_entity e;	/* first: the ops get this pointer */
	int nice;
};

struct world {
	struct ptsp_device dev;
	struct ptsp_user users[3];
	struct task *tasks;
	u64 now, random;
	unsigned int looks, most;	/* by one call, and of all calls */
};

static struct world world;

static u32 task_weight(const struct ptsp_entity *e)
{
	world.looks++;
	return ptsp_nice_to_weight(((const struct task *)e)->nice);
}

static void task_signal(struct ptsp_entity *e, u32 old)
{
	(void)e;
	(void)old;
	world.looks++;
}

static void task_forced(struct ptsp_entity *e)
{
	(void)e;
	world.looks++;
}

static const struct ptsp_ops task_ops = {
	.weight = task_weight,
	.signal = task_signal,
	.forced = task_forced,
};

static u64 draw(u64 n)
{
	world.random ^= world.random << 13;
	world.random ^= world.random >> 7;
	world.random ^= world.random << 17;
	return world.random % n;
}

static void count_looks(void)
{
	if (world.looks > world.most)
		world.most = world.looks;
	world.looks = 0;
}

/* Returns when it wants to be called again. */
static u64 run(void)
{
	u64 next;

	count_looks();
	next = ptsp_run(&world.dev, world.now);
	count_looks();
	return next;
}

/* Until nothing is left that was put off. Returns after how many calls. */
static unsigned int settle(void)
{
	unsigned int calls = 1;

	while (run() == world.now + 1) {
		world.now++;
		assert_true(++calls < 10 * NR);
	}
	return calls;
}

static int setup(void **state)
{
	struct ptsp_params params = ptsp_default_params();

	(void)state;
	memset(&world, 0, sizeof(world));
	world.random = 88172645463325252ULL;
	world.tasks = calloc(NR, sizeof(*world.tasks));
	ptsp_device_init(&world.dev, &params, &task_ops, 0);
	for (unsigned int i = 0; i < NR; i++) {
		world.tasks[i].nice = (int)(i % 40) - 20;
		ptsp_join(&world.dev, &world.tasks[i].e, &world.users[i % 3], NULL, 0);
	}
	world.looks = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(world.tasks);
	return 0;
}

static void set(enum ptsp_kind kind, bool many)
{
	struct ptsp_params params = ptsp_default_params();

	params.kind = kind;
	params.many = many;
	ptsp_set_params(&world.dev, &params, world.now);
}

static void all_ask(void)
{
	for (unsigned int i = 0; i < NR; i++)
		if (world.tasks[i].e.state == PTSP_IDLE)
			ptsp_wait(&world.dev, &world.tasks[i].e, world.now);
	world.looks = 0;
}

static void event(struct task *t)
{
	struct ptsp_device *dev = &world.dev;

	switch (t->e.state) {
	case PTSP_IDLE:
		ptsp_wait(dev, &t->e, world.now);
		break;
	case PTSP_WAITING:
		if (!draw(8))
			ptsp_cancel(dev, &t->e, world.now);
		break;
	case PTSP_HOLDING:
		if (draw(2))
			ptsp_report(dev, &t->e, draw(40 * MS), 1, world.now);
		else if (draw(4))
			ptsp_release(dev, &t->e, draw(MS), world.now);
		break;
	}
	if (!draw(16))
		ptsp_set_preemptible(dev, &t->e, draw(2), world.now);
	if (!draw(64))
		t->nice = (int)draw(40) - 20;
	count_looks();
}

/* Whom the last turn went to, now and then, or anybody. */
static struct task *somebody(void)
{
	for (unsigned int tries = draw(2) ? NR : 0; tries; tries--) {
		struct task *t = &world.tasks[draw(NR)];

		if (t->e.state == PTSP_HOLDING)
			return t;
	}
	return &world.tasks[draw(NR)];
}

static void test_no_call_concerns_many(void **state)
{
	static const struct {
		enum ptsp_kind kind;
		bool many;
	} modes[] = {
		{ PTSP_WEIGHTED, false }, { PTSP_WEIGHTED, true }, { PTSP_LITERAL, false },
		{ PTSP_LITERAL, true }, { PTSP_NONE, false }, { PTSP_WEIGHTED, false },
	};

	(void)state;
	for (unsigned int mode = 0; mode < sizeof(modes) / sizeof(modes[0]); mode++) {
		all_ask();
		set(modes[mode].kind, modes[mode].many);
		for (unsigned int i = 0; i < 20000; i++) {
			u64 next = run();

			/* Crowds become idle, or have budget, at once: now and then time leaps. */
			world.now += draw(500) ? draw(MS) : draw(1000 * MS);
			if (next <= world.now && draw(2))
				run();
			event(somebody());
		}
	}
	assert_true(world.most > 0);
	assert_in_range(world.most, 1, BOUND);
}

static void test_all_get_in_by_and_by(void **state)
{
	unsigned int calls;

	(void)state;
	all_ask();
	run();
	assert_int_equal(world.dev.nr_holders, 1);
	set(PTSP_NONE, false);
	calls = settle();
	assert_int_equal(world.dev.nr_holders, NR);
	assert_true(calls >= NR / PTSP_AT_ONCE);
	assert_in_range(world.most, 1, BOUND);
	for (unsigned int i = 0; i < NR; i++)
		assert_int_equal(world.tasks[i].e.signals & PTSP_SIG_SHARED, PTSP_SIG_SHARED);
}

/* A heavier one comes: each of those that hold hears of it, but not in one call. */
static void test_all_are_told_by_and_by(void **state)
{
	struct task heavy = { .nice = -20 };
	unsigned int i;

	(void)state;
	for (i = 0; i < NR; i++)
		world.tasks[i].nice = 0;
	set(PTSP_NONE, false);
	all_ask();
	settle();
	for (i = 0; i < NR; i++)
		assert_false(world.tasks[i].e.signals & PTSP_SIG_OUTWEIGHED);
	ptsp_join(&world.dev, &heavy.e, &world.users[0], NULL, world.now);
	assert_true(settle() >= NR / PTSP_AT_ONCE);
	for (i = 0; i < NR; i++)
		assert_true(world.tasks[i].e.signals & PTSP_SIG_OUTWEIGHED);
	assert_in_range(world.most, 1, BOUND);
	ptsp_leave(&world.dev, &heavy.e, world.now);
}

static unsigned int preadmitted(int nice)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < NR; i++)
		n += world.tasks[i].nice == nice && world.tasks[i].e.signals & PTSP_SIG_PREADMITTED;
	return n;
}

/* Of a crowd that was here a moment ago, some of the heaviest need not ask. */
static void test_the_heaviest_are_preadmitted(void **state)
{
	struct task *light = &world.tasks[NR - 1];
	unsigned int i;

	(void)state;
	light->nice = 19;
	for (i = 0; i < NR - 1; i++) {
		world.tasks[i].nice = i < 8 ? -20 : -10;
		ptsp_wait(&world.dev, &world.tasks[i].e, world.now);
		ptsp_cancel(&world.dev, &world.tasks[i].e, world.now);
		count_looks();
	}
	ptsp_set_preemptible(&world.dev, &light->e, true, world.now);
	ptsp_wait(&world.dev, &light->e, world.now);
	settle();
	assert_int_equal(light->e.state, PTSP_HOLDING);
	assert_int_equal(preadmitted(-20), 8);
	assert_in_range(preadmitted(-10), 1, PTSP_AT_ONCE);
	assert_in_range(world.most, 1, BOUND);

	ptsp_set_preemptible(&world.dev, &light->e, false, world.now);
	run();
	assert_int_equal(preadmitted(-20) + preadmitted(-10), 0);
}

/* What all entities together were charged for. */
static u64 occupancy(void)
{
	u64 sum = 0;

	for (unsigned int i = 0; i < NR; i++) {
		struct ptsp_entity *e = &world.tasks[i].e;

		/* Those that are late are charged when they are looked at. */
		if (e->state == PTSP_HOLDING)
			ptsp_report(&world.dev, e, 0, 0, world.now);
		sum += e->stats.occupancy_ns;
	}
	return sum;
}

/* Those that do not drain are let in beside by one at a time; each pays its part. */
static void test_the_late_share_the_time(void **state)
{
	struct ptsp_params params = world.dev.params;
	u64 then;

	(void)state;
	for (unsigned int i = 0; i < NR; i++)
		world.tasks[i].nice = 0;
	all_ask();
	for (unsigned int i = 0; i < 100; i++) {
		run();
		world.now += params.drain_ns + 2 * ptsp_slice(&world.dev);
	}
	run();
	assert_true(world.dev.nr_late > 10);
	then = occupancy();
	assert_int_equal(world.dev.stats.occupancy_ns, then);
	world.now += 10 * MS;
	run();
	/* All of them together, and nobody else, were charged for this time. */
	assert_in_range(occupancy() - then, 10 * MS - NR, 10 * MS);
	assert_in_range(world.most, 1, BOUND);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_no_call_concerns_many, setup, teardown),
		cmocka_unit_test_setup_teardown(test_all_get_in_by_and_by, setup, teardown),
		cmocka_unit_test_setup_teardown(test_all_are_told_by_and_by, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_heaviest_are_preadmitted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_late_share_the_time, setup, teardown),
	};

	return run_cases("policy scale", tests);
}
