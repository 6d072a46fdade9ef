// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "rm.h"

static struct vgpu_rm_object *find(struct vgpu_client *client, u32 root, u32 handle)
{
	struct vgpu_rm_object *object;

	for (object = client->objects; object; object = object->next)
		if (object->root == root && object->handle == handle)
			return object;
	return NULL;
}

/* Fills in what the object names; returns a status. */
static u32 bind(struct vgpu_client *client, struct vgpu_rm_object *object,
		const struct vgpu_rm_object *parent, const void *params, u32 size)
{
	const struct vgpu_rm_device *device = params;
	const struct vgpu_rm_group *group = params;
	const struct vgpu_rm_channel *channel = params;

	object->device = parent ? parent->device : 0;
	switch (object->class_id) {
	case VGPU_RM_CLASS_ROOT:
	case VGPU_RM_CLASS_SUBDEVICE:
		return VGPU_RM_OK;
	case VGPU_RM_CLASS_DEVICE:
		if (size < sizeof(*device) || device->device >= client->service->device_count)
			return VGPU_RM_BAD_ARGUMENT;
		object->device = device->device;
		return VGPU_RM_OK;
	case VGPU_RM_CLASS_GROUP:
		if (size < sizeof(*group))
			return VGPU_RM_BAD_ARGUMENT;
		object->target = group->context;
		object->runlist = group->engine == VGPU_RM_ENGINE_GRAPHICS ? VGPU_COMPUTE :
									     VGPU_COPY;
		return VGPU_RM_OK;
	case VGPU_RM_CLASS_CHANNEL:
		if (size < sizeof(*channel))
			return VGPU_RM_BAD_ARGUMENT;
		object->target = channel->channel;
		return VGPU_RM_OK;
	default:
		return VGPU_RM_NOT_SUPPORTED;
	}
}

void vgpu_rm_alloc(struct vgpu_client *client, struct vgpu_rm_alloc *request, const void *params,
		   u32 size, struct vgpu_rm_object **brought)
{
	struct vgpu_rm_object *parent = find(client, request->root, request->parent);
	struct vgpu_rm_object *object = *brought;
	bool is_root = request->class_id == VGPU_RM_CLASS_ROOT;

	request->status = VGPU_RM_BAD_ARGUMENT;
	if (is_root == !!parent || find(client, request->root, request->object))
		return;
	if (is_root && request->object != request->root)
		return;
	request->status = VGPU_RM_NO_MEMORY;
	if (client->nr_objects == VGPU_RM_MAX_OBJECTS)
		return;
	object->root = request->root;
	object->parent = is_root ? 0 : request->parent;
	object->handle = request->object;
	object->class_id = request->class_id;
	request->status = bind(client, object, parent, params, size);
	if (request->status)
		return;
	object->next = client->objects;
	client->objects = object;
	client->nr_objects++;
	*brought = NULL;
}

/* Moves the object to the list of the unused. */
static void unlink(struct vgpu_client *client, struct vgpu_rm_object *object,
		   struct vgpu_rm_object **unused)
{
	struct vgpu_rm_object **link = &client->objects;

	while (*link != object)
		link = &(*link)->next;
	*link = object->next;
	object->next = *unused;
	*unused = object;
	client->nr_objects--;
}

static struct vgpu_rm_object *child_of(struct vgpu_client *client, const struct vgpu_rm_object *of)
{
	struct vgpu_rm_object *object;

	for (object = client->objects; object; object = object->next)
		if (object->root == of->root && object->parent == of->handle)
			return object;
	return NULL;
}

struct vgpu_rm_object *vgpu_rm_free(struct vgpu_client *client, struct vgpu_rm_free *request)
{
	struct vgpu_rm_object *object = find(client, request->root, request->object);
	struct vgpu_rm_object *unused = NULL;

	request->status = object ? VGPU_RM_OK : VGPU_RM_NO_OBJECT;
	if (!object)
		return NULL;
	unlink(client, object, &unused);
	/* Whatever was freed takes its children along, which come to the front of the list. */
	for (object = unused; object; ) {
		struct vgpu_rm_object *child = child_of(client, object);

		if (child)
			unlink(client, child, &unused);
		object = child ? child : object->next;
	}
	return unused;
}

static u32 disable_channel(struct vgpu_client *client, struct vgpu_rm_object *channel, bool disable,
			   u64 now)
{
	struct vgpu_control control = { .op = VGPU_SET_ENABLED, .handle = channel->target };

	if (disable)
		channel->disabled++;
	else if (channel->disabled)
		channel->disabled--;
	control.value = !channel->disabled;
	return vgpu_client_control(client, &control, now) ? VGPU_RM_NO_CHANNEL : VGPU_RM_OK;
}

/* As seen on an H200: it is counted, and the others are switched beside one that is unknown. */
static u32 disable_channels(struct vgpu_client *client, const struct vgpu_rm_disable *arg, u64 now)
{
	struct vgpu_service *service = client->service;
	struct vgpu_rm_object *channel;
	u32 status = VGPU_RM_OK, i;

	if (arg->count > VGPU_RM_DISABLE_MAX)
		return VGPU_RM_BAD_ARGUMENT;
	/* Faults end in a state that can be left: putting back works. */
	if (arg->disable && !service->switch_calls)
		return VGPU_RM_NOT_SUPPORTED;
	if (arg->disable && service->switch_calls != VGPU_UNLIMITED)
		service->switch_calls--;
	for (i = 0; i < arg->count; i++) {
		channel = find(client, arg->roots[i], arg->channels[i]);
		if (!channel || channel->class_id != VGPU_RM_CLASS_CHANNEL)
			status = VGPU_RM_NO_CHANNEL;
		else if (!service->switch_ignored &&
			 disable_channel(client, channel, arg->disable, now))
			status = VGPU_RM_NO_CHANNEL;
	}
	return status;
}

static u32 timeslice(struct vgpu_client *client, const struct vgpu_rm_object *group, u32 op,
		     __u64 *us, u64 now)
{
	struct vgpu_control control = {
		.op = op,
		.handle = group->target,
		.runlist = group->runlist,
		.value = *us,
	};

	if (vgpu_client_control(client, &control, now))
		return VGPU_RM_BAD_ARGUMENT;
	*us = control.value;
	return VGPU_RM_OK;
}

static u32 pci_info(const struct vgpu_client *client, struct vgpu_rm_pci_info *info)
{
	if (!info->gpu_id || info->gpu_id > client->service->device_count)
		return VGPU_RM_BAD_ARGUMENT;
	/* Where the module ptsched puts its test devices. */
	info->domain = 0xffff;
	info->bus = info->gpu_id;
	info->slot = 0;
	return VGPU_RM_OK;
}

/* Nothing of the kind existed in 2011. */
static bool needs_preemption(u32 command)
{
	return command == VGPU_RM_DISABLE_CHANNELS || command == VGPU_RM_SET_TIMESLICE ||
	       command == VGPU_RM_GET_TIMESLICE;
}

static u32 answer(struct vgpu_client *client, const struct vgpu_rm_object *object, u32 command,
		  void *params, u32 size, u64 now)
{
	if (needs_preemption(command) &&
	    client->service->devices[0].config.mode == VGPU_NONPREEMPTIVE)
		return VGPU_RM_NOT_SUPPORTED;
	switch (command) {
	case VGPU_RM_GET_GPU_ID:
		if (size != sizeof(__u32) || object->class_id != VGPU_RM_CLASS_SUBDEVICE)
			return VGPU_RM_BAD_ARGUMENT;
		*(__u32 *)params = object->device + 1;
		return VGPU_RM_OK;
	case VGPU_RM_GET_PCI_INFO:
		if (size != sizeof(struct vgpu_rm_pci_info))
			return VGPU_RM_BAD_ARGUMENT;
		return pci_info(client, params);
	case VGPU_RM_DISABLE_CHANNELS:
		if (size != sizeof(struct vgpu_rm_disable) ||
		    object->class_id != VGPU_RM_CLASS_SUBDEVICE)
			return VGPU_RM_BAD_ARGUMENT;
		return disable_channels(client, params, now);
	case VGPU_RM_SET_TIMESLICE:
	case VGPU_RM_GET_TIMESLICE:
		if (size != sizeof(__u64) || object->class_id != VGPU_RM_CLASS_GROUP)
			return VGPU_RM_BAD_ARGUMENT;
		return timeslice(client, object, command == VGPU_RM_SET_TIMESLICE ? VGPU_SET_SLICE :
				 VGPU_GET_SLICE, params, now);
	default:
		return VGPU_RM_NOT_SUPPORTED;
	}
}

void vgpu_rm_control(struct vgpu_client *client, struct vgpu_rm_control *request, void *params,
		     u32 size, u64 now)
{
	struct vgpu_rm_object *object = find(client, request->root, request->object);

	request->status = object ? answer(client, object, request->command, params, size, now) :
				   VGPU_RM_BAD_STATE;
}
