/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * The scheduling policy of ptsched: who has the turn on a device, and for how
 * long. Pure computation: no clock, no lock, no allocation. The same files are
 * compiled into the module, the broker, the simulator and the unit tests.
 *
 * The rule is that of PTask (SOSP'11), section 5.3: each entity has a budget of
 * GPU time that falls by use, rises by refill, is capped, and must not be
 * negative for the entity to get the turn. Policy "weighted" divides one GPU
 * second per second among the *active* entities by weight; "literal" gives
 * every entity the paper's quantum; "none" lets everybody through.
 *
 * The host (module, broker, ...) owns the memory, the clock and the lock. It
 * serialises all calls on a device, calls with a @now that never falls, and
 * after each change (ptsp_join() to ptsp_set_params()) calls ptsp_run(), which
 * makes the decisions, tells them through struct ptsp_ops and returns the next
 * instant at which it wants to be called, or PTSP_NEVER. There is no tick:
 * nobody waiting, no timer.
 *
 * No call's time grows with the number of entities but by its logarithm: what
 * concerns many of them at once is done for PTSP_AT_ONCE of them, and the rest
 * at the next call of ptsp_run(), which then wants to be called at once. Those
 * that hold the turn in exclusive mode, and are not late, are few: at most
 * PTSP_COMPANY beside each other, and those that were called back less than
 * @drain_ns ago.
 *
 * Invariants, each tested: an entity with weight does not wait for ever; what
 * is charged for an instant sums to at most that instant; a budget never
 * exceeds its cap (plus what was earned while waiting and is not yet spent); in
 * exclusive mode one entity has the turn unless others of its weight go together
 * with it or lighter ones stay on the device below it (beside.c), a called-back one
 * is late, has its work being taken off the device, or said when it will have
 * drained and that is at most two hand-overs away.
 */
#ifndef PTSCHED_POLICY_H
#define PTSCHED_POLICY_H

#include "weight.h"
#include "tree.h"

#ifdef __cplusplus
extern "C" {
#endif

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
 * policy.c.
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

/** ptsp_default_params - the settings a device starts with */
struct ptsp_params ptsp_default_params(void);

/** ptsp_check_params - which setting is out of its range in the uapi header, if any */
enum ptsp_param ptsp_check_params(const struct ptsp_params *params);

/** ptsp_device_init - @params must have passed ptsp_check_params() */
void ptsp_device_init(struct ptsp_device *dev, const struct ptsp_params *params,
		      const struct ptsp_ops *ops, u64 now);

/** ptsp_set_params - @params must have passed ptsp_check_params() */
void ptsp_set_params(struct ptsp_device *dev, const struct ptsp_params *params, u64 now);

/**
 * ptsp_join - a new entity
 * @dev: the device
 * @e: the entity, zeroed
 * @user: whose it is
 * @parent: the entity of the process that forked this one, or NULL; the child
 *	starts with its debt
 * @now: the time
 *
 * It also takes over what dead entities of @user owe. Otherwise it starts at 0.
 */
void ptsp_join(struct ptsp_device *dev, struct ptsp_entity *e, struct ptsp_user *user,
	       const struct ptsp_entity *parent, u64 now);

/**
 * ptsp_group_init - a new group
 * @dev: the device
 * @group: the group
 * @parent: the one that it is in; NULL: none
 * @weight: 1 to PTSCHED_WEIGHT_MAX
 * @now: the time
 *
 * Groups matter to policy weighted. Return: false: it is deeper than PTSP_DEPTH.
 */
bool ptsp_group_init(struct ptsp_device *dev, struct ptsp_group *group, struct ptsp_group *parent,
		     u32 weight, u64 now);

/** ptsp_group_set_weight - what the group earns against those beside it, from now on */
void ptsp_group_set_weight(struct ptsp_device *dev, struct ptsp_group *group, u32 weight, u64 now);

/**
 * ptsp_move - an entity, in whatever state, is another user's, or in another group
 * @dev: the device
 * @e: the entity; its budget goes with it
 * @user: whose it is now
 * @now: the time
 */
void ptsp_move(struct ptsp_device *dev, struct ptsp_entity *e, struct ptsp_user *user, u64 now);

/** ptsp_leave - the entity is gone, whatever its state; its debt stays with its user */
void ptsp_leave(struct ptsp_device *dev, struct ptsp_entity *e, u64 now);

/** ptsp_wait - an idle entity asks for the turn */
void ptsp_wait(struct ptsp_device *dev, struct ptsp_entity *e, u64 now);

/**
 * ptsp_tolerate - whether lighter ones may stay on the device during the entity's turns
 * @dev: the device
 * @e: the entity: of one that holds the turn, those that did so are taken off
 * @tolerates: they may, as @e leaves the device idle only at the end of its turns
 * @now: the time
 *
 * What those are given is what the hardware's time slices leave them: nothing while
 * @e has work on the device, all of it as soon as it has none. It costs @e less
 * than half of what it costs to take them off and put them back, but that each time
 * that it leaves the device idle. Not said: they may not. What is denied for a turn
 * is allowed again after it: one of several who ask may not know what another does.
 */
void ptsp_tolerate(struct ptsp_device *dev, struct ptsp_entity *e, bool tolerates, u64 now);

/**
 * ptsp_lead - the entity's gang (gang.h) goes first for a while
 * @dev: the device
 * @e: the entity, in whatever state
 * @until_ns: until then
 * @now: the time
 *
 * Its turns come before those of all others of its weight. Whoever of its weight, or
 * lighter, has the turn and is of another gang is called back for it, and its work taken off
 * the device: it may wait for what has no turn, and would not drain. That is so as often as
 * it comes back from a pause, since its fellows, which have the turn, may wait for it, but
 * for a few turns at most: nobody is to make the device switch all the time.
 */
void ptsp_lead(struct ptsp_device *dev, struct ptsp_entity *e, u64 until_ns, u64 now);

/**
 * ptsp_would_grant - whether an idle entity would have the turn at once if it asked
 * @dev: the device
 * @e: the entity
 * @now: the time
 *
 * Nobody else sees that it was looked at. It may be wrong to the disadvantage of
 * one that would be given unused time, or that leads.
 */
bool ptsp_would_grant(struct ptsp_device *dev, struct ptsp_entity *e, u64 now);

/** ptsp_cancel - a waiting entity no longer asks */
void ptsp_cancel(struct ptsp_device *dev, struct ptsp_entity *e, u64 now);

/**
 * ptsp_report - a holder tells of its use since the last report
 * @dev: the device
 * @e: the holder
 * @gpu_ns: measured GPU time
 * @submissions: how many
 * @now: the time
 *
 * Moves gpu_ns; debits the budget only for the part of the turn during which
 * nobody else was active: an exclusive turn cannot be had cheaper by lying.
 */
void ptsp_report(struct ptsp_device *dev, struct ptsp_entity *e, u64 gpu_ns, u32 submissions,
		 u64 now);

/**
 * ptsp_drain - a called-back holder tells how long its work in flight will take
 * @dev: the device
 * @e: the holder
 * @drain_ns: so long
 * @now: the time
 *
 * The next is admitted two hand-overs before that, so that the device does not
 * stand still. Without effect on a holder that is not called back.
 */
void ptsp_drain(struct ptsp_device *dev, struct ptsp_entity *e, u64 drain_ns, u64 now);

/**
 * ptsp_set_preemptible - whether others' work gets onto the device beside the
 *	entity's: not unless this is said
 * @dev: the device
 * @e: the entity
 * @preemptible: whether it does
 * @now: the time
 */
void ptsp_set_preemptible(struct ptsp_device *dev, struct ptsp_entity *e, bool preemptible,
			  u64 now);

/**
 * ptsp_release - a holder gives the turn back; call ptsp_report() before
 * @dev: the device
 * @e: the holder
 * @handover_ns: how long it says that the device stood still for this turn; counts
 *	if others wait for it, no more than the turn took, and beside the claims of
 *	others, of which the lower median is what the device goes by
 * @now: the time
 */
void ptsp_release(struct ptsp_device *dev, struct ptsp_entity *e, u64 handover_ns, u64 now);

/** ptsp_run - decide; returns when to be called again, PTSP_NEVER if only a change matters */
u64 ptsp_run(struct ptsp_device *dev, u64 now);

/** ptsp_budget - the entity's budget at @now; changes nothing */
s64 ptsp_budget(const struct ptsp_device *dev, const struct ptsp_entity *e, u64 now);

/** ptsp_stats_of - the entity's counters, up to the last call on the device */
struct ptsp_stats ptsp_stats_of(const struct ptsp_device *dev, const struct ptsp_entity *e);

/** ptsp_cap - the most that ptsp_budget() may be at the time of the last call on the device */
s64 ptsp_cap(const struct ptsp_device *dev, const struct ptsp_entity *e);

/** ptsp_user_debt - what is still owed at @now, in ns */
u64 ptsp_user_debt(const struct ptsp_device *dev, const struct ptsp_user *user, u64 now);

/** ptsp_user_owes - whether anything of @user counts at @now, be it time or patience */
bool ptsp_user_owes(const struct ptsp_device *dev, const struct ptsp_user *user, u64 now);

/** ptsp_slice - the slice in force: the setting, but at least 30 hand-overs */
u64 ptsp_slice(const struct ptsp_device *dev);

/** ptsp_first - the first entity of the device, in order of joining; NULL: none */
struct ptsp_entity *ptsp_first(const struct ptsp_device *dev);

/** ptsp_next - the entity after @e; NULL: none */
struct ptsp_entity *ptsp_next(const struct ptsp_device *dev, const struct ptsp_entity *e);

#ifdef __cplusplus
}
#endif

#endif /* PTSCHED_POLICY_H */
