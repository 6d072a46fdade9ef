// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "engine.h"

/*
 * Slices: the driver's defaults. The switch: half of what 409 round trips a
 * second against a 2048 us slice leave over, which also gives the 0.92 and 0.75
 * of two batch programs. The copy engine's state is small; its figure is assumed.
 */
const struct vgpu_engine_config vgpu_default_config = {
	.mode = VGPU_TIMESLICED,
	.scale = 1,
	.slice_us = { 2048, 1024 },
	.switch_ns = { 160000, 20000 },
};

static u64 min_u64(u64 a, u64 b)
{
	return a < b ? a : b;
}

static struct vgpu_item *head_item(struct vgpu_channel *channel)
{
	return &channel->ring[channel->head & (channel->ring_size - 1)];
}

/* May the head run, or go on running? */
static bool channel_ready(const struct vgpu_engine *engine, struct vgpu_channel *channel)
{
	const struct vgpu_item *item;

	if (channel->head == channel->tail)
		return false;
	item = head_item(channel);
	if (item->started && engine->config.mode == VGPU_NONPREEMPTIVE)
		return true;
	if (!channel->enabled)
		return false;
	return !item->wait || item->wait->head >= item->wait_seq;
}

static bool group_ready(const struct vgpu_engine *engine, const struct vgpu_group *group)
{
	struct vgpu_channel *channel;

	for (channel = group->channels; channel; channel = channel->next)
		if (channel_ready(engine, channel))
			return true;
	return false;
}

/* The next group after the loaded one that could use the runlist, never the loaded one itself. */
static struct vgpu_group *next_ready(const struct vgpu_engine *engine,
				     const struct vgpu_runlist *runlist)
{
	struct vgpu_group *from = runlist->loaded ? runlist->loaded : runlist->groups;
	struct vgpu_group *group = from;

	if (!from)
		return NULL;
	do {
		group = group->next;
		if (group != runlist->loaded && group_ready(engine, group))
			return group;
	} while (group != from);
	return NULL;
}

static bool group_in_item(const struct vgpu_group *group)
{
	struct vgpu_channel *channel;

	for (channel = group->channels; channel; channel = channel->next)
		if (channel->head != channel->tail && head_item(channel)->started)
			return true;
	return false;
}

/*
 * Non-preemptive: with others waiting, a turn is one item.
 * Markers, which cost nothing, come along.
 */
static bool may_start(const struct vgpu_engine *engine, const struct vgpu_runlist *runlist,
		      const struct vgpu_item *item)
{
	return engine->config.mode == VGPU_TIMESLICED || !item->left_ns ||
	       !runlist->turn_used || !next_ready(engine, runlist);
}

static bool item_runs(const struct vgpu_engine *engine, const struct vgpu_runlist *runlist,
		      struct vgpu_channel *channel)
{
	return runlist->active && channel_ready(engine, channel) && head_item(channel)->started;
}

static u64 slice_ns(const struct vgpu_engine *engine, const struct vgpu_group *group)
{
	return (u64)group->slice_us * 1000 * engine->config.scale;
}

static void begin_slice(struct vgpu_engine *engine, struct vgpu_runlist *runlist)
{
	runlist->active = true;
	runlist->slice_end = engine->clock + slice_ns(engine, runlist->loaded);
	runlist->turn_used = false;
}

/*
 * A slice whose end went by unnoticed was followed by another, since nobody
 * else wanted the runlist. This comes before whatever happens now, so that a
 * newcomer waits for the rest of the present slice.
 */
static void renew_slice(struct vgpu_engine *engine, struct vgpu_runlist *runlist)
{
	u64 slice, passed;

	if (!runlist->active || engine->clock <= runlist->slice_end)
		return;
	slice = slice_ns(engine, runlist->loaded);
	passed = div64_u64(engine->clock - runlist->slice_end - 1, slice) + 1;
	runlist->slice_end += passed * slice;
}

static void begin_switch(struct vgpu_engine *engine, struct vgpu_runlist *runlist, u32 index,
			 struct vgpu_group *to)
{
	runlist->active = false;
	runlist->loaded = to;
	runlist->switching = true;
	runlist->switches++;
	runlist->switch_end = engine->clock +
			      (u64)engine->config.switch_ns[index] * engine->config.scale;
}

/* Starts what may start and completes what has nothing left; says whether anything changed. */
static bool run_heads(struct vgpu_engine *engine, struct vgpu_runlist *runlist)
{
	struct vgpu_channel *channel;
	bool changed = false;

	for (channel = runlist->loaded->channels; channel; channel = channel->next) {
		struct vgpu_item *item;
		struct vgpu_item done;

		if (!channel_ready(engine, channel))
			continue;
		item = head_item(channel);
		if (!item->started) {
			if (!may_start(engine, runlist, item))
				continue;
			runlist->turn_used |= item->left_ns != 0;
			item->started = true;
			item->start_ns = engine->clock;
			changed = true;
		}
		if (item->left_ns)
			continue;
		done = *item;
		channel->head++;
		runlist->loaded->owner->items++;
		engine->complete(engine, channel, &done, engine->clock);
		changed = true;
	}
	return changed;
}

static bool turn_over(const struct vgpu_engine *engine, const struct vgpu_runlist *runlist)
{
	if (engine->config.mode == VGPU_TIMESLICED)
		return engine->clock >= runlist->slice_end;
	return runlist->turn_used && !group_in_item(runlist->loaded);
}

/* One step of a runlist's state at the present time; says whether anything changed. */
static bool settle_runlist(struct vgpu_engine *engine, u32 index)
{
	struct vgpu_runlist *runlist = &engine->runlists[index];
	struct vgpu_group *other;

	if (runlist->switching) {
		if (engine->clock < runlist->switch_end)
			return false;
		runlist->switching = false;
		begin_slice(engine, runlist);
		return true;
	}
	if (!runlist->active) {
		if (runlist->loaded && group_ready(engine, runlist->loaded)) {
			begin_slice(engine, runlist);
			return true;
		}
		other = next_ready(engine, runlist);
		if (other)
			begin_switch(engine, runlist, index, other);
		return other;
	}
	/* What ends together with the slice has ended. */
	if (run_heads(engine, runlist))
		return true;
	other = turn_over(engine, runlist) ? next_ready(engine, runlist) : NULL;
	if (other) {
		begin_switch(engine, runlist, index, other);
		return true;
	}
	if (!group_ready(engine, runlist->loaded)) {
		runlist->active = false;
		return true;
	}
	return false;
}

static void settle(struct vgpu_engine *engine)
{
	bool changed;
	u32 i;

	for (i = 0; i < VGPU_RUNLISTS; i++)
		renew_slice(engine, &engine->runlists[i]);
	do {
		changed = false;
		for (i = 0; i < VGPU_RUNLISTS; i++)
			changed |= settle_runlist(engine, i);
	} while (changed);
}

/* When the present state ends by itself. */
static u64 next_event(const struct vgpu_engine *engine)
{
	u64 next = VGPU_NEVER;
	u32 i;

	for (i = 0; i < VGPU_RUNLISTS; i++) {
		const struct vgpu_runlist *runlist = &engine->runlists[i];
		struct vgpu_channel *channel;

		if (runlist->switching)
			next = min_u64(next, runlist->switch_end);
		if (!runlist->active)
			continue;
		if (engine->config.mode == VGPU_TIMESLICED && next_ready(engine, runlist))
			next = min_u64(next, runlist->slice_end);
		for (channel = runlist->loaded->channels; channel; channel = channel->next)
			if (item_runs(engine, runlist, channel))
				next = min_u64(next, engine->clock + head_item(channel)->left_ns);
	}
	return next;
}

/* Lets dt pass, in which by construction nothing changes. */
static void pass_time(struct vgpu_engine *engine, u64 dt)
{
	struct vgpu_owner *ran[VGPU_RUNLISTS] = { NULL, NULL };
	u32 i;

	for (i = 0; i < VGPU_RUNLISTS; i++) {
		struct vgpu_runlist *runlist = &engine->runlists[i];
		struct vgpu_channel *channel;

		if (runlist->switching)
			runlist->switching_ns += dt;
		if (!runlist->active)
			continue;
		for (channel = runlist->loaded->channels; channel; channel = channel->next) {
			if (!item_runs(engine, runlist, channel))
				continue;
			head_item(channel)->left_ns -= dt;
			ran[i] = runlist->loaded->owner;
		}
		if (ran[i]) {
			runlist->busy_ns += dt;
			ran[i]->busy_ns[i] += dt;
			ran[i]->union_ns += dt;
		}
	}
	if (ran[VGPU_COMPUTE] && ran[VGPU_COMPUTE] == ran[VGPU_COPY])
		ran[VGPU_COMPUTE]->union_ns -= dt;
	if (ran[VGPU_COMPUTE] || ran[VGPU_COPY])
		engine->busy_ns += dt;
	engine->clock += dt;
}

u64 vgpu_advance(struct vgpu_engine *engine, u64 now)
{
	u64 next;

	settle(engine);
	while ((next = next_event(engine)) <= now) {
		pass_time(engine, next - engine->clock);
		settle(engine);
	}
	if (engine->clock < now) {
		pass_time(engine, now - engine->clock);
		settle(engine);
		next = next_event(engine);
	}
	return next;
}

void vgpu_engine_init(struct vgpu_engine *engine, const struct vgpu_engine_config *config,
		      void (*complete)(struct vgpu_engine *, struct vgpu_channel *,
				       const struct vgpu_item *, u64),
		      u64 now)
{
	*engine = (struct vgpu_engine){
		.config = *config,
		.clock = now,
		.since = now,
		.complete = complete,
	};
}

void vgpu_group_add(struct vgpu_engine *engine, struct vgpu_group *group,
		    struct vgpu_owner *owner, u32 runlist, u64 now)
{
	struct vgpu_runlist *list = &engine->runlists[runlist];

	vgpu_advance(engine, now);
	*group = (struct vgpu_group){
		.next = group,
		.prev = group,
		.owner = owner,
		.runlist = runlist,
		.slice_us = engine->config.slice_us[runlist],
	};
	if (list->groups) {
		group->next = list->groups;
		group->prev = list->groups->prev;
		group->prev->next = group;
		group->next->prev = group;
	}
	list->groups = list->groups ? list->groups : group;
}

void vgpu_group_remove(struct vgpu_engine *engine, struct vgpu_group *group, u64 now)
{
	struct vgpu_runlist *list = &engine->runlists[group->runlist];

	vgpu_advance(engine, now);
	if (list->loaded == group) {
		list->loaded = NULL;
		list->active = false;
		list->switching = false;
	}
	if (list->groups == group)
		list->groups = group->next == group ? NULL : group->next;
	group->prev->next = group->next;
	group->next->prev = group->prev;
	settle(engine);
}

void vgpu_group_set_slice(struct vgpu_engine *engine, struct vgpu_group *group, u32 slice_us,
			  u64 now)
{
	vgpu_advance(engine, now);
	group->slice_us = slice_us ? slice_us : 1;
}

void vgpu_channel_add(struct vgpu_engine *engine, struct vgpu_channel *channel,
		      struct vgpu_group *group, struct vgpu_item *ring, u32 ring_size, u64 now)
{
	void *private_data = channel->private_data;

	vgpu_advance(engine, now);
	*channel = (struct vgpu_channel){
		.next = group->channels,
		.group = group,
		.ring = ring,
		.ring_size = ring_size,
		.enabled = true,
		.private_data = private_data,
	};
	group->channels = channel;
}

static void forget_waits(struct vgpu_group *group, const struct vgpu_channel *gone)
{
	struct vgpu_channel *channel;
	u64 i;

	for (channel = group->channels; channel; channel = channel->next) {
		for (i = channel->head; i < channel->tail; i++) {
			struct vgpu_item *item = &channel->ring[i & (channel->ring_size - 1)];

			if (item->wait == gone)
				item->wait = NULL;
		}
	}
}

void vgpu_channel_remove(struct vgpu_engine *engine, struct vgpu_channel *channel, u64 now)
{
	struct vgpu_channel **link = &channel->group->channels;
	u32 i;

	vgpu_advance(engine, now);
	while (*link != channel)
		link = &(*link)->next;
	*link = channel->next;
	for (i = 0; i < VGPU_RUNLISTS; i++) {
		struct vgpu_group *first = engine->runlists[i].groups;
		struct vgpu_group *group = first;

		if (!first)
			continue;
		do {
			forget_waits(group, channel);
			group = group->next;
		} while (group != first);
	}
	settle(engine);
}

void vgpu_channel_enable(struct vgpu_engine *engine, struct vgpu_channel *channel, bool enabled,
			 u64 now)
{
	vgpu_advance(engine, now);
	channel->enabled = enabled;
	settle(engine);
}

u64 vgpu_submit(struct vgpu_engine *engine, struct vgpu_channel *channel, u64 id, u64 cost_ns,
		struct vgpu_channel *wait, u64 wait_seq, u64 now)
{
	vgpu_advance(engine, now);
	if (vgpu_channel_full(channel))
		return 0;
	channel->ring[channel->tail & (channel->ring_size - 1)] = (struct vgpu_item){
		.id = id,
		.left_ns = cost_ns * engine->config.scale,
		.wait = wait,
		.wait_seq = wait_seq,
	};
	channel->tail++;
	settle(engine);
	return channel->tail;
}

void vgpu_reset_counters(struct vgpu_engine *engine, u64 now)
{
	u32 i;

	vgpu_advance(engine, now);
	engine->since = now;
	engine->busy_ns = 0;
	for (i = 0; i < VGPU_RUNLISTS; i++) {
		engine->runlists[i].busy_ns = 0;
		engine->runlists[i].switching_ns = 0;
		engine->runlists[i].switches = 0;
	}
}
