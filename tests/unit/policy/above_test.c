// SPDX-License-Identifier: MIT
/* A heavier one that tolerates lighter ones below its turns (ptsp_tolerate()). */
#include "tests/unit/policy/cases.h"
#include "tests/unit/policy/three_tasks.h"

/* b and c weigh the same, a outweighs them and tolerates them. */
static int setup_tolerant(void **state)
{
	struct fixture *f;

	setup_sharing(state);
	f = *state;
	f->a.nice = -20;
	f->b.nice = 19;
	f->c.nice = 19;
	ptsp_tolerate(&f->dev, &f->a.e, true, 0);
	return 0;
}

/* b holds the turn, and a has come above it. */
static u64 begin_above(struct fixture *f)
{
	u64 now = 100 * MS;

	ask(f, &f->b, now);
	ask(f, &f->a, now += MS);
	assert_int_equal(f->a.e.state, PTSP_HOLDING);
	return now;
}

static void test_the_lighter_stays(void **state)
{
	struct fixture *f = *state;
	u64 now = begin_above(f);

	assert_int_equal(f->b.e.state, PTSP_HOLDING);
	assert_int_equal(f->b.called_back, 0);
	assert_int_equal(f->a.e.signals, PTSP_SIG_TURN | PTSP_SIG_CONTENDED | PTSP_SIG_ABOVE);
	assert_true(f->b.e.signals & PTSP_SIG_BELOW);
	give(f, &f->a, 0, now + 5 * MS);
	assert_int_equal(f->b.e.state, PTSP_HOLDING);
	assert_int_equal(f->b.called_back, 0);
	assert_false(f->b.e.signals & PTSP_SIG_BELOW);
}

static void test_the_heavier_pays_for_its_turn(void **state)
{
	struct fixture *f = *state;
	u64 now = begin_above(f), slice = ptsp_slice(&f->dev);
	struct ptsp_stats before = f->b.e.stats;

	ptsp_run(&f->dev, now += slice / 2);
	assert_true(f->a.e.stats.occupancy_ns == slice / 2);
	assert_true(f->b.e.stats.occupancy_ns == before.occupancy_ns);
	/* Nor is the slice of the lighter over. */
	give(f, &f->a, 0, now);
	ask(f, &f->c, now);
	assert_int_equal(f->b.called_back, 0);
	ptsp_run(&f->dev, now + slice - MS);
	assert_int_equal(f->b.called_back, 0);
}

/* Else who is below waited for its turn without anybody knowing. */
static void test_after_a_slice_the_lighter_waits_as_others_do(void **state)
{
	struct fixture *f = *state;
	u64 now = begin_above(f), slice = ptsp_slice(&f->dev);

	assert_true(ptsp_run(&f->dev, now + 1) == now + slice);
	ptsp_run(&f->dev, now + slice - 1);
	assert_int_equal(f->b.called_back, 0);
	ptsp_run(&f->dev, now + slice);
	assert_int_equal(f->a.called_back, 0);
	assert_int_equal(f->b.called_back, 1);
	assert_true(f->b.e.signals & PTSP_SIG_PREEMPT);
	assert_false(f->a.e.signals & PTSP_SIG_ABOVE);
}

static void test_who_does_not_tolerate_has_it_taken_off(void **state)
{
	struct fixture *f = *state;

	ptsp_tolerate(&f->dev, &f->a.e, false, 0);
	begin_above(f);
	assert_int_equal(f->b.called_back, 1);
	assert_true(f->b.e.signals & PTSP_SIG_PREEMPT);
	assert_false(f->a.e.signals & PTSP_SIG_ABOVE);
}

static void test_it_may_change_its_mind(void **state)
{
	struct fixture *f = *state;
	u64 now = begin_above(f);

	ptsp_tolerate(&f->dev, &f->a.e, false, now);
	ptsp_run(&f->dev, now);
	assert_int_equal(f->a.called_back, 0);
	assert_int_equal(f->b.called_back, 1);
	assert_true(f->b.e.signals & PTSP_SIG_PREEMPT);
	assert_false(f->a.e.signals & PTSP_SIG_ABOVE);
}

static void test_who_cannot_be_interrupted_is_called_back(void **state)
{
	struct fixture *f = *state;

	ptsp_set_preemptible(&f->dev, &f->b.e, false, 0);
	ask(f, &f->b, 100 * MS);
	ask(f, &f->a, 100 * MS);
	assert_int_equal(f->a.e.state, PTSP_WAITING);
	assert_int_equal(f->b.called_back, 1);
}

static void test_equals_are_not_below_each_other(void **state)
{
	struct fixture *f = *state;

	ptsp_tolerate(&f->dev, &f->c.e, true, 0);
	ask(f, &f->b, 100 * MS);
	ask(f, &f->c, 100 * MS);
	assert_int_equal(f->dev.nr_holders, 1);
}

/* There is one above at most: for a third, all are called back. */
static void test_a_third_above_both_calls_them_back(void **state)
{
	struct fixture *f = *state;
	u64 now = 100 * MS;

	f->a.nice = 0;
	f->c.nice = -20;
	ptsp_tolerate(&f->dev, &f->c.e, true, 0);
	ask(f, &f->b, now);
	ask(f, &f->a, now);
	assert_true(f->a.e.signals & PTSP_SIG_ABOVE);
	ask(f, &f->c, now);
	assert_int_equal(f->c.e.state, PTSP_HOLDING);
	assert_true(f->a.e.signals & f->b.e.signals & PTSP_SIG_PREEMPT);
	assert_false((f->a.e.signals | f->b.e.signals) & (PTSP_SIG_ABOVE | PTSP_SIG_BELOW));
}

static void test_a_renice_above_it_parts_them(void **state)
{
	struct fixture *f = *state;
	u64 now = begin_above(f);

	f->b.nice = -20;
	ask(f, &f->c, now);
	assert_int_equal(f->a.called_back, 0);
	assert_int_equal(f->b.called_back, 1);
}

static void test_a_waiter_does_not_join_who_is_below(void **state)
{
	struct fixture *f = *state;
	u64 now = begin_above(f);

	ask(f, &f->c, now);
	assert_int_equal(f->c.e.state, PTSP_WAITING);
	give(f, &f->b, 0, now += MS);
	assert_int_equal(f->c.e.state, PTSP_WAITING);
	give(f, &f->a, 0, now += MS);
	assert_int_equal(f->c.e.state, PTSP_HOLDING);
}

static void test_where_all_hold_nobody_is_below(void **state)
{
	struct fixture *f = *state;
	struct ptsp_params params = f->dev.params;
	u64 now = begin_above(f);

	params.kind = PTSP_NONE;
	ptsp_set_params(&f->dev, &params, now);
	ptsp_run(&f->dev, now);
	assert_int_equal(f->a.e.state, PTSP_HOLDING);
	assert_int_equal(f->b.e.state, PTSP_HOLDING);
	assert_false((f->a.e.signals | f->b.e.signals) & (PTSP_SIG_ABOVE | PTSP_SIG_BELOW));
}

/* What a try is told is what it would get. */
static void test_it_is_known_before_it_asks(void **state)
{
	struct fixture *f = *state;

	ask(f, &f->b, 100 * MS);
	assert_true(ptsp_would_grant(&f->dev, &f->a.e, 100 * MS));
	ask(f, &f->a, 100 * MS);
	assert_int_equal(f->a.e.state, PTSP_HOLDING);
	assert_int_equal(f->b.called_back, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_the_lighter_stays, setup_tolerant),
		cmocka_unit_test_setup(test_the_heavier_pays_for_its_turn, setup_tolerant),
		cmocka_unit_test_setup(test_after_a_slice_the_lighter_waits_as_others_do,
				       setup_tolerant),
		cmocka_unit_test_setup(test_who_does_not_tolerate_has_it_taken_off, setup_tolerant),
		cmocka_unit_test_setup(test_it_may_change_its_mind, setup_tolerant),
		cmocka_unit_test_setup(test_who_cannot_be_interrupted_is_called_back,
				       setup_tolerant),
		cmocka_unit_test_setup(test_equals_are_not_below_each_other, setup_tolerant),
		cmocka_unit_test_setup(test_a_third_above_both_calls_them_back, setup_tolerant),
		cmocka_unit_test_setup(test_a_renice_above_it_parts_them, setup_tolerant),
		cmocka_unit_test_setup(test_a_waiter_does_not_join_who_is_below, setup_tolerant),
		cmocka_unit_test_setup(test_where_all_hold_nobody_is_below, setup_tolerant),
		cmocka_unit_test_setup(test_it_is_known_before_it_asks, setup_tolerant),
	};

	return run_cases("policy: above others", tests);
}
