/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A model of a GPU's work scheduling: no clock, no lock, no allocation.
 *
 * A device has two runlists, compute and copy. On a runlist are groups of
 * channels; a group belongs to one context of one owner (a process). A channel
 * is a FIFO of work items, each with a cost. Of a runlist's groups one is
 * loaded at a time; the heads of all its channels run side by side, each at
 * full speed.
 *
 * VGPU_TIMESLICED: a group that others wait for gives way when its time slice
 * ends, in the middle of an item if need be; progress is kept. Loading another
 * group takes switch_ns, in which nothing runs. A lone group's slices go on
 * being counted, so that a newcomer waits for what is left of the present one.
 *
 * VGPU_NONPREEMPTIVE: an item that has started runs to its end, and groups
 * alternate at the ends of items.
 *
 * The caller passes the time in (nanoseconds, never backwards), holds whatever
 * lock it needs, and owns all memory. Whatever changes the device's state first
 * brings the device up to `now`; completions come through the callback with
 * the exact times at which they fell, in order of time.
 */
#ifndef VGPU_ENGINE_H
#define VGPU_ENGINE_H

#include "engine_compat.h"

#define VGPU_NEVER (~(u64)0)

enum vgpu_engine_mode {
	VGPU_TIMESLICED,
	VGPU_NONPREEMPTIVE,
};

enum vgpu_runlist_id {
	VGPU_COMPUTE,
	VGPU_COPY,
	VGPU_RUNLISTS,
};

struct vgpu_engine_config {
	u32 mode;		/* enum vgpu_engine_mode */
	u32 scale;		/* multiplies every time below and every cost */
	u32 slice_us[VGPU_RUNLISTS];
	u32 switch_ns[VGPU_RUNLISTS];
};

struct vgpu_channel;

struct vgpu_item {
	u64 id;			/* the submitter's, given back at completion */
	u64 left_ns;
	u64 start_ns;
	u64 wait_seq;
	struct vgpu_channel *wait;	/* not before this channel's wait_seq-th item is done */
	bool started;
};

/* Ground truth about one owner on one device. */
struct vgpu_owner {
	u64 busy_ns[VGPU_RUNLISTS];	/* union over the channels of a runlist */
	u64 union_ns;			/* union over everything */
	u64 items;
};

struct vgpu_group {
	struct vgpu_group *next, *prev;		/* ring of the runlist */
	struct vgpu_channel *channels;
	struct vgpu_owner *owner;
	u32 runlist;
	u32 slice_us;
};

struct vgpu_channel {
	struct vgpu_channel *next;
	struct vgpu_group *group;
	struct vgpu_item *ring;
	u32 ring_size;			/* power of two */
	u64 head, tail;			/* items done, items submitted */
	bool enabled;
	void *private_data;
};

struct vgpu_runlist {
	struct vgpu_group *groups;	/* any member of the ring */
	struct vgpu_group *loaded;	/* what the hardware holds */
	bool active;			/* loaded has a slice now */
	bool switching;
	u64 switch_end;
	u64 slice_end;
	bool turn_used;			/* non-preemptive: this turn has begun an item */
	u64 busy_ns;
	u64 switching_ns;
	u64 switches;
};

struct vgpu_engine {
	struct vgpu_engine_config config;
	struct vgpu_runlist runlists[VGPU_RUNLISTS];
	u64 clock;
	u64 since;			/* of the counters: start or last reset */
	u64 busy_ns;			/* union over both runlists */
	void (*complete)(struct vgpu_engine *engine, struct vgpu_channel *channel,
			 const struct vgpu_item *item, u64 end_ns);
	void *private_data;
};

extern const struct vgpu_engine_config vgpu_default_config;

void vgpu_engine_init(struct vgpu_engine *engine, const struct vgpu_engine_config *config,
		      void (*complete)(struct vgpu_engine *, struct vgpu_channel *,
				       const struct vgpu_item *, u64),
		      u64 now);

/* Runs the device up to now; returns when it must be called again, or VGPU_NEVER. */
u64 vgpu_advance(struct vgpu_engine *engine, u64 now);

void vgpu_group_add(struct vgpu_engine *engine, struct vgpu_group *group,
		    struct vgpu_owner *owner, u32 runlist, u64 now);
/* The group's channels must be gone. */
void vgpu_group_remove(struct vgpu_engine *engine, struct vgpu_group *group, u64 now);
void vgpu_group_set_slice(struct vgpu_engine *engine, struct vgpu_group *group, u32 slice_us,
			  u64 now);

void vgpu_channel_add(struct vgpu_engine *engine, struct vgpu_channel *channel,
		      struct vgpu_group *group, struct vgpu_item *ring, u32 ring_size, u64 now);
/* What is queued is dropped without completion; who waits for it waits no more. */
void vgpu_channel_remove(struct vgpu_engine *engine, struct vgpu_channel *channel, u64 now);
/* Takes a running item off, or (nonpreemptive) lets it end; enabling continues it. */
void vgpu_channel_enable(struct vgpu_engine *engine, struct vgpu_channel *channel, bool enabled,
			 u64 now);

static inline bool vgpu_channel_full(const struct vgpu_channel *channel)
{
	return channel->tail - channel->head == channel->ring_size;
}

/*
 * Appends an item; the n-th item submitted to a channel has sequence number n,
 * from 1. With a wait, the item does not start before that channel's
 * wait_seq-th item is done. Returns the sequence number, 0 if the ring is full.
 */
u64 vgpu_submit(struct vgpu_engine *engine, struct vgpu_channel *channel, u64 id, u64 cost_ns,
		struct vgpu_channel *wait, u64 wait_seq, u64 now);

void vgpu_reset_counters(struct vgpu_engine *engine, u64 now);

#endif /* VGPU_ENGINE_H */
