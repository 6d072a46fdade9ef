/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * ptsched - GPU time, accounted per process and given out by nice
 *
 * The contract between the scheduler and the programs that it schedules. The
 * scheduler is the module behind /dev/ptsched or, where no module can be
 * loaded, the broker ptschedd behind a Unix socket; both keep every sentence
 * of this header.
 *
 * A *client* is an open file, bound to one device by PTSCHED_IOC_ATTACH. The
 * process that attached owns the client: every other process gets EPERM from
 * the calls below except QUERY, whatever way the descriptor reached it. An
 * *entity* is a process on a device; all its clients share one budget and one
 * *turn*, the right to have work on the device.
 *
 * Every structure begins with its size. A caller built against an older header
 * passes a smaller size; a larger one is accepted as long as what the scheduler
 * does not know is zero (else E2BIG). Unknown flags and non-zero reserved
 * fields are refused with EINVAL. On failure, output fields are unchanged.
 * Layouts are the same for 32-bit and 64-bit callers. Times are nanoseconds;
 * instants are CLOCK_MONOTONIC.
 *
 * PREEMPT asks those who can do so (PTSCHED_MECHANISM_PREEMPT) to take their work
 * off the device instead of letting it drain; OUTWEIGHED, to see that work of
 * others gets onto the device soon, by a short time slice of their own.
 *
 * History: 1.0 first version. 1.1 PTSCHED_ATTACH_NODE; events by PTSCHED_CMD_SUBSCRIBE,
 * of what the listener may see. 1.2 PTSCHED_EVENT_WAIT, PTSCHED_EVENT_CANCEL,
 * PTSCHED_A_USER_GPU_NS, PTSCHED_ACQUIRE_ABOVE, PTSCHED_IOC_GROUP, PTSCHED_A_GROUPING,
 * PTSCHED_CMD_SET_USER, PTSCHED_CMD_SET_CGROUP, PTSCHED_CMD_GET_ACCOUNT.
 */
#ifndef _UAPI_LINUX_PTSCHED_H
#define _UAPI_LINUX_PTSCHED_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define PTSCHED_VERSION_MAJOR	1
#define PTSCHED_VERSION_MINOR	2

#define PTSCHED_NODE_NAME	"ptsched"

/* Length of a device's name and UUID and of a group's name, terminating zero included. */
#define PTSCHED_NAME_LEN	48
#define PTSCHED_COMM_LEN	16

#define PTSCHED_NEVER		(~0ULL)

/* Clients of one process on one device; those of others that act for it count, too. */
#define PTSCHED_CLIENTS_MAX	256

/*
 * Who holds the turn is told so many times in it at once of events that are no call-backs,
 * and then once in so long: others can cause any number of them.
 */
#define PTSCHED_EVENTS_AT_ONCE	8
#define PTSCHED_EVENTS_PAUSE_NS	1000000ULL

/* ---- features, as bits of ptsched_query.features ---- */

#define PTSCHED_FEATURE_PAGE	(1ULL << 0)	/* PTSCHED_PAGE_OFFSET can be mapped */
#define PTSCHED_FEATURE_ACT_FOR	(1ULL << 1)	/* PTSCHED_IOC_ACT_FOR */
#define PTSCHED_FEATURE_NETLINK	(1ULL << 2)	/* generic netlink family */
#define PTSCHED_FEATURE_ABOVE	(1ULL << 3)	/* PTSCHED_ACQUIRE_ABOVE */
#define PTSCHED_FEATURE_GROUP	(1ULL << 4)	/* PTSCHED_IOC_GROUP */

/* ---- how a client's process enforces the decisions ---- */

#define PTSCHED_MECHANISM_ACCOUNT	0	/* nothing is enforced */
#define PTSCHED_MECHANISM_GATE		1	/* submissions block without the turn */
#define PTSCHED_MECHANISM_SLICE		2	/* hardware time slices */
#define PTSCHED_MECHANISM_PREEMPT	3	/* work is taken off the hardware */

/**
 * struct ptsched_query - what the scheduler is
 * @size: in: sizeof(struct ptsched_query)
 * @flags: in: 0
 * @version_major: out: PTSCHED_VERSION_MAJOR of the scheduler
 * @version_minor: out: PTSCHED_VERSION_MINOR of the scheduler
 * @features: out: PTSCHED_FEATURE_* bits
 * @nr_devices: out: devices that can be attached to
 * @page_size: out: bytes to map at PTSCHED_PAGE_OFFSET
 */
struct ptsched_query {
	__u32 size;
	__u32 flags;
	__u32 version_major;
	__u32 version_minor;
	__u64 features;
	__u32 nr_devices;
	__u32 page_size;
};

#define PTSCHED_ATTACH_NODE	(1U << 0)	/* node is given */

/**
 * struct ptsched_attach - bind the client to a device
 * @size: in: sizeof(struct ptsched_attach)
 * @flags: in: PTSCHED_ATTACH_*
 * @device: in: PCI address ("0000:17:00.0") or UUID ("GPU-..."), zero-padded
 * @mechanism: in: PTSCHED_MECHANISM_*, see PTSCHED_IOC_MECHANISM
 * @device_id: out: the scheduler's number of the device, as in netlink
 * @entity: out: identifies the entity for as long as the scheduler runs
 * @node: in: descriptor of the device's node (/dev/nvidia0), open for writing; it is
 *	looked at and not kept. 0 without PTSCHED_ATTACH_NODE
 * @pad: in: 0
 *
 * Where the administrator has said what node a device has (PTSCHED_A_NODE), who
 * cannot open that has no turns on the device, either: EACCES, unless the caller
 * has CAP_SYS_NICE. An instance of a GPU that MIG divides asks for the node of any
 * device, if one of them has one. ENODEV: no such device. EINVAL: neither an
 * address nor a UUID. EBADF: @node is not an open descriptor. EBUSY: the client is
 * attached already. EMFILE: the process has PTSCHED_CLIENTS_MAX there.
 */
struct ptsched_attach {
	__u32 size;
	__u32 flags;
	char device[PTSCHED_NAME_LEN];
	__u32 mechanism;
	__u32 device_id;
	__u64 entity;
	__s32 node;
	__u32 pad;
};

#define PTSCHED_ACQUIRE_TRY	(1U << 0)	/* do not block: EAGAIN */
#define PTSCHED_ACQUIRE_ABOVE	(1U << 1)	/* lighter ones may stay on the device */

/**
 * struct ptsched_acquire - wait for the turn
 * @size: in: sizeof(struct ptsched_acquire)
 * @flags: in: PTSCHED_ACQUIRE_*
 * @deadline_ns: in: give up at this instant with ETIMEDOUT; PTSCHED_NEVER: wait
 * @turn: out: number of the turn, for the page, traces and ACK
 * @budget_ns: out: the budget when the turn was granted
 * @waited_ns: out: time between the call and the grant
 *
 * With ABOVE, lighter clients' work that gets onto the device beside others' (see
 * PTSCHED_IOC_MECHANISM) is not taken off for this turn: they have the device, by
 * short time slices, as soon as the caller leaves it idle. That costs the caller
 * less than to have it taken off, but that each time. Whoever of the process asks
 * without ABOVE, be it in the turn, has it taken off.
 *
 * Blocks until the entity has the turn. A client that holds the turn already
 * succeeds at once, and so does a thread that holds it through another client
 * of its process. Interrupted by a signal, the call is restarted by the kernel
 * or fails with EINTR; a grant that was made before the signal is returned as
 * success. ENOTCONN: not attached. ECANCELED: the file was closed by the
 * process meanwhile.
 */
struct ptsched_acquire {
	__u32 size;
	__u32 flags;
	__u64 deadline_ns;
	__u64 turn;
	__s64 budget_ns;
	__u64 waited_ns;
};

/**
 * struct ptsched_release - give the turn back
 * @size: in: sizeof(struct ptsched_release)
 * @submissions: in: calls that gave the device work since the last report
 * @gpu_ns: in: measured GPU time since the last report
 * @handover_ns: in: how long the device stood still for this turn: from the
 *	grant to the first submission, and, unless ACK told when the work would
 *	end, from the end of the last work to now
 *
 * All work of the client must have left the device. EPERM: the client holds no
 * turn.
 */
struct ptsched_release {
	__u32 size;
	__u32 submissions;
	__u64 gpu_ns;
	__u64 handover_ns;
};

/**
 * struct ptsched_report - tell of use while the turn is kept
 * @size: in: sizeof(struct ptsched_report)
 * @submissions: in: calls that gave the device work since the last report
 * @gpu_ns: in: measured GPU time since the last report
 */
struct ptsched_report {
	__u32 size;
	__u32 submissions;
	__u64 gpu_ns;
};

/**
 * struct ptsched_ack - acknowledge a call-back or another change of the page
 * @size: in: sizeof(struct ptsched_ack)
 * @events: in: ptsched_page.events as read before the state was looked at
 * @drain_ns: in: when the client stopped submitting because of a call-back: how
 *	long its work in flight will take; 0: not known. The next client is
 *	admitted a little earlier than that, so that the device does not stand
 *	still; without it, when the turn is released
 *
 * poll() reports the client readable until its latest event is acknowledged.
 */
struct ptsched_ack {
	__u32 size;
	__u32 events;
	__u64 drain_ns;
};

#define PTSCHED_ACT_FOR_PIDFD	0	/* fd is a pidfd */
#define PTSCHED_ACT_FOR_CLIENT	1	/* fd is a client of the requester's */

/**
 * struct ptsched_act_for - let the client's turns be another process's
 * @size: in: sizeof(struct ptsched_act_for)
 * @kind: in: PTSCHED_ACT_FOR_*
 * @fd: in: descriptor of the requester; -1: act for oneself again
 * @pad: in: 0
 *
 * Weight and charge are the requester's from the next acquire on, until the
 * requester is gone or has closed the client that was named; a turn that is
 * held then is kept. The requester's effective user must be the caller's, and it
 * may weigh no more than the caller, unless the caller has CAP_SYS_NICE (EPERM);
 * a client on the same device that was handed over needs neither
 * (PTSCHED_IOC_HAND_OVER).
 * EBUSY: the client holds or waits for the turn. ESRCH: the requester is gone, or
 * the client closed. EMFILE: as for PTSCHED_IOC_ATTACH, of the requester.
 */
struct ptsched_act_for {
	__u32 size;
	__u32 kind;
	__s32 fd;
	__u32 pad;
};

/**
 * struct ptsched_mechanism - tell how the client enforces decisions from now on
 * @size: in: sizeof(struct ptsched_mechanism)
 * @mechanism: in: PTSCHED_MECHANISM_*
 *
 * An entity all of whose clients say SLICE or PREEMPT is called back with the
 * state PREEMPT for a heavier one, which is admitted at once, and may have the
 * turn beside equals (state BESIDE). EINVAL: no such
 * mechanism. ECANCELED: the file was closed by the process meanwhile.
 */
struct ptsched_mechanism {
	__u32 size;
	__u32 mechanism;
};

/**
 * struct ptsched_hand_over - let others act for this client's process
 * @size: in: sizeof(struct ptsched_hand_over)
 * @flags: in: 0
 *
 * From now on and until it is closed, whoever has the client's descriptor may act
 * for its process, however heavy that is: see PTSCHED_IOC_ACT_FOR. A process that
 * does not say so gives nothing away with descriptors that a child inherits.
 * ECANCELED: the file was closed by the process meanwhile.
 */
struct ptsched_hand_over {
	__u32 size;
	__u32 flags;
};

/* Processes on devices in one group: one on two devices counts twice. */
#define PTSCHED_GROUP_MAX	64

/**
 * struct ptsched_group - the process is one of several that wait for each other
 * @size: in: sizeof(struct ptsched_group)
 * @flags: in: 0
 * @name: in: what the group is called, zero-padded; empty: it is in none any more
 *
 * Processes of one user in one pid namespace, on whatever devices, that give the same
 * name are to have their turns together: when one of them gets the turn where others
 * want it, the others of the group go before all of their weight for a slice, and have it
 * at once, unless they are in debt or another group goes first on one of these devices. None
 * of them gets more time by it. It is so for the process on the client's device, until it
 * has no client there any more. ENOSPC: the group has PTSCHED_GROUP_MAX already. EINVAL:
 * the name does not end, or something follows its end. ECANCELED: the file was closed by
 * the process meanwhile.
 */
struct ptsched_group {
	__u32 size;
	__u32 flags;
	char name[PTSCHED_NAME_LEN];
};

#define PTSCHED_IOC_MAGIC	0xb9

#define PTSCHED_IOC_QUERY	_IOWR(PTSCHED_IOC_MAGIC, 0x00, struct ptsched_query)
#define PTSCHED_IOC_ATTACH	_IOWR(PTSCHED_IOC_MAGIC, 0x01, struct ptsched_attach)
#define PTSCHED_IOC_ACQUIRE	_IOWR(PTSCHED_IOC_MAGIC, 0x02, struct ptsched_acquire)
#define PTSCHED_IOC_RELEASE	_IOW(PTSCHED_IOC_MAGIC,  0x03, struct ptsched_release)
#define PTSCHED_IOC_REPORT	_IOW(PTSCHED_IOC_MAGIC,  0x04, struct ptsched_report)
#define PTSCHED_IOC_ACK		_IOW(PTSCHED_IOC_MAGIC,  0x05, struct ptsched_ack)
#define PTSCHED_IOC_ACT_FOR	_IOW(PTSCHED_IOC_MAGIC,  0x06, struct ptsched_act_for)
#define PTSCHED_IOC_MECHANISM	_IOW(PTSCHED_IOC_MAGIC,  0x07, struct ptsched_mechanism)
#define PTSCHED_IOC_HAND_OVER	_IOW(PTSCHED_IOC_MAGIC,  0x08, struct ptsched_hand_over)
#define PTSCHED_IOC_GROUP	_IOW(PTSCHED_IOC_MAGIC,  0x09, struct ptsched_group)

/* ---- the page, one per client, read-only, mapped at this offset ---- */

#define PTSCHED_PAGE_OFFSET	0

#define PTSCHED_STATE_TURN	(1U << 0)	/* the client holds the turn */
#define PTSCHED_STATE_CALLBACK	(1U << 1)	/* stop submitting, drain, release */
#define PTSCHED_STATE_WANTED	(1U << 2)	/* somebody could run: release when idle */
#define PTSCHED_STATE_CONTENDED	(1U << 3)	/* others are there: bound work in flight */
#define PTSCHED_STATE_SHARED	(1U << 4)	/* others hold the turn too */
#define PTSCHED_STATE_PREEMPT	(1U << 5)	/* called back, and the next is in */
#define PTSCHED_STATE_OUTWEIGHED (1U << 6)	/* somebody attached weighs more */
#define PTSCHED_STATE_PREADMITTED (1U << 7)	/* no turn yet: who asks has it at once */
#define PTSCHED_STATE_EXACT	(1U << 8)	/* contended by equals: measure all there is */
#define PTSCHED_STATE_BESIDE	(1U << 9)	/* equals hold the turn too: report now and then */
#define PTSCHED_STATE_ABOVE	(1U << 10)	/* lighter ones stay: release when idle */
#define PTSCHED_STATE_BELOW	(1U << 11)	/* a heavier one has the device */
#define PTSCHED_STATE_DEAD	(1U << 31)	/* the scheduler is gone: run unscheduled */

/**
 * struct ptsched_page - what a client may know without a system call
 * @version: PTSCHED_VERSION_MAJOR
 * @size: bytes that are valid
 * @state: PTSCHED_STATE_*; a submission is in order while
 *	(state & (TURN | CALLBACK)) == TURN. A turn ends only by the client's own
 *	release (or its end), never by this word: CALLBACK is set first. While
 *	PREADMITTED is set, a thread may submit once and ask for the turn right
 *	after that
 * @events: changes of CALLBACK, WANTED, CONTENDED, PREEMPT, OUTWEIGHED, EXACT,
 *	BESIDE, ABOVE and BELOW so far. While the client holds the turn, those of all
 *	but CALLBACK and PREEMPT may be counted later than they are seen in @state, and
 *	several as one: see PTSCHED_EVENTS_AT_ONCE
 * @turn: number of the current or last turn
 * @budget_ns: budget at @budget_stamp_ns
 * @budget_stamp_ns: when @budget_ns was true
 * @granted_ns: when the current or last turn was granted
 * @inflight_ns: bound on the estimated time of work in flight while CONTENDED,
 *	at least one submission; 0: unbounded (policy none)
 * @busy_until_ns: until when, at the grant, work of the previous turn was
 *	expected to be on the device; 0: there was none
 * @weight: the entity's weight when last looked at
 * @asker_cpu: 1 + the CPU of the thread whose asking called this client back
 *	last, 0: none has. A thread that only serves the scheduler should not be
 *	there when it is woken
 *
 * Only @state is kept current at every instant, and only it and @events may be
 * relied on without the turn; the others change at grants, @asker_cpu at
 * call-backs.
 */
struct ptsched_page {
	__u32 version;
	__u32 size;
	__u32 state;
	__u32 events;
	__u64 turn;
	__s64 budget_ns;
	__u64 budget_stamp_ns;
	__u64 granted_ns;
	__u64 inflight_ns;
	__u64 busy_until_ns;
	__u32 weight;
	__u32 asker_cpu;
};

/* ---- generic netlink: what tools see and set ---- */

#define PTSCHED_GENL_NAME	"ptsched"
#define PTSCHED_GENL_VERSION	1

#define PTSCHED_POLICY_WEIGHTED	0	/* token bucket, refill by weight */
#define PTSCHED_POLICY_LITERAL	1	/* token bucket of the PTask paper, section 5.3 */
#define PTSCHED_POLICY_NONE	2	/* account only */

#define PTSCHED_GROUPING_PROCESS 0	/* time is divided among processes */
#define PTSCHED_GROUPING_USER	1	/* among users, and a user's among its processes */
#define PTSCHED_GROUPING_CGROUP	2	/* among cgroups (v2), level by level, and processes */

#define PTSCHED_ENTITY_IDLE	0
#define PTSCHED_ENTITY_WAITING	1
#define PTSCHED_ENTITY_HOLDING	2

#define PTSCHED_EVENT_ATTACH	1
#define PTSCHED_EVENT_EXIT	2
#define PTSCHED_EVENT_GRANT	3
#define PTSCHED_EVENT_CALLBACK	4
#define PTSCHED_EVENT_RELEASE	5
#define PTSCHED_EVENT_FORCED	6	/* a called-back turn did not drain: shared */
#define PTSCHED_EVENT_SETTINGS	7
#define PTSCHED_EVENT_PREEMPT	8	/* a called-back turn is to leave the device at once */
#define PTSCHED_EVENT_LOST	9	/* there were others, of whatever device */
#define PTSCHED_EVENT_WAIT	10	/* asked for the turn, and did not get it at once */
#define PTSCHED_EVENT_CANCEL	11	/* waits no more, without the turn */

/*
 * GET_DEVICE and GET_ENTITY answer dumps (every device; every entity, of one
 * device if PTSCHED_A_DEVICE_ID is given), one message each with the attributes
 * marked D or E. SET_DEVICE (CAP_SYS_ADMIN) takes any of the attributes marked
 * S, for the device named by PTSCHED_A_DEVICE_ID, or for all without it; all
 * are checked before any is applied, and a refusal names the attribute
 * (extended ack). SET_ENTITY (CAP_SYS_ADMIN) takes PID, WEIGHT (0: from nice
 * again) and DEVICE_ID (all without it). SET_USER (CAP_SYS_ADMIN) takes UID, SHARE and
 * DEVICE_ID (all without it). SET_CGROUP takes CGROUP_FD, SHARE and DEVICE_ID (all without it),
 * from CAP_SYS_ADMIN and from who may write the directory that the cgroup's is in, as its
 * cpu.weight is whose who made it. GET_ACCOUNT answers dumps: the users of a device and its
 * cgroups, of those that have processes, debts or a share of their own there, with the
 * attributes marked A, to who may see all of that user's processes, cgroups to who may see all.
 *
 * With GROUPING_USER, under PTSCHED_POLICY_WEIGHTED, a user has its SHARE over that of all who
 * are active, however many processes it has there, and each of these what its weight is over
 * that of the user's. A process is in its user's group from when it asks for the turn next.
 *
 * With GROUPING_CGROUP the same is so of cgroups: what a cgroup has is divided by SHARE among
 * the cgroups in it and by weight among its own processes, of which one of nice 0 is worth a
 * cgroup of SHARE 100. Processes of the root cgroup are in no group; what is deeper than
 * PTSCHED_CGROUP_DEPTH counts to the cgroup at that depth. GPU_NS of a cgroup is that of all
 * in it, while time was so divided.
 *
 * After SUBSCRIBE, which has no attributes, a socket receives EVENT messages until it is
 * closed: EVENT, TIME_NS and, unless LOST, DEVICE_ID and, unless SETTINGS, PID, COMM,
 * BUDGET_NS and TURN. TIME_NS is the instant of the decision, with which the counters reckon,
 * too. EXIT comes before the RELEASE or CANCEL that follows from it. A socket that is not
 * read fails with ENOBUFS.
 *
 * USER_GPU_NS counts processes that have gone, too. It begins at 0 again after the user has had
 * neither processes nor debts on the device, and is shown to who may see all of that user's.
 *
 * Entities, and events of processes, are shown to who may see the process: who is in its
 * pid namespace or in one above, as whose number PID is told, and is the process's user or
 * has CAP_SYS_PTRACE over that namespace of one's own. What counts is the user who opened
 * the socket.
 */
enum ptsched_cmd {
	PTSCHED_CMD_UNSPEC,
	PTSCHED_CMD_GET_DEVICE,
	PTSCHED_CMD_GET_ENTITY,
	PTSCHED_CMD_SET_DEVICE,
	PTSCHED_CMD_SET_ENTITY,
	PTSCHED_CMD_EVENT,
	PTSCHED_CMD_SUBSCRIBE,
	PTSCHED_CMD_SET_USER,
	PTSCHED_CMD_SET_CGROUP,
	PTSCHED_CMD_GET_ACCOUNT,
	__PTSCHED_CMD_LAST
};

#define PTSCHED_CMD_MAX (__PTSCHED_CMD_LAST - 1)

enum ptsched_attr {
	PTSCHED_A_UNSPEC,
	PTSCHED_A_PAD,
	PTSCHED_A_DEVICE_ID,		/* u32, D E A */
	PTSCHED_A_DEVICE,		/* string, D: PCI address */
	PTSCHED_A_UUID,			/* string, D: where known */
	PTSCHED_A_POLICY,		/* u32, D S: PTSCHED_POLICY_* */
	PTSCHED_A_IDLE_SHARING,		/* u8, D S: 0 or 1 */
	PTSCHED_A_MANY,			/* u8, D S: 1: many turns at once, as in the paper */
	PTSCHED_A_SLICE_NS,		/* u64, D S */
	PTSCHED_A_GRACE_NS,		/* u64, D S */
	PTSCHED_A_DRAIN_NS,		/* u64, D S: call-back to forced share */
	PTSCHED_A_INFLIGHT_NS,		/* u64, D S */
	PTSCHED_A_ALPHA,		/* u32, D S: thousandths, policy literal */
	PTSCHED_A_SLICE_EFFECTIVE_NS,	/* u64, D: at least 30 hand-overs */
	PTSCHED_A_HANDOVER_NS,		/* u64, D: median of claims */
	PTSCHED_A_ENTITIES,		/* u32, D A */
	PTSCHED_A_WAITERS,		/* u32, D */
	PTSCHED_A_TURNS,		/* u64, D E: turns granted */
	PTSCHED_A_CALLBACKS,		/* u64, D E */
	PTSCHED_A_FORCED,		/* u64, D E: turns shared because not drained */
	PTSCHED_A_OVERRUN_NS,		/* u64, D E: held beyond the forced share */
	PTSCHED_A_OCCUPANCY_NS,		/* u64, D E: wall time of turns while others were active */
	PTSCHED_A_HELD_NS,		/* u64, D E: wall time of turns */
	PTSCHED_A_GPU_NS,		/* u64, D E A: GPU time as measured by the clients */
	PTSCHED_A_GIVEN_NS,		/* u64, D E: part of OCCUPANCY that was given away */
	PTSCHED_A_PID,			/* u32, E: in the reader's pid namespace */
	PTSCHED_A_UID,			/* u32, E A */
	PTSCHED_A_COMM,			/* string, E */
	PTSCHED_A_NICE,			/* s32, E */
	PTSCHED_A_WEIGHT,		/* u32, E */
	PTSCHED_A_WEIGHT_SET,		/* u8, E: 1: WEIGHT was set, not from nice */
	PTSCHED_A_STATE,		/* u32, E: PTSCHED_ENTITY_* */
	PTSCHED_A_ACTIVE,		/* u8, E: counts among those who earn */
	PTSCHED_A_BUDGET_NS,		/* s64, E */
	PTSCHED_A_WAIT_NS,		/* u64, E: time spent waiting */
	PTSCHED_A_SUBMISSIONS,		/* u64, E: as told by the clients */
	PTSCHED_A_CLIENTS,		/* u32, E */
	PTSCHED_A_MECHANISM,		/* u32, E: PTSCHED_MECHANISM_*, as last told by a client */
	PTSCHED_A_EVENT,		/* u32: PTSCHED_EVENT_* */
	PTSCHED_A_TIME_NS,		/* u64 */
	PTSCHED_A_TURN,			/* u64 */
	PTSCHED_A_PREEMPTS,		/* u64, D E: call-backs that became PREEMPT */
	PTSCHED_A_ESCALATIONS,		/* u64, D E: of these, because it did not drain */
	PTSCHED_A_NODE,			/* u64, D S: the device's node, see PTSCHED_NODE */
	PTSCHED_A_USER_GPU_NS,		/* u64, E: GPU_NS of all that UID has or had there */
	PTSCHED_A_GROUP,		/* string, E: of PTSCHED_IOC_GROUP, where there is one */
	PTSCHED_A_GROUPING,		/* u32, D S: PTSCHED_GROUPING_* */
	PTSCHED_A_SHARE,		/* u32, E A: of its user, as a cgroup's cpu.weight */
	PTSCHED_A_CGROUP,		/* u64, E A: its number, which is its directory's inode */
	PTSCHED_A_PARENT_CGROUP,	/* u64, A: unless that is the root */
	PTSCHED_A_CGROUP_FD,		/* u32: a descriptor of its directory */
	__PTSCHED_A_LAST
};

#define PTSCHED_A_MAX (__PTSCHED_A_LAST - 1)

/*
 * The character device that who attaches must be able to open, as a number; 0: none need
 * be. To be set for one device.
 */
#define PTSCHED_NODE(major, minor)	((__u64)(major) << 32 | (minor))

/* Ranges of the settings; a value outside is refused with ERANGE. */
#define PTSCHED_SLICE_MIN_NS	100000ULL		/* 0.1 ms */
#define PTSCHED_SLICE_MAX_NS	1000000000ULL		/* 1 s */
#define PTSCHED_GRACE_MAX_NS	1000000000ULL		/* 1 s, from 0 */
#define PTSCHED_DRAIN_MIN_NS	1000000ULL		/* 1 ms */
#define PTSCHED_DRAIN_MAX_NS	10000000000ULL		/* 10 s */
#define PTSCHED_INFLIGHT_MIN_NS	10000ULL		/* 10 us */
#define PTSCHED_INFLIGHT_MAX_NS	1000000000ULL		/* 1 s */
#define PTSCHED_ALPHA_MAX	1000			/* 1.0, from 1 */
#define PTSCHED_WEIGHT_MAX	1000000			/* from 1 */
#define PTSCHED_SHARE_DEFAULT	100
#define PTSCHED_SHARE_MAX	10000			/* from 1 */
#define PTSCHED_CGROUP_DEPTH	8

#endif /* _UAPI_LINUX_PTSCHED_H */
