// SPDX-License-Identifier: MIT
/* Whose work is taken off the device, and what the others are told of that. */
#include "tests/unit/policy/cases.h"
#include "tests/unit/policy/three_tasks.h"

static void test_heavier_is_admitted_while_work_is_taken_off(void **state)
{
	struct fixture *f = *state;

	f->b.nice = -1;
	ptsp_set_preemptible(&f->dev, &f->a.e, true, 0);
	ask(f, &f->a, 0);
	assert_int_equal(f->a.e.signals, PTSP_SIG_TURN);
	ask(f, &f->b, MS);
	assert_int_equal(f->b.granted, 1);
	assert_true(f->a.e.signals & PTSP_SIG_PREEMPT);
	assert_true(f->a.e.signals & PTSP_SIG_OUTWEIGHED);
	assert_false(f->b.e.signals & (PTSP_SIG_SHARED | PTSP_SIG_OUTWEIGHED));
	/* A third must not come as well, nor anybody when the first is off. */
	ask(f, &f->c, 2 * MS);
	give(f, &f->a, MS, 2 * MS);
	assert_int_equal(f->c.granted, 0);
	assert_int_equal(f->dev.nr_holders, 1);
}

static void test_heavier_knows_that_it_would_be_admitted(void **state)
{
	struct fixture *f = *state;

	f->b.nice = -1;
	ptsp_set_preemptible(&f->dev, &f->a.e, true, 0);
	/* While nobody holds the turn, or somebody of the same weight, it has to be asked for. */
	ask(f, &f->c, 0);
	give(f, &f->c, 0, 0);
	ask(f, &f->b, 0);
	give(f, &f->b, 0, 0);
	assert_int_equal(f->b.e.signals, 0);
	ask(f, &f->a, 0);
	assert_int_equal(f->c.e.signals, 0);
	assert_int_equal(f->b.e.signals, PTSP_SIG_PREADMITTED);
	ask(f, &f->b, MS);
	assert_int_equal(f->b.granted, 2);
	assert_false(f->b.e.signals & PTSP_SIG_PREADMITTED);
}

static void test_who_would_have_to_wait_is_not_preadmitted(void **state)
{
	struct fixture *f = *state;

	f->b.nice = -1;
	ask(f, &f->b, 0);
	give(f, &f->b, 0, 0);
	ask(f, &f->a, 0);
	assert_int_equal(f->b.e.signals, 0);
	ptsp_set_preemptible(&f->dev, &f->a.e, true, 0);
	ptsp_run(&f->dev, 0);
	assert_int_equal(f->b.e.signals, PTSP_SIG_PREADMITTED);
	/* Another that weighs as much is there before. */
	f->c.nice = -1;
	ask(f, &f->c, 0);
	assert_int_equal(f->c.granted, 1);
	assert_int_equal(f->b.e.signals, 0);
	give(f, &f->a, 0, 0);
	give(f, &f->c, 0, 0);
	/* Who owes. */
	f->b.e.budget_ns = -MS;
	ask(f, &f->a, 0);
	assert_int_equal(f->b.e.signals, 0);
}

static void test_preadmission_ends_with_the_grace(void **state)
{
	struct fixture *f = *state;

	f->b.nice = -1;
	ptsp_set_preemptible(&f->dev, &f->a.e, true, 0);
	ask(f, &f->b, 0);
	give(f, &f->b, 0, 0);
	ask(f, &f->a, 0);
	assert_int_equal(f->b.e.signals, PTSP_SIG_PREADMITTED);
	ptsp_run(&f->dev, f->b.e.linger_ns - 1);
	assert_int_equal(f->b.e.signals, PTSP_SIG_PREADMITTED);
	ptsp_run(&f->dev, f->b.e.linger_ns);
	assert_int_equal(f->b.e.signals, 0);
}

static void test_equals_drain(void **state)
{
	struct fixture *f = *state;
	u64 at;

	ptsp_set_preemptible(&f->dev, &f->a.e, true, 0);
	ask(f, &f->a, 0);
	at = ask(f, &f->b, 0);
	ptsp_run(&f->dev, at);
	assert_int_equal(f->a.called_back, 1);
	assert_false(f->a.e.signals & (PTSP_SIG_PREEMPT | PTSP_SIG_OUTWEIGHED));
	assert_int_equal(f->b.granted, 0);
	/* Not for ever. */
	ptsp_run(&f->dev, f->a.e.callback_ns + ptsp_slice(&f->dev));
	assert_true(f->a.e.signals & PTSP_SIG_PREEMPT);
	assert_int_equal(f->b.granted, 1);
	assert_int_equal(f->a.forced, 0);
}

static void test_who_is_late_leaves_to_the_next(void **state)
{
	struct fixture *f = *state;
	struct ptsp_params params = f->dev.params;
	u64 limit;

	params.slice_ns = 2 * params.drain_ns;
	ptsp_set_params(&f->dev, &params, 0);
	ptsp_set_preemptible(&f->dev, &f->a.e, true, 0);
	ask(f, &f->a, 0);
	ptsp_run(&f->dev, ask(f, &f->b, 0));
	assert_int_equal(f->a.called_back, 1);
	limit = f->a.e.callback_ns + params.drain_ns;
	ptsp_run(&f->dev, limit - 1);
	assert_false(f->a.e.signals & PTSP_SIG_PREEMPT);
	ptsp_run(&f->dev, limit);
	assert_int_equal(f->a.forced, 1);
	assert_int_equal(f->b.granted, 1);
	assert_true(f->a.e.signals & PTSP_SIG_PREEMPT);
	assert_int_equal(f->a.e.stats.preempts, 1);
	assert_int_equal(f->a.e.stats.escalations, 1);
}

/* Beside what the clock charges it for. */
static void test_who_is_late_pays_for_what_it_overran(void **state)
{
	struct fixture *f = *state;
	u64 limit, charged;
	s64 budget;

	ask(f, &f->a, 0);
	ptsp_run(&f->dev, ask(f, &f->b, 0));
	limit = f->a.e.callback_ns + f->dev.params.drain_ns;
	ptsp_run(&f->dev, limit);
	assert_int_equal(f->a.forced, 1);
	ptsp_run(&f->dev, limit + 20 * MS);
	budget = f->a.e.budget_ns;
	charged = f->a.e.stats.occupancy_ns;
	ptsp_release(&f->dev, &f->a.e, 0, limit + 20 * MS);
	charged = f->a.e.stats.occupancy_ns - charged;
	assert_int_equal(f->a.e.stats.overrun_ns, 20 * MS);
	assert_true(f->a.e.budget_ns <= budget - (s64)charged - 5 * (s64)MS);
}

/* The next is in beside it, so that nobody waits. */
static void test_who_does_not_drain_as_told_is_taken_off(void **state)
{
	struct fixture *f = *state;
	u64 at;

	ptsp_set_preemptible(&f->dev, &f->a.e, true, 0);
	ask(f, &f->a, 0);
	ptsp_run(&f->dev, ask(f, &f->b, 0));
	assert_int_equal(f->a.called_back, 1);
	ptsp_drain(&f->dev, &f->a.e, 5 * MS, f->a.e.callback_ns);
	at = ptsp_run(&f->dev, f->a.e.callback_ns);
	at = ptsp_run(&f->dev, at);
	assert_int_equal(f->b.granted, 1);
	assert_true(at > f->a.e.callback_ns + 5 * MS);
	assert_true(at < f->a.e.callback_ns + ptsp_slice(&f->dev));
	ptsp_run(&f->dev, at - 1);
	assert_false(f->a.e.signals & PTSP_SIG_PREEMPT);
	ptsp_run(&f->dev, at);
	assert_true(f->a.e.signals & PTSP_SIG_PREEMPT);
	assert_int_equal(f->a.forced, 0);
	assert_false(f->b.e.signals & PTSP_SIG_CALLBACK);
}

/* c's work is taken off the device for a and stays off it, and c, which cannot, does not give its turn back. */
static u64 hold_beside_one_that_is_off(struct fixture *f)
{
	u64 now = MS;

	f->c.nice = 19;
	ptsp_set_preemptible(&f->dev, &f->c.e, true, 0);
	ask(f, &f->c, 0);
	ask(f, &f->a, now);
	assert_int_equal(f->a.granted, 1);
	assert_true(f->c.e.signals & PTSP_SIG_PREEMPT);
	now += ptsp_slice(&f->dev);
	ptsp_run(&f->dev, now);
	return now;
}

static void test_who_is_off_the_device_does_not_pay_for_it(void **state)
{
	struct fixture *f = *state;
	u64 now = hold_beside_one_that_is_off(f);
	u64 off = f->c.e.stats.occupancy_ns, on = f->a.e.stats.occupancy_ns;

	ptsp_run(&f->dev, now + 10 * MS);
	assert_int_equal(f->a.e.stats.occupancy_ns - on, 10 * MS);
	assert_int_equal(f->c.e.stats.occupancy_ns, off);
	/* Nor is the next told to expect it. */
	give(f, &f->a, 0, now + 10 * MS);
	ask(f, &f->b, now + 10 * MS);
	assert_int_equal(f->b.granted, 1);
	assert_true(f->b.e.busy_until_ns == 0);
}

static void test_one_that_is_off_starves_nobody(void **state)
{
	struct fixture *f = *state;
	u64 now = hold_beside_one_that_is_off(f), end = now + 2000 * MS;
	struct task *tasks[] = { &f->a, &f->b };

	f->b.nice = 5;
	ask(f, &f->b, now);
	for (; now < end; now += MS) {
		ptsp_run(&f->dev, now);
		for (unsigned int i = 0; i < 2; i++) {
			if (!(tasks[i]->e.signals & PTSP_SIG_CALLBACK))
				continue;
			give(f, tasks[i], 0, now);
			ask(f, tasks[i], now);
		}
	}
	/* By weight, 0.25 of the time. */
	assert_true(f->b.e.stats.occupancy_ns > 400 * MS);
	assert_true(f->b.e.stats.occupancy_ns < 600 * MS);
}

static void test_heavier_waits_for_who_cannot_preempt(void **state)
{
	struct fixture *f = *state;

	f->b.nice = -1;
	ask(f, &f->a, 0);
	ask(f, &f->b, MS);
	assert_int_equal(f->a.called_back, 1);
	assert_false(f->a.e.signals & PTSP_SIG_PREEMPT);
	assert_int_equal(f->b.granted, 0);
}

static void test_outweighed_as_long_as_the_other_is_there(void **state)
{
	struct fixture *f = *state;

	f->b.nice = -1;
	ask(f, &f->b, 0);
	give(f, &f->b, 0, 0);
	ask(f, &f->a, MS);
	assert_true(f->a.e.signals & PTSP_SIG_OUTWEIGHED);
	ptsp_leave(&f->dev, &f->b.e, 2 * MS);
	ptsp_run(&f->dev, 2 * MS);
	assert_false(f->a.e.signals & PTSP_SIG_OUTWEIGHED);
}

static void test_exact_while_one_that_weighs_as_much_is_active(void **state)
{
	const u32 beside = PTSP_SIG_TURN | PTSP_SIG_WANTED | PTSP_SIG_CONTENDED;
	struct fixture *f = *state;
	struct ptsp_params params = f->dev.params;
	u64 grace = params.grace_ns;

	f->b.nice = 1;
	ask(f, &f->a, 0);
	ask(f, &f->b, MS);
	assert_int_equal(f->a.e.signals, beside);
	/* Whether it waits or was here a moment ago. */
	ask(f, &f->c, 2 * MS);
	assert_int_equal(f->a.e.signals, beside | PTSP_SIG_EXACT);
	ptsp_cancel(&f->dev, &f->c.e, 3 * MS);
	ptsp_run(&f->dev, 3 * MS);
	assert_int_equal(f->a.e.signals, beside | PTSP_SIG_EXACT);
	ptsp_run(&f->dev, 3 * MS + grace);
	assert_int_equal(f->a.e.signals, beside);
	/* Budgets that live from reports need all of them. */
	params.many = true;
	ptsp_set_params(&f->dev, &params, 3 * MS + grace);
	ptsp_run(&f->dev, 3 * MS + grace);
	assert_true(f->a.e.signals & PTSP_SIG_EXACT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_heavier_is_admitted_while_work_is_taken_off, setup),
		cmocka_unit_test_setup(test_heavier_knows_that_it_would_be_admitted, setup),
		cmocka_unit_test_setup(test_who_would_have_to_wait_is_not_preadmitted, setup),
		cmocka_unit_test_setup(test_preadmission_ends_with_the_grace, setup),
		cmocka_unit_test_setup(test_equals_drain, setup),
		cmocka_unit_test_setup(test_who_is_late_leaves_to_the_next, setup),
		cmocka_unit_test_setup(test_who_is_late_pays_for_what_it_overran, setup),
		cmocka_unit_test_setup(test_who_does_not_drain_as_told_is_taken_off, setup),
		cmocka_unit_test_setup(test_who_is_off_the_device_does_not_pay_for_it, setup),
		cmocka_unit_test_setup(test_one_that_is_off_starves_nobody, setup),
		cmocka_unit_test_setup(test_heavier_waits_for_who_cannot_preempt, setup),
		cmocka_unit_test_setup(test_outweighed_as_long_as_the_other_is_there, setup),
		cmocka_unit_test_setup(test_exact_while_one_that_weighs_as_much_is_active, setup),
	};

	return run_cases("policy: preemption", tests);
}
