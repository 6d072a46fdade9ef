// SPDX-License-Identifier: MIT
/* What groups get: by their weights, however many programs are in them. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/policy/cases.h"
#include "tests/unit/policy/sim.h"

#define PROGRAMS	104
#define GROUPS		5
#define WITHIN		0.01

struct world {
	struct sim sim;
	struct sim_program programs[PROGRAMS];
	struct ptsp_group groups[GROUPS];
	unsigned int nr;
};

static struct world world;

static void begin(bool idle_sharing)
{
	struct ptsp_params params = ptsp_default_params();

	world = (struct world){ 0 };
	params.idle_sharing = idle_sharing;
	sim_init(&world.sim, &params, world.programs, 0);
}

static struct ptsp_group *make_group(unsigned int which, struct ptsp_group *parent, u32 weight)
{
	struct ptsp_group *group = &world.groups[which];

	assert_true(ptsp_group_init(&world.sim.dev, group, parent, weight, world.sim.now));
	return group;
}

/* Programs that always have work, in @group or in none; the first of them. */
static struct sim_program *add_hogs(struct ptsp_group *group, unsigned int nr, int nice)
{
	struct sim_program *first = &world.programs[world.nr];

	for (unsigned int i = 0; i < nr; i++)
		world.programs[world.nr++] = (struct sim_program){
			.user.group = group,
			.nice = nice,
			.kernel_ns = 2 * MS,
			.start_ns = world.sim.now,
			.until_ns = world.sim.now,
		};
	world.sim.nr = world.nr;
	return first;
}

/* What each has had of @seconds more. */
static void run(unsigned int seconds)
{
	for (unsigned int i = 0; i < world.nr; i++)
		world.programs[i].gpu_ns = 0;
	sim_run(&world.sim, world.sim.now + seconds * SECOND);
}

/* The part of the last run's work that programs of @group, or of those in it, have had. */
static double part_of(const struct ptsp_group *group)
{
	u64 all = 0, its = 0;

	for (unsigned int i = 0; i < world.nr; i++) {
		const struct ptsp_group *g = world.programs[i].entity.user->group;

		all += world.programs[i].gpu_ns;
		while (g && g != group)
			g = g->parent;
		its += g == group ? world.programs[i].gpu_ns : 0;
	}
	return (double)its / (double)all;
}

static double part_of_one(const struct sim_program *p)
{
	u64 all = 0;

	for (unsigned int i = 0; i < world.nr; i++)
		all += world.programs[i].gpu_ns;
	return (double)p->gpu_ns / (double)all;
}

static void expect(const char *what, double part, double wanted)
{
	printf("# %s: %.4f, %.4f by weight\n", what, part, wanted);
	assert_true(fabs(part - wanted) <= WITHIN);
}

static void test_many_get_no_more_than_one(void **state)
{
	struct ptsp_group *many, *one;

	(void)state;
	begin(true);
	many = make_group(0, NULL, PTSP_GROUP_WEIGHT);
	one = make_group(1, NULL, PTSP_GROUP_WEIGHT);
	add_hogs(many, 100, 0);
	add_hogs(one, 1, 0);
	run(300);
	expect("100 beside one of another group", part_of(many), 0.5);
	/* Nor the more for their nice. */
	begin(true);
	many = make_group(0, NULL, PTSP_GROUP_WEIGHT);
	one = make_group(1, NULL, PTSP_GROUP_WEIGHT);
	add_hogs(many, 20, -10);
	add_hogs(one, 1, 10);
	run(300);
	expect("20 of nice -10 beside one of nice 10", part_of(many), 0.5);
}

static void test_weights_of_groups(void **state)
{
	struct ptsp_group *heavy, *light;

	(void)state;
	begin(true);
	heavy = make_group(0, NULL, 3 * PTSP_GROUP_WEIGHT);
	light = make_group(1, NULL, PTSP_GROUP_WEIGHT);
	add_hogs(heavy, 2, 0);
	add_hogs(light, 7, 0);
	run(120);
	expect("three to one", part_of(heavy), 0.75);
	ptsp_group_set_weight(&world.sim.dev, light, 3 * PTSP_GROUP_WEIGHT, world.sim.now);
	run(10);
	run(120);
	expect("three to three", part_of(heavy), 0.5);
}

static void test_groups_in_groups(void **state)
{
	struct ptsp_group *outer, *few, *some, *other;
	struct sim_program *first;

	(void)state;
	begin(true);
	outer = make_group(0, NULL, 2 * PTSP_GROUP_WEIGHT);
	few = make_group(1, outer, PTSP_GROUP_WEIGHT);
	some = make_group(2, outer, 3 * PTSP_GROUP_WEIGHT);
	other = make_group(3, NULL, PTSP_GROUP_WEIGHT);
	add_hogs(few, 1, 0);
	first = add_hogs(some, 2, 0);
	add_hogs(some, 1, 5);
	add_hogs(other, 3, 0);
	/* And beside groups, one of none. */
	add_hogs(NULL, 1, 0);
	run(300);
	expect("a group of groups", part_of(outer), 0.5);
	expect("one in it", part_of(few), 0.125);
	expect("another in it", part_of(some), 0.375);
	expect("a program there", part_of_one(first), 0.375 * 1024 / (2 * 1024 + 335));
	expect("a group beside it", part_of(other), 0.25);
	expect("a program of no group", part_of_one(&world.programs[world.nr - 1]), 0.25);
}

/* What a group leaves, its siblings have, and not all others. */
static void test_absence_is_the_siblings_gain(void **state)
{
	struct ptsp_group *outer, *here, *away;

	(void)state;
	begin(true);
	outer = make_group(0, NULL, PTSP_GROUP_WEIGHT);
	here = make_group(1, outer, PTSP_GROUP_WEIGHT);
	away = make_group(2, outer, PTSP_GROUP_WEIGHT);
	add_hogs(here, 2, 0);
	add_hogs(away, 1, 0)->start_ns = PTSP_NEVER;
	world.programs[2].until_ns = PTSP_NEVER;
	world.programs[2].entity.user = &world.programs[2].user;
	add_hogs(NULL, 1, 0);
	run(60);
	expect("while its sibling is away", part_of(here), 0.5);
	world.programs[2].until_ns = world.sim.now;
	run(10);
	run(120);
	expect("when it has come", part_of(here), 0.25);
}

/* An important program leaves half of the device idle: groups share that, too. */
static void test_unused_time_goes_to_groups(void **state)
{
	struct ptsp_group *many, *one;
	struct sim_program *important;
	double rest;

	(void)state;
	begin(true);
	many = make_group(0, NULL, PTSP_GROUP_WEIGHT);
	one = make_group(1, NULL, PTSP_GROUP_WEIGHT);
	important = add_hogs(NULL, 1, -20);
	important->kernel_ns = 100 * MS;
	important->think_ns = 100 * MS;
	add_hogs(many, 10, 0);
	add_hogs(one, 1, 0);
	run(600);
	rest = 1 - part_of_one(important);
	printf("# %.3f are left\n", rest);
	expect("of that, ten", part_of(many) / rest, 0.5);
}

static void test_who_moves_takes_its_debt_along(void **state)
{
	struct ptsp_group *from, *to;
	struct sim_program *mover;
	struct ptsp_user user = { 0 };
	s64 budget;

	(void)state;
	begin(true);
	from = make_group(0, NULL, PTSP_GROUP_WEIGHT);
	to = make_group(1, NULL, PTSP_GROUP_WEIGHT);
	mover = add_hogs(from, 2, 0);
	add_hogs(to, 1, 0);
	run(60);
	expect("two of three", part_of(from), 0.5);
	user.group = to;
	budget = ptsp_budget(&world.sim.dev, &mover->entity, world.sim.now);
	ptsp_move(&world.sim.dev, &mover->entity, &user, world.sim.now);
	assert_true(ptsp_budget(&world.sim.dev, &mover->entity, world.sim.now) == budget);
	run(10);
	run(120);
	expect("one of three", part_of(from), 0.5);
	expect("who has moved", part_of_one(mover), 0.25);
}

static void test_too_deep(void **state)
{
	struct ptsp_group groups[PTSP_DEPTH + 1];

	(void)state;
	begin(true);
	for (unsigned int i = 0; i < PTSP_DEPTH; i++)
		assert_true(ptsp_group_init(&world.sim.dev, &groups[i], i ? &groups[i - 1] : NULL,
					    PTSP_GROUP_WEIGHT, 0));
	assert_false(ptsp_group_init(&world.sim.dev, &groups[PTSP_DEPTH], &groups[PTSP_DEPTH - 1],
				     PTSP_GROUP_WEIGHT, 0));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_get_no_more_than_one),
		cmocka_unit_test(test_weights_of_groups),
		cmocka_unit_test(test_groups_in_groups),
		cmocka_unit_test(test_absence_is_the_siblings_gain),
		cmocka_unit_test(test_unused_time_goes_to_groups),
		cmocka_unit_test(test_who_moves_takes_its_debt_along),
		cmocka_unit_test(test_too_deep),
	};

	return run_cases("weights of groups", tests);
}
