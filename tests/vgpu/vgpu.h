/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How programs talk to the virtual GPU: by ioctl and read on /dev/vgpu, or with
 * the same structures over vgpud's Unix stream socket, each behind a struct
 * vgpu_message.
 *
 * A client (open file or connection) makes contexts, one compute and one copy
 * group each, and channels in them, submits work to channels and gets one
 * completion for each work item. Closing, or the death of the process that
 * opened, ends everything at once.
 */
#ifndef VGPU_H
#define VGPU_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define VGPU_ABI_VERSION 2
#define VGPU_MAX_DEVICES 8
#define VGPU_RING_ITEMS 256		/* in flight on one channel */
#define VGPU_CLIENT_ITEMS 2048		/* in flight or not yet fetched, of one client */
#define VGPU_MAX_HANDLES 1024		/* contexts and channels of one client */

struct vgpu_info {
	__u32 version;
	__u32 devices;
	__u32 mode;			/* enum vgpu_engine_mode */
	__u32 scale;
	__u32 slice_us[2];		/* compute, copy */
	__u32 switch_ns[2];
	__u64 memory_bytes;		/* of each device */
};

struct vgpu_context_create {
	__u32 device;
	__u32 context;			/* out */
};

struct vgpu_channel_create {
	__u32 context;
	__u32 runlist;			/* enum vgpu_runlist_id */
	__u32 channel;			/* out */
	__u32 reserved;
};

struct vgpu_destroy {
	__u32 handle;			/* context (its channels first) or channel */
	__u32 reserved;
};

/* The n-th item submitted to a channel has sequence number n, from 1. */
struct vgpu_work {
	__u32 channel;
	__u32 wait_channel;		/* 0, or start after that channel's wait_seq-th item */
	__u64 wait_seq;
	__u64 id;
	__u64 cost_ns;
};

struct vgpu_submit {
	__u64 works;			/* struct vgpu_work[count]; over the socket they follow inline */
	__u32 count;
	__u32 accepted;			/* out; fewer than count when a limit above is reached */
};

struct vgpu_completion {
	__u32 channel;
	__u32 reserved;
	__u64 id;
	__u64 start_ns;			/* CLOCK_MONOTONIC */
	__u64 end_ns;
};

enum vgpu_control_op {
	VGPU_SET_SLICE,			/* handle: context; value: microseconds */
	VGPU_GET_SLICE,
	VGPU_SET_ENABLED,		/* handle: channel; value: 0 takes it off the device */
};

struct vgpu_control {
	__u32 op;
	__u32 handle;
	__u32 runlist;			/* of a context */
	__u32 value;			/* in or out */
};

enum vgpu_memory_op {
	VGPU_MEMORY_ASK,
	VGPU_MEMORY_TAKE,		/* all of it, or -ENOMEM */
	VGPU_MEMORY_GIVE_BACK,
};

/* The device's memory is counted here and lies in the clients; what one holds ends with it. */
struct vgpu_memory {
	__u32 device;
	__u32 op;
	__u64 bytes;
	__u64 total;			/* out */
	__u64 used;			/* out: by all clients, after the operation */
};

struct vgpu_device_stats {
	__u32 device;
	__u32 owner_count;		/* in: room at owners; out: how many there are */
	__u64 owners;			/* struct vgpu_owner_stats[]; over the socket they follow inline */
	__u64 elapsed_ns;		/* since start or reset */
	__u64 busy_ns;			/* something executed */
	__u64 runlist_busy_ns[2];
	__u64 switching_ns[2];
	__u64 switches[2];
	__u64 memory_bytes;
	__u64 memory_used;
};

/* One process on one device, dead ones included, since the last reset. */
struct vgpu_owner_stats {
	__u32 pid;
	__u32 contexts;			/* now open */
	__u64 union_ns;			/* something of it executed */
	__u64 busy_ns[2];
	__u64 items;
	char name[16];
};

#define VGPU_IOC_INFO		_IOR('v', 1, struct vgpu_info)
#define VGPU_IOC_CONTEXT	_IOWR('v', 2, struct vgpu_context_create)
#define VGPU_IOC_CHANNEL	_IOWR('v', 3, struct vgpu_channel_create)
#define VGPU_IOC_DESTROY	_IOW('v', 4, struct vgpu_destroy)
#define VGPU_IOC_SUBMIT		_IOWR('v', 5, struct vgpu_submit)
#define VGPU_IOC_CONTROL	_IOWR('v', 6, struct vgpu_control)
#define VGPU_IOC_STATS		_IOWR('v', 7, struct vgpu_device_stats)
#define VGPU_IOC_RESET_STATS	_IO('v', 8)
#define VGPU_IOC_MEMORY		_IOWR('v', 9, struct vgpu_memory)

/*
 * Socket only. A request carries an ioctl number and its structure; the answer
 * has the same cookie and the filled structure. Submissions are answered only
 * if they fail. Completions come unasked: VGPU_MSG_COMPLETIONS with an array of
 * struct vgpu_completion.
 */
#define VGPU_MSG_COMPLETIONS	0
#define VGPU_MSG_MAX_SIZE	(1U << 20)

struct vgpu_message {
	__u32 op;
	__u32 size;			/* of what follows */
	__s32 result;			/* answer: 0 or a negative errno */
	__u32 cookie;
};

#endif /* VGPU_H */
