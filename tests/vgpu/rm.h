/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The resource manager's ioctls that the virtual GPU answers on its device file,
 * which has the number of the real driver's control device.
 *
 * Numbers and layouts are those of NVIDIA's open-gpu-kernel-modules 580.159.04
 * (nv_escape.h, nvos.h, ctrl/ctrl*.h), written down here on the driver's side,
 * apart from the interposer's. What is marked "virtual" is not: there, the
 * virtual libcuda says which of its contexts and channels an object names.
 */
#ifndef VGPU_RM_H
#define VGPU_RM_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define VGPU_RM_MAJOR		195
#define VGPU_RM_MINOR		255
#define VGPU_RM_MAX_OBJECTS	4096	/* of one client */
#define VGPU_RM_MAX_PARAMS	1024

#define VGPU_RM_CLASS_ROOT	0x0000
#define VGPU_RM_CLASS_DEVICE	0x0080
#define VGPU_RM_CLASS_SUBDEVICE	0x2080
#define VGPU_RM_CLASS_GROUP	0xa06c
#define VGPU_RM_CLASS_CHANNEL	0xc86f	/* Hopper */

#define VGPU_RM_ENGINE_GRAPHICS	1
#define VGPU_RM_ENGINE_COPY	9

struct vgpu_rm_free {
	__u32 root;
	__u32 parent;
	__u32 object;
	__u32 status;		/* out */
};

struct vgpu_rm_control {
	__u32 root;
	__u32 object;
	__u32 command;
	__u32 flags;
	__u64 params;
	__u32 params_size;
	__u32 status;		/* out */
};

struct vgpu_rm_alloc {
	__u32 root;
	__u32 parent;
	__u32 object;
	__u32 class_id;
	__u64 params;
	__u64 rights;
	__u32 params_size;
	__u32 flags;
	__u32 status;		/* out */
	__u32 pad;
};

#define VGPU_RM_FREE		_IOWR('F', 0x29, struct vgpu_rm_free)
#define VGPU_RM_CONTROL		_IOWR('F', 0x2a, struct vgpu_rm_control)
#define VGPU_RM_ALLOC		_IOWR('F', 0x2b, struct vgpu_rm_alloc)

#define VGPU_RM_OK		0x00
#define VGPU_RM_BAD_STATE	0x23	/* NV_ERR_INVALID_CLIENT: what a foreign file gets */
#define VGPU_RM_BAD_ARGUMENT	0x1f
#define VGPU_RM_NO_CHANNEL	0x21
#define VGPU_RM_NO_OBJECT	0x57
#define VGPU_RM_NO_MEMORY	0x51
#define VGPU_RM_NOT_SUPPORTED	0x56

/* Parameters of allocations. */
struct vgpu_rm_device {
	__u32 device;
};

struct vgpu_rm_group {
	__u32 error_object;
	__u32 ecc_error_object;
	__u32 address_space;
	__u32 engine;
	__u32 context;		/* virtual */
};

struct vgpu_rm_channel {
	__u32 channel;		/* virtual */
};

/* Controls. */
#define VGPU_RM_GET_GPU_ID	0x20800142	/* of a subdevice: __u32 */
#define VGPU_RM_GET_PCI_INFO	0x0000021b	/* of the root */
#define VGPU_RM_DISABLE_CHANNELS 0x2080110b	/* of a subdevice */
#define VGPU_RM_SET_TIMESLICE	0xa06c0103	/* of a group: __u64 us */
#define VGPU_RM_GET_TIMESLICE	0xa06c0104

struct vgpu_rm_pci_info {
	__u32 gpu_id;
	__u32 domain;		/* out, as all below */
	__u16 bus;
	__u16 slot;
};

#define VGPU_RM_DISABLE_MAX	64
struct vgpu_rm_disable {
	__u8 disable;
	__u8 pad[3];
	__u32 count;
	__u8 only_scheduling;
	__u8 rewind;
	__u8 pad2[6];
	__u64 event;
	__u32 roots[VGPU_RM_DISABLE_MAX];
	__u32 channels[VGPU_RM_DISABLE_MAX];
};

#endif /* VGPU_RM_H */
