// SPDX-License-Identifier: MIT
/* The policy's rules, one by one. */
#include <linux/ptsched.h>

#include "budget.h"
#include "three_tasks.h"

static void test_alone_needs_no_timer(void **state)
{
	struct fixture *f = *state;

	assert_true(ask(f, &f->a, 0) == PTSP_NEVER);
	assert_int_equal(f->a.e.signals, PTSP_SIG_TURN);
	assert_true(ptsp_run(&f->dev, 3600000 * MS) == PTSP_NEVER);
	assert_int_equal(f->a.called_back, 0);
	assert_true(give(f, &f->a, MS, 3600001 * MS) == PTSP_NEVER);
	assert_int_equal(f->a.e.signals, 0);
}

static void test_equals_get_a_slice_each(void **state)
{
	struct fixture *f = *state;
	u64 next;

	ask(f, &f->a, 0);
	next = ask(f, &f->b, 5 * MS);
	assert_int_equal(f->a.e.signals,
			 PTSP_SIG_TURN | PTSP_SIG_WANTED | PTSP_SIG_CONTENDED | PTSP_SIG_EXACT);
	assert_true(next == 5 * MS + ptsp_slice(&f->dev));
	next = ptsp_run(&f->dev, next);
	assert_int_equal(f->a.called_back, 1);
	assert_int_equal(f->b.granted, 0);
	give(f, &f->a, MS, 16 * MS);
	assert_int_equal(f->b.granted, 1);
}

static void test_heavier_calls_back_at_once(void **state)
{
	struct fixture *f = *state;

	f->b.nice = -1;
	ask(f, &f->a, 0);
	ask(f, &f->b, MS);
	assert_int_equal(f->a.called_back, 1);
}

/* The heavier a, overdrawn and called back for b, gives the turn back and returns after @pause. */
static void leave_and_return(struct fixture *f, u64 pause)
{
	u64 now = 1000 * MS;

	/* All have saved up budget by then: a just runs out of it. */
	f->a.nice = -1;
	ask(f, &f->a, now);
	for (now = ask(f, &f->b, now); !f->a.called_back; now = ptsp_run(&f->dev, now))
		continue;
	now = f->a.e.callback_ns;
	give(f, &f->a, 0, now);
	assert_int_equal(f->b.granted, 1);
	ask(f, &f->a, now + pause);
	assert_true(f->a.e.budget_ns >= 0);
}

static void test_who_was_called_back_does_not_interrupt(void **state)
{
	struct fixture *f = *state;

	leave_and_return(f, f->dev.params.grace_ns);
	assert_int_equal(f->b.called_back, 0);
}

static void test_who_paused_after_a_call_back_interrupts(void **state)
{
	struct fixture *f = *state;

	leave_and_return(f, f->dev.params.grace_ns + 1);
	assert_int_equal(f->b.called_back, 1);
}

static void test_heaviest_waiter_goes_first(void **state)
{
	struct fixture *f = *state;

	f->c.nice = -5;
	f->a.nice = -20;
	ask(f, &f->a, 0);
	ask(f, &f->b, MS);
	ask(f, &f->c, 2 * MS);
	give(f, &f->a, MS, 3 * MS);
	assert_int_equal(f->c.granted, 1);
	assert_int_equal(f->b.granted, 0);
}

static void test_renice_changes_a_waiters_place(void **state)
{
	struct fixture *f = *state;

	f->a.nice = -20;
	ask(f, &f->a, 0);
	ask(f, &f->b, MS);
	ask(f, &f->c, 2 * MS);
	f->c.nice = -10;
	give(f, &f->a, MS, 3 * MS);
	assert_int_equal(f->c.granted, 1);
	assert_int_equal(f->c.e.weight, ptsp_nice_to_weight(-10));
}

static void test_renice_of_a_holder_acts_within_a_slice(void **state)
{
	struct fixture *f = *state;
	u64 now = 1000 * MS, reniced;

	/* By then a has saved up budget for seconds of turn beside the light b. */
	f->a.nice = -20;
	ask(f, &f->a, now);
	now = ask(f, &f->b, now);
	now = ptsp_run(&f->dev, now);
	assert_int_equal(f->a.called_back, 0);
	reniced = f->dev.now_ns;
	f->a.nice = 19;
	while (!f->a.called_back)
		now = ptsp_run(&f->dev, now);
	assert_true(f->a.e.callback_ns <= reniced + ptsp_slice(&f->dev));
}

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

/* What it costs to drain is nobody's fault; for what is longer, no time is given for eight times as long. */
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

static void test_undrained_turn_is_shared(void **state)
{
	struct fixture *f = *state;
	u64 next;

	f->b.nice = -1;
	ask(f, &f->a, 0);
	next = ask(f, &f->b, MS);
	assert_true(next == MS + f->dev.params.drain_ns);
	ptsp_run(&f->dev, next - 1);
	assert_int_equal(f->b.granted, 0);
	ptsp_run(&f->dev, next);
	assert_int_equal(f->a.forced, 1);
	assert_int_equal(f->b.granted, 1);
	assert_true(f->b.e.signals & PTSP_SIG_SHARED);
	give(f, &f->a, MS, next + 5 * MS);
	assert_true(f->a.e.stats.overrun_ns == 5 * MS);
	assert_false(f->b.e.signals & PTSP_SIG_SHARED);
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

static void test_none_lets_all_through(void **state)
{
	struct fixture *f = *state;
	struct ptsp_params params = f->dev.params;

	params.kind = PTSP_NONE;
	ptsp_set_params(&f->dev, &params, 0);
	ask(f, &f->a, 0);
	ask(f, &f->b, 0);
	assert_true(ask(f, &f->c, 0) == PTSP_NEVER);
	assert_int_equal(f->a.granted + f->b.granted + f->c.granted, 3);
	assert_true(f->a.e.signals & PTSP_SIG_SHARED);

	/* Nobody runs up a debt that a later policy would collect. */
	ptsp_report(&f->dev, &f->a.e, 100 * MS, 1, 100 * MS);
	assert_true(f->a.e.stats.gpu_ns == 100 * MS);
	assert_true(ptsp_budget(&f->dev, &f->a.e, 100 * MS) >= 0);
}

static void test_handover_lengthens_the_slice(void **state)
{
	struct fixture *f = *state;

	ask(f, &f->a, 0);
	ptsp_release(&f->dev, &f->a.e, MS, MS);
	assert_true(ptsp_slice(&f->dev) == 30 * MS);
	ask(f, &f->a, 2 * MS);
	ptsp_release(&f->dev, &f->a.e, PTSP_NEVER, 3 * MS);
	assert_true(ptsp_slice(&f->dev) <= 10 * f->dev.params.slice_ns);
}

/* @t has the turn for @held and says that the device stood still for @claim of it. */
static void claim_handover(struct fixture *f, struct task *t, u64 claim, u64 held)
{
	u64 now = f->dev.now_ns;

	ask(f, t, now);
	assert_int_equal(t->e.signals & PTSP_SIG_TURN, PTSP_SIG_TURN);
	ptsp_release(&f->dev, &t->e, claim, now + held);
	ptsp_run(&f->dev, now + held);
}

/* Whoever was here once stays active. */
static void nobody_leaves(struct fixture *f)
{
	struct ptsp_params params = f->dev.params;

	params.grace_ns = 10000 * MS;
	ptsp_set_params(&f->dev, &params, f->dev.now_ns);
}

static void test_one_claim_does_not_set_everybodys_handover(void **state)
{
	struct fixture *f = *state;

	nobody_leaves(f);
	claim_handover(f, &f->a, 2 * MS, 5 * MS);
	for (unsigned int i = 0; i < 20; i++)
		claim_handover(f, &f->b, PTSP_NEVER, 100 * MS);
	assert_true(f->dev.handover_ns == 2 * MS);
	claim_handover(f, &f->c, 3 * MS, 5 * MS);
	assert_true(f->dev.handover_ns == 3 * MS);
	/* With an honest majority, none makes it shorter either. */
	for (unsigned int i = 0; i < 20; i++)
		claim_handover(f, &f->b, 0, MS);
	assert_true(f->dev.handover_ns == 2 * MS);
}

/* Programs that wait, or pause, had short turns, or beside others: what they claimed is not what it takes now. */
static void test_claims_are_those_of_whom_the_turn_is_for(void **state)
{
	struct fixture *f = *state;
	u64 later;

	claim_handover(f, &f->a, 0, 5 * MS);
	claim_handover(f, &f->b, 0, 5 * MS);
	later = f->dev.now_ns + 1000 * MS;
	ptsp_run(&f->dev, later);
	claim_handover(f, &f->c, 2 * MS, 5 * MS);
	assert_true(f->dev.handover_ns == 2 * MS);
	/* One who comes back has a say at once, and is not kept waiting for a slice that it would not claim. */
	ask(f, &f->c, f->dev.now_ns);
	ask(f, &f->a, f->dev.now_ns);
	assert_true(f->dev.handover_ns == 0);
}

static void test_short_lives_leave_no_claim(void **state)
{
	struct fixture *f = *state;
	struct task liars[2 * PTSP_CLAIMS];

	memset(liars, 0, sizeof(liars));
	nobody_leaves(f);
	claim_handover(f, &f->a, MS, 5 * MS);
	claim_handover(f, &f->c, MS, 5 * MS);
	for (unsigned int i = 0; i < 2 * PTSP_CLAIMS; i++) {
		ptsp_join(&f->dev, &liars[i].e, &liars[i].user, NULL, f->dev.now_ns);
		claim_handover(f, &liars[i], PTSP_NEVER, 10 * MS);
		ptsp_leave(&f->dev, &liars[i].e, f->dev.now_ns);
	}
	assert_true(f->dev.handover_ns == MS);
}

static void test_a_newcomer_takes_the_place_of_the_oldest_claim(void **state)
{
	struct fixture *f = *state;
	struct task others[PTSP_CLAIMS];

	memset(others, 0, sizeof(others));
	nobody_leaves(f);
	claim_handover(f, &f->a, MS, 5 * MS);
	for (unsigned int i = 0; i < PTSP_CLAIMS; i++) {
		ptsp_join(&f->dev, &others[i].e, &others[i].user, NULL, f->dev.now_ns);
		claim_handover(f, &others[i], (i + 2) * MS, 20 * MS);
	}
	assert_int_equal(f->dev.nr_claims, PTSP_CLAIMS);
	/* Of 2 to 9 ms. */
	assert_true(f->dev.handover_ns == 5 * MS);
}

static void test_handover_took_no_longer_than_the_turn(void **state)
{
	struct fixture *f = *state;

	claim_handover(f, &f->a, 5 * MS, MS / 2);
	assert_true(f->dev.handover_ns == MS / 2);
}

/* a has the turn, after one for which the device stood still for 1 ms. Returns when that was. */
static u64 hold_after_handover(struct fixture *f)
{
	claim_handover(f, &f->a, MS, MS);
	ask(f, &f->a, MS);
	ask(f, &f->b, MS);
	return MS;
}

static void test_next_is_admitted_a_handover_ahead(void **state)
{
	struct fixture *f = *state;
	u64 at = hold_after_handover(f);

	/* Told too early, it means nothing. */
	ptsp_drain(&f->dev, &f->a.e, MS, at + MS);
	at = ptsp_run(&f->dev, at + MS);
	assert_int_equal(f->b.granted, 0);
	ptsp_run(&f->dev, at);
	assert_int_equal(f->a.called_back, 1);

	ptsp_drain(&f->dev, &f->a.e, 5 * MS, at);
	assert_true(ptsp_run(&f->dev, at) == at + 3 * MS);
	assert_int_equal(f->b.granted, 0);
	ptsp_run(&f->dev, at + 3 * MS);
	assert_int_equal(f->b.granted, 1);
	assert_false(f->b.e.signals & PTSP_SIG_SHARED);
	assert_true(f->b.e.busy_until_ns == at + 5 * MS);
	/* Another must not come as well. */
	ask(f, &f->c, at + 4 * MS);
	assert_int_equal(f->c.granted, 0);
	give(f, &f->a, MS, at + 5 * MS);
	assert_int_equal(f->c.granted, 0);
	assert_int_equal(f->dev.nr_holders, 1);
}

static void test_who_drains_pays_for_the_handover(void **state)
{
	struct fixture *f = *state;
	u64 start = hold_after_handover(f), at, admitted, charged;

	at = ptsp_run(&f->dev, start);
	ptsp_run(&f->dev, at);
	ptsp_drain(&f->dev, &f->a.e, 5 * MS, at);
	admitted = ptsp_run(&f->dev, at);
	ptsp_run(&f->dev, admitted);
	assert_int_equal(f->b.granted, 1);
	charged = f->a.e.stats.occupancy_ns;
	assert_int_equal(charged, admitted - start);

	/* Nobody waits, two have the turn, and the device does the work of the first. */
	ptsp_run(&f->dev, admitted + 2 * MS);
	assert_int_equal(f->a.e.stats.occupancy_ns, charged + 2 * MS);
	assert_int_equal(f->b.e.stats.occupancy_ns, 0);
	assert_int_equal(f->b.e.stats.held_ns, 2 * MS);
}

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

static void test_cancel_and_leave_free_the_queue(void **state)
{
	struct fixture *f = *state;

	ask(f, &f->a, 0);
	ask(f, &f->b, 0);
	ask(f, &f->c, 0);
	ptsp_cancel(&f->dev, &f->b.e, MS);
	ptsp_leave(&f->dev, &f->a.e, 2 * MS);
	ptsp_run(&f->dev, 2 * MS);
	assert_int_equal(f->c.granted, 1);
	assert_int_equal(f->b.granted, 0);
	assert_int_equal(f->dev.nr_waiters, 0);
	assert_int_equal(f->dev.nr_holders, 1);
	assert_int_equal(f->dev.nr_entities, 2);
}

static void test_ranges(void **state)
{
	struct ptsp_params good = ptsp_default_params(), bad;

	(void)state;
	assert_int_equal(ptsp_check_params(&good), PTSP_PARAM_OK);
#define REFUSED(field, value, param) do {				\
		bad = good;						\
		bad.field = (value);					\
		assert_int_equal(ptsp_check_params(&bad), param);	\
	} while (0)
	REFUSED(kind, PTSP_NONE + 1, PTSP_PARAM_KIND);
	REFUSED(alpha, 0, PTSP_PARAM_ALPHA);
	REFUSED(alpha, PTSCHED_ALPHA_MAX + 1, PTSP_PARAM_ALPHA);
	REFUSED(slice_ns, PTSCHED_SLICE_MIN_NS - 1, PTSP_PARAM_SLICE);
	REFUSED(slice_ns, PTSCHED_SLICE_MAX_NS + 1, PTSP_PARAM_SLICE);
	REFUSED(grace_ns, PTSCHED_GRACE_MAX_NS + 1, PTSP_PARAM_GRACE);
	REFUSED(drain_ns, PTSCHED_DRAIN_MIN_NS - 1, PTSP_PARAM_DRAIN);
	REFUSED(drain_ns, PTSCHED_DRAIN_MAX_NS + 1, PTSP_PARAM_DRAIN);
	REFUSED(inflight_ns, PTSCHED_INFLIGHT_MIN_NS - 1, PTSP_PARAM_INFLIGHT);
	REFUSED(inflight_ns, PTSCHED_INFLIGHT_MAX_NS + 1, PTSP_PARAM_INFLIGHT);
#undef REFUSED
}

static void test_weights_are_the_kernels(void **state)
{
	(void)state;
	assert_int_equal(ptsp_nice_to_weight(0), 1024);
	assert_int_equal(ptsp_nice_to_weight(-20), 88761);
	assert_int_equal(ptsp_nice_to_weight(19), 15);
	assert_int_equal(ptsp_nice_to_weight(-100), 88761);
	assert_int_equal(ptsp_nice_to_weight(100), 15);
	for (int nice = -20; nice < 19; nice++) {
		double step = (double)ptsp_nice_to_weight(nice) / ptsp_nice_to_weight(nice + 1);

		assert_true(step > 1.17 && step < 1.31);
	}
}

static void test_signals_match_the_contract(void **state)
{
	(void)state;
	assert_int_equal(PTSP_SIG_TURN, PTSCHED_STATE_TURN);
	assert_int_equal(PTSP_SIG_CALLBACK, PTSCHED_STATE_CALLBACK);
	assert_int_equal(PTSP_SIG_WANTED, PTSCHED_STATE_WANTED);
	assert_int_equal(PTSP_SIG_CONTENDED, PTSCHED_STATE_CONTENDED);
	assert_int_equal(PTSP_SIG_SHARED, PTSCHED_STATE_SHARED);
	assert_int_equal(PTSP_SIG_PREEMPT, PTSCHED_STATE_PREEMPT);
	assert_int_equal(PTSP_SIG_OUTWEIGHED, PTSCHED_STATE_OUTWEIGHED);
	assert_int_equal(PTSP_SIG_EXACT, PTSCHED_STATE_EXACT);
	assert_int_equal(PTSP_SIG_BESIDE, PTSCHED_STATE_BESIDE);
	assert_int_equal(PTSP_SIG_PREADMITTED, PTSCHED_STATE_PREADMITTED);
	assert_int_equal(PTSP_WEIGHTED, PTSCHED_POLICY_WEIGHTED);
	assert_int_equal(PTSP_LITERAL, PTSCHED_POLICY_LITERAL);
	assert_int_equal(PTSP_NONE, PTSCHED_POLICY_NONE);
	assert_int_equal(PTSP_WAITING, PTSCHED_ENTITY_WAITING);
	assert_int_equal(PTSP_HOLDING, PTSCHED_ENTITY_HOLDING);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_alone_needs_no_timer, setup),
		cmocka_unit_test_setup(test_equals_get_a_slice_each, setup),
		cmocka_unit_test_setup(test_heavier_calls_back_at_once, setup),
		cmocka_unit_test_setup(test_who_was_called_back_does_not_interrupt, setup),
		cmocka_unit_test_setup(test_who_paused_after_a_call_back_interrupts, setup),
		cmocka_unit_test_setup(test_heaviest_waiter_goes_first, setup),
		cmocka_unit_test_setup(test_renice_changes_a_waiters_place, setup),
		cmocka_unit_test_setup(test_renice_of_a_holder_acts_within_a_slice, setup),
		cmocka_unit_test_setup(test_debtor_waits, setup),
		cmocka_unit_test_setup(test_months_of_debt_do_not_overflow, setup),
		cmocka_unit_test_setup(test_debtor_inherits_the_share_of_who_left, setup),
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
		cmocka_unit_test_setup(test_undrained_turn_is_shared, setup),
		cmocka_unit_test_setup(test_debt_outlives_its_maker, setup),
		cmocka_unit_test_setup(test_lies_do_not_pay, setup),
		cmocka_unit_test_setup(test_late_report_is_not_a_debt, setup),
		cmocka_unit_test_setup(test_none_lets_all_through, setup),
		cmocka_unit_test_setup(test_handover_lengthens_the_slice, setup),
		cmocka_unit_test_setup(test_one_claim_does_not_set_everybodys_handover, setup),
		cmocka_unit_test_setup(test_claims_are_those_of_whom_the_turn_is_for, setup),
		cmocka_unit_test_setup(test_short_lives_leave_no_claim, setup),
		cmocka_unit_test_setup(test_a_newcomer_takes_the_place_of_the_oldest_claim, setup),
		cmocka_unit_test_setup(test_handover_took_no_longer_than_the_turn, setup),
		cmocka_unit_test_setup(test_next_is_admitted_a_handover_ahead, setup),
		cmocka_unit_test_setup(test_who_drains_pays_for_the_handover, setup),
		cmocka_unit_test_setup(test_heavier_is_admitted_while_work_is_taken_off, setup),
		cmocka_unit_test_setup(test_heavier_knows_that_it_would_be_admitted, setup),
		cmocka_unit_test_setup(test_who_would_have_to_wait_is_not_preadmitted, setup),
		cmocka_unit_test_setup(test_preadmission_ends_with_the_grace, setup),
		cmocka_unit_test_setup(test_equals_drain, setup),
		cmocka_unit_test_setup(test_who_is_late_leaves_to_the_next, setup),
		cmocka_unit_test_setup(test_who_does_not_drain_as_told_is_taken_off, setup),
		cmocka_unit_test_setup(test_who_is_off_the_device_does_not_pay_for_it, setup),
		cmocka_unit_test_setup(test_one_that_is_off_starves_nobody, setup),
		cmocka_unit_test_setup(test_heavier_waits_for_who_cannot_preempt, setup),
		cmocka_unit_test_setup(test_outweighed_as_long_as_the_other_is_there, setup),
		cmocka_unit_test_setup(test_exact_while_one_that_weighs_as_much_is_active, setup),
		cmocka_unit_test_setup(test_cancel_and_leave_free_the_queue, setup),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_weights_are_the_kernels),
		cmocka_unit_test(test_signals_match_the_contract),
	};

	return cmocka_run_group_tests_name("policy rules", tests, NULL, NULL);
}
