// SPDX-License-Identifier: MIT
/* How long hand-overs take, and how the next is admitted before one ends. */
#include "tests/unit/policy/cases.h"
#include "tests/unit/policy/three_tasks.h"

/*
 * @t has the turn for @held, which another waits for in vain, and says that the device stood
 * still for @claim of it.
 */
static void claim_handover(struct fixture *f, struct task *t, u64 claim, u64 held)
{
	u64 now = f->dev.now_ns;
	struct task other = { 0 };

	/* Whatever its turns have cost. */
	t->e.budget_ns = 0;
	if (!t->e.stats.turns) {
		ask(f, t, now);
		give(f, t, 0, now);
	}
	ask(f, t, now);
	assert_int_equal(t->e.signals & PTSP_SIG_TURN, PTSP_SIG_TURN);
	ptsp_join(&f->dev, &other.e, &other.user, NULL, now + held);
	ptsp_wait(&f->dev, &other.e, now + held);
	ptsp_release(&f->dev, &t->e, claim, now + held);
	ptsp_leave(&f->dev, &other.e, now + held);
	ptsp_run(&f->dev, now + held);
}

static void test_handover_lengthens_the_slice(void **state)
{
	struct fixture *f = *state;

	claim_handover(f, &f->a, MS, MS);
	assert_true(ptsp_slice(&f->dev) == 30 * MS);
	claim_handover(f, &f->a, PTSP_NEVER, 3 * MS);
	assert_true(ptsp_slice(&f->dev) <= 10 * f->dev.params.slice_ns);
}

/* It got ready in it. */
static void test_a_first_turn_is_no_claim(void **state)
{
	struct fixture *f = *state;

	ask(f, &f->a, 0);
	ask(f, &f->b, 0);
	ptsp_release(&f->dev, &f->a.e, 5 * MS, 5 * MS);
	assert_true(f->dev.handover_ns == 0);
	ptsp_run(&f->dev, 5 * MS);
	give(f, &f->b, 0, 5 * MS);
	f->a.e.budget_ns = 0;
	ask(f, &f->a, 5 * MS);
	ask(f, &f->b, 5 * MS);
	ptsp_release(&f->dev, &f->a.e, MS, 6 * MS);
	assert_true(f->dev.handover_ns == MS);
}

static void test_nobody_saves_up_longer_slices(void **state)
{
	struct fixture *f = *state;

	claim_handover(f, &f->a, PTSP_NEVER, 5 * MS);
	assert_true(ptsp_slice(&f->dev) == 150 * MS);
	ptsp_run(&f->dev, 10000 * MS);
	assert_true(ptsp_budget(&f->dev, &f->b.e, 10000 * MS) == 60 * (s64)MS);
}

/* Who is alone gives the turn back when it pleases. */
static void test_nobody_waits_for_a_handover(void **state)
{
	struct fixture *f = *state;

	ask(f, &f->a, 0);
	ptsp_release(&f->dev, &f->a.e, 5 * MS, 20 * MS);
	assert_true(f->dev.handover_ns == 0);
	/* Wanted, but the next was admitted before it went. */
	ask(f, &f->a, 20 * MS);
	ask(f, &f->b, 20 * MS);
	ptsp_run(&f->dev, 1000 * MS);
	assert_int_equal(f->a.called_back, 1);
	ptsp_drain(&f->dev, &f->a.e, 0, 1000 * MS);
	ptsp_run(&f->dev, 1000 * MS);
	assert_int_equal(f->b.granted, 1);
	ptsp_release(&f->dev, &f->a.e, MS, 1001 * MS);
	assert_true(f->dev.handover_ns == MS);
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

/* Its time slices are brief: beside the heavier one it would not get to its end. */
static void test_who_is_outweighed_drains_alone(void **state)
{
	struct fixture *f = *state;
	u64 at, drained;

	f->a.nice = 5;
	ptsp_set_preemptible(&f->dev, &f->a.e, true, 0);
	claim_handover(f, &f->a, MS, MS);
	ask(f, &f->a, MS);
	/* As if it had been called back: it waits for the end of the slice. */
	f->b.e.recalled = true;
	f->b.e.left_ns = MS;
	at = ask(f, &f->b, MS);
	assert_int_equal(f->a.called_back, 0);
	ptsp_run(&f->dev, at);
	assert_int_equal(f->a.e.signals & (PTSP_SIG_CALLBACK | PTSP_SIG_PREEMPT), PTSP_SIG_CALLBACK);
	at = f->a.e.callback_ns;
	drained = at + 5 * MS;
	ptsp_drain(&f->dev, &f->a.e, 5 * MS, at);
	ptsp_run(&f->dev, drained);
	assert_int_equal(f->b.granted, 0);
	at = ptsp_run(&f->dev, drained);
	assert_true(at > drained && at < drained + ptsp_slice(&f->dev) / 4);
	ptsp_run(&f->dev, at);
	assert_int_equal(f->b.granted, 1);
	assert_true(f->a.e.signals & PTSP_SIG_PREEMPT);
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_handover_lengthens_the_slice, setup),
		cmocka_unit_test_setup(test_a_first_turn_is_no_claim, setup),
		cmocka_unit_test_setup(test_nobody_saves_up_longer_slices, setup),
		cmocka_unit_test_setup(test_nobody_waits_for_a_handover, setup),
		cmocka_unit_test_setup(test_one_claim_does_not_set_everybodys_handover, setup),
		cmocka_unit_test_setup(test_claims_are_those_of_whom_the_turn_is_for, setup),
		cmocka_unit_test_setup(test_short_lives_leave_no_claim, setup),
		cmocka_unit_test_setup(test_a_newcomer_takes_the_place_of_the_oldest_claim, setup),
		cmocka_unit_test_setup(test_handover_took_no_longer_than_the_turn, setup),
		cmocka_unit_test_setup(test_next_is_admitted_a_handover_ahead, setup),
		cmocka_unit_test_setup(test_who_is_outweighed_drains_alone, setup),
		cmocka_unit_test_setup(test_who_drains_pays_for_the_handover, setup),
	};

	return run_cases("policy: hand-overs", tests);
}
