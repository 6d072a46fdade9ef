// SPDX-License-Identifier: MIT
/* Processes on several devices that have their turns together (gang.h, ptsp_lead()). */
#include "kmod/policy/gang.h"
#include "tests/unit/policy/cases.h"
#include "tests/unit/policy/three_tasks.h"

#define DEVICES 2
/* The host looks so often; real ones are told. */
#define STEP	(MS / 10)

/* a leads until 150 ms; b and c weigh the same. */
static int setup_led(void **state)
{
	struct fixture *f;

	setup_sharing(state);
	f = *state;
	ptsp_lead(&f->dev, &f->a.e, 150 * MS, 100 * MS);
	return 0;
}

static void test_it_interrupts_its_equals(void **state)
{
	struct fixture *f = *state;

	ask(f, &f->b, 100 * MS);
	ask(f, &f->a, 101 * MS);
	assert_int_equal(f->b.called_back, 1);
	assert_true(f->b.e.signals & PTSP_SIG_PREEMPT);
	assert_int_equal(f->a.e.state, PTSP_HOLDING);
}

static void test_it_interrupts_nobody_afterwards(void **state)
{
	struct fixture *f = *state;

	ask(f, &f->b, 150 * MS);
	ask(f, &f->a, 151 * MS);
	assert_int_equal(f->b.called_back, 0);
}

static void test_who_waits_already_does_so_too(void **state)
{
	struct fixture *f = *state;

	ask(f, &f->a, 200 * MS);
	ask(f, &f->b, 200 * MS);
	ask(f, &f->c, 200 * MS);
	assert_int_equal(f->a.e.state, PTSP_HOLDING);
	ptsp_lead(&f->dev, &f->c.e, 230 * MS, 201 * MS);
	ptsp_run(&f->dev, 201 * MS);
	assert_int_equal(f->a.called_back, 1);
	assert_int_equal(f->c.e.state, PTSP_HOLDING);
	assert_int_equal(f->b.e.state, PTSP_WAITING);
}

/* Its fellows, which have the turn, may wait for it. */
static void test_it_interrupts_when_it_comes_back(void **state)
{
	struct fixture *f = *state;

	ask(f, &f->b, 100 * MS);
	ask(f, &f->a, 101 * MS);
	give(f, &f->b, 0, 102 * MS);
	give(f, &f->a, 0, 102 * MS);
	ask(f, &f->b, 103 * MS);
	assert_int_equal(f->b.e.state, PTSP_HOLDING);
	ask(f, &f->a, 104 * MS);
	assert_int_equal(f->b.called_back, 2);
	assert_int_equal(f->a.e.state, PTSP_HOLDING);
}

static void test_it_does_not_interrupt_all_the_time(void **state)
{
	struct fixture *f = *state;
	u64 now = 100 * MS;

	for (unsigned int i = 0; i < 10; i++) {
		ask(f, &f->b, now);
		ask(f, &f->a, now += MS);
		if (f->b.e.signals & PTSP_SIG_CALLBACK)
			give(f, &f->b, 0, now);
		if (f->a.e.state == PTSP_WAITING)
			break;
		give(f, &f->a, 0, now += MS);
	}
	assert_int_equal(f->a.e.state, PTSP_WAITING);
	assert_int_equal(f->b.called_back, 5);
	/* The next slice is another. */
	ptsp_cancel(&f->dev, &f->a.e, now);
	ptsp_lead(&f->dev, &f->a.e, now + 30 * MS, now);
	ask(f, &f->a, now);
	assert_int_equal(f->b.called_back, 6);
}

/* It was let in beside who drains, and does not: that may wait for what has no turn elsewhere. */
static void test_who_does_not_drain_goes_soon(void **state)
{
	struct fixture *f = *state;
	u64 now = 200 * MS, slice = ptsp_slice(&f->dev);

	ask(f, &f->b, now);
	ask(f, &f->a, now);
	while (!f->b.called_back)
		now = ptsp_run(&f->dev, now);
	ptsp_drain(&f->dev, &f->b.e, 0, now);
	ptsp_run(&f->dev, now);
	assert_int_equal(f->a.e.state, PTSP_HOLDING);
	ptsp_lead(&f->dev, &f->a.e, now + slice, now);
	assert_false(f->b.e.signals & PTSP_SIG_PREEMPT);
	now = ptsp_run(&f->dev, now);
	ptsp_run(&f->dev, now);
	assert_true(now <= f->a.e.granted_ns + slice / 16);
	assert_true(f->b.e.signals & PTSP_SIG_PREEMPT);
}

static void test_heavier_ones_keep_their_turns(void **state)
{
	struct fixture *f = *state;

	f->b.nice = -5;
	ask(f, &f->b, 100 * MS);
	ask(f, &f->a, 101 * MS);
	assert_int_equal(f->b.called_back, 0);
}

static void test_others_that_lead_keep_their_turns(void **state)
{
	struct fixture *f = *state;

	ptsp_lead(&f->dev, &f->b.e, 150 * MS, 100 * MS);
	ask(f, &f->b, 100 * MS);
	ask(f, &f->a, 101 * MS);
	assert_int_equal(f->b.called_back, 0);
}

/* To lead gives no time: it interrupts when it has paid what it owes. */
static void test_who_is_in_debt_waits(void **state)
{
	struct fixture *f = *state;
	u64 now, slice = ptsp_slice(&f->dev);

	ask(f, &f->a, 100 * MS);
	ask(f, &f->b, 100 * MS);
	give(f, &f->a, 0, now = 300 * MS);
	ptsp_lead(&f->dev, &f->a.e, now + 200 * MS, now);
	ask(f, &f->a, now);
	assert_true(ptsp_budget(&f->dev, &f->a.e, now) < -(s64)slice);
	now = ptsp_run(&f->dev, now + slice - MS);
	assert_int_equal(f->b.called_back, 0);
	while (!f->b.called_back)
		now = ptsp_run(&f->dev, now);
	assert_true(ptsp_budget(&f->dev, &f->a.e, now) >= 0);
}

static void test_the_papers_rule_knows_nobody_that_leads(void **state)
{
	struct fixture *f = *state;
	struct ptsp_params params = f->dev.params;

	params.kind = PTSP_LITERAL;
	ptsp_set_params(&f->dev, &params, 100 * MS);
	ask(f, &f->b, 100 * MS);
	ask(f, &f->a, 101 * MS);
	assert_int_equal(f->b.called_back, 0);
}

/* Two gangs of two, one member of each on each of two devices. */
struct gangs {
	struct ptsp_front fronts[DEVICES];
	struct ptsp_gang p, q;
	struct ptsp_member in_p[DEVICES], in_q[DEVICES];
};

static void join_all(struct gangs *g)
{
	memset(g, 0, sizeof(*g));
	ptsp_gang_init(&g->p);
	ptsp_gang_init(&g->q);
	for (int i = 0; i < DEVICES; i++) {
		assert_true(ptsp_gang_join(&g->p, &g->in_p[i], &g->fronts[i]));
		assert_true(ptsp_gang_join(&g->q, &g->in_q[i], &g->fronts[i]));
	}
}

static void test_one_gang_goes_first_on_a_device(void **state)
{
	struct gangs g;

	(void)state;
	join_all(&g);
	assert_true(ptsp_gang_lead(&g.in_p[0], 130 * MS, 100 * MS));
	assert_true(g.p.until_ns == 130 * MS);
	assert_false(ptsp_gang_lead(&g.in_p[1], 131 * MS, 101 * MS));
	assert_false(ptsp_gang_lead(&g.in_q[1], 131 * MS, 101 * MS));
	assert_true(ptsp_gang_lead(&g.in_q[1], 160 * MS, 130 * MS));
	assert_false(ptsp_gang_lead(&g.in_p[0], 161 * MS, 131 * MS));
}

/* It has the turn, and may have it yet when the other's slice is over. */
static void test_who_is_refused_may_ask_again(void **state)
{
	struct gangs g;

	(void)state;
	join_all(&g);
	assert_true(ptsp_gang_lead(&g.in_p[0], 130 * MS, 100 * MS));
	assert_false(ptsp_gang_lead(&g.in_q[1], 150 * MS, 120 * MS));
	assert_ptr_equal(g.fronts[1].refused, &g.in_q[1]);
	assert_true(g.fronts[1].again_ns == 130 * MS);
	assert_true(ptsp_gang_lead(&g.in_q[1], 150 * MS, 130 * MS));
	assert_null(g.fronts[1].refused);
	assert_false(ptsp_gang_lead(&g.in_p[1], 151 * MS, 149 * MS));
	ptsp_gang_part(&g.in_p[1]);
	assert_null(g.fronts[1].refused);
}

static void test_a_gang_elsewhere_is_no_obstacle(void **state)
{
	struct ptsp_front front = { 0 };
	struct ptsp_member other[2];
	struct ptsp_gang elsewhere;
	struct gangs g;

	(void)state;
	join_all(&g);
	ptsp_gang_init(&elsewhere);
	assert_true(ptsp_gang_join(&elsewhere, &other[0], &front));
	assert_true(ptsp_gang_lead(&g.in_p[0], 130 * MS, 100 * MS));
	/* One alone waits for nobody. */
	assert_false(ptsp_gang_lead(&other[0], 130 * MS, 100 * MS));
	assert_true(ptsp_gang_join(&elsewhere, &other[1], &front));
	assert_true(ptsp_gang_lead(&other[0], 130 * MS, 100 * MS));
}

static void test_who_has_gone_is_no_obstacle(void **state)
{
	struct gangs g;

	(void)state;
	join_all(&g);
	assert_true(ptsp_gang_lead(&g.in_p[0], 130 * MS, 100 * MS));
	for (int i = 0; i < DEVICES; i++)
		ptsp_gang_part(&g.in_p[i]);
	assert_int_equal(g.p.nr_members, 0);
	assert_true(ptsp_gang_lead(&g.in_q[0], 131 * MS, 101 * MS));
}

static void test_a_gang_is_full_some_time(void **state)
{
	static struct ptsp_member members[PTSP_GANG_MAX + 1];
	struct ptsp_front front = { 0 };
	struct ptsp_gang gang;

	(void)state;
	ptsp_gang_init(&gang);
	for (int i = 0; i < PTSP_GANG_MAX; i++)
		assert_true(ptsp_gang_join(&gang, &members[i], &front));
	assert_false(ptsp_gang_join(&gang, &members[PTSP_GANG_MAX], &front));
	ptsp_gang_part(&members[0]);
	assert_true(ptsp_gang_join(&gang, &members[PTSP_GANG_MAX], &front));
}

/*
 * Two programs of two ranks each, of one weight, one rank of each on each of two devices,
 * whose kernels end only where both ranks have the turn. After each step, a rank leaves its
 * device alone for a while, if it does so at all.
 */
struct machine {
	struct fixture devices[DEVICES];	/* of which a is of program 0, b of program 1 */
	struct gangs gangs;
	bool ganged;
	u64 step_ns, pause_ns[DEVICES];
	u64 together[2];			/* that both ranks of a program had the turn */
	u64 left_ns[2];				/* of the step */
	u64 away_until_ns[2][DEVICES];
};

static struct task *rank_of(struct machine *m, int program, int device)
{
	return program ? &m->devices[device].b : &m->devices[device].a;
}

static bool holds(const struct task *t)
{
	return t->e.state == PTSP_HOLDING && !(t->e.signals & PTSP_SIG_PREEMPT);
}

static void go_first(struct machine *m, int program, u64 now)
{
	const struct ptsp_gang *gang = program ? &m->gangs.q : &m->gangs.p;

	for (int i = 0; i < DEVICES; i++) {
		ptsp_lead(&m->devices[i].dev, &rank_of(m, program, i)->e, gang->until_ns, now);
		ptsp_run(&m->devices[i].dev, now);
	}
}

/* A grant that has come since the last time, or one that was refused to lead and may now. */
static void look_at_grants(struct machine *m, int program, int device, u64 now)
{
	struct ptsp_member *member = program ? &m->gangs.in_q[device] : &m->gangs.in_p[device];
	const struct ptsp_front *front = &m->gangs.fronts[device];
	struct task *t = rank_of(m, program, device);
	u64 until = t->e.granted_ns + ptsp_slice(&m->devices[device].dev);
	bool may = t->granted || (front->refused == member && front->again_ns <= now);

	t->granted = 0;
	if (may && m->ganged && t->e.state == PTSP_HOLDING && ptsp_gang_lead(member, until, now))
		go_first(m, program, now);
}

/* Who is called back goes when its kernel ends, or at once if it is taken off; it asks again. */
static void obey(struct machine *m, int program, int device, u64 now)
{
	struct task *t = rank_of(m, program, device), *peer = rank_of(m, program, !device);
	struct fixture *f = &m->devices[device];

	if (t->e.state != PTSP_HOLDING || !(t->e.signals & PTSP_SIG_CALLBACK))
		return;
	if (!(t->e.signals & PTSP_SIG_PREEMPT) && !holds(peer))
		return;
	give(f, t, now - t->e.granted_ns, now);
	ask(f, t, now);
}

/* Both ranks of the program have got on for STEP. */
static void get_on(struct machine *m, int program, u64 now)
{
	m->together[program] += STEP;
	m->left_ns[program] -= STEP;
	if (m->left_ns[program])
		return;
	m->left_ns[program] = m->step_ns;
	for (int d = 0; d < DEVICES; d++) {
		struct task *t = rank_of(m, program, d);

		if (!m->pause_ns[d])
			continue;
		m->away_until_ns[program][d] = now + m->pause_ns[d];
		give(&m->devices[d], t, now - t->e.granted_ns, now);
	}
}

static void let_run(struct machine *m, u64 from, u64 to)
{
	for (u64 now = from; now < to; now += STEP) {
		for (int d = 0; d < DEVICES; d++)
			ptsp_run(&m->devices[d].dev, now);
		for (int p = 0; p < 2; p++)
			for (int d = 0; d < DEVICES; d++) {
				struct task *t = rank_of(m, p, d);

				if (t->e.state == PTSP_IDLE && m->away_until_ns[p][d] <= now)
					ask(&m->devices[d], t, now);
				obey(m, p, d, now);
				look_at_grants(m, p, d, now);
			}
		for (int p = 0; p < 2; p++)
			if (holds(rank_of(m, p, 0)) && holds(rank_of(m, p, 1)))
				get_on(m, p, now);
	}
}

/*
 * Each of the programs is first on one of the devices. Returns what both have got done
 * together, of all time.
 */
static double efficiency(struct machine *m, bool ganged, u64 step_ns, u64 pause_ns)
{
	const u64 begin = 100 * MS, length = 3000 * MS;

	memset(m, 0, sizeof(*m));
	m->ganged = ganged;
	m->step_ns = step_ns;
	m->left_ns[0] = step_ns;
	m->left_ns[1] = step_ns;
	m->pause_ns[0] = pause_ns;
	join_all(&m->gangs);
	for (int d = 0; d < DEVICES; d++) {
		join_three_sharing(&m->devices[d]);
		ask(&m->devices[d], rank_of(m, d, d), begin);
		ask(&m->devices[d], rank_of(m, !d, d), begin);
	}
	let_run(m, begin, begin + length);
	print_message("%s, pauses of %.1f ms: %.3f and %.3f\n",
		      ganged ? "gangs" : "each by itself", (double)pause_ns / (double)MS,
		      (double)m->together[0] / (double)length,
		      (double)m->together[1] / (double)length);
	return (double)(m->together[0] + m->together[1]) / (double)length;
}

static void test_two_gangs_use_what_there_is(void **state)
{
	static struct machine m;
	double apart = efficiency(&m, false, MS, 0), ganged = efficiency(&m, true, MS, 0);

	(void)state;
	assert_true(ganged >= 0.95);
	assert_true(apart < 0.7);
	assert_true(m.together[0] * 20 >= m.together[1] * 19);
	assert_true(m.together[1] * 20 >= m.together[0] * 19);
}

/* One rank leaves its device alone now and then: its fellow waits for it, not for a slice of another's. */
static void test_two_gangs_that_pause_use_it_too(void **state)
{
	static struct machine m;
	double ganged = efficiency(&m, true, 7 * MS, MS);

	(void)state;
	/* Seven eighths are what one has alone. */
	assert_true(ganged >= 0.85);
	assert_true(m.together[0] * 20 >= m.together[1] * 19);
	assert_true(m.together[1] * 20 >= m.together[0] * 19);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_it_interrupts_its_equals, setup_led),
		cmocka_unit_test_setup(test_it_interrupts_nobody_afterwards, setup_led),
		cmocka_unit_test_setup(test_who_waits_already_does_so_too, setup_sharing),
		cmocka_unit_test_setup(test_it_interrupts_when_it_comes_back, setup_led),
		cmocka_unit_test_setup(test_it_does_not_interrupt_all_the_time, setup_led),
		cmocka_unit_test_setup(test_who_does_not_drain_goes_soon, setup_sharing),
		cmocka_unit_test_setup(test_heavier_ones_keep_their_turns, setup_led),
		cmocka_unit_test_setup(test_others_that_lead_keep_their_turns, setup_led),
		cmocka_unit_test_setup(test_who_is_in_debt_waits, setup_led),
		cmocka_unit_test_setup(test_the_papers_rule_knows_nobody_that_leads, setup_led),
		cmocka_unit_test(test_one_gang_goes_first_on_a_device),
		cmocka_unit_test(test_who_is_refused_may_ask_again),
		cmocka_unit_test(test_a_gang_elsewhere_is_no_obstacle),
		cmocka_unit_test(test_who_has_gone_is_no_obstacle),
		cmocka_unit_test(test_a_gang_is_full_some_time),
		cmocka_unit_test(test_two_gangs_use_what_there_is),
		cmocka_unit_test(test_two_gangs_that_pause_use_it_too),
	};

	return run_cases("policy: gangs", tests);
}
