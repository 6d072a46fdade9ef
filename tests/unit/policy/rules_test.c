// SPDX-License-Identifier: MIT
/* The policy's rules, one by one: who has the turn. */
#include <linux/ptsched.h>

#include "tests/unit/policy/cases.h"
#include "tests/unit/policy/three_tasks.h"

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
	assert_int_equal(PTSP_SIG_ABOVE, PTSCHED_STATE_ABOVE);
	assert_int_equal(PTSP_SIG_BELOW, PTSCHED_STATE_BELOW);
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
		cmocka_unit_test_setup(test_undrained_turn_is_shared, setup),
		cmocka_unit_test_setup(test_none_lets_all_through, setup),
		cmocka_unit_test_setup(test_cancel_and_leave_free_the_queue, setup),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_weights_are_the_kernels),
		cmocka_unit_test(test_signals_match_the_contract),
	};

	return run_cases("policy: rules", tests);
}
