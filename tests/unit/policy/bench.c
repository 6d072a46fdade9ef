// SPDX-License-Identifier: MIT
/*
 * What the policy's operations cost with few and with many entities: the median of
 * batches, and the ratio. The two are measured in turns, so that both see what
 * else the machine does.
 *
 * usage: bench-policy [FEW MANY]     (10 and 10000)
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kmod/policy/policy.h"

#define MS		1000000ULL
#define BATCHES		25
#define IN_BATCH	200
/* As far apart as in a slab of the module. */
#define STRIDE		1024

struct world {
	struct ptsp_device dev;
	struct ptsp_user user;
	struct ptsp_entity **entities;	/* scattered */
	char *memory;
	size_t nr;
	u64 now;
};

static u32 weight(const struct ptsp_entity *e)
{
	(void)e;
	return 1024;
}

static void on_signal(struct ptsp_entity *e, u32 old)
{
	(void)e;
	(void)old;
}

static void on_forced(struct ptsp_entity *e)
{
	(void)e;
}

static const struct ptsp_ops ops = {
	.weight = weight,
	.signal = on_signal,
	.forced = on_forced,
};

static u64 clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000000000ULL + (u64)t.tv_nsec;
}

static void run(struct world *w)
{
	ptsp_run(&w->dev, w->now);
}

static void wait_for_turn(struct world *w, struct ptsp_entity *e)
{
	ptsp_wait(&w->dev, e, w->now);
	run(w);
}

static void release(struct world *w, struct ptsp_entity *e)
{
	if (e->state != PTSP_HOLDING) {
		fprintf(stderr, "bench-policy: an entity was to have the turn at once, and waits\n");
		exit(1);
	}
	ptsp_report(&w->dev, e, 0, 1, w->now);
	ptsp_release(&w->dev, e, 0, w->now);
	run(w);
}

/* Nobody else does anything. It takes no time: beside many, the share of one is too little for more. */
static void turn(struct world *w)
{
	w->now += 10000;
	wait_for_turn(w, w->entities[0]);
	release(w, w->entities[0]);
}

static struct ptsp_entity *holder(const struct world *w)
{
	for (size_t i = 0; i < w->nr; i++)
		if (w->entities[i]->state == PTSP_HOLDING)
			return w->entities[i];
	return NULL;
}

/* Who has the turn while the others wait. */
static struct ptsp_entity *held;

static void find_granted(struct world *w, struct ptsp_entity *before)
{
	/* In order of arrival, where all are equal: the next entity, but for who was passed over. */
	held = before;
	for (size_t tries = 0; tries < w->nr; tries++) {
		held = ptsp_next(&w->dev, held);
		if (!held)
			held = ptsp_first(&w->dev);
		if (held->state == PTSP_HOLDING)
			return;
	}
}

/* All want the device: one gives the turn back, the next has it, and the first waits again. */
static void hand_over(struct world *w)
{
	struct ptsp_entity *before = held;

	w->now += MS;
	release(w, before);
	find_granted(w, before);
	wait_for_turn(w, before);
}

static void report(struct world *w)
{
	w->now += 1000;
	ptsp_report(&w->dev, held, 0, 1, w->now);
	run(w);
}

static void join_and_leave(struct world *w)
{
	struct ptsp_entity *e = w->entities[w->nr - 1];

	w->now += 1000;
	ptsp_leave(&w->dev, e, w->now);
	run(w);
	memset(e, 0, sizeof(*e));
	ptsp_join(&w->dev, e, &w->user, NULL, w->now);
	run(w);
}

static void none(struct world *w)
{
	(void)w;
}

/* All have had the turn a moment ago, and may come back. */
static void all_linger(struct world *w)
{
	struct ptsp_params params = w->dev.params;

	params.grace_ns = 1000 * MS;
	ptsp_set_params(&w->dev, &params, w->now);
	for (size_t i = 0; i < w->nr; i++) {
		wait_for_turn(w, w->entities[i]);
		release(w, w->entities[i]);
	}
}

static void all_wait(struct world *w)
{
	for (size_t i = 0; i < w->nr; i++)
		wait_for_turn(w, w->entities[i]);
	/* What was put off is done. */
	for (size_t i = 0; i < w->nr; i++) {
		w->now++;
		run(w);
	}
	held = holder(w);
}

static void set_kind(struct world *w, enum ptsp_kind kind, bool many)
{
	struct ptsp_params params = w->dev.params;

	params.kind = kind;
	params.many = many;
	ptsp_set_params(&w->dev, &params, w->now);
	for (size_t i = 0; i < w->nr; i++) {
		w->now++;
		run(w);
	}
}

static void all_hold(struct world *w)
{
	set_kind(w, PTSP_NONE, false);
	all_wait(w);
}

static void all_hold_many(struct world *w)
{
	set_kind(w, PTSP_WEIGHTED, true);
	all_wait(w);
}

static void all_wait_literal(struct world *w)
{
	set_kind(w, PTSP_LITERAL, false);
	all_wait(w);
}

static void turn_among_holders(struct world *w)
{
	struct ptsp_entity *e = w->entities[0];

	w->now += 10000;
	if (e->state == PTSP_HOLDING)
		release(w, e);
	if (e->state == PTSP_IDLE)
		wait_for_turn(w, e);
}

static const struct operation {
	const char *name, *what;
	void (*prepare)(struct world *w);
	void (*once)(struct world *w);
} operations[] = {
	{ "turn/idle", "a turn while the others do nothing", none, turn },
	{ "turn/away", "a turn while the others are away for a moment", all_linger, turn },
	{ "turn/waiting", "a hand-over while the others wait", all_wait, hand_over },
	{ "turn/literal", "the same by the paper's rule", all_wait_literal, hand_over },
	{ "turn/none", "a turn while the others hold theirs, policy=none", all_hold, turn_among_holders },
	{ "turn/many", "the same with many=on", all_hold_many, turn_among_holders },
	{ "report/waiting", "a report while the others wait", all_wait, report },
	{ "join/idle", "a process ends and another begins", none, join_and_leave },
	{ "join/waiting", "the same while the others wait", all_wait, join_and_leave },
};

static void make_world(struct world *w, size_t nr)
{
	struct ptsp_params params = ptsp_default_params();
	u64 random = 88172645463325252ULL;

	memset(w, 0, sizeof(*w));
	w->nr = nr;
	w->now = MS;
	w->memory = calloc(nr, STRIDE);
	w->entities = calloc(nr, sizeof(*w->entities));
	if (!w->memory || !w->entities) {
		fprintf(stderr, "bench-policy: no memory for %zu entities\n", nr);
		exit(1);
	}
	for (size_t i = 0; i < nr; i++)
		w->entities[i] = (struct ptsp_entity *)(w->memory + i * STRIDE);
	for (size_t i = nr - 1; i > 0; i--) {
		struct ptsp_entity *other;
		size_t j;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		j = random % (i + 1);
		other = w->entities[i];
		w->entities[i] = w->entities[j];
		w->entities[j] = other;
	}
	ptsp_device_init(&w->dev, &params, &ops, w->now);
	for (size_t i = 0; i < nr; i++)
		ptsp_join(&w->dev, w->entities[i], &w->user, NULL, w->now);
	run(w);
}

static void free_world(struct world *w)
{
	free(w->memory);
	free(w->entities);
}

static double batch(struct world *w, const struct operation *operation)
{
	u64 begin = clock_ns();

	for (unsigned int i = 0; i < IN_BATCH; i++)
		operation->once(w);
	return (double)(clock_ns() - begin) / IN_BATCH;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values)
{
	qsort(values, BATCHES, sizeof(*values), compare);
	return values[BATCHES / 2];
}

static void measure(const struct operation *operation, const size_t nr[2])
{
	struct ptsp_entity *held_of[2];
	double ns[2][BATCHES];
	struct world w[2];
	double few, many;

	for (int i = 0; i < 2; i++) {
		make_world(&w[i], nr[i]);
		operation->prepare(&w[i]);
		held_of[i] = held;
	}
	for (int b = 0; b < BATCHES; b++)
		for (int i = 0; i < 2; i++) {
			held = held_of[i];
			ns[i][b] = batch(&w[i], operation);
			held_of[i] = held;
		}
	few = median(ns[0]);
	many = median(ns[1]);
	printf("%-16s %8.0f %8.0f %6.2f  %s\n", operation->name, few, many, many / few,
	       operation->what);
	fflush(stdout);
	for (int i = 0; i < 2; i++)
		free_world(&w[i]);
}

static size_t number(const char *text)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *end || end == text || value < 2 || value > 1000000) {
		fprintf(stderr, "bench-policy: '%s' is no number of entities (2 to 1000000)\n", text);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	size_t nr[2] = { 10, 10000 };

	if (argc == 3) {
		nr[0] = number(argv[1]);
		nr[1] = number(argv[2]);
	} else if (argc != 1) {
		fprintf(stderr, "usage: bench-policy [FEW MANY]\n");
		return 2;
	}
	printf("# %zu and %zu entities of %zu bytes: ns, ns, ratio\n", nr[0], nr[1],
	       sizeof(struct ptsp_entity));
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		measure(&operations[i], nr);
	return 0;
}
