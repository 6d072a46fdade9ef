// SPDX-License-Identifier: MIT
#include <string.h>

#include "tests/unit/policy/rivals.h"

/* From a grant to the first kernel, and from the last one's end to the release. */
#define HANDOVER_NS	50000
/* Of a kernel, no more is in flight while others want the device. */
#define IN_FLIGHT_NS	(2 * MS)
#define RENICED_NS	(7 * MS)
#define RENICED_BY	5

static struct contest *running;

static bool is_lighter(const struct rival *r)
{
	enum ptsp_state state = r->processes[r->current].entity.state;

	switch (r->ways.renice) {
	case RENICE_HOLDING:
		return state == PTSP_HOLDING;
	case RENICE_WAITING:
		return state == PTSP_WAITING;
	case RENICE_OFTEN:
		return running->now / RENICED_NS % 2;
	case RENICE_NEVER:
		break;
	}
	return false;
}

static u32 rival_weight(const struct ptsp_entity *e)
{
	const struct rival *r = ((const struct process *)e)->of;

	return ptsp_nice_to_weight(r->nice + (is_lighter(r) ? RENICED_BY : 0));
}

static void on_signal(struct ptsp_entity *e, u32 old)
{
	(void)e;
	(void)old;
	running->told = true;
}

static void on_forced(struct ptsp_entity *e)
{
	(void)e;
}

static const struct ptsp_ops ops = {
	.weight = rival_weight,
	.signal = on_signal,
	.forced = on_forced,
};

static struct ptsp_entity *entity_of(struct rival *r)
{
	return &r->processes[r->current].entity;
}

static void decide(struct contest *c)
{
	c->timer = ptsp_run(&c->dev, c->now);
}

static void join(struct contest *c, struct rival *r, u32 process, const struct ptsp_entity *parent)
{
	struct process *p = &r->processes[process];

	*p = (struct process){ .of = r };
	ptsp_join(&c->dev, &p->entity, &c->users[r->user], parent, c->now);
	ptsp_set_preemptible(&c->dev, &p->entity, r->preemptible, c->now);
	decide(c);
}

static void leave(struct contest *c, struct rival *r, u32 process)
{
	ptsp_leave(&c->dev, &r->processes[process].entity, c->now);
	r->processes[process].of = NULL;
	decide(c);
}

/* The process ends, whatever it does, and another begins. */
static void be_reborn(struct contest *c, struct rival *r)
{
	leave(c, r, r->current);
	join(c, r, r->current, NULL);
	r->phase = RIVAL_AWAY;
	r->until_ns = c->now;
	r->left_ns = 0;
	r->unreported_ns = 0;
	r->life_ns = 0;
}

static void fork_and_end(struct contest *c, struct rival *r)
{
	join(c, r, !r->current, entity_of(r));
	leave(c, r, r->current);
	r->current = !r->current;
}

static void ask(struct contest *c, struct rival *r)
{
	struct ptsp_entity *e = entity_of(r);

	if (r->ways.above)
		ptsp_tolerate(&c->dev, e, true, c->now);
	r->asked_ns = c->now;
	if (r->ways.tries_ns && !ptsp_would_grant(&c->dev, e, c->now)) {
		r->until_ns = c->now + r->ways.tries_ns;
		return;
	}
	r->phase = RIVAL_WAITING;
	r->called_back_ns = PTSP_NEVER;
	ptsp_wait(&c->dev, e, c->now);
	decide(c);
}

static void give_up(struct contest *c, struct rival *r)
{
	ptsp_cancel(&c->dev, entity_of(r), c->now);
	decide(c);
	r->phase = RIVAL_AWAY;
	r->until_ns = c->now + HANDOVER_NS;
}

static void report(struct contest *c, struct rival *r)
{
	u64 gpu_ns = r->unreported_ns;

	if (r->ways.lies)
		gpu_ns = gpu_ns * r->ways.reported_permille / 1000;
	ptsp_report(&c->dev, entity_of(r), gpu_ns, r->kernels, c->now);
	r->unreported_ns = 0;
	r->kernels = 0;
}

/* Nothing of it is on the device any more. */
static void give_back(struct contest *c, struct rival *r, u64 pause)
{
	u64 claim = r->ways.claimed_handover_ns;

	report(c, r);
	ptsp_release(&c->dev, entity_of(r), claim ? claim : 2 * HANDOVER_NS, c->now);
	decide(c);
	r->phase = RIVAL_AWAY;
	r->until_ns = c->now + (pause ? pause : r->ways.pauses_ns);
	if (r->ways.rebirth == REBORN_DRAINED)
		be_reborn(c, r);
	if (r->ways.rebirth == REBORN_FORKED)
		fork_and_end(c, r);
	if (r->ways.acts_for)
		r->current = !r->current;
}

static void keep(struct contest *c, struct rival *r, u64 ns)
{
	r->phase = RIVAL_KEEPING;
	r->until_ns = c->now + ns;
}

static bool obeys(const struct contest *c, const struct rival *r)
{
	return c->now - r->called_back_ns >= r->ways.defies_ns;
}

static void end_kernel(struct contest *c, struct rival *r)
{
	bool pauses = r->demand.burst_ns && r->burst_ns >= r->demand.burst_ns;

	r->kernels++;
	report(c, r);
	decide(c);
	if (pauses)
		r->burst_ns = 0;
	if (r->ways.life_ns && r->life_ns >= r->ways.life_ns)
		be_reborn(c, r);
	else if (pauses)
		give_back(c, r, r->demand.pause_ns);
	else if (r->called_back_ns != PTSP_NEVER && obeys(c, r))
		keep(c, r, HANDOVER_NS + r->ways.keeps_ns);
	else {
		r->phase = RIVAL_ON_HOST;
		r->until_ns = c->now + r->demand.gap_ns;
	}
}

/* Those whose work the device does; one above others is alone there. */
static bool is_served(const struct contest *c, const struct rival *r)
{
	u32 signals = r->processes[r->current].entity.signals;

	if (r->phase != RIVAL_ON_DEVICE)
		return false;
	if (!(signals & PTSP_SIG_BELOW) || r->ways.stubborn)
		return true;
	for (u32 i = 0; i < c->nr; i++) {
		const struct rival *other = &c->rivals[i];

		if (other->phase == RIVAL_ON_DEVICE &&
		    other->processes[other->current].entity.signals & PTSP_SIG_ABOVE)
			return false;
	}
	return true;
}

static u32 nr_served(const struct contest *c)
{
	u32 n = 0;

	for (u32 i = 0; i < c->nr; i++)
		n += is_served(c, &c->rivals[i]);
	return n;
}

/* What can be held back is. */
static void shorten_kernel(struct rival *r)
{
	if (!r->demand.indivisible && r->left_ns > IN_FLIGHT_NS)
		r->left_ns = IN_FLIGHT_NS;
}

static void see_call_back(struct contest *c, struct rival *r)
{
	u64 drain;

	r->called_back_ns = c->now;
	if (r->ways.rebirth == REBORN_HOLDING) {
		be_reborn(c, r);
		return;
	}
	if (r->phase != RIVAL_ON_DEVICE)
		return;
	shorten_kernel(r);
	if (r->ways.defies_ns && !r->ways.drained_at_once)
		return;
	drain = r->ways.drained_at_once ? 1 : r->left_ns * nr_served(c);
	ptsp_drain(&c->dev, entity_of(r), drain, c->now);
	decide(c);
}

/* Its work is taken off the device, whatever it does: it goes on from there in its next turn. */
static void be_taken_off(struct contest *c, struct rival *r)
{
	u64 until = r->called_back_ns + r->ways.defies_ns;

	if (r->ways.defies_ns == PTSP_NEVER)
		until = PTSP_NEVER;
	keep(c, r, HANDOVER_NS + r->ways.keeps_ns);
	if (r->until_ns < until)
		r->until_ns = until;
}

/* It sees what the policy has decided. */
static void look(struct contest *c, struct rival *r)
{
	u32 signals = entity_of(r)->signals;

	if (r->phase == RIVAL_AWAY)
		return;
	if (r->phase == RIVAL_WAITING && signals & PTSP_SIG_TURN) {
		r->phase = RIVAL_ON_HOST;
		r->until_ns = c->now + HANDOVER_NS;
	}
	if (signals & PTSP_SIG_CALLBACK && r->called_back_ns == PTSP_NEVER)
		see_call_back(c, r);
	if (r->phase == RIVAL_ON_DEVICE && signals & PTSP_SIG_PREEMPT && !r->ways.stubborn)
		be_taken_off(c, r);
}

static void start_kernel(struct rival *r)
{
	r->phase = RIVAL_ON_DEVICE;
	if (!r->left_ns)
		r->left_ns = r->demand.kernel_ns;
	if (r->called_back_ns != PTSP_NEVER)
		shorten_kernel(r);
}

static void act(struct contest *c, struct rival *r)
{
	bool due = r->until_ns <= c->now;

	switch (r->phase) {
	case RIVAL_AWAY:
		if (due)
			ask(c, r);
		break;
	case RIVAL_WAITING:
		if (r->ways.waits_ns && c->now - r->asked_ns >= r->ways.waits_ns)
			give_up(c, r);
		break;
	case RIVAL_ON_HOST:
		if (r->called_back_ns != PTSP_NEVER && obeys(c, r))
			keep(c, r, r->ways.keeps_ns);
		else if (due)
			start_kernel(r);
		break;
	case RIVAL_ON_DEVICE:
		if (!r->left_ns)
			end_kernel(c, r);
		break;
	case RIVAL_KEEPING:
		if (due)
			give_back(c, r, 0);
		break;
	}
}

static u64 next_of(const struct contest *c, const struct rival *r, u32 served)
{
	switch (r->phase) {
	case RIVAL_WAITING:
		return r->ways.waits_ns ? r->asked_ns + r->ways.waits_ns : PTSP_NEVER;
	case RIVAL_ON_DEVICE:
		return is_served(c, r) ? c->now + r->left_ns * served : PTSP_NEVER;
	case RIVAL_AWAY:
	case RIVAL_ON_HOST:
	case RIVAL_KEEPING:
		break;
	}
	return r->until_ns;
}

static u64 next_event(const struct contest *c)
{
	u32 served = nr_served(c);
	u64 next = c->timer;

	for (u32 i = 0; i < c->nr; i++) {
		u64 at = next_of(c, &c->rivals[i], served);

		next = at < next ? at : next;
	}
	return c->told || next < c->now ? c->now : next;
}

static void compute(struct contest *c, u64 ns)
{
	u32 served = nr_served(c);
	bool on[RIVALS_MAX];

	for (u32 i = 0; i < c->nr; i++)
		on[i] = is_served(c, &c->rivals[i]);
	for (u32 i = 0; i < c->nr; i++) {
		struct rival *r = &c->rivals[i];
		u64 part = on[i] ? ns / served : 0;

		if (part > r->left_ns)
			part = r->left_ns;
		if (on[i])
			r->left_ns -= part;
		r->gpu_ns += part;
		r->unreported_ns += part;
		r->burst_ns += part;
		r->life_ns += part;
	}
}

static void begin(struct contest *c, const struct ptsp_params *params)
{
	running = c;
	ptsp_device_init(&c->dev, params, &ops, 0);
	c->timer = PTSP_NEVER;
	for (u32 i = 0; i < c->nr; i++) {
		struct rival *r = &c->rivals[i];

		r->called_back_ns = PTSP_NEVER;
		join(c, r, 0, NULL);
		if (r->ways.acts_for)
			join(c, r, 1, NULL);
	}
}

void contest_run(struct contest *c, const struct ptsp_params *params, u64 until)
{
	u64 next;

	begin(c, params);
	while ((next = next_event(c)) <= until) {
		compute(c, next - c->now);
		c->now = next;
		c->told = false;
		decide(c);
		for (u32 i = 0; i < c->nr; i++) {
			look(c, &c->rivals[i]);
			act(c, &c->rivals[i]);
		}
	}
	compute(c, until - c->now);
	c->now = until;
	decide(c);
}

u64 rival_debt(const struct contest *c, const struct rival *r)
{
	u64 debt = ptsp_user_debt(&c->dev, &c->users[r->user], c->now);

	for (u32 i = 0; i < 2; i++) {
		s64 budget;

		if (!r->processes[i].of)
			continue;
		budget = ptsp_budget(&c->dev, &r->processes[i].entity, c->now);
		debt += budget < 0 ? (u64)-budget : 0;
	}
	return debt;
}
