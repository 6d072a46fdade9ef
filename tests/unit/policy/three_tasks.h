/* SPDX-License-Identifier: MIT */
/* Three processes on a device, for tests of the policy's rules. */
#ifndef PTSCHED_TESTS_THREE_TASKS_H
#define PTSCHED_TESTS_THREE_TASKS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kmod/policy/policy.h"
#include "tests/unit/policy/cases.h"

#define MS 1000000ULL

struct task {
	struct ptsp_entity e;	/* first: the ops get this pointer */
	struct ptsp_user user;
	int nice;
	unsigned int granted;
	unsigned int called_back;
	unsigned int forced;
};

struct fixture {
	struct ptsp_device dev;
	struct task a, b, c;
};

static u32 task_weight(const struct ptsp_entity *e)
{
	return ptsp_nice_to_weight(((const struct task *)e)->nice);
}

static void task_signal(struct ptsp_entity *e, u32 old)
{
	struct task *t = (struct task *)e;
	u32 risen = e->signals & ~old;

	t->granted += !!(risen & PTSP_SIG_TURN);
	t->called_back += !!(risen & PTSP_SIG_CALLBACK);
}

static void task_forced(struct ptsp_entity *e)
{
	((struct task *)e)->forced++;
}

static const struct ptsp_ops task_ops = {
	.weight = task_weight,
	.signal = task_signal,
	.forced = task_forced,
};

static inline void join_three(struct fixture *f, const struct ptsp_params *params)
{
	memset(f, 0, sizeof(*f));
	ptsp_device_init(&f->dev, params, &task_ops, 0);
	ptsp_join(&f->dev, &f->a.e, &f->a.user, NULL, 0);
	ptsp_join(&f->dev, &f->b.e, &f->b.user, NULL, 0);
	ptsp_join(&f->dev, &f->c.e, &f->c.user, NULL, 0);
}

static inline int setup(void **state)
{
	static struct fixture f;
	struct ptsp_params params = ptsp_default_params();

	params.idle_sharing = false;
	join_three(&f, &params);
	*state = &f;
	return 0;
}

/* All three can be served at once, and unused time is shared. */
static inline void join_three_sharing(struct fixture *f)
{
	struct ptsp_params params = ptsp_default_params();

	join_three(f, &params);
	ptsp_set_preemptible(&f->dev, &f->a.e, true, 0);
	ptsp_set_preemptible(&f->dev, &f->b.e, true, 0);
	ptsp_set_preemptible(&f->dev, &f->c.e, true, 0);
}

static inline int setup_sharing(void **state)
{
	static struct fixture f;

	join_three_sharing(&f);
	*state = &f;
	return 0;
}

static u64 ask(struct fixture *f, struct task *t, u64 now)
{
	ptsp_wait(&f->dev, &t->e, now);
	return ptsp_run(&f->dev, now);
}

static u64 give(struct fixture *f, struct task *t, u64 gpu_ns, u64 now)
{
	ptsp_report(&f->dev, &t->e, gpu_ns, 1, now);
	ptsp_release(&f->dev, &t->e, 0, now);
	return ptsp_run(&f->dev, now);
}

#endif /* PTSCHED_TESTS_THREE_TASKS_H */
