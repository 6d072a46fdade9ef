/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The objects of the module. A device is a GPU, or an instance of one. An entity
 * is a process on a device, kept beside its task_struct and found by its struct
 * pid. A client is an open file, owned by the process that attached it. Who has
 * the turn is decided by policy/; the files here keep its objects, its lock and
 * its clock.
 *
 * Locks, outermost first:
 *   client->attach_lock (mutex)	binds a client to a device, once
 *   ptsched_devices_lock (mutex)	the list of devices
 *   dev->lock (spinlock, BH off)	everything else of a device
 *   groups_lock (spinlock)		groups of processes, of all devices (group.c)
 * Under dev->lock is decided and noted down, nothing else. No list is walked there
 * that may be longer than PTSCHED_CLIENTS_MAX, other than by the policy, which
 * looks at who waits, holds or lingers: who holds the lock is not to wait for what
 * another process opens. Threads and pollers are woken and listeners told by
 * ptsched_unlock() and a work, without it (tell.c). The timer of a device expires
 * in soft interrupt context, in a thread on RT.
 *
 * Letters behind fields: C constant after creation, D ptsched_devices_lock,
 * L dev->lock, G groups_lock, A written once under attach_lock and dev->lock.
 */
#ifndef PTSCHED_OBJECTS_H
#define PTSCHED_OBJECTS_H

#include <linux/hrtimer.h>
#include <linux/kfifo.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/ptsched.h>
#include <linux/rbtree.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "contract/announce.h"
#include "contract/client.h"
#include "gang.h"
#include "policy.h"

struct cgroup;

/* Events of a device that wait to be sent; the listeners are told if there are more. */
#define PTSCHED_UNSENT_EVENTS	256

/**
 * struct ptsched_told - an event, as it is told
 * @event: PTSCHED_EVENT_*
 * @time_ns: when it was
 * @pid: the process, with a reference; NULL: the event is the device's
 * @owner: whose it is
 * @comm: its name
 * @budget_ns: its budget
 * @turn: its turn
 */
struct ptsched_told {
	u32 event;
	u64 time_ns;
	struct pid *pid;
	kuid_t owner;
	char comm[TASK_COMM_LEN];
	s64 budget_ns;
	u64 turn;
};

/**
 * struct ptsched_dev - a GPU, or an instance of one that MIG divides
 * @id: C number in uapi and netlink
 * @name: C PCI address; an instance's UUID
 * @uuid: C UUID, empty where not known
 * @instance: C as it says
 * @node: D what its node in /dev is, by PTSCHED_NODE(); 0: not known
 * @ref: held by the list of devices, by clients and by entities
 * @link: D in ptsched_devices
 * @lock: see above
 * @visit: L counts ptsched_lock()
 * @locked_ns: L when it was locked: the time of all that is done until it is unlocked
 * @longest_hold_ns: L how long it was, at most, as far as that is measured
 * @policy: L the scheduler
 * @timer: L armed for the instant at which @policy wants to run, if any
 * @armed_ns: L that instant, or PTSP_NEVER
 * @changed: L the policy is to decide before the lock is given back
 * @gone: L removed from the machine: nothing is scheduled any more
 * @front: which group goes first here, G; who may not yet, L
 * @by_pid: L entities by struct pid
 * @by_id: L entities by id
 * @users: L who has entities or debts here, by uid
 * @indebted: L of these, who have no entity, in the order in which they are looked at
 * @cgroups: L cgroups that have entities, debts or a share of their own here, by id
 * @unused_cgroups: L of these, with nothing in them, in the same order
 * @asker_cpu: L 1 + the CPU of the thread that asks, while its asking is decided
 * @admitting: L entities with the turn, of which more threads may have it
 * @woken: L threads that are to look again
 * @polled: L clients of which those who poll are to look again
 * @late: L entities whose clients are told of events later, in the order of contract.late_ns
 * @asking: L entities that have asked for the turn since the policy decided last
 * @graveyard: L entities that left, freed by ptsched_unlock()
 * @events: L that have not been sent
 * @events_lost: L there was no room for one
 * @telling: does what ptsched_unlock() leaves
 */
struct ptsched_dev {
	u32 id;
	char name[PTSCHED_NAME_LEN];
	char uuid[PTSCHED_NAME_LEN];
	bool instance;
	u64 node;
	struct kref ref;
	struct list_head link;
	spinlock_t lock;	/* L */
	u64 visit;
	u64 locked_ns;
	u64 longest_hold_ns;
	struct ptsp_device policy;
	struct hrtimer timer;
	u64 armed_ns;
	bool changed;
	bool gone;
	struct ptsp_front front;
	struct rb_root by_pid;
	struct rb_root by_id;
	struct rb_root users;
	struct list_head indebted;
	struct rb_root cgroups;
	struct list_head unused_cgroups;
	u32 asker_cpu;
	struct list_head admitting;
	struct list_head woken;
	struct list_head polled;
	struct list_head late;
	struct list_head asking;
	struct list_head graveyard;
	DECLARE_KFIFO(events, struct ptsched_told, PTSCHED_UNSENT_EVENTS);
	bool events_lost;
	struct work_struct telling;
};

/**
 * struct ptsched_user - a user's account on a device
 * @node: L in dev->users
 * @indebted: L in dev->indebted, while there is no entity
 * @uid: C the user
 * @nr_entities: L entities that are joined
 * @gpu_ns: L GPU time of all that it has or had
 * @share: L what it gets against other users, where time is divided among these
 * @policy: L what dead entities owe
 * @group: L the entities that are in @grouped
 * @grouped: L as @policy, of entities whose time is the user's
 */
struct ptsched_user {
	struct rb_node node;
	struct list_head indebted;
	kuid_t uid;
	u32 nr_entities;
	u64 gpu_ns;
	u32 share;
	struct ptsp_user policy;
	struct ptsp_group group;
	struct ptsp_user grouped;
};

/**
 * struct ptsched_cgroup - a cgroup on a device
 * @node: L in dev->cgroups
 * @unused: L in dev->unused_cgroups, while there is nothing in it
 * @cgrp: C the cgroup, with a reference
 * @id: C its number
 * @parent: C the cgroup that it is in; NULL: the root
 * @nr_inside: L entities that are in it, and cgroups
 * @nr_entities: L entities that are in it, or in those in it
 * @share: L what it gets against others in the same
 * @gpu_ns: L GPU time of all that is in it or was
 * @group: L its part in the policy
 * @account: L what dead entities owe that were in it
 */
struct ptsched_cgroup {
	struct rb_node node;
	struct list_head unused;
	struct cgroup *cgrp;
	u64 id;
	struct ptsched_cgroup *parent;
	u32 nr_inside;
	u32 nr_entities;
	u32 share;
	u64 gpu_ns;
	struct ptsp_group group;
	struct ptsp_user account;
};

/**
 * struct ptsched_entity - a process on a device
 * @policy: L the scheduler's part
 * @contract: L what counts for which call may do what, and how often clients are told
 * @dev: C the device
 * @id: C never used again
 * @pid: C the thread group
 * @by_pid: L in dev->by_pid
 * @by_id: L in dev->by_id
 * @grave: L in dev->graveyard
 * @owned: L clients of this process, ptsched_client.owned_link
 * @members: L clients whose turns are this entity's, ptsched_client.link
 * @waiting: L members with threads that wait, and some others; ptsched_client.waiting
 * @admitting: L in dev->admitting
 * @late: L in dev->late
 * @asking: L in dev->asking
 * @weight_set: L weight set by the administrator, 0: from nice
 * @weight: L as last read
 * @ref: held by who made it, then by the device; and by a pending @reap
 * @joined: L known to the device and to the policy
 * @leaving: L its end has been told
 * @user: L account that takes over the debt
 * @spare: account to be used if the user, who came with it, has none yet
 * @cgroup: L the cgroup that it counts to; NULL: to none
 * @rank: L its part in a group; NULL: it has none
 * @weight_visit: L dev->visit when @weight was read
 * @granted_budget_ns: L budget when the turn began
 * @comm: L name of the process when last seen
 * @owner: L its user then; INVALID_UID if it had several
 * @reaping: @reap is queued and has not begun
 * @death: C on pid->wait_pidfd; queues @reap
 * @reap: ends the entity of a process that died without closing its files
 */
struct ptsched_entity {
	struct ptsp_entity policy;
	struct ptsc_entity contract;
	struct ptsched_dev *dev;
	u64 id;
	struct pid *pid;
	struct rb_node by_pid;
	struct rb_node by_id;
	struct list_head grave;
	struct list_head owned;
	struct list_head members;
	struct list_head waiting;
	struct list_head admitting;
	struct list_head late;
	struct list_head asking;
	u32 weight_set;
	u32 weight;
	struct kref ref;
	bool joined;
	bool leaving;
	struct ptsched_user *user;
	struct ptsched_user *spare;
	struct ptsched_cgroup *cgroup;
	struct ptsched_rank *rank;
	u64 weight_visit;
	s64 granted_budget_ns;
	char comm[TASK_COMM_LEN];
	kuid_t owner;
	atomic_t reaping;
	struct wait_queue_entry death;
	struct work_struct reap;
};

/**
 * struct ptsched_client - an open file
 * @contract: L who holds, waits, acts; @closed is read without the lock, too
 * @ref: held by the file, by @polled and by @crowd
 * @attach_lock: serialises PTSCHED_IOC_ATTACH
 * @dev: A the device; NULL: not attached
 * @owner: A the process that attached
 * @shared: C the page that the owner maps
 * @self: L entity of the owner; NULL: not attached or closed
 * @entity: L entity whose turns this client takes; @self unless it acts for another
 * @giver: L the client by which it does, with a reference; NULL: by a pidfd
 * @owned_link: L in self->owned
 * @link: L in entity->members
 * @waiters: L threads in PTSCHED_IOC_ACQUIRE
 * @waiting: L in entity->waiting: always while there are @waiters
 * @polled: L in dev->polled
 * @untold: L events of which who polls has not been told
 * @acked: events that the owner has seen
 * @poll: those who poll
 * @crowd: wakes them, if they are many
 */
struct ptsched_client {
	struct ptsc_client contract;
	struct kref ref;
	struct mutex attach_lock;	/* A */
	struct ptsched_dev *dev;
	struct pid *owner;
	struct ptsched_page *shared;
	struct ptsched_entity *self;
	struct ptsched_entity *entity;
	struct ptsched_client *giver;
	struct list_head owned_link;
	struct list_head link;
	struct list_head waiters;
	struct list_head waiting;
	struct list_head polled;
	bool untold;
	u32 acked;
	wait_queue_head_t poll;
	struct work_struct crowd;
};

#endif /* PTSCHED_OBJECTS_H */
