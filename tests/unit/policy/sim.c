// SPDX-License-Identifier: MIT
#include "tests/unit/policy/sim.h"

#include <string.h>

static u32 sim_weight(const struct ptsp_entity *e)
{
	return ptsp_nice_to_weight(((const struct sim_program *)e)->nice);
}

/* Programs look at their signals when something happens to them. */
static void sim_signal(struct ptsp_entity *e, u32 old)
{
	(void)e;
	(void)old;
}

static void sim_forced(struct ptsp_entity *e)
{
	(void)e;
}

static const struct ptsp_ops sim_ops = {
	.weight = sim_weight,
	.signal = sim_signal,
	.forced = sim_forced,
};

void sim_init(struct sim *sim, const struct ptsp_params *params, struct sim_program *programs,
	      unsigned int nr)
{
	memset(sim, 0, sizeof(*sim));
	ptsp_device_init(&sim->dev, params, &sim_ops, 0);
	sim->programs = programs;
	sim->nr = nr;
	sim->timer = PTSP_NEVER;
	for (unsigned int i = 0; i < nr; i++)
		programs[i].until_ns = programs[i].start_ns;
}

static void decide(struct sim *sim)
{
	sim->timer = ptsp_run(&sim->dev, sim->now);
}

static bool may_submit(const struct sim_program *p)
{
	return (p->entity.signals & (PTSP_SIG_TURN | PTSP_SIG_CALLBACK)) == PTSP_SIG_TURN;
}

static void submit(struct sim *sim, struct sim_program *p)
{
	u64 waited = sim->now - p->wait_since_ns;

	if (waited > p->longest_wait_ns)
		p->longest_wait_ns = waited;
	p->phase = SIM_QUEUED;
	p->queued_ns = sim->now;
}

static void want(struct sim *sim, struct sim_program *p)
{
	p->wait_since_ns = sim->now;
	if (may_submit(p)) {
		submit(sim, p);
		return;
	}
	p->phase = SIM_WAITING;
	if (p->entity.state == PTSP_IDLE)
		ptsp_wait(&sim->dev, &p->entity, sim->now);
}

/* Nothing of it is on the device. */
static void give_back(struct sim *sim, struct sim_program *p)
{
	u32 why = p->entity.signals;

	if (p->entity.state != PTSP_HOLDING)
		return;
	if ((why & PTSP_SIG_CALLBACK) ||
	    ((why & PTSP_SIG_WANTED) && (p->phase == SIM_THINKING && p->think_ns)))
		ptsp_release(&sim->dev, &p->entity, 0, sim->now);
}

static void step_program(struct sim *sim, struct sim_program *p)
{
	switch (p->phase) {
	case SIM_ABSENT:
		if (p->until_ns <= sim->now) {
			ptsp_join(&sim->dev, &p->entity, &p->user, NULL, sim->now);
			want(sim, p);
		}
		break;
	case SIM_RUNNING:
		if (p->until_ns > sim->now)
			break;
		p->kernels++;
		p->gpu_ns += p->kernel_ns;
		sim->busy_ns += p->kernel_ns;
		sim->running = NULL;
		ptsp_report(&sim->dev, &p->entity, p->kernel_ns, 1, sim->now);
		decide(sim);
		p->phase = SIM_THINKING;
		p->until_ns = sim->now + p->think_ns;
		give_back(sim, p);
		if (!p->think_ns)
			want(sim, p);
		break;
	case SIM_THINKING:
		give_back(sim, p);
		if (p->until_ns <= sim->now)
			want(sim, p);
		break;
	case SIM_WAITING:
		if (may_submit(p))
			submit(sim, p);
		else if (p->entity.state == PTSP_HOLDING)
			give_back(sim, p);
		else if (p->entity.state == PTSP_IDLE)
			ptsp_wait(&sim->dev, &p->entity, sim->now);
		break;
	case SIM_QUEUED:
		break;
	}
}

/* A device that is free takes the kernel that was queued first. */
static void start_kernel(struct sim *sim)
{
	struct sim_program *first = NULL;

	if (sim->running)
		return;
	for (unsigned int i = 0; i < sim->nr; i++) {
		struct sim_program *p = &sim->programs[i];

		if (p->phase == SIM_QUEUED && (!first || p->queued_ns < first->queued_ns))
			first = p;
	}
	if (!first)
		return;
	first->phase = SIM_RUNNING;
	first->until_ns = sim->now + first->kernel_ns;
	sim->running = first;
}

static u64 next_event(const struct sim *sim)
{
	u64 next = sim->timer;

	for (unsigned int i = 0; i < sim->nr; i++) {
		const struct sim_program *p = &sim->programs[i];
		bool timed = p->phase == SIM_ABSENT || p->phase == SIM_THINKING ||
			     p->phase == SIM_RUNNING;

		if (timed && p->until_ns < next)
			next = p->until_ns;
	}
	return next;
}

void sim_run(struct sim *sim, u64 until)
{
	u64 next;

	while ((next = next_event(sim)) <= until) {
		u64 turn;

		if (next > sim->now)
			sim->now = next;
		decide(sim);
		/* A step can change what the others see: until nothing moves. */
		do {
			turn = sim->dev.stats.turns;
			for (unsigned int i = 0; i < sim->nr; i++)
				step_program(sim, &sim->programs[i]);
			decide(sim);
		} while (turn != sim->dev.stats.turns);
		start_kernel(sim);
	}
	sim->now = until;
}
