// SPDX-License-Identifier: MIT
/*
 * Fuzz target: the policy. An input is a sequence of calls on a device; after each ptsp_run() what policy.h promises is
 * checked. This is another driver of tests/unit/policy/random_test.c, whose tasks, ops and checks are used as they are.
 *
 * PTSCHED_FUZZ_CALLS=1 prints the calls of an input.
 */
#define main random_test_main
#include "tests/unit/policy/random_test.c"
#undef main

#include "tests/fuzz/input.h"

enum call {
	CALL_WAIT,
	CALL_RELEASE,
	CALL_PASS,
	CALL_REPORT,
	CALL_DRAIN,
	CALL_JOIN,
	CALL_LEAVE,
	CALL_CANCEL,
	CALL_TRY,
	CALL_RENICE,
	CALL_PREEMPTIBLE,
	CALL_PARAMS,
	CALL_TOLERATE,
	CALL_LEAD,
	CALL_MOVE,
	CALL_WEIGH,
	NR_CALLS
};

/* Of the calls in one input, so that each is looked at soon. */
#define MOST_CALLS	2000

static bool prints;

static void say(const char *format, ...)
{
	va_list values;

	if (!prints)
		return;
	printf("%14llu  ", (unsigned long long)world.now);
	va_start(values, format);
	vprintf(format, values);
	va_end(values);
	printf("\n");
	fflush(stdout);
}

static unsigned long long number(u64 value)
{
	return value;
}

static void decide(void)
{
	world.timer = ptsp_run(&world.dev, world.now);
	check();
}

/* The timers that are due come, each as late as the input says. */
static void pass(struct fuzz_input *in)
{
	u64 until = world.now + fuzz_time_within(in, 0, 500 * MS);
	u64 late = fuzz_time_within(in, 0, 10 * MS);

	while (world.timer <= until) {
		world.now = (world.timer > world.now ? world.timer : world.now) + late;
		say("timer");
		decide();
	}
	if (world.now < until)
		world.now = until;
	say("time passes");
}

static void set_params(struct fuzz_input *in)
{
	struct ptsp_params params = ptsp_default_params();
	uint8_t switches = fuzz_byte(in);

	params.kind = (enum ptsp_kind)(switches % 3);
	params.idle_sharing = switches & 32;
	params.many = switches & 64;
	params.slice_ns = fuzz_time_within(in, PTSCHED_SLICE_MIN_NS, PTSCHED_SLICE_MAX_NS);
	params.grace_ns = fuzz_time_within(in, 0, PTSCHED_GRACE_MAX_NS);
	params.drain_ns = fuzz_time_within(in, PTSCHED_DRAIN_MIN_NS, PTSCHED_DRAIN_MAX_NS);
	params.alpha = 1 + fuzz_byte(in) * (PTSCHED_ALPHA_MAX - 1) / UINT8_MAX;
	say("set_params kind %d idle_sharing %d many %d slice %llu grace %llu drain %llu alpha %u",
	    params.kind, params.idle_sharing, params.many, number(params.slice_ns),
	    number(params.grace_ns), number(params.drain_ns), params.alpha);
	assert_int_equal(ptsp_check_params(&params), PTSP_PARAM_OK);
	ptsp_set_params(&world.dev, &params, world.now);
	world.exclusive_since = world.now;
	world.occupancy_then = world.dev.stats.occupancy_ns;
}

static struct ptsp_user *pick_user(struct fuzz_input *in)
{
	unsigned int user = fuzz_below(in, USERS);

	return &world.users[user][fuzz_below(in, GROUPS + 1)];
}

/* A user in a group, by its number. */
static long place_of(const struct ptsp_user *user)
{
	return user - &world.users[0][0];
}

static void weigh(struct fuzz_input *in)
{
	unsigned int group = fuzz_below(in, GROUPS);
	u32 weight = 1U << fuzz_below(in, 18);

	say("group_set_weight %u to %u", group, weight);
	ptsp_group_set_weight(&world.dev, &world.groups[group], weight, world.now);
}

static void join(struct task *t, struct fuzz_input *in)
{
	struct task *parent = &world.tasks[fuzz_below(in, NR)];
	struct ptsp_user *user = pick_user(in);
	bool forked = parent->here && parent != t;

	memset(t, 0, sizeof(*t));
	t->nice = fuzz_below(in, 40) - 20;
	t->here = true;
	say("join %td nice %d user %ld parent %td", t - world.tasks, t->nice, place_of(user),
	    forked ? parent - world.tasks : -1);
	ptsp_join(&world.dev, &t->e, user, forked ? &parent->e : NULL, world.now);
	assert_true(t->e.budget_ns <= ptsp_cap(&world.dev, &t->e));
}

/* Who would have the turn has it. */
static void try(struct task *t)
{
	bool tells = told_holds();
	bool would = ptsp_would_grant(&world.dev, &t->e, world.now);

	say("would_grant %td: %d", t - world.tasks, would);
	if (!would || !tells)
		return;
	ptsp_wait(&world.dev, &t->e, world.now);
	decide();
	assert_int_equal(t->e.state, PTSP_HOLDING);
}

static void call_of_holder(enum call call, struct task *t, struct fuzz_input *in)
{
	int index = (int)(t - world.tasks);
	u64 time = fuzz_time(in);
	u32 submissions = call == CALL_REPORT ? fuzz_byte(in) : 0;

	if (call == CALL_REPORT) {
		say("report %d gpu %llu submissions %u", index, number(time), submissions);
		ptsp_report(&world.dev, &t->e, time, submissions, world.now);
	} else if (call == CALL_DRAIN) {
		say("drain %d within %llu", index, number(time));
		ptsp_drain(&world.dev, &t->e, time, world.now);
	} else {
		say("release %d handover %llu", index, number(time));
		ptsp_release(&world.dev, &t->e, time, world.now);
	}
}

static void call_of_task(enum call call, struct task *t, struct fuzz_input *in)
{
	int index = (int)(t - world.tasks);
	struct ptsp_user *user;
	u64 lead_ns;

	switch (call) {
	case CALL_LEAVE:
		say("leave %d", index);
		ptsp_leave(&world.dev, &t->e, world.now);
		t->here = false;
		break;
	case CALL_RENICE:
		t->nice = fuzz_below(in, 40) - 20;
		say("renice %d to %d", index, t->nice);
		break;
	case CALL_PREEMPTIBLE:
		say("set_preemptible %d %d", index, !t->e.preemptible);
		ptsp_set_preemptible(&world.dev, &t->e, !t->e.preemptible, world.now);
		break;
	case CALL_TOLERATE:
		say("tolerate %d %d", index, !t->e.tolerates);
		ptsp_tolerate(&world.dev, &t->e, !t->e.tolerates, world.now);
		break;
	case CALL_LEAD:
		lead_ns = fuzz_below(in, 60) * MS;
		say("lead %d for %llu", index, number(lead_ns));
		ptsp_lead(&world.dev, &t->e, world.now + lead_ns, world.now);
		break;
	case CALL_MOVE:
		user = pick_user(in);
		say("move %d to %ld", index, place_of(user));
		ptsp_move(&world.dev, &t->e, user, world.now);
		break;
	case CALL_WAIT:
		if (t->e.state != PTSP_IDLE)
			break;
		say("wait %d", index);
		ask(t);
		break;
	case CALL_TRY:
		if (t->e.state == PTSP_IDLE)
			try(t);
		break;
	case CALL_CANCEL:
		if (t->e.state != PTSP_WAITING)
			break;
		say("cancel %d", index);
		ptsp_cancel(&world.dev, &t->e, world.now);
		break;
	case CALL_REPORT:
	case CALL_DRAIN:
	case CALL_RELEASE:
		if (t->e.state == PTSP_HOLDING)
			call_of_holder(call, t, in);
		break;
	default:
		break;
	}
}

static void call(struct fuzz_input *in)
{
	enum call what = (enum call)fuzz_below(in, NR_CALLS);
	struct task *t;

	if (what == CALL_PASS) {
		pass(in);
	} else if (what == CALL_PARAMS) {
		set_params(in);
	} else if (what == CALL_WEIGH) {
		weigh(in);
	} else {
		t = &world.tasks[fuzz_below(in, NR)];
		if (t->here)
			call_of_task(what, t, in);
		else if (what == CALL_JOIN || what == CALL_WAIT)
			join(t, in);
	}
	decide();
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	prints = getenv("PTSCHED_FUZZ_CALLS");
	/* Outside of a test, the checks of CMocka say what failed only if they abort. */
	return setenv("CMOCKA_TEST_ABORT", "1", 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {.at = data, .end = data + size};
	struct ptsp_params params = ptsp_default_params();
	bool ends = fuzz_byte(&in) % 8 == 1;

	memset(&world, 0, sizeof(world));
	world.timer = PTSP_NEVER;
	ptsp_device_init(&world.dev, &params, &task_ops, 0);
	make_groups();
	for (unsigned int calls = 0; calls < MOST_CALLS && !fuzz_is_empty(&in); calls++)
		call(&in);
	if (ends) {
		say("every holder obeys, and all wait for their turns");
		test_nobody_waits_for_ever(NULL);
	}
	return 0;
}
