/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the module and the daemon have in common: clients with handles on
 * contexts and channels, completions to be fetched, statistics by process.
 * Like the engine it has no clock, no lock and no allocation: the caller holds
 * one lock around every call and brings (zeroed) and frees the memory.
 */
#ifndef VGPU_SERVICE_H
#define VGPU_SERVICE_H

#include "../vgpu.h"
#include "engine.h"

#define VGPU_UNLIMITED	(~0U)
#define VGPU_MEMORY_BYTES	(8ULL << 30)	/* of a device, unless told otherwise */

struct vgpu_client;
struct vgpu_rm_object;

/* One process on one device; stays after its death until the statistics are reset. */
struct vgpu_record {
	struct vgpu_record *next;
	struct vgpu_owner owner;
	u32 pid;
	u32 device;
	u32 contexts;
	char name[16];
};

struct vgpu_context {
	struct vgpu_context *next;
	struct vgpu_record *record;
	struct vgpu_group groups[VGPU_RUNLISTS];
	u32 handle;
	u32 device;
	u32 channels;
};

struct vgpu_chan {
	struct vgpu_channel channel;
	struct vgpu_chan *next;
	struct vgpu_client *client;
	struct vgpu_context *context;
	u32 handle;
	struct vgpu_item ring[VGPU_RING_ITEMS];
};

struct vgpu_client {
	struct vgpu_service *service;
	struct vgpu_context *contexts;
	struct vgpu_chan *channels;
	struct vgpu_rm_object *objects;	/* see rm.h */
	u32 nr_objects;
	u32 handles;
	u32 last_handle;
	u32 pid;
	u32 in_flight;
	u64 memory[VGPU_MAX_DEVICES];	/* that it holds */
	u64 done_head, done_tail;
	char name[16];
	void *private_data;		/* the host's */
	struct vgpu_completion done[VGPU_CLIENT_ITEMS];
};

struct vgpu_service {
	struct vgpu_engine devices[VGPU_MAX_DEVICES];
	u32 device_count;
	struct vgpu_record *records;
	/* Taking channels off: refused after so many times, or done in words only. */
	u32 switch_calls;
	bool switch_ignored;
	u64 memory_bytes;		/* of each device */
	u64 memory_used[VGPU_MAX_DEVICES];
	/* The client has a completion to fetch. */
	void (*wake)(struct vgpu_client *client);
};

void vgpu_service_init(struct vgpu_service *service, u32 devices,
		       const struct vgpu_engine_config *config,
		       void (*wake)(struct vgpu_client *client), u64 now);
u64 vgpu_service_advance(struct vgpu_service *service, u64 now);
void vgpu_service_info(const struct vgpu_service *service, struct vgpu_info *info);

void vgpu_client_init(struct vgpu_client *client, struct vgpu_service *service, u32 pid,
		      const char *name);

/*
 * These two return 0 and keep what was brought, or a negative errno and do not;
 * a record that was taken is NULL afterwards.
 */
int vgpu_client_add_context(struct vgpu_client *client, struct vgpu_context *context,
			    struct vgpu_record **record, struct vgpu_context_create *arg, u64 now);
int vgpu_client_add_channel(struct vgpu_client *client, struct vgpu_chan *chan,
			    struct vgpu_channel_create *arg, u64 now);
/* Returns a context or channel, now unused, for the caller to free; NULL with *error set. */
void *vgpu_client_destroy(struct vgpu_client *client, u32 handle, int *error, u64 now);
/* The same for one of whatever is left; NULL when nothing is, its memory included. */
void *vgpu_client_destroy_any(struct vgpu_client *client, u64 now);

/* How many were accepted; short at a limit; negative errno if the first is wrong. */
int vgpu_client_submit(struct vgpu_client *client, const struct vgpu_work *works, u32 count,
		       u64 now);
int vgpu_client_control(struct vgpu_client *client, struct vgpu_control *control, u64 now);
/* 0 with the answer, or a negative errno and nothing has changed. */
int vgpu_client_memory(struct vgpu_client *client, struct vgpu_memory *memory);
bool vgpu_client_has_completion(const struct vgpu_client *client);
u32 vgpu_client_fetch(struct vgpu_client *client, struct vgpu_completion *to, u32 room);

/* Fills at most *count owners and says how many there are. */
int vgpu_service_stats(struct vgpu_service *service, struct vgpu_device_stats *stats,
		       struct vgpu_owner_stats *owners, u32 *count, u64 now);
/* Returns a list of records, now unused, for the caller to free. */
struct vgpu_record *vgpu_service_reset(struct vgpu_service *service, u64 now);

#endif /* VGPU_SERVICE_H */
