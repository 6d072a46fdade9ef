// SPDX-License-Identifier: MIT
/* A client's life, and what its process and others are told of it (client.h, announce.h). */
#include "kmod/contract/announce.h"
#include "kmod/contract/client.h"
#include "tests/unit/policy/cases.h"

enum { THREAD = 100, OTHER_THREAD = 101 };

/* Two clients of one process, one of another. */
struct fixture {
	struct ptsc_entity self, other;
	struct ptsc_client a, b, c;
	struct ptsp_entity e;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f)
		return -1;
	ptsc_attach(&f->a, &f->self, PTSCHED_MECHANISM_GATE);
	ptsc_attach(&f->b, &f->self, PTSCHED_MECHANISM_PREEMPT);
	ptsc_attach(&f->c, &f->other, PTSCHED_MECHANISM_SLICE);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static void test_a_process_is_what_its_clients_are(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(2, f->self.nr_owned);
	assert_int_equal(2, f->self.nr_members);
	assert_int_equal(PTSCHED_MECHANISM_PREEMPT, f->self.mechanism);
	assert_false(ptsc_is_unused(&f->self));
	assert_false(ptsc_is_last(&f->self, &f->self));
	ptsc_detach(&f->a, &f->self, &f->self);
	assert_true(ptsc_is_last(&f->self, &f->self));
	ptsc_detach(&f->b, &f->self, &f->self);
	assert_true(ptsc_is_unused(&f->self));
}

static void test_all_members_must_be_preemptible(void **state)
{
	struct fixture *f = *state;

	assert_false(ptsc_is_preemptible(&f->self));
	assert_true(ptsc_is_preemptible(&f->other));
	ptsc_set_mechanism(&f->a, &f->self, &f->self, PTSCHED_MECHANISM_SLICE);
	assert_true(ptsc_is_preemptible(&f->self));
	assert_int_equal(PTSCHED_MECHANISM_SLICE, f->self.mechanism);
	ptsc_move(&f->c, &f->other, &f->self);
	assert_true(ptsc_is_preemptible(&f->self));
	/* Nobody is left to be taken off. */
	assert_false(ptsc_is_preemptible(&f->other));
	ptsc_set_mechanism(&f->c, &f->other, &f->self, PTSCHED_MECHANISM_ACCOUNT);
	assert_false(ptsc_is_preemptible(&f->self));
	assert_int_equal(PTSCHED_MECHANISM_ACCOUNT, f->other.mechanism);
}

static void test_there_are_so_many_clients(void **state)
{
	struct fixture *f = *state;
	struct ptsc_client more[PTSCHED_CLIENTS_MAX] = {0};

	for (int i = 2; i < PTSCHED_CLIENTS_MAX; i++) {
		assert_int_equal(0, ptsc_allow_attach(&f->self));
		ptsc_attach(&more[i], &f->self, 0);
	}
	assert_int_equal(-EMFILE, ptsc_allow_attach(&f->self));
	assert_int_equal(-EMFILE, ptsc_allow_member(&f->self, &f->other, &f->other));
	/* Who is there already comes to nothing new, and each is to be able to come home. */
	assert_int_equal(0, ptsc_allow_member(&f->self, &f->other, &f->self));
	assert_int_equal(0, ptsc_allow_member(&f->self, &f->self, &f->other));
	/* Those that act for others count as its own still. */
	ptsc_move(&f->a, &f->self, &f->other);
	assert_int_equal(-EMFILE, ptsc_allow_attach(&f->self));
	ptsc_detach(&f->a, &f->self, &f->other);
	assert_int_equal(0, ptsc_allow_attach(&f->self));
}

static void test_members_of_others_count(void **state)
{
	struct fixture *f = *state;
	struct ptsc_client more[PTSCHED_CLIENTS_MAX] = {0};

	for (int i = 1; i < PTSCHED_CLIENTS_MAX; i++)
		ptsc_attach(&more[i], &f->other, 0);
	ptsc_move(&f->a, &f->self, &f->other);
	assert_int_equal(PTSCHED_CLIENTS_MAX + 1, f->other.nr_members);
	ptsc_detach(&f->c, &f->other, &f->other);
	assert_int_equal(-EMFILE, ptsc_allow_attach(&f->other));
}

static void test_calls_of_who_is_closed(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(0, ptsc_allow_call(&f->a));
	assert_int_equal(0, ptsc_allow_acquire(&f->a, false));
	assert_int_equal(-ENODEV, ptsc_allow_acquire(&f->a, true));
	assert_int_equal(-ENODEV, ptsc_allow_act_for(&f->a, NULL, true));
	ptsc_hold(&f->a, &f->self, THREAD);
	f->a.closed = true;
	assert_int_equal(-ECANCELED, ptsc_allow_call(&f->a));
	assert_int_equal(-ECANCELED, ptsc_allow_acquire(&f->a, true));
	assert_int_equal(-ECANCELED, ptsc_allow_act_for(&f->a, NULL, true));
	assert_int_equal(-EPERM, ptsc_allow_in_turn(&f->a));
}

static void test_a_turn_ends_with_its_last_hold(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(-EPERM, ptsc_allow_in_turn(&f->a));
	assert_true(ptsc_hold(&f->a, &f->self, THREAD));
	assert_false(ptsc_hold(&f->a, &f->self, THREAD));
	assert_int_equal(0, ptsc_allow_in_turn(&f->a));
	assert_int_equal(-EPERM, ptsc_allow_in_turn(&f->b));
	assert_true(ptsc_hold(&f->b, &f->self, OTHER_THREAD));
	assert_false(ptsc_drop(&f->a, &f->self));
	assert_int_equal(-EPERM, ptsc_allow_in_turn(&f->a));
	assert_true(ptsc_drop(&f->b, &f->self));
	assert_int_equal(0, f->self.nr_holds);
}

static void test_which_thread_holds(void **state)
{
	struct fixture *f = *state;

	assert_false(ptsc_is_held_by(&f->a, 0));
	ptsc_hold(&f->a, &f->self, THREAD);
	assert_true(ptsc_is_held_by(&f->a, THREAD));
	assert_false(ptsc_is_held_by(&f->a, OTHER_THREAD));
	/* Of several, each. */
	ptsc_hold(&f->a, &f->self, OTHER_THREAD);
	assert_true(ptsc_is_held_by(&f->a, THREAD));
	assert_true(ptsc_is_held_by(&f->a, THREAD + 7));
	ptsc_drop(&f->a, &f->self);
	assert_false(ptsc_is_held_by(&f->a, THREAD));
}

static void test_who_joins_a_turn(void **state)
{
	struct fixture *f = *state;

	assert_false(ptsc_joins(&f->a, &f->e));
	f->e.state = PTSP_WAITING;
	assert_false(ptsc_joins(&f->a, &f->e));
	f->e.state = PTSP_HOLDING;
	f->e.signals = PTSP_SIG_TURN;
	assert_true(ptsc_admits(&f->e));
	assert_true(ptsc_joins(&f->a, &f->e));
	f->e.signals |= PTSP_SIG_CALLBACK;
	assert_false(ptsc_joins(&f->a, &f->e));
	ptsc_hold(&f->a, &f->self, THREAD);
	assert_true(ptsc_joins(&f->a, &f->e));
	assert_false(ptsc_joins(&f->b, &f->e));
}

static void test_who_does_not_wait(void **state)
{
	(void)state;
	assert_int_equal(0, ptsc_gives_up(0, PTSCHED_NEVER, 7));
	assert_int_equal(0, ptsc_gives_up(PTSCHED_ACQUIRE_ABOVE, 8, 7));
	assert_int_equal(-ETIMEDOUT, ptsc_gives_up(0, 7, 7));
	assert_int_equal(-EAGAIN, ptsc_gives_up(PTSCHED_ACQUIRE_TRY, PTSCHED_NEVER, 7));
	assert_int_equal(-EAGAIN, ptsc_gives_up(PTSCHED_ACQUIRE_TRY, 0, 7));
}

static void test_who_waits_goes_along(void **state)
{
	struct fixture *f = *state;

	ptsc_wait(&f->a, &f->self);
	ptsc_wait(&f->a, &f->self);
	ptsc_wait(&f->b, &f->self);
	assert_int_equal(3, f->self.nr_waiters);
	ptsc_move(&f->a, &f->self, &f->other);
	assert_int_equal(1, f->self.nr_waiters);
	assert_int_equal(2, f->other.nr_waiters);
	ptsc_stop_waiting(&f->a, &f->other, 2);
	assert_int_equal(0, f->other.nr_waiters);
	assert_int_equal(0, f->a.nr_waiters);
}

static void test_acting_for_another(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(0, ptsc_allow_act_for(&f->a, NULL, false));
	assert_int_equal(0, ptsc_allow_act_for(&f->a, &f->c, false));
	ptsc_wait(&f->a, &f->self);
	assert_int_equal(-EBUSY, ptsc_allow_act_for(&f->a, &f->c, false));
	ptsc_stop_waiting(&f->a, &f->self, 1);
	ptsc_hold(&f->a, &f->self, THREAD);
	f->c.closed = true;
	assert_int_equal(-EBUSY, ptsc_allow_act_for(&f->a, &f->c, false));
	ptsc_drop(&f->a, &f->self);
	assert_int_equal(-ESRCH, ptsc_allow_act_for(&f->a, &f->c, false));
}

static void test_the_right_to_act(void **state)
{
	struct fixture *f = *state;

	assert_false(ptsc_is_given(NULL));
	assert_false(ptsc_is_given(&f->c));
	f->c.handed_over = true;
	assert_true(ptsc_is_given(&f->c));
	assert_int_equal(0, ptsc_allow_requester(true, 1024, 1024));
	assert_int_equal(-EPERM, ptsc_allow_requester(true, 1025, 1024));
	assert_int_equal(-EPERM, ptsc_allow_requester(false, 1, 1024));
}

static void test_the_right_ends(void **state)
{
	struct fixture *f = *state;

	assert_true(ptsc_acts_on(&f->self, NULL));
	assert_true(ptsc_acts_on(&f->other, &f->c));
	f->c.closed = true;
	assert_false(ptsc_acts_on(&f->other, &f->c));
	f->other.dead = true;
	assert_false(ptsc_acts_on(&f->other, NULL));
}

static void test_who_acts_for_it_keeps_a_process(void **state)
{
	struct fixture *f = *state;

	ptsc_move(&f->a, &f->self, &f->other);
	assert_false(ptsc_is_last(&f->other, &f->other));
	ptsc_detach(&f->c, &f->other, &f->other);
	assert_int_equal(0, f->other.nr_owned);
	assert_false(ptsc_is_unused(&f->other));
	/* One that acts for another is its process's last all the same. */
	ptsc_detach(&f->b, &f->self, &f->self);
	assert_true(ptsc_is_last(&f->self, &f->other));
	ptsc_detach(&f->a, &f->self, &f->other);
	assert_true(ptsc_is_unused(&f->self));
	assert_true(ptsc_is_unused(&f->other));
}

static void test_who_tells_when_it_has_drained(void **state)
{
	struct fixture *f = *state;

	assert_false(ptsc_drains(&f->a, &f->self, 5));
	ptsc_hold(&f->a, &f->self, THREAD);
	assert_true(ptsc_drains(&f->a, &f->self, 5));
	assert_false(ptsc_drains(&f->a, &f->self, 0));
	ptsc_hold(&f->b, &f->self, THREAD);
	assert_false(ptsc_drains(&f->a, &f->self, 5));
}

static void test_what_acquire_answers(void **state)
{
	struct fixture *f = *state;
	struct ptsched_acquire arg = {.deadline_ns = 3};

	f->e.turn = 12;
	f->e.granted_ns = 1000;
	ptsc_describe_turn(&arg, &f->e, -4, 600);
	assert_int_equal(12, arg.turn);
	assert_int_equal(-4, arg.budget_ns);
	assert_int_equal(400, arg.waited_ns);
	assert_int_equal(3, arg.deadline_ns);
	/* It joined a turn that had begun. */
	ptsc_describe_turn(&arg, &f->e, -4, 1600);
	assert_int_equal(0, arg.waited_ns);
}

static void test_what_the_page_shows(void **state)
{
	struct fixture *f = *state;

	f->e.signals = PTSP_SIG_TURN | PTSP_SIG_WANTED;
	/* The entity has the turn, this client has not taken it. */
	assert_int_equal(PTSCHED_STATE_WANTED, ptsc_state(&f->a, &f->e, false));
	ptsc_hold(&f->a, &f->self, THREAD);
	assert_int_equal(PTSCHED_STATE_WANTED | PTSCHED_STATE_TURN, ptsc_state(&f->a, &f->e, false));
	assert_int_equal(PTSCHED_STATE_TURN | PTSCHED_STATE_DEAD, ptsc_state(&f->a, NULL, true));
}

static void test_a_holder_is_told_now_and_then(void **state)
{
	struct fixture *f = *state;
	u64 now = 1000;

	f->e.state = PTSP_HOLDING;
	f->e.turn = 1;
	for (int i = 0; i < PTSCHED_EVENTS_AT_ONCE; i++)
		assert_int_equal(PTSC_WITH_LATE, ptsc_announce(&f->self, &f->e, PTSP_SIG_WANTED, now));
	assert_int_equal(PTSC_LATER, ptsc_announce(&f->self, &f->e, PTSP_SIG_WANTED, now + 1));
	/* What must be obeyed, and what is no event, is none of these. */
	assert_int_equal(PTSC_AT_ONCE, ptsc_announce(&f->self, &f->e, PTSP_SIG_CALLBACK, now + 1));
	assert_int_equal(PTSC_AT_ONCE, ptsc_announce(&f->self, &f->e, PTSP_SIG_TURN, now + 1));
	now += PTSCHED_EVENTS_PAUSE_NS;
	assert_int_equal(PTSC_LATER, ptsc_announce(&f->self, &f->e, PTSP_SIG_WANTED, now - 1));
	assert_int_equal(PTSC_WITH_LATE, ptsc_announce(&f->self, &f->e, PTSP_SIG_WANTED, now));
	assert_int_equal(PTSC_LATER, ptsc_announce(&f->self, &f->e, PTSP_SIG_WANTED, now));
	f->e.turn = 2;
	assert_int_equal(PTSC_WITH_LATE, ptsc_announce(&f->self, &f->e, PTSP_SIG_WANTED, now));
	f->e.state = PTSP_IDLE;
	assert_int_equal(PTSC_AT_ONCE, ptsc_announce(&f->self, &f->e, PTSP_SIG_PREADMITTED | PTSP_SIG_WANTED, now));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_a_process_is_what_its_clients_are),
		CASE(test_all_members_must_be_preemptible),
		CASE(test_there_are_so_many_clients),
		CASE(test_members_of_others_count),
		CASE(test_calls_of_who_is_closed),
		CASE(test_a_turn_ends_with_its_last_hold),
		CASE(test_which_thread_holds),
		CASE(test_who_joins_a_turn),
		CASE(test_who_does_not_wait),
		CASE(test_who_waits_goes_along),
		CASE(test_acting_for_another),
		CASE(test_the_right_to_act),
		CASE(test_the_right_ends),
		CASE(test_who_acts_for_it_keeps_a_process),
		CASE(test_who_tells_when_it_has_drained),
		CASE(test_what_acquire_answers),
		CASE(test_what_the_page_shows),
		CASE(test_a_holder_is_told_now_and_then),
	};

	return run_cases("contract: clients", tests);
}
