/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* A client's names for its contexts and channels, and what the resource manager does by name. */
#ifndef VGPU_ENGINE_RM_H
#define VGPU_ENGINE_RM_H

#include "../rm.h"
#include "service.h"

struct vgpu_rm_object {
	struct vgpu_rm_object *next;
	u32 root, parent, handle;
	u32 class_id;
	u32 device;
	u32 target;		/* context or channel of the same client */
	u32 runlist;		/* of a group */
	u32 disabled;		/* a channel: so many times; each must be taken back */
};

/*
 * A request with its parameters (NULL, size 0: none), both in the caller's
 * memory; @brought is a zeroed object, NULL afterwards if it was kept. What went
 * wrong is in the request's status, as in the real driver.
 */
void vgpu_rm_alloc(struct vgpu_client *client, struct vgpu_rm_alloc *request, const void *params,
		   u32 size, struct vgpu_rm_object **brought);
void vgpu_rm_control(struct vgpu_client *client, struct vgpu_rm_control *request, void *params,
		     u32 size, u64 now);
/* Returns a list of objects, now unused, for the caller to free. */
struct vgpu_rm_object *vgpu_rm_free(struct vgpu_client *client, struct vgpu_rm_free *request);

#endif /* VGPU_ENGINE_RM_H */
