// SPDX-License-Identifier: GPL-2.0-only
/*
 * Module parameters. They are what a device starts with, and a change under
 * /sys/module/ptsched/parameters is a change of every device; netlink changes
 * single ones.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "core.h"

#define NSEC_PER_US 1000ULL

static const char * const policies[] = {
	[PTSP_WEIGHTED] = "weighted",
	[PTSP_LITERAL] = "literal",
	[PTSP_NONE] = "none",
};

static const char * const groupings[] = {
	[PTSP_BY_PROCESS] = "process",
	[PTSP_BY_USER] = "user",
	[PTSP_BY_CGROUP] = "cgroup",
};

/* D: the defaults until a parameter is set, which may be before the module runs */
static struct ptsp_params settings;
static bool settings_valid;
static unsigned int test_devices;

static struct ptsp_params *settings_locked(void)
{
	lockdep_assert_held(&ptsched_devices_lock);
	if (!settings_valid) {
		settings = ptsp_default_params();
		settings_valid = true;
	}
	return &settings;
}

/**
 * ptsched_settings - what a device starts with
 *
 * The caller holds ptsched_devices_lock.
 *
 * Return: settings in their ranges.
 */
struct ptsp_params ptsched_settings(void)
{
	return *settings_locked();
}

/** ptsched_test_devices - how many devices without hardware are asked for */
unsigned int ptsched_test_devices(void)
{
	return test_devices;
}

/* A number among the parameters: which it is and what it may be. */
struct number {
	enum { KIND, GROUPING, IDLE_SHARING, MANY, SLICE, GRACE, DRAIN, IN_FLIGHT, ALPHA } which;
	u64 unit;
	u64 min;
	u64 max;
};

static const struct number idle_sharing = { IDLE_SHARING, 1, 0, 1 };
static const struct number many = { MANY, 1, 0, 1 };
static const struct number slice = {
	SLICE, NSEC_PER_US, PTSCHED_SLICE_MIN_NS, PTSCHED_SLICE_MAX_NS
};

static const struct number grace = { GRACE, NSEC_PER_US, 0, PTSCHED_GRACE_MAX_NS };
static const struct number drain = {
	DRAIN, NSEC_PER_US, PTSCHED_DRAIN_MIN_NS, PTSCHED_DRAIN_MAX_NS
};

static const struct number in_flight = {
	IN_FLIGHT, NSEC_PER_US, PTSCHED_INFLIGHT_MIN_NS, PTSCHED_INFLIGHT_MAX_NS
};

static const struct number alpha = { ALPHA, 1, 1, PTSCHED_ALPHA_MAX };

static void number_store(struct ptsp_params *params, const struct number *number, u64 value)
{
	switch (number->which) {
	case KIND:
		params->kind = value;
		break;
	case GROUPING:
		params->grouping = value;
		break;
	case IDLE_SHARING:
		params->idle_sharing = value;
		break;
	case MANY:
		params->many = value;
		break;
	case SLICE:
		params->slice_ns = value;
		break;
	case GRACE:
		params->grace_ns = value;
		break;
	case DRAIN:
		params->drain_ns = value;
		break;
	case IN_FLIGHT:
		params->inflight_ns = value;
		break;
	case ALPHA:
		params->alpha = value;
		break;
	}
}

static u64 number_load(const struct ptsp_params *params, const struct number *number)
{
	switch (number->which) {
	case KIND:
		return params->kind;
	case GROUPING:
		return params->grouping;
	case IDLE_SHARING:
		return params->idle_sharing;
	case MANY:
		return params->many;
	case SLICE:
		return params->slice_ns;
	case GRACE:
		return params->grace_ns;
	case DRAIN:
		return params->drain_ns;
	case IN_FLIGHT:
		return params->inflight_ns;
	case ALPHA:
		return params->alpha;
	}
	return 0;
}

/* Changes one setting, in @settings and on every device. */
static void apply(const struct number *number, u64 value)
{
	struct ptsp_params params;
	struct ptsched_dev *dev;

	mutex_lock(&ptsched_devices_lock);
	number_store(settings_locked(), number, value);
	list_for_each_entry(dev, &ptsched_devices, link) {
		/* Written under ptsched_devices_lock only. */
		params = dev->policy.params;
		number_store(&params, number, value);
		ptsched_dev_set_params(dev, &params);
	}
	mutex_unlock(&ptsched_devices_lock);
}

static int number_set(const char *val, const struct kernel_param *kp)
{
	const struct number *number = kp->arg;
	u64 value;
	int ret;

	ret = kstrtou64(val, 0, &value);
	if (!ret && (value < number->min / number->unit || value > number->max / number->unit))
		ret = -ERANGE;
	if (ret) {
		pr_warn("%s: a number from %llu to %llu is expected\n", kp->name,
			number->min / number->unit, number->max / number->unit);
		return ret;
	}
	apply(number, value * number->unit);
	return 0;
}

static int number_get(char *buffer, const struct kernel_param *kp)
{
	const struct number *number = kp->arg;
	u64 value;

	mutex_lock(&ptsched_devices_lock);
	value = number_load(settings_locked(), number);
	mutex_unlock(&ptsched_devices_lock);
	return sysfs_emit(buffer, "%llu\n", value / number->unit);
}

static const struct kernel_param_ops number_ops = { .set = number_set, .get = number_get };

module_param_cb(idle_sharing, &number_ops, (void *)&idle_sharing, 0644);
__MODULE_PARM_TYPE(idle_sharing, "ulong");
MODULE_PARM_DESC(idle_sharing,
		 "unused time is given to processes that have used up theirs: 0 or 1 (default 1)");

module_param_cb(many, &number_ops, (void *)&many, 0644);
__MODULE_PARM_TYPE(many, "ulong");
MODULE_PARM_DESC(many, "any number of turns at once, as in the PTask paper: 0 or 1 (default 0)");

module_param_cb(slice_us, &number_ops, (void *)&slice, 0644);
__MODULE_PARM_TYPE(slice_us, "ulong");
MODULE_PARM_DESC(slice_us, "how long a turn is kept while others wait: 100 to 1000000 us");

module_param_cb(grace_us, &number_ops, (void *)&grace, 0644);
__MODULE_PARM_TYPE(grace_us, "ulong");
MODULE_PARM_DESC(grace_us,
		 "how long an absent process keeps its share and an idle device waits: 0 to 1000000 us");

module_param_cb(drain_us, &number_ops, (void *)&drain, 0644);
__MODULE_PARM_TYPE(drain_us, "ulong");
MODULE_PARM_DESC(drain_us, "from call-back to sharing the turn by force: 1000 to 10000000 us");

module_param_cb(inflight_us, &number_ops, (void *)&in_flight, 0644);
__MODULE_PARM_TYPE(inflight_us, "ulong");
MODULE_PARM_DESC(inflight_us, "bound on work in flight while contended: 10 to 1000000 us");

module_param_cb(alpha, &number_ops, (void *)&alpha, 0644);
__MODULE_PARM_TYPE(alpha, "ulong");
MODULE_PARM_DESC(alpha, "safety coefficient of policy literal, in thousandths: 1 to 1000");

/* One that has words, in the order of its values. */
struct choice {
	struct number number;
	const char * const *words;
	size_t nr_words;
	const char *expected;
};

static const struct choice policy = {
	{ KIND }, policies, ARRAY_SIZE(policies), "weighted, literal or none"
};

static const struct choice grouping = {
	{ GROUPING }, groupings, ARRAY_SIZE(groupings), "process, user or cgroup"
};

static int choice_set(const char *val, const struct kernel_param *kp)
{
	const struct choice *choice = kp->arg;
	int value = __sysfs_match_string(choice->words, choice->nr_words, val);

	if (value < 0) {
		pr_warn("%s: %s is expected\n", kp->name, choice->expected);
		return value;
	}
	apply(&choice->number, value);
	return 0;
}

static int choice_get(char *buffer, const struct kernel_param *kp)
{
	const struct choice *choice = kp->arg;
	u64 value;

	mutex_lock(&ptsched_devices_lock);
	value = number_load(settings_locked(), &choice->number);
	mutex_unlock(&ptsched_devices_lock);
	return sysfs_emit(buffer, "%s\n", choice->words[value]);
}

static const struct kernel_param_ops choice_ops = { .set = choice_set, .get = choice_get };

module_param_cb(policy, &choice_ops, (void *)&policy, 0644);
__MODULE_PARM_TYPE(policy, "string");
MODULE_PARM_DESC(policy, "weighted (default), literal (the PTask paper) or none");

module_param_cb(grouping, &choice_ops, (void *)&grouping, 0644);
__MODULE_PARM_TYPE(grouping, "string");
MODULE_PARM_DESC(grouping,
		 "time is divided among processes: process (default), users: user, or cgroups: cgroup");

/* Measures from now on. What is written does not matter. */
static int longest_hold_set(const char *val, const struct kernel_param *kp)
{
	struct ptsched_dev *dev;

	static_branch_enable(&ptsched_measures_holds);
	mutex_lock(&ptsched_devices_lock);
	list_for_each_entry(dev, &ptsched_devices, link) {
		ptsched_lock(dev);
		dev->longest_hold_ns = 0;
		ptsched_unlock(dev);
	}
	mutex_unlock(&ptsched_devices_lock);
	return 0;
}

static int longest_hold_get(char *buffer, const struct kernel_param *kp)
{
	struct ptsched_dev *dev;
	u64 longest = 0;

	mutex_lock(&ptsched_devices_lock);
	list_for_each_entry(dev, &ptsched_devices, link) {
		ptsched_lock(dev);
		longest = max(longest, dev->longest_hold_ns);
		ptsched_unlock(dev);
	}
	mutex_unlock(&ptsched_devices_lock);
	return sysfs_emit(buffer, "%llu\n", longest);
}

static const struct kernel_param_ops longest_hold_ops = {
	.set = longest_hold_set,
	.get = longest_hold_get,
};

module_param_cb(longest_hold_ns, &longest_hold_ops, NULL, 0600);
__MODULE_PARM_TYPE(longest_hold_ns, "ulong");
MODULE_PARM_DESC(longest_hold_ns,
		 "how long a device was locked at most since this was written last (0: never was)");

#define TEST_DEVICES_MAX	16

static int test_devices_set(const char *val, const struct kernel_param *kp)
{
	unsigned int value;
	int ret;

	ret = kstrtouint(val, 0, &value);
	if (!ret && value > TEST_DEVICES_MAX)
		ret = -ERANGE;
	if (ret) {
		pr_warn("%s: a number from 0 to %u is expected\n", kp->name, TEST_DEVICES_MAX);
		return ret;
	}
	test_devices = value;
	return 0;
}

static const struct kernel_param_ops test_devices_ops = {
	.set = test_devices_set,
	.get = param_get_uint,
};

module_param_cb(test_devices, &test_devices_ops, &test_devices, 0444);
__MODULE_PARM_TYPE(test_devices, "uint");
MODULE_PARM_DESC(test_devices, "devices without hardware, for tests: 0 to 16 (default 0)");
