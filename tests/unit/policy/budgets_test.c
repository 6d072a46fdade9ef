// SPDX-License-Identifier: MIT
/* What time costs: debts, time that is given away, lies. */
#include <linux/ptsched.h>

#include "kmod/policy/budget.h"
#include "tests/unit/policy/cases.h"
#include "tests/unit/policy/three_tasks.h"
#include "kmod/policy/vtime.h"

/* a has had 50 ms against a weight of 15: b, alone in debt, must wait for it. */
static void test_debtor_waits(void **state)
{
	struct fixture *f = *state;
	u64 next;

	f->b.nice = 19;
	ask(f, &f->b, 0);
	ask(f, &f->a, 0);
	give(f, &f->b, 50 * MS, 50 * MS);
	next = ask(f, &f->b, 50 * MS);
	assert_true(ptsp_budget(&f->dev, &f->b.e, 50 * MS) < 0);
	next = give(f, &f->a, MS, 60 * MS);
	assert_int_equal(f->b.granted, 1);
	assert_true(next != PTSP_NEVER);
	while (f->b.granted == 1) {
		u64 now = next;

		next = ptsp_run(&f->dev, now);
		assert_true(f->b.granted == 2 || next > now);
	}
	assert_true(f->b.e.budget_ns >= 0);
}

/* b, light, used 50 ms before a got its turn, and waits again. Returns when to look after a's, at 60 ms. */
static u64 leave_b_in_debt(struct fixture *f)
{
	f->b.nice = 19;
	ask(f, &f->b, 0);
	ask(f, &f->a, 0);
	give(f, &f->b, 50 * MS, 50 * MS);
	ask(f, &f->b, 50 * MS);
	return give(f, &f->a, MS, 60 * MS);
}

static void test_months_of_debt_do_not_overflow(void **state)
{
	struct fixture *f = *state;
	u64 months = 100ULL * 24 * 3600000 * MS;

	f->a.nice = 19;
	f->b.nice = -20;
	f->c.nice = -20;
	ask(f, &f->a, 0);
	ask(f, &f->b, 0);
	ptsp_run(&f->dev, months);
	give(f, &f->a, 0, months);
	ask(f, &f->c, months);
	give(f, &f->b, 0, months);
	ask(f, &f->a, months);
	assert_true(f->a.e.budget_ns < -(s64)(months / 3));
	/* It has to wait for more nanoseconds than 64 bits can count. */
	assert_true(ptsp_instant_of(&f->dev, ptsp_due(&f->dev, &f->a.e)) ==
		    months + 3600000 * MS);
}

/* Once the heavy one is gone, its share is b's: it waits for its debt, not for ages. */
static void test_debtor_inherits_the_share_of_who_left(void **state)
{
	struct fixture *f = *state;
	u64 now, next;

	f->a.nice = -20;
	next = leave_b_in_debt(f);
	do {
		now = next;
		assert_true(now < 200 * MS);
		next = ptsp_run(&f->dev, now);
	} while (f->b.granted == 1);
}

static void test_a_child_owes_what_its_parent_does(void **state)
{
	struct fixture *f = *state;
	struct task child = { 0 };
	u64 now = leave_b_in_debt(f);
	s64 debt = ptsp_budget(&f->dev, &f->b.e, now);

	assert_true(debt < 0);
	ptsp_join(&f->dev, &child.e, &f->b.user, &f->b.e, now);
	assert_true(ptsp_budget(&f->dev, &child.e, now) == debt);
	/* It is not its own: nobody pays for it twice. */
	ptsp_leave(&f->dev, &child.e, now);
	assert_true(ptsp_user_debt(&f->dev, &f->b.user, now) == 0);
}

static void test_idle_time_is_given_after_grace(void **state)
{
	struct fixture *f = *state;
	struct ptsp_params params = f->dev.params;
	u64 next;

	params.idle_sharing = true;
	ptsp_set_params(&f->dev, &params, 0);
	next = leave_b_in_debt(f);
	assert_true(next == 60 * MS + params.grace_ns);
	ptsp_run(&f->dev, next);
	assert_int_equal(f->b.granted, 2);
	assert_true(f->b.e.given);

	/* Whoever has a budget gets given time back at once. */
	f->c.nice = 19;
	ask(f, &f->c, 70 * MS);
	assert_int_equal(f->b.called_back, 2);
	assert_true(f->b.e.budget_ns >= -(s64)ptsp_slice(&f->dev) - 50 * (s64)MS);
}

/* a, heavy, has been away for @gap before its last turn; b, in debt, waits. Returns whether b has the turn at once. */
static bool given_without_grace(struct fixture *f, u64 gap, bool preemptible)
{
	struct ptsp_params params = f->dev.params;
	unsigned int before;

	params.idle_sharing = true;
	ptsp_set_params(&f->dev, &params, 0);
	f->a.nice = -1;
	ptsp_set_preemptible(&f->dev, &f->b.e, preemptible, 0);
	ask(f, &f->a, MS);
	give(f, &f->a, 0, MS);
	ask(f, &f->b, MS);
	ask(f, &f->a, MS + gap);
	give(f, &f->b, 0, MS + gap);
	f->b.e.budget_ns = -50 * (s64)MS;
	before = f->b.granted;
	ask(f, &f->b, MS + gap);
	assert_int_equal(f->a.granted, 2);
	give(f, &f->a, 0, MS + gap);
	return f->b.granted > before;
}

static void test_who_yields_at_once_need_not_wait_for_who_comes_seldom(void **state)
{
	assert_true(given_without_grace(*state, 40 * MS, true));
}

static void test_who_is_about_to_come_back_is_waited_for(void **state)
{
	assert_false(given_without_grace(*state, MS / 2, true));
}

static void test_who_does_not_yield_waits_for_the_absent(void **state)
{
	assert_false(given_without_grace(*state, 40 * MS, false));
}

/*
 * a, at nice -20, has 1 ms of work each 10 ms; b, at nice 19, always, and takes @drain to leave the device, or ends and
 * begins anew instead. Returns how many of its 1000 turns a has in ten seconds.
 */
static unsigned int turns_beside_slow(struct fixture *f, u64 drain, bool reborn)
{
	u64 now, back = PTSP_NEVER, done = PTSP_NEVER;

	f->dev.params.idle_sharing = true;
	f->a.nice = -20;
	f->b.nice = 19;
	ask(f, &f->b, 0);
	for (now = MS; now < 10000 * MS; now += MS) {
		ptsp_run(&f->dev, now);
		if (now % (10 * MS) == 0 && f->a.e.state == PTSP_IDLE)
			ask(f, &f->a, now);
		if (f->a.e.state == PTSP_HOLDING && done == PTSP_NEVER)
			done = now + MS;
		if (now >= done) {
			give(f, &f->a, MS, now);
			done = PTSP_NEVER;
		}
		if (f->b.e.signals & PTSP_SIG_CALLBACK && back == PTSP_NEVER)
			back = now + drain;
		if (now < back)
			continue;
		back = PTSP_NEVER;
		give(f, &f->b, MS, now);
		if (reborn) {
			ptsp_leave(&f->dev, &f->b.e, now);
			memset(&f->b.e, 0, sizeof(f->b.e));
			ptsp_join(&f->dev, &f->b.e, &f->b.user, NULL, now);
		}
		ask(f, &f->b, now);
	}
	return f->a.granted;
}

/* What it costs to drain is nobody's fault; for what is longer, no time is given for twelve times as long. */
static void test_slow_draining_of_given_time_is_made_up_for(void **state)
{
	unsigned int slow = turns_beside_slow(*state, 99 * MS, false);

	print_message("# beside one that takes 99 ms to drain: %u turns of 1000\n", slow);
	assert_true(slow > 850);
}

static void test_a_new_process_does_not_escape_it(void **state)
{
	assert_true(turns_beside_slow(*state, 99 * MS, true) > 850);
}

static void test_two_processes_do_not_escape_it(void **state)
{
	struct fixture *f = *state;

	f->dev.params.idle_sharing = true;
	f->a.nice = -20;
	ptsp_leave(&f->dev, &f->c.e, 0);
	memset(&f->c.e, 0, sizeof(f->c.e));
	ptsp_join(&f->dev, &f->c.e, &f->b.user, NULL, 0);
	f->b.e.budget_ns = -MS;
	f->c.e.budget_ns = -10000 * MS;
	ask(f, &f->b, 0);
	ask(f, &f->a, 0);
	ask(f, &f->c, 0);
	assert_true(f->b.e.given && f->b.called_back);
	give(f, &f->b, 0, 50 * MS);
	assert_true(f->b.user.withheld_ns > 300 * MS);
	/* Who has the turn is not asked to leave it to those who may not take it. */
	assert_true(ptsp_run(&f->dev, 60 * MS) <= f->b.user.withheld_ns);
	assert_false(f->a.e.signals & PTSP_SIG_WANTED);
	ptsp_run(&f->dev, f->b.user.withheld_ns);
	assert_true(f->a.e.signals & PTSP_SIG_WANTED);
	give(f, &f->a, 0, f->b.user.withheld_ns);
	ptsp_run(&f->dev, f->b.user.withheld_ns + f->dev.params.grace_ns);
	assert_int_equal(f->c.granted, 1);
}

/* A turn that others wait for may last: what is earned meanwhile is not cut before it is charged. */
static void test_a_contended_turn_costs_no_more_than_its_time(void **state)
{
	struct fixture *f = *state;
	u64 long_ns = 100 * MS;
	s64 before;

	ask(f, &f->a, 0);
	ptsp_run(&f->dev, 1000 * MS);
	ptsp_report(&f->dev, &f->a.e, 0, 0, 1000 * MS);
	before = ptsp_budget(&f->dev, &f->a.e, 1000 * MS);
	assert_true(before == ptsp_cap(&f->dev, &f->a.e));
	ask(f, &f->b, 1000 * MS);
	ptsp_run(&f->dev, 1000 * MS + long_ns);
	/* Two equals: half of it was earned. */
	assert_true(f->a.e.budget_ns >= before - (s64)long_ns / 2 - 1);
	assert_true(f->a.e.budget_ns <= before - (s64)long_ns / 2 + 1);
}

/* One after another spends more than it earned and is gone: those who stay have no more than there is. */
static void test_who_goes_in_debt_leaves_others_no_more(void **state)
{
	struct fixture *f = *state;
	u64 now = 0;
	s64 sum;

	ask(f, &f->a, now);
	ask(f, &f->b, now);
	for (unsigned int i = 0; i < 1000; i++) {
		struct ptsp_user user = { 0 };
		struct task job = { .nice = -1 };

		ptsp_join(&f->dev, &job.e, &user, NULL, now);
		ask(f, &job, now);
		give(f, f->a.e.state == PTSP_HOLDING ? &f->a : &f->b, 0, now);
		assert_int_equal(job.e.state, PTSP_HOLDING);
		now += 5 * MS;
		ptsp_leave(&f->dev, &job.e, now);
		ask(f, f->a.e.state == PTSP_IDLE ? &f->a : &f->b, now);
		now += 45 * MS;
		ptsp_run(&f->dev, now);
	}
	sum = ptsp_budget(&f->dev, &f->a.e, now) + ptsp_budget(&f->dev, &f->b.e, now);
	/* Without that, it is 1.6 s. */
	assert_in_range(sum + 1000 * (s64)MS, 900 * MS, 1100 * MS);
}

static void test_withheld_time_is_given_once_that_is_over(void **state)
{
	struct fixture *f = *state;

	f->dev.params.idle_sharing = true;
	f->dev.params.grace_ns = 0;
	f->b.user.withheld_ns = 400 * MS;
	f->b.e.budget_ns = -10000 * MS;
	assert_true(ptsp_user_owes(&f->dev, &f->b.user, 300 * MS));
	assert_true(ask(f, &f->b, 300 * MS) == 400 * MS);
	assert_int_equal(f->b.granted, 0);
	ptsp_run(&f->dev, 400 * MS);
	assert_int_equal(f->b.granted, 1);
}

static void test_draining_as_fast_as_can_be_is_not_held_against_one(void **state)
{
	struct fixture *f = *state;

	turns_beside_slow(f, 5 * MS, false);
	assert_true(f->b.user.withheld_ns == 0);
	assert_true(f->b.e.stats.given_ns > 3000 * MS);
}

/* b reports @hours of given time at once. Returns by how much it is then behind others. */
static u64 given_vt_of(struct fixture *f, u64 hours)
{
	u64 ns = hours * 3600000 * MS, before = f->b.e.given_vt;

	f->b.e.given = true;
	ptsp_charge(&f->dev, &f->b.e, ns);
	assert_true(f->b.e.given_vt > before);
	return f->b.e.given_vt - before;
}

static void test_days_of_given_time_do_not_overflow(void **state)
{
	struct fixture *f = *state;
	double hour, days;

	f->b.e.weight = 1;
	hour = (double)given_vt_of(f, 1);
	days = (double)given_vt_of(f, 100 * 24);
	assert_true(days > hour * 2399 && days < hour * 2401);
	/* Nor is it free for the heaviest in pieces of a nanosecond. */
	f->b.e.weight = PTSCHED_WEIGHT_MAX;
	f->b.e.given_vt = 0;
	ptsp_charge(&f->dev, &f->b.e, 1);
	assert_true(f->b.e.given_vt > 0);
}

static void test_debt_outlives_its_maker(void **state)
{
	struct fixture *f = *state;
	struct task heir = { .nice = 19 }, child = { .nice = 19 };
	s64 debt;

	f->b.nice = 19;
	ask(f, &f->b, 0);
	ask(f, &f->a, 0);
	ptsp_run(&f->dev, 30 * MS);
	debt = ptsp_budget(&f->dev, &f->b.e, 30 * MS);
	assert_true(debt < 0);
	ptsp_join(&f->dev, &child.e, &child.user, &f->b.e, 30 * MS);
	assert_true(child.e.budget_ns == debt);

	ptsp_leave(&f->dev, &f->b.e, 30 * MS);
	ptsp_run(&f->dev, 30 * MS);
	assert_int_equal(f->a.granted, 1);
	assert_true(ptsp_user_debt(&f->dev, &f->b.user, 30 * MS) == (u64)-debt);
	ptsp_join(&f->dev, &heir.e, &f->b.user, NULL, 30 * MS);
	assert_true(heir.e.budget_ns == debt);
	assert_true(ptsp_user_debt(&f->dev, &f->b.user, 30 * MS) == 0);

	/* Repaid in time: at a weight of 15 among 1039, 30 ms take about 2.1 s. */
	ptsp_leave(&f->dev, &heir.e, 30 * MS);
	assert_true(ptsp_user_debt(&f->dev, &f->b.user, 1000 * MS) > 0);
	assert_true(ptsp_user_debt(&f->dev, &f->b.user, 3000 * MS) == 0);
}

/* Occupancy is charged by the clock; what a client says cannot lower it. */
static void test_lies_do_not_pay(void **state)
{
	struct fixture *f = *state;
	s64 silent, honest;

	f->b.nice = 1;
	ask(f, &f->a, 0);
	ask(f, &f->b, 0);
	ptsp_run(&f->dev, 8 * MS);
	silent = ptsp_budget(&f->dev, &f->a.e, 8 * MS);
	ptsp_report(&f->dev, &f->a.e, 8 * MS, 8, 8 * MS);
	honest = ptsp_budget(&f->dev, &f->a.e, 8 * MS);
	assert_true(silent == honest);
	ptsp_report(&f->dev, &f->a.e, 1000 * MS, 1, 8 * MS);
	assert_true(f->a.e.stats.gpu_ns == 8 * MS);
}

/* An hour alone, reported at once, costs no more than it would have in small pieces. */
static void test_late_report_is_not_a_debt(void **state)
{
	struct fixture *f = *state;

	ask(f, &f->a, 0);
	ptsp_report(&f->dev, &f->a.e, 3000000 * MS, 1, 3600000 * MS);
	assert_true(ptsp_budget(&f->dev, &f->a.e, 3600000 * MS) >= 0);
	assert_true(f->a.e.stats.gpu_ns == 3000000 * MS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_debtor_waits, setup),
		cmocka_unit_test_setup(test_months_of_debt_do_not_overflow, setup),
		cmocka_unit_test_setup(test_debtor_inherits_the_share_of_who_left, setup),
		cmocka_unit_test_setup(test_a_child_owes_what_its_parent_does, setup),
		cmocka_unit_test_setup(test_idle_time_is_given_after_grace, setup),
		cmocka_unit_test_setup(test_who_yields_at_once_need_not_wait_for_who_comes_seldom,
				       setup),
		cmocka_unit_test_setup(test_who_is_about_to_come_back_is_waited_for, setup),
		cmocka_unit_test_setup(test_who_does_not_yield_waits_for_the_absent, setup),
		cmocka_unit_test_setup(test_slow_draining_of_given_time_is_made_up_for, setup),
		cmocka_unit_test_setup(test_a_new_process_does_not_escape_it, setup),
		cmocka_unit_test_setup(test_two_processes_do_not_escape_it, setup),
		cmocka_unit_test_setup(test_a_contended_turn_costs_no_more_than_its_time, setup),
		cmocka_unit_test_setup(test_who_goes_in_debt_leaves_others_no_more, setup),
		cmocka_unit_test_setup(test_withheld_time_is_given_once_that_is_over, setup),
		cmocka_unit_test_setup(test_draining_as_fast_as_can_be_is_not_held_against_one, setup),
		cmocka_unit_test_setup(test_days_of_given_time_do_not_overflow, setup),
		cmocka_unit_test_setup(test_debt_outlives_its_maker, setup),
		cmocka_unit_test_setup(test_lies_do_not_pay, setup),
		cmocka_unit_test_setup(test_late_report_is_not_a_debt, setup),
	};

	return run_cases("policy: budgets", tests);
}
