// SPDX-License-Identifier: MIT
/* What the policy promises to programs, simulated in virtual time. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/policy/cases.h"
#include "tests/unit/policy/sim.h"

/* The stand-in for PTSched's Table 3: an important program and hogs of 19 ms. */
static double inversion(enum ptsp_kind kind, bool many, bool sharing, unsigned int hogs)
{
	struct ptsp_params params = ptsp_default_params();
	struct sim_program programs[5] = {
		{ .nice = -20, .kernel_ns = 1 * MS, .think_ns = 1 * MS, .start_ns = 5 * MS },
	};
	struct sim sim;

	params.kind = kind;
	params.many = many;
	params.idle_sharing = sharing;
	for (unsigned int i = 1; i <= hogs; i++)
		programs[i] = (struct sim_program){ .nice = 19, .kernel_ns = 19 * MS };
	sim_init(&sim, &params, programs, hogs + 1);
	sim_run(&sim, 30 * SECOND);
	return (double)programs[0].kernels / (30 * 500);
}

static void test_inversion_ends(void **state)
{
	(void)state;
	for (unsigned int hogs = 1; hogs <= 2; hogs++) {
		double none = inversion(PTSP_NONE, true, false, hogs);
		double literal = inversion(PTSP_LITERAL, true, false, hogs);
		double weighted = inversion(PTSP_WEIGHTED, false, false, hogs);

		printf("# %u hogs: none %.3f literal %.3f weighted %.3f, sharing idle time %.3f\n",
		       hogs, none, literal, weighted,
		       inversion(PTSP_WEIGHTED, false, true, hogs));
		assert_true(weighted >= 0.95);
		assert_true(none < weighted && literal < weighted);
		if (hogs == 2) {
			assert_true(none <= 0.2);
			assert_true(literal <= 0.2);
		}
	}
}

/* Two programs that always have work: GPU time in the ratio of the weights. */
static void share(int nice, u64 kernel_a, u64 kernel_b, bool sharing)
{
	struct ptsp_params params = ptsp_default_params();
	struct sim_program programs[2] = {
		{ .nice = 0, .kernel_ns = kernel_a },
		{ .nice = nice, .kernel_ns = kernel_b },
	};
	double wanted = 1024.0 / ptsp_nice_to_weight(nice), got, idle;
	struct sim sim;

	params.idle_sharing = sharing;
	sim_init(&sim, &params, programs, 2);
	sim_run(&sim, 60 * SECOND);
	got = (double)programs[0].gpu_ns / (double)programs[1].gpu_ns;
	idle = 1 - (double)sim.busy_ns / (60.0 * SECOND);
	printf("# nice 0 : %d, kernels %.2f : %.2f ms: %.3f of the weights, idle %.4f\n", nice,
	       (double)kernel_a / MS, (double)kernel_b / MS, got / wanted, idle);
	assert_true(fabs(got / wanted - 1) < 0.03);
	if (sharing)
		assert_true(idle < 0.02);
}

static void test_shares_follow_weights(void **state)
{
	static const int nices[] = { 0, 1, 2, 5, 10 };

	(void)state;
	for (unsigned int i = 0; i < 5; i++) {
		share(nices[i], 1 * MS, 1 * MS, false);
		share(nices[i], 1 * MS, 1 * MS, true);
		share(nices[i], 19 * MS, 1 * MS, true);
		share(nices[i], 1 * MS, 19 * MS, true);
		share(nices[i], 60000, 5 * MS, true);
	}
}

/* Of each ten seconds, the lighter one's part over that of its weight, where it is furthest off. */
static double worst_window(int nice, u64 kernel_ns)
{
	struct ptsp_params params = ptsp_default_params();
	struct sim_program programs[2] = {
		{ .nice = 0, .kernel_ns = kernel_ns },
		{ .nice = nice, .kernel_ns = kernel_ns },
	};
	struct sim_program *lighter = &programs[nice > 0];
	double sum = 1024.0 + ptsp_nice_to_weight(nice), right, worst = 0;
	struct sim sim;

	right = ptsp_nice_to_weight(lighter->nice) / sum * 10 * SECOND;
	sim_init(&sim, &params, programs, 2);
	sim_run(&sim, 2 * SECOND);
	for (u64 end = 12 * SECOND; end <= 62 * SECOND; end += 10 * SECOND) {
		u64 before = lighter->gpu_ns;
		double off;

		sim_run(&sim, end);
		off = fabs((double)(lighter->gpu_ns - before) / right - 1);
		worst = off > worst ? off : worst;
	}
	/* Nor does it wait for long. */
	assert_true(lighter->longest_wait_ns < SECOND / 2);
	return worst;
}

static void test_shares_of_ten_seconds(void **state)
{
	double worst = 0, off;

	(void)state;
	for (int nice = -20; nice < 20; nice++) {
		off = worst_window(nice, MS / 10);
		worst = off > worst ? off : worst;
		printf("# nice 0 : %d, windows of 10 s: the lighter's part is off by %.4f of it\n", nice, off);
	}
	assert_true(worst < 0.02);
}

/*
 * Nobody waits for ever, and no share is off by more than the submissions by
 * which the others may be ahead: each overdraws by one at most.
 */
static void test_many_programs(void **state)
{
	enum { NR = 200 };
	struct ptsp_params params = ptsp_default_params();
	struct sim_program *programs = calloc(NR, sizeof(*programs));
	double weight = 0, worst = 0, bound = 0;
	struct sim sim;

	(void)state;
	assert_non_null(programs);
	for (unsigned int i = 0; i < NR; i++) {
		programs[i].nice = (int)(i % 11) - 5;
		programs[i].kernel_ns = MS / 2 + i % 7 * MS;
		weight += ptsp_nice_to_weight(programs[i].nice);
		bound += (double)programs[i].kernel_ns;
	}
	params.slice_ns = 1 * MS;
	sim_init(&sim, &params, programs, NR);
	sim_run(&sim, 300 * SECOND);
	for (unsigned int i = 0; i < NR; i++) {
		double due = 300.0 * SECOND * programs[i].entity.weight / weight;
		double off = fabs((double)programs[i].gpu_ns - due);

		assert_true(programs[i].kernels > 0);
		worst = off > worst ? off : worst;
	}
	printf("# %d programs, 300 s: a share is off by %.1f ms at most, bound %.1f ms\n", NR,
	       worst / MS, bound / MS);
	assert_true(worst < bound);
	free(programs);
}

/* A program that thinks longer than the grace time keeps its weight meanwhile. */
static void test_thinker_keeps_weight(void **state)
{
	struct ptsp_params params = ptsp_default_params();
	struct sim_program programs[2] = {
		{ .nice = -20, .kernel_ns = 2 * MS, .think_ns = 20 * MS },
		{ .nice = 19, .kernel_ns = 1 * MS },
	};
	struct sim sim;

	(void)state;
	params.idle_sharing = false;
	sim_init(&sim, &params, programs, 2);
	sim_run(&sim, 20 * SECOND);
	assert_true(programs[0].kernels >= 20 * 1000 / 22 * 95 / 100);
	/* The paper's rule: its unused time stays unused. */
	assert_true(programs[1].gpu_ns < SECOND);
}

/* With idle sharing the same gaps are used, by weight among those who take them. */
static void test_gaps_are_given_away(void **state)
{
	struct ptsp_params params = ptsp_default_params();
	struct sim_program programs[3] = {
		{ .nice = -20, .kernel_ns = 2 * MS, .think_ns = 20 * MS },
		{ .nice = 10, .kernel_ns = MS / 4 },
		{ .nice = 15, .kernel_ns = MS / 4 },
	};
	struct sim sim;

	(void)state;
	params.slice_ns = 2 * MS;
	sim_init(&sim, &params, programs, 3);
	sim_run(&sim, 60 * SECOND);
	printf("# gaps: nice 10 %.2f s, nice 15 %.2f s\n", (double)programs[1].gpu_ns / SECOND,
	       (double)programs[2].gpu_ns / SECOND);
	assert_true(sim.busy_ns > 50 * SECOND);
	assert_true(fabs((double)programs[1].gpu_ns / (double)programs[2].gpu_ns / (110.0 / 36) -
			 1) < 0.1);
}

/*
 * Who comes after a minute, with a debt that its user has left, has not been given anything
 * yet, and gets no more than others from then on.
 */
static void test_a_newcomer_is_given_its_part(void **state)
{
	struct ptsp_params params = ptsp_default_params();
	struct sim_program programs[3] = {
		{ .nice = -20, .kernel_ns = 2 * MS, .think_ns = 20 * MS },
		{ .nice = 19, .kernel_ns = MS / 4 },
		{ .nice = 19, .kernel_ns = MS / 4, .start_ns = 60 * SECOND,
		  .user = { .debt_ns = 60 * MS, .weight = 15 } },
	};
	struct sim sim;
	u64 before;

	(void)state;
	sim_init(&sim, &params, programs, 3);
	sim_run(&sim, 60 * SECOND);
	before = programs[1].gpu_ns;
	assert_true(before > 30 * SECOND);
	sim_run(&sim, 90 * SECOND);
	printf("# given: the one before %.2f s, the newcomer %.2f s\n",
	       (double)(programs[1].gpu_ns - before) / SECOND, (double)programs[2].gpu_ns / SECOND);
	assert_true(fabs((double)(programs[1].gpu_ns - before) / (double)programs[2].gpu_ns - 1) < 0.1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inversion_ends),
		cmocka_unit_test(test_shares_follow_weights),
		cmocka_unit_test(test_shares_of_ten_seconds),
		cmocka_unit_test(test_many_programs),
		cmocka_unit_test(test_thinker_keeps_weight),
		cmocka_unit_test(test_gaps_are_given_away),
		cmocka_unit_test(test_a_newcomer_is_given_its_part),
	};

	return run_cases("policy scenarios", tests);
}
