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

#include "structures.h"
#include "weight.h"

#ifdef __cplusplus
extern "C" {
#endif

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
