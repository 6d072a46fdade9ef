// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "service.h"

#include "rm.h"

#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/string.h>
#else
#include <errno.h>
#include <string.h>
#endif

static void on_complete(struct vgpu_engine *engine, struct vgpu_channel *channel,
			const struct vgpu_item *item, u64 end_ns)
{
	struct vgpu_chan *chan = channel->private_data;
	struct vgpu_client *client = chan->client;

	(void)engine;
	client->in_flight--;
	client->done[client->done_tail++ % VGPU_CLIENT_ITEMS] = (struct vgpu_completion){
		.channel = chan->handle,
		.id = item->id,
		.start_ns = item->start_ns,
		.end_ns = end_ns,
	};
	client->service->wake(client);
}

void vgpu_service_init(struct vgpu_service *service, u32 devices,
		       const struct vgpu_engine_config *config,
		       void (*wake)(struct vgpu_client *client), u64 now)
{
	u32 i;

	service->device_count = devices;
	service->records = NULL;
	service->switch_calls = VGPU_UNLIMITED;
	service->switch_ignored = false;
	service->memory_bytes = VGPU_MEMORY_BYTES;
	service->wake = wake;
	for (i = 0; i < devices; i++)
		vgpu_engine_init(&service->devices[i], config, on_complete, now);
}

u64 vgpu_service_advance(struct vgpu_service *service, u64 now)
{
	u64 next = VGPU_NEVER;
	u32 i;

	for (i = 0; i < service->device_count; i++) {
		u64 device_next = vgpu_advance(&service->devices[i], now);

		next = device_next < next ? device_next : next;
	}
	return next;
}

void vgpu_service_info(const struct vgpu_service *service, struct vgpu_info *info)
{
	const struct vgpu_engine_config *config = &service->devices[0].config;

	*info = (struct vgpu_info){
		.version = VGPU_ABI_VERSION,
		.devices = service->device_count,
		.mode = config->mode,
		.scale = config->scale,
		.slice_us = { config->slice_us[0], config->slice_us[1] },
		.switch_ns = { config->switch_ns[0], config->switch_ns[1] },
		.memory_bytes = service->memory_bytes,
	};
}

void vgpu_client_init(struct vgpu_client *client, struct vgpu_service *service, u32 pid,
		      const char *name)
{
	size_t length = strlen(name);

	client->service = service;
	client->pid = pid;
	if (length >= sizeof(client->name))
		length = sizeof(client->name) - 1;
	memcpy(client->name, name, length);
}

static struct vgpu_context *find_context(struct vgpu_client *client, u32 handle)
{
	struct vgpu_context *context;

	for (context = client->contexts; context; context = context->next)
		if (context->handle == handle)
			return context;
	return NULL;
}

static struct vgpu_chan *find_channel(struct vgpu_client *client, u32 handle)
{
	struct vgpu_chan *chan;

	for (chan = client->channels; chan; chan = chan->next)
		if (chan->handle == handle)
			return chan;
	return NULL;
}

static struct vgpu_record *get_record(struct vgpu_client *client, struct vgpu_record **brought,
				      u32 device)
{
	struct vgpu_service *service = client->service;
	struct vgpu_record *record;

	for (record = service->records; record; record = record->next)
		if (record->pid == client->pid && record->device == device)
			return record;
	record = *brought;
	*brought = NULL;
	record->pid = client->pid;
	record->device = device;
	memcpy(record->name, client->name, sizeof(record->name));
	record->next = service->records;
	service->records = record;
	return record;
}

int vgpu_client_add_context(struct vgpu_client *client, struct vgpu_context *context,
			    struct vgpu_record **record, struct vgpu_context_create *arg, u64 now)
{
	struct vgpu_service *service = client->service;
	u32 i;

	if (arg->device >= service->device_count)
		return -ENODEV;
	if (client->handles == VGPU_MAX_HANDLES)
		return -EMFILE;
	context->record = get_record(client, record, arg->device);
	context->record->contexts++;
	context->device = arg->device;
	context->handle = ++client->last_handle;
	context->next = client->contexts;
	client->contexts = context;
	client->handles++;
	for (i = 0; i < VGPU_RUNLISTS; i++)
		vgpu_group_add(&service->devices[arg->device], &context->groups[i],
			       &context->record->owner, i, now);
	arg->context = context->handle;
	return 0;
}

int vgpu_client_add_channel(struct vgpu_client *client, struct vgpu_chan *chan,
			    struct vgpu_channel_create *arg, u64 now)
{
	struct vgpu_context *context = find_context(client, arg->context);

	if (arg->reserved || arg->runlist >= VGPU_RUNLISTS)
		return -EINVAL;
	if (!context)
		return -ENOENT;
	if (client->handles == VGPU_MAX_HANDLES)
		return -EMFILE;
	chan->client = client;
	chan->context = context;
	chan->handle = ++client->last_handle;
	chan->next = client->channels;
	client->channels = chan;
	client->handles++;
	context->channels++;
	chan->channel.private_data = chan;
	vgpu_channel_add(&client->service->devices[context->device], &chan->channel,
			 &context->groups[arg->runlist], chan->ring, VGPU_RING_ITEMS, now);
	arg->channel = chan->handle;
	return 0;
}

static void *remove_channel(struct vgpu_client *client, struct vgpu_chan *chan, u64 now)
{
	struct vgpu_chan **link = &client->channels;

	vgpu_channel_remove(&client->service->devices[chan->context->device], &chan->channel, now);
	client->in_flight -= chan->channel.tail - chan->channel.head;
	chan->context->channels--;
	while (*link != chan)
		link = &(*link)->next;
	*link = chan->next;
	client->handles--;
	return chan;
}

static void *remove_context(struct vgpu_client *client, struct vgpu_context *context, u64 now)
{
	struct vgpu_context **link = &client->contexts;
	u32 i;

	for (i = 0; i < VGPU_RUNLISTS; i++)
		vgpu_group_remove(&client->service->devices[context->device], &context->groups[i],
				  now);
	context->record->contexts--;
	while (*link != context)
		link = &(*link)->next;
	*link = context->next;
	client->handles--;
	return context;
}

void *vgpu_client_destroy(struct vgpu_client *client, u32 handle, int *error, u64 now)
{
	struct vgpu_context *context = find_context(client, handle);
	struct vgpu_chan *chan = find_channel(client, handle);

	if (chan)
		return remove_channel(client, chan, now);
	if (context && !context->channels)
		return remove_context(client, context, now);
	*error = context ? -EBUSY : -ENOENT;
	return NULL;
}

static void give_all_memory_back(struct vgpu_client *client)
{
	u32 i;

	for (i = 0; i < VGPU_MAX_DEVICES; i++) {
		client->service->memory_used[i] -= client->memory[i];
		client->memory[i] = 0;
	}
}

void *vgpu_client_destroy_any(struct vgpu_client *client, u64 now)
{
	struct vgpu_rm_object *object = client->objects;

	if (object) {
		client->objects = object->next;
		return object;
	}
	if (client->channels)
		return remove_channel(client, client->channels, now);
	if (client->contexts)
		return remove_context(client, client->contexts, now);
	give_all_memory_back(client);
	return NULL;
}

static int submit_one(struct vgpu_client *client, const struct vgpu_work *work, u64 now)
{
	struct vgpu_chan *chan = find_channel(client, work->channel);
	struct vgpu_chan *wait = NULL;

	if (!chan)
		return -ENOENT;
	if (work->wait_channel) {
		wait = find_channel(client, work->wait_channel);
		if (!wait)
			return -ENOENT;
		if (wait->context->device != chan->context->device)
			return -EXDEV;
	}
	/* An hour on the device, times any scale, cannot overflow. */
	if (work->cost_ns > 3600ULL * 1000000000)
		return -EINVAL;
	if (client->in_flight + (client->done_tail - client->done_head) == VGPU_CLIENT_ITEMS ||
	    vgpu_channel_full(&chan->channel))
		return -EAGAIN;
	/* Counted first: an item without cost may complete inside the call. */
	client->in_flight++;
	vgpu_submit(&client->service->devices[chan->context->device], &chan->channel, work->id,
		    work->cost_ns, wait ? &wait->channel : NULL, work->wait_seq, now);
	return 0;
}

int vgpu_client_submit(struct vgpu_client *client, const struct vgpu_work *works, u32 count,
		       u64 now)
{
	u32 i;

	for (i = 0; i < count; i++) {
		int error = submit_one(client, &works[i], now);

		if (error == -EAGAIN)
			return i;
		if (error)
			return i ? (int)i : error;
	}
	return count;
}

int vgpu_client_control(struct vgpu_client *client, struct vgpu_control *control, u64 now)
{
	struct vgpu_context *context = find_context(client, control->handle);
	struct vgpu_chan *chan = find_channel(client, control->handle);

	if (control->runlist >= VGPU_RUNLISTS)
		return -EINVAL;
	switch (control->op) {
	case VGPU_SET_SLICE:
		if (!context)
			return -ENOENT;
		if (!control->value)
			return -EINVAL;
		vgpu_group_set_slice(&client->service->devices[context->device],
				     &context->groups[control->runlist], control->value, now);
		return 0;
	case VGPU_GET_SLICE:
		if (!context)
			return -ENOENT;
		control->value = context->groups[control->runlist].slice_us;
		return 0;
	case VGPU_SET_ENABLED:
		if (!chan)
			return -ENOENT;
		if (control->value > 1)
			return -EINVAL;
		vgpu_channel_enable(&client->service->devices[chan->context->device],
				    &chan->channel, control->value, now);
		return 0;
	default:
		return -EINVAL;
	}
}

int vgpu_client_memory(struct vgpu_client *client, struct vgpu_memory *memory)
{
	struct vgpu_service *service = client->service;
	u64 *used;

	if (memory->device >= service->device_count)
		return -ENODEV;
	used = &service->memory_used[memory->device];
	switch (memory->op) {
	case VGPU_MEMORY_ASK:
		break;
	case VGPU_MEMORY_TAKE:
		if (memory->bytes > service->memory_bytes - *used)
			return -ENOMEM;
		client->memory[memory->device] += memory->bytes;
		*used += memory->bytes;
		break;
	case VGPU_MEMORY_GIVE_BACK:
		if (memory->bytes > client->memory[memory->device])
			return -EINVAL;
		client->memory[memory->device] -= memory->bytes;
		*used -= memory->bytes;
		break;
	default:
		return -EINVAL;
	}
	memory->total = service->memory_bytes;
	memory->used = *used;
	return 0;
}

bool vgpu_client_has_completion(const struct vgpu_client *client)
{
	return client->done_head != client->done_tail;
}

u32 vgpu_client_fetch(struct vgpu_client *client, struct vgpu_completion *to, u32 room)
{
	u32 n = 0;

	while (n < room && vgpu_client_has_completion(client))
		to[n++] = client->done[client->done_head++ % VGPU_CLIENT_ITEMS];
	return n;
}

int vgpu_service_stats(struct vgpu_service *service, struct vgpu_device_stats *stats,
		       struct vgpu_owner_stats *owners, u32 *count, u64 now)
{
	const struct vgpu_record *record;
	const struct vgpu_engine *engine;
	u32 room = *count;
	u32 n = 0;
	u32 i;

	if (stats->device >= service->device_count)
		return -ENODEV;
	engine = &service->devices[stats->device];
	vgpu_advance(&service->devices[stats->device], now);
	stats->elapsed_ns = engine->clock - engine->since;
	stats->busy_ns = engine->busy_ns;
	stats->memory_bytes = service->memory_bytes;
	stats->memory_used = service->memory_used[stats->device];
	for (i = 0; i < VGPU_RUNLISTS; i++) {
		stats->runlist_busy_ns[i] = engine->runlists[i].busy_ns;
		stats->switching_ns[i] = engine->runlists[i].switching_ns;
		stats->switches[i] = engine->runlists[i].switches;
	}
	for (record = service->records; record; record = record->next) {
		if (record->device != stats->device)
			continue;
		if (n < room) {
			owners[n] = (struct vgpu_owner_stats){
				.pid = record->pid,
				.contexts = record->contexts,
				.union_ns = record->owner.union_ns,
				.busy_ns = { record->owner.busy_ns[0], record->owner.busy_ns[1] },
				.items = record->owner.items,
			};
			memcpy(owners[n].name, record->name, sizeof(record->name));
		}
		n++;
	}
	*count = n;
	return 0;
}

struct vgpu_record *vgpu_service_reset(struct vgpu_service *service, u64 now)
{
	struct vgpu_record **link = &service->records;
	struct vgpu_record *unused = NULL;
	u32 i;

	for (i = 0; i < service->device_count; i++)
		vgpu_reset_counters(&service->devices[i], now);
	while (*link) {
		struct vgpu_record *record = *link;

		record->owner = (struct vgpu_owner){ 0 };
		if (record->contexts) {
			link = &record->next;
			continue;
		}
		*link = record->next;
		record->next = unused;
		unused = record;
	}
	return unused;
}
