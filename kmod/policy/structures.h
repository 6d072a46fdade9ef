/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * What the policy keeps: settings and counters, groups and users, entities and devices. They
 * are in the host's memory, which reads what is not private and writes nothing; what is done
 * with them is in policy.h.
 */
#ifndef PTSCHED_POLICY_STRUCTURES_H
#define PTSCHED_POLICY_STRUCTURES_H

#include "tree.h"
#include "types.h"

#define PTSP_NEVER	(~(u64)0)

/* Intrusive doubly linked list; an unlinked link points to itself. */
struct ptsp_link {
	struct ptsp_link *next;
	struct ptsp_link *prev;
};

/* The values are those of uapi PTSCHED_POLICY_*, PTSCHED_GROUPING_* and PTSCHED_ENTITY_*. */
enum ptsp_kind { PTSP_WEIGHTED, PTSP_LITERAL, PTSP_NONE };
enum ptsp_grouping { PTSP_BY_PROCESS, PTSP_BY_USER, PTSP_BY_CGROUP };
enum ptsp_state { PTSP_IDLE, PTSP_WAITING, PTSP_HOLDING };

/* Signals to an entity; the values are those of uapi PTSCHED_STATE_*. */
enum ptsp_signal {
	PTSP_SIG_TURN = 1,
	PTSP_SIG_CALLBACK = 2,
	PTSP_SIG_WANTED = 4,
	PTSP_SIG_CONTENDED = 8,
	PTSP_SIG_SHARED = 16,
	PTSP_SIG_PREEMPT = 32,
	PTSP_SIG_OUTWEIGHED = 64,
	PTSP_SIG_PREADMITTED = 128,
	PTSP_SIG_EXACT = 256,
	PTSP_SIG_BESIDE = 512,
	PTSP_SIG_ABOVE = 1024,
	PTSP_SIG_BELOW = 2048,
};

/**
 * struct ptsp_params - settings of a device
 * @kind: the policy
 * @grouping: which groups (ptsp_group_init()) the host makes; passed through
 * @idle_sharing: unused time is given to entities whose budget is negative
 * @many: any number of turns at once, each gated by its own budget, which is
 *	debited by report (the paper)
 * @alpha: the paper's safety coefficient, in thousandths (literal only)
 * @slice_ns: how long a holder keeps the turn while others wait
 * @grace_ns: how long an absent entity stays active, and how long the device
 *	stands idle before unused time is given to who cannot be interrupted,
 *	or when somebody is away who usually is for less than half of that
 * @drain_ns: from call-back to sharing the turn by force
 * @inflight_ns: bound on work in flight while contended; passed through
 */
struct ptsp_params {
	enum ptsp_kind kind;
	enum ptsp_grouping grouping;
	bool idle_sharing;
	bool many;
	u32 alpha;
	u64 slice_ns;
	u64 grace_ns;
	u64 drain_ns;
	u64 inflight_ns;
};

/* Names the setting that ptsp_check_params() refuses. */
enum ptsp_param {
	PTSP_PARAM_OK,
	PTSP_PARAM_KIND,
	PTSP_PARAM_GROUPING,
	PTSP_PARAM_ALPHA,
	PTSP_PARAM_SLICE,
	PTSP_PARAM_GRACE,
	PTSP_PARAM_DRAIN,
	PTSP_PARAM_INFLIGHT,
};

/**
 * struct ptsp_stats - counters, of an entity and summed for the device
 * @turns: turns granted
 * @callbacks: call-backs sent
 * @preempts: of these, the ones that became demands to leave the device at once
 * @escalations: of these, the ones that did so because the work did not drain
 * @forced: turns shared because a called-back one had not drained in time
 * @submissions: as told by the clients
 * @held_ns: wall time of turns
 * @occupancy_ns: wall time of turns while another entity was active, divided among
 *	the holders of each instant, or among those of them that drain
 * @given_ns: part of @occupancy_ns that was given away by idle sharing
 * @gpu_ns: GPU time as told by the clients, at most @held_ns
 * @overrun_ns: turns kept after the sharing by force
 * @wait_ns: time spent waiting
 */
struct ptsp_stats {
	u64 turns;
	u64 callbacks;
	u64 preempts;
	u64 escalations;
	u64 forced;
	u64 submissions;
	u64 held_ns;
	u64 occupancy_ns;
	u64 given_ns;
	u64 gpu_ns;
	u64 overrun_ns;
	u64 wait_ns;
};

/* The weight of a group that nobody has set another for, as that of nice 0. */
#define PTSP_GROUP_WEIGHT	1024
/* So many groups one in another at most. */
#define PTSP_DEPTH		8

/* Where an entity is, or is not, in order: order.c. */
enum ptsp_place {
	PTSP_NOWHERE,
	PTSP_READY,		/* waiters with budget, who goes first */
	PTSP_BACK,		/* lingerers with budget, the heaviest first */
	/* The others, by the virtual time at which they will have budget: */
	PTSP_INDEBTED,		/* waiters */
	PTSP_REPAYING,		/* lingerers */
	PTSP_OVERDRAWN,		/* holders, if many hold */
	PTSP_PLACES,
};

#define PTSP_DUES		(PTSP_PLACES - PTSP_INDEBTED)

/* Members of a group, or those of none, in order of when they will have budget. */
struct ptsp_dues {
	struct rb_root_cached entities[PTSP_DUES];
	struct rb_root_cached groups[PTSP_DUES];
};

/* A group's place among those with the same parent: by when its first member is due. */
struct ptsp_due_group {
	struct rb_node node;
	u64 key;
	bool placed;
};

/**
 * struct ptsp_group - entities that earn together, as one of its weight would
 * @parent: the group that it is in; NULL: none
 * @weight: see ptsp_group_set_weight()
 * @depth: of the groups one in another, which it is
 *
 * In the host's memory; ptsp_group_init() before first use. The host may free it when
 * no user and no other group refers to it.
 */
struct ptsp_group {
	struct ptsp_group *parent;
	u32 weight;
	u32 depth;
	/* private: */
	u64 stamp_ns;		/* all that follows is as of then: vtime.c */
	u64 above;		/* the virtual time that it earns by */
	u64 time;		/* earned, in 2^-20 ns */
	u64 vtime;		/* of its active members */
	u64 absent_vtime;	/* and of the others */
	u64 rest;		/* earned, and less than a unit of @vtime */
	u64 absent_rest;
	u64 active_weight;
	s64 excess;		/* of what its active members have over what it earned, 2^-20 ns */
	struct ptsp_dues dues;
	struct ptsp_due_group due[PTSP_DUES];
};

/* What an entity, or what a user's dead ones owe, was last settled at. */
struct ptsp_stamp {
	u64 ns;
	u64 vtime;		/* its virtual time */
	u64 time;		/* what its group has earned */
};

/**
 * struct ptsp_user - what the dead entities of one user still owe on a device, and
 *	until when the living ones are given no time of others
 * @group: the group that its entities are in; NULL: none. Set before first use
 *
 * One per user, group and device, in the host's memory, zeroed before first use. The
 * host may free it when no entity of the user is left and
 * ptsp_user_owes() answers false.
 */
struct ptsp_user {
	struct ptsp_group *group;
	/* private: */
	struct rb_node node;		/* in @in, by @key and @arrival */
	struct rb_root_cached *in;
	struct rb_root_cached waiters;	/* its entities that wait, by given_vt */
	u64 key;
	u64 arrival;
	s64 debt_ns;
	struct ptsp_stamp stamp;
	u64 withheld_ns;	/* until then none of its entities is given time */
	u32 weight;
};

/* Part of an entity's turns: so long, so much GPU time, so many submissions. */
struct ptsp_span {
	u64 held_ns;
	u64 gpu_ns;
	u64 submissions;
};

/**
 * struct ptsp_entity - a process on a device; embedded in the host's structure
 *
 * @state: as it says
 * @signals: PTSP_SIG_*, kept current by ptsp_run()
 * @weight: as last told by ops->weight
 * @active: waits, holds, or was here a moment ago
 * @given: the turn is unused time of others
 * @budget_ns: true at stamp_ns; see ptsp_budget()
 * @turn: number of the current or last turn
 * @granted_ns: when the current or last turn began
 * @busy_until_ns: until when work of the turn before was expected; 0: there was none
 * @stats: counters; see ptsp_stats_of()
 *
 * Zeroed before ptsp_join(). The host reads these, and nothing writes here but
 * entity.c.
 */
struct ptsp_entity {
	enum ptsp_state state;
	u32 signals;
	u32 weight;
	bool active;
	bool given;
	s64 budget_ns;
	u64 turn;
	u64 granted_ns;
	u64 busy_until_ns;
	struct ptsp_stats stats;

	/* private: */
	struct ptsp_link all;
	struct ptsp_link queue;		/* waiters, holders, leaving, late or preadmitted */
	struct rb_node order;		/* in @place, by @key and @arrival: order.c */
	struct rb_node rank;		/* by standing, among the active or the others */
	struct rb_root_cached *ranked;
	struct rb_node take;		/* of its user's waiters, or of the lingerers */
	struct rb_node use;		/* by use_ns (literal) */
	u64 counted_use_ns;		/* which was this; 0: it is not there */
	u64 key;
	u64 arrival;			/* number of this wait */
	u32 generation;			/* of the settings that its budget belongs to */
	u32 standing;			/* the larger, the sooner it goes: ptsp_standing() */
	struct ptsp_user *user;
	struct ptsp_stamp stamp;
	u64 inherited_ns;		/* debt copied from the parent, which owes it too */
	u64 credit_ns;			/* earned by waiting, beyond the cap, not yet spent */
	s64 brought_ns;			/* budget with which it became active */
	u64 wait_ns;			/* when this wait began */
	bool preemptible;		/* need not drain first: ptsp_set_preemptible() */
	bool preempted;			/* shall do so now: the next is in */
	bool tolerates;			/* lighter ones below its turns: ptsp_tolerate() */
	bool fresh;			/* may interrupt: was eligible when this wait began */
	bool recalled;			/* the last turn ended by call-back */
	bool late;			/* not drained in time: others are admitted */
	bool soon;			/* it counts in nr_soon */
	bool lingers;			/* it is among the lingerers */
	u64 counted_ns;			/* held_ns is counted until then */
	u64 late_vstamp;		/* late, what others of them have paid since is due */
	u64 contended_ns;		/* of this turn, while another entity waited */
	u64 turn_occupancy_ns;		/* of this turn, charged by the clock */
	u64 turn_gpu_ns;		/* of this turn, as reported */
	u64 turn_extra_ns;		/* of this turn, charged by report beyond occupancy */
	u64 clipped_ns;			/* of this turn, earned in vain at the cap */
	u64 in_way_ns;			/* since when it is in the way */
	u64 callback_ns;		/* when called back */
	u64 preempted_ns;		/* when its work was to be taken off */
	u64 drained_ns;			/* when it will have drained, as it told; else PTSP_NEVER */
	u64 late_ns;			/* when it became late */
	u64 linger_ns;			/* instant at which it stops being active */
	u64 left_ns;			/* when it last gave the turn back; 0: never */
	u64 gap_ns;			/* running average of its gaps between turns */
	u64 lead_until_ns;		/* its gang goes first until then: ptsp_lead() */
	u64 use_ns;			/* running average of use per submission */
	u64 given_vt;			/* given time over weight, for fairness among takers */
	bool called_back;
	bool in_way;			/* called back from given time, an eligible one waits */
	u8 place;			/* enum ptsp_place */
	u8 led;				/* turns that it has had since its gang leads */
	/* For beside.c: */
	bool mixed;			/* company has changed since told_ns */
	u32 company;			/* so many have the turn beside each other, it among them */
	u32 busy;			/* thousandths of its own turns with work on the device */
	u64 told_ns;			/* when it last told of its use in this turn */
	struct ptsp_span alone;		/* since it was last judged */
	struct ptsp_span beside;
	u64 pace_alone;			/* running average of its submissions by time, alone */
	u64 judged_ns;			/* when its turns of its own were last judged */
	u64 apart_until_ns;		/* suffered beside others: until then alone */
	u64 apart_ns;			/* for so long, the last time */
};

struct ptsp_device;

/* What concerns more entities than this is not done in one call. */
#define PTSP_AT_ONCE	32

/* So many have the turn beside each other at most. */
#define PTSP_COMPANY	16

/* So many entities have a say in how long hand-overs take; one of them cannot set it. */
#define PTSP_CLAIMS	8

struct ptsp_claim {
	const struct ptsp_entity *by;
	u64 ns;				/* running average */
};

/**
 * struct ptsp_ops - what the policy asks of and tells the host
 * @weight: the entity's weight now, 1 to PTSCHED_WEIGHT_MAX; must not sleep.
 *	Called from ptsp_join(), ptsp_wait() and ptsp_run()
 * @signal: @e->signals changed from @old; TURN newly set is a grant, CALLBACK
 *	newly set a call-back; wake the waiter or the poller. Called from any
 *	function that is told the time
 * @forced: @e, called back, is late; others are admitted beside it from now on.
 *	Called from ptsp_run()
 *
 * All are called with the host's lock held and must not call back into the
 * policy.
 */
struct ptsp_ops {
	u32 (*weight)(const struct ptsp_entity *e);
	void (*signal)(struct ptsp_entity *e, u32 old);
	void (*forced)(struct ptsp_entity *e);
};

/**
 * struct ptsp_device - one device's scheduler
 * @params: settings
 * @stats: counters, of all entities together
 * @nr_entities: entities that joined
 * @nr_waiters: those of them that wait
 * @nr_holders: those that hold
 * @nr_active: those that are active
 * @handover_ns: median of the last claims of the active entities, one for each
 *
 * The host reads these.
 */
struct ptsp_device {
	struct ptsp_params params;
	struct ptsp_stats stats;
	u32 nr_entities;
	u32 nr_waiters;
	u32 nr_holders;
	u32 nr_active;
	u64 handover_ns;

	/* private: */
	const struct ptsp_ops *ops;
	struct ptsp_link entities;
	struct ptsp_link waiters;	/* in order of arrival */
	struct ptsp_link holders;	/* that keep the turn, in order of their turns */
	struct ptsp_link leaving;	/* called back, in order of that */
	struct ptsp_link late;		/* those to be taken off the device first */
	struct ptsp_link preadmitted;
	struct ptsp_entity *above;	/* holds the turn with lighter ones below, or did */
	struct ptsp_entity *lone;	/* active alone, with budget: in no order */
	struct rb_root_cached ready;	/* enum ptsp_place, as back and dues */
	struct rb_root_cached back;
	struct ptsp_dues dues;		/* of those in no group, and of groups */
	struct rb_root_cached active;	/* by standing, the highest first */
	struct rb_root_cached inactive;
	struct rb_root_cached lingerers; /* by linger_ns */
	struct rb_root_cached takers;	/* users by who of theirs had the least given time */
	struct rb_root_cached withheld;	/* users that get none, by until when */
	struct rb_root_cached uses;	/* of the active, by use_ns (literal) */
	struct ptsp_link *sweep;	/* where the next sweep of waiters goes on */
	u64 swept_ns;			/* when the last one was */
	struct ptsp_link *refresh;	/* where new settings are to be made known to entities */
	u32 generation;			/* of settings that make old budgets void */
	u64 arrivals;
	bool more;			/* something is left for the next run */
	u32 nr_keeping;			/* length of holders */
	u32 nr_regular;			/* those of them whose time is not given */
	u32 nr_overdrawn;
	u32 nr_late;
	u32 nr_late_on;			/* those of them whose work is on the device */
	u32 nr_soon;			/* of those in back, who are not away for long */
	u32 nr_preadmitted;
	u32 untold;			/* so many holders do not know what is told, if many hold */
	u32 told;			/* these signals */
	u32 told_standing;		/* and that somebody stands so high */
	u64 late_vt;			/* what a late one on the device has paid */
	struct ptsp_claim claims[PTSP_CLAIMS];
	u32 nr_claims;
	u32 oldest_claim;
	u64 now_ns;
	u64 vtime;			/* earnings per weight of the active, see earned() */
	u64 absent_vtime;		/* and of others, whom an excess does not concern */
	s64 excess_ns;			/* of what the active have over what there was to earn */
	u64 active_weight;		/* at the top: of entities in no group, and of groups */
	u64 entity_weight;		/* of all that are active */
	u64 tick_ns;			/* instant of the last refill (literal) */
	u64 quantum_ns;			/* the paper's q and T (literal) */
	u64 sum_use_ns;			/* the paper's sum of t (literal) */
	u64 unwanted_ns;		/* since when nobody eligible held the turn */
	u64 turn;
	u64 given_vt;
};

#endif /* PTSCHED_POLICY_STRUCTURES_H */
