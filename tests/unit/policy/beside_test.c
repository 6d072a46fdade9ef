// SPDX-License-Identifier: MIT
/* Equals that have the turn beside each other (beside.c). */
#include "tests/unit/policy/cases.h"
#include "tests/unit/policy/three_tasks.h"

#define S (1000 * MS)

/* A turn of its own for 100 ms, of which the device works for @busy thousandths, 10 submissions a ms. */
static u64 have_turn(struct fixture *f, struct task *t, u64 busy, u64 now)
{
	ask(f, t, now);
	ptsp_report(&f->dev, &t->e, busy * MS / 10, 1000, now + 100 * MS);
	ptsp_release(&f->dev, &t->e, 0, now + 100 * MS);
	ptsp_run(&f->dev, now + 100 * MS);
	return now + S;
}

static void report(struct fixture *f, struct task *t, u32 submissions, u64 now)
{
	ptsp_report(&f->dev, &t->e, 0, submissions, now);
	ptsp_run(&f->dev, now);
}

/* a is known to leave the device idle, b by @busy thousandths not to; both ask. */
static u64 ask_both(struct fixture *f, u64 busy)
{
	u64 now = have_turn(f, &f->a, 300, 0);

	now = have_turn(f, &f->b, busy, now);
	ask(f, &f->a, now);
	ask(f, &f->b, now);
	return now;
}

/* Both are known to leave the device idle, and hold the turn beside each other. */
static u64 begin_beside(struct fixture *f)
{
	u64 now = ask_both(f, 300);

	assert_true(f->a.e.signals & f->b.e.signals & PTSP_SIG_BESIDE);
	return now;
}

static void test_equals_that_leave_it_idle_hold_together(void **state)
{
	const u32 signals = PTSP_SIG_TURN | PTSP_SIG_CONTENDED | PTSP_SIG_BESIDE;
	struct fixture *f = *state;
	u64 now = begin_beside(f);
	s64 budget = ptsp_budget(&f->dev, &f->a.e, now);

	/* They hand over to nobody, and nothing needs to be exact. */
	assert_int_equal(f->a.e.signals, signals);
	assert_int_equal(f->b.e.signals, signals);
	/* Each earns half, and pays half. */
	now += 10 * S;
	ptsp_run(&f->dev, now);
	assert_int_equal(f->a.called_back + f->b.called_back, 0);
	assert_true(f->a.e.stats.occupancy_ns == 5 * S);
	assert_true(f->b.e.stats.occupancy_ns == 5 * S);
	assert_true(ptsp_budget(&f->dev, &f->a.e, now) >= budget);
	/* Whoever is left is alone. */
	give(f, &f->a, 0, now);
	assert_false(f->b.e.signals & PTSP_SIG_BESIDE);
}

static void test_who_keeps_the_device_busy_has_turns_of_its_own(void **state)
{
	struct fixture *f = *state;

	ask_both(f, 900);
	assert_int_equal(f->dev.nr_holders, 1);
	assert_true(f->a.e.signals & PTSP_SIG_EXACT);
}

/* While its fellows do not get on elsewhere it has nothing to do: that is no idleness. */
static void test_of_a_gang_more_is_asked(void **state)
{
	struct fixture *f = *state;
	u64 now = ask_both(f, 600);

	assert_int_equal(f->dev.nr_holders, 2);
	give(f, &f->a, 300 * MS / 1000, now + MS);
	ptsp_lead(&f->dev, &f->b.e, now + MS, now + MS);
	ask(f, &f->a, now + 2 * MS);
	assert_int_equal(f->dev.nr_holders, 1);
}

static void test_a_newcomer_is_measured_first(void **state)
{
	struct fixture *f = *state;
	u64 now = have_turn(f, &f->a, 300, 0);

	ask(f, &f->b, now);
	ask(f, &f->a, now + MS);
	assert_int_equal(f->dev.nr_holders, 1);
	report(f, &f->b, 100, now + 30 * MS);
	assert_int_equal(f->dev.nr_holders, 2);
}

/* What came before says nothing about a program that begins to work. */
static void test_a_pause_is_no_measurement(void **state)
{
	struct fixture *f = *state;
	u64 now = have_turn(f, &f->b, 300, 0);

	ask(f, &f->a, now);
	now += 3600 * S;
	report(f, &f->a, 1, now);
	ask(f, &f->b, now);
	assert_int_equal(f->dev.nr_holders, 1);
	report(f, &f->a, 100, now + 20 * MS);
	assert_int_equal(f->dev.nr_holders, 2);
}

/* A last report of little work, after much, does not make a program one that leaves the device idle. */
static void test_the_end_of_work_is_no_idleness(void **state)
{
	struct fixture *f = *state;
	u64 now = have_turn(f, &f->b, 300, 0);

	ask(f, &f->a, now);
	ptsp_report(&f->dev, &f->a.e, 100 * MS, 100, now + 100 * MS);
	ptsp_report(&f->dev, &f->a.e, MS, 1, now + 200 * MS);
	ask(f, &f->b, now + S);
	assert_int_equal(f->dev.nr_holders, 1);
}

/* Once it has become so, beside others: half of what fills the device is its own. */
static void test_who_is_always_busy_is_measured_anew(void **state)
{
	struct fixture *f = *state;
	u64 now = begin_beside(f), end = now + 11 * S;

	for (; now < end && !f->b.called_back; now += 100 * MS) {
		ptsp_report(&f->dev, &f->a.e, 50 * MS, 1000, now);
		ptsp_report(&f->dev, &f->b.e, 30 * MS, 1000, now);
		ptsp_run(&f->dev, now);
	}
	assert_int_equal(f->b.called_back, 1);
	assert_true(now > end - 3 * S);
	give(f, &f->b, 0, now);
	ask(f, &f->b, now);
	assert_int_equal(f->dev.nr_holders, 1);
}

static void test_others_than_equals_take_turns(void **state)
{
	struct fixture *f = *state;
	u64 now = have_turn(f, &f->a, 300, 0);

	f->b.nice = 1;
	now = have_turn(f, &f->b, 300, now);
	ask(f, &f->a, now);
	ask(f, &f->b, now);
	assert_int_equal(f->dev.nr_holders, 1);
}

static void test_without_sharing_of_idle_time_equals_take_turns(void **state)
{
	struct fixture *f = *state;
	struct ptsp_params params = f->dev.params;
	u64 now = begin_beside(f);

	params.idle_sharing = false;
	ptsp_set_params(&f->dev, &params, now);
	ptsp_run(&f->dev, now);
	assert_int_equal(f->a.called_back, 0);
	assert_int_equal(f->b.called_back, 1);
}

static void test_who_cannot_be_served_beside_others_takes_turns(void **state)
{
	struct fixture *f = *state;
	u64 now = begin_beside(f);

	ptsp_set_preemptible(&f->dev, &f->a.e, false, now);
	ptsp_run(&f->dev, now);
	/* The first keeps it. */
	assert_int_equal(f->a.called_back, 0);
	assert_int_equal(f->b.called_back, 1);
}

static void test_a_renice_parts_them(void **state)
{
	struct fixture *f = *state;
	u64 now = begin_beside(f);

	f->b.nice = 5;
	/* That is looked for as long as somebody waits. */
	ask(f, &f->c, now + MS);
	assert_int_equal(f->b.called_back, 1);
}

static void test_a_heavier_one_has_both_called_back(void **state)
{
	struct fixture *f = *state;
	u64 now = begin_beside(f);

	f->c.nice = -1;
	ask(f, &f->c, now + MS);
	assert_true(f->a.e.signals & f->b.e.signals & PTSP_SIG_PREEMPT);
	assert_int_equal(f->c.granted, 1);
	assert_false((f->a.e.signals | f->b.e.signals | f->c.e.signals) & PTSP_SIG_BESIDE);
}

static void test_a_third_that_keeps_it_busy_has_its_slice(void **state)
{
	struct fixture *f = *state;
	u64 now = have_turn(f, &f->c, 1000, 0);

	now = have_turn(f, &f->a, 300, now);
	now = have_turn(f, &f->b, 300, now);
	ask(f, &f->a, now);
	ask(f, &f->b, now);
	ask(f, &f->c, now);
	now += ptsp_slice(&f->dev);
	ptsp_run(&f->dev, now);
	give(f, &f->a, 0, now);
	give(f, &f->b, 0, now);
	assert_int_equal(f->c.granted, 2);
}

/* Half of what it submits alone is an equal's part; a quarter is not. */
static void test_who_suffers_is_parted_for_a_while(void **state)
{
	struct fixture *f = *state;
	u64 now = begin_beside(f);

	now += 100 * MS;
	report(f, &f->a, 500, now);
	report(f, &f->b, 500, now);
	assert_int_equal(f->dev.nr_holders, 2);
	assert_int_equal(f->b.called_back, 0);
	now += 100 * MS;
	report(f, &f->a, 250, now);
	assert_int_equal(f->b.called_back, 1);
	assert_true(f->b.e.signals & PTSP_SIG_CALLBACK);
	give(f, &f->b, 0, now);
	ask(f, &f->b, now + MS);
	assert_int_equal(f->dev.nr_holders, 1);
	/* Then they try again. */
	now += 2 * S;
	ptsp_run(&f->dev, now);
	assert_int_equal(f->dev.nr_holders, 2);
}

/* One that lies, and keeps the device busy beside others, does so ever more seldom. */
static void test_lies_about_idleness_do_not_pay(void **state)
{
	struct fixture *f = *state;
	u64 now = begin_beside(f), suffered = 0, end = now + 100 * S;

	while (now < end) {
		bool beside = f->dev.nr_holders == 2;

		now += 100 * MS;
		if (f->a.e.state == PTSP_HOLDING)
			report(f, &f->a, beside ? 10 : 1000, now);
		if (f->b.e.state == PTSP_HOLDING)
			report(f, &f->b, 1000, now);
		if (beside)
			suffered += 100 * MS;
		if (f->b.e.signals & PTSP_SIG_CALLBACK) {
			give(f, &f->b, 0, now);
			ask(f, &f->b, now);
		} else if (f->a.e.signals & PTSP_SIG_CALLBACK) {
			give(f, &f->a, 0, now);
			ask(f, &f->a, now);
		}
	}
	assert_true(suffered > 0);
	assert_true(suffered <= 2 * S);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_equals_that_leave_it_idle_hold_together, setup_sharing),
		cmocka_unit_test_setup(test_of_a_gang_more_is_asked, setup_sharing),
		cmocka_unit_test_setup(test_who_keeps_the_device_busy_has_turns_of_its_own,
				       setup_sharing),
		cmocka_unit_test_setup(test_a_newcomer_is_measured_first, setup_sharing),
		cmocka_unit_test_setup(test_a_pause_is_no_measurement, setup_sharing),
		cmocka_unit_test_setup(test_the_end_of_work_is_no_idleness, setup_sharing),
		cmocka_unit_test_setup(test_who_is_always_busy_is_measured_anew, setup_sharing),
		cmocka_unit_test_setup(test_others_than_equals_take_turns, setup_sharing),
		cmocka_unit_test_setup(test_without_sharing_of_idle_time_equals_take_turns,
				       setup_sharing),
		cmocka_unit_test_setup(test_who_cannot_be_served_beside_others_takes_turns,
				       setup_sharing),
		cmocka_unit_test_setup(test_a_renice_parts_them, setup_sharing),
		cmocka_unit_test_setup(test_a_heavier_one_has_both_called_back, setup_sharing),
		cmocka_unit_test_setup(test_a_third_that_keeps_it_busy_has_its_slice,
				       setup_sharing),
		cmocka_unit_test_setup(test_who_suffers_is_parted_for_a_while, setup_sharing),
		cmocka_unit_test_setup(test_lies_about_idleness_do_not_pay, setup_sharing),
	};

	return run_cases("policy: beside each other", tests);
}
