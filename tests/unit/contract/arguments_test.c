// SPDX-License-Identifier: MIT
/* What is refused of a call before anything is done (arguments.h, calls.h). */
#include "kmod/contract/arguments.h"
#include "tests/unit/policy/cases.h"

#include <string.h>

struct row {
	const char *name;
	u32 code;
	u32 first, size;
	enum ptsc_caller caller;
};

static const struct row rows[] = {
#define PTSC_CALL(NAME, name, first, size, caller, is_valid) \
	{#NAME, PTSCHED_IOC_##NAME, first, size, caller},
#include "kmod/contract/calls.h"
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

static void test_each_call_is_found_by_its_own_number_only(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS; i++)
		for (size_t j = 0; j < ROWS; j++)
			assert_int_equal(i == j, ptsc_is_call(rows[i].code, rows[j].code));
}

static void test_the_size_in_a_number_may_be_another(void **state)
{
	const u32 known = PTSCHED_IOC_QUERY, nr = _IOC_NR(known);

	(void)state;
	assert_true(ptsc_is_call(_IOC(_IOC_READ | _IOC_WRITE, PTSCHED_IOC_MAGIC, nr, 8), known));
	assert_false(ptsc_is_call(_IOC(_IOC_WRITE, PTSCHED_IOC_MAGIC, nr, 8), known));
	assert_false(ptsc_is_call(_IOC(_IOC_READ | _IOC_WRITE, 'x', nr, 8), known));
	assert_false(ptsc_is_call(known + 1, known));
}

static void test_structures_only_grow(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		assert_int_equal(rows[i].size, _IOC_SIZE(rows[i].code));
		assert_true(rows[i].first <= rows[i].size && rows[i].first % 8 == 0);
		assert_int_equal(-EINVAL, ptsc_check_size(0, rows[i].first));
		assert_int_equal(-EINVAL, ptsc_check_size(rows[i].first - 1, rows[i].first));
		assert_int_equal(0, ptsc_check_size(rows[i].first, rows[i].first));
		assert_int_equal(0, ptsc_check_size(rows[i].size + 8, rows[i].first));
	}
	assert_int_equal(offsetof(struct ptsched_attach, node), rows[_IOC_NR(PTSCHED_IOC_ATTACH)].first);
}

static void test_who_may_call(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS; i++) {
		const enum ptsc_caller allowed = rows[i].caller;
		const bool any = rows[i].code == PTSCHED_IOC_QUERY || rows[i].code == PTSCHED_IOC_ATTACH;

		assert_int_equal(any ? 0 : -ENOTCONN, ptsc_check_caller(allowed, false, false));
		assert_int_equal(any ? 0 : -ENOTCONN, ptsc_check_caller(allowed, false, true));
		assert_int_equal(any ? 0 : -EPERM, ptsc_check_caller(allowed, true, false));
		assert_int_equal(0, ptsc_check_caller(allowed, true, true));
	}
	assert_int_equal(-EBUSY, ptsc_check_attach_again(true));
	assert_int_equal(-EPERM, ptsc_check_attach_again(false));
}

static void test_names_end_and_are_padded_with_zeros(void **state)
{
	char name[PTSCHED_NAME_LEN] = "";

	(void)state;
	assert_true(ptsc_is_name(name));
	strcpy(name, "ranks");
	assert_true(ptsc_is_name(name));
	name[PTSCHED_NAME_LEN - 1] = 'x';
	assert_false(ptsc_is_name(name));
	name[PTSCHED_NAME_LEN - 1] = 0;
	name[6] = 'x';
	assert_false(ptsc_is_name(name));
	memset(name, 'x', sizeof(name));
	assert_false(ptsc_is_name(name));
	name[PTSCHED_NAME_LEN - 1] = 0;
	assert_true(ptsc_is_name(name));
}

static void test_unknown_flags(void **state)
{
	(void)state;
	for (int bit = 0; bit < 32; bit++) {
		const u32 flags = 1U << bit;
		struct ptsched_query query = {.flags = flags};
		struct ptsched_acquire acquire = {.flags = flags};
		struct ptsched_hand_over hand_over = {.flags = flags};
		struct ptsched_group group = {.flags = flags};
		struct ptsched_attach attach = {.flags = flags, .device = "ffff:01:00.0"};

		assert_int_equal(-EINVAL, ptsc_check_query(&query));
		assert_int_equal(bit < 2 ? 0 : -EINVAL, ptsc_check_acquire(&acquire));
		assert_int_equal(-EINVAL, ptsc_check_hand_over(&hand_over));
		assert_int_equal(-EINVAL, ptsc_check_group(&group));
		assert_int_equal(bit < 1 ? 0 : -EINVAL, ptsc_check_attach(&attach));
	}
}

static void test_what_attach_takes(void **state)
{
	struct ptsched_attach attach = {.device = "ffff:01:00.0", .node = 3};

	(void)state;
	assert_int_equal(-EINVAL, ptsc_check_attach(&attach));
	attach.flags = PTSCHED_ATTACH_NODE;
	assert_int_equal(0, ptsc_check_attach(&attach));
	attach.pad = 1;
	assert_int_equal(-EINVAL, ptsc_check_attach(&attach));
	attach.pad = 0;
	attach.mechanism = PTSCHED_MECHANISM_PREEMPT;
	assert_int_equal(0, ptsc_check_attach(&attach));
	attach.mechanism++;
	assert_int_equal(-EINVAL, ptsc_check_attach(&attach));
	attach.mechanism = 0;
	attach.device[PTSCHED_NAME_LEN - 1] = '0';
	assert_int_equal(-EINVAL, ptsc_check_attach(&attach));
}

static void test_what_others_take(void **state)
{
	struct ptsched_act_for act_for = {.kind = PTSCHED_ACT_FOR_CLIENT, .fd = -7};
	struct ptsched_mechanism mechanism = {.mechanism = PTSCHED_MECHANISM_PREEMPT};
	struct ptsched_group group = {.name = ""};
	struct ptsched_release release = {.gpu_ns = PTSCHED_NEVER, .handover_ns = PTSCHED_NEVER};

	(void)state;
	/* What a descriptor is, is seen when it is looked up. */
	assert_int_equal(0, ptsc_check_act_for(&act_for));
	act_for.pad = 1;
	assert_int_equal(-EINVAL, ptsc_check_act_for(&act_for));
	act_for.pad = 0;
	act_for.kind++;
	assert_int_equal(-EINVAL, ptsc_check_act_for(&act_for));
	assert_int_equal(0, ptsc_check_mechanism(&mechanism));
	mechanism.mechanism++;
	assert_int_equal(-EINVAL, ptsc_check_mechanism(&mechanism));
	assert_int_equal(0, ptsc_check_group(&group));
	group.name[1] = 'x';
	assert_int_equal(-EINVAL, ptsc_check_group(&group));
	assert_int_equal(0, ptsc_check_release(&release));
}

static void test_what_a_query_tells(void **state)
{
	struct ptsched_query query = {.size = 77};

	(void)state;
	ptsc_answer_query(&query, 5, 4096);
	assert_int_equal(77, query.size);
	assert_int_equal(PTSCHED_VERSION_MAJOR, query.version_major);
	assert_int_equal(PTSCHED_VERSION_MINOR, query.version_minor);
	assert_true(query.features & PTSCHED_FEATURE_GROUP);
	assert_int_equal(5, query.nr_devices);
	assert_int_equal(4096, query.page_size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_call_is_found_by_its_own_number_only),
		cmocka_unit_test(test_the_size_in_a_number_may_be_another),
		cmocka_unit_test(test_structures_only_grow),
		cmocka_unit_test(test_who_may_call),
		cmocka_unit_test(test_names_end_and_are_padded_with_zeros),
		cmocka_unit_test(test_unknown_flags),
		cmocka_unit_test(test_what_attach_takes),
		cmocka_unit_test(test_what_others_take),
		cmocka_unit_test(test_what_a_query_tells),
	};

	return run_cases("contract: arguments", tests);
}
