/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * A client's life, by the sentences of uapi/linux/ptsched.h: who holds the turn, may
 * join it, waits for it, acts for whom, and which call is refused when, and with what.
 * Pure computation, as the policy beside it; the module and the broker ask here under the
 * lock of the device, and keep what these structures are about: lists, threads, files.
 *
 * The policy gives the turn to an entity. Its clients hold it one by one, and it ends
 * with the last of these holds. A client takes the turns of the entity that it is a
 * member of: its own process's, or that of another, for which it acts.
 */
#ifndef PTSCHED_CONTRACT_CLIENT_H
#define PTSCHED_CONTRACT_CLIENT_H

#include "../policy/policy.h"
#include "arguments.h"

/* ptsc_client.holder when several threads hold the turn through a client. */
#define PTSC_SEVERAL_THREADS	(-1)

/**
 * struct ptsc_client - what the contract knows of an attached client
 * @nr_waiters: calls that wait for the turn through it
 * @mechanism: PTSCHED_MECHANISM_*, as last told
 * @holder: thread that holds the turn, or PTSC_SEVERAL_THREADS
 * @holds: it holds the turn
 * @handed_over: whoever has its descriptor may act for its process
 * @closed: its process closed it, or is gone
 *
 * Zeroed before ptsc_attach().
 */
struct ptsc_client {
	u32 nr_waiters;
	u32 mechanism;
	s32 holder;
	bool holds;
	bool handed_over;
	bool closed;
};

/**
 * struct ptsc_entity - what the contract knows of a process on a device
 * @nr_owned: clients that are its own
 * @nr_members: clients that take its turns: of these, and of others
 * @nr_preemptible: members whose work need not drain
 * @nr_holds: members that hold the turn
 * @nr_waiters: calls that wait for the turn
 * @told: events of which they were told at once, up to PTSCHED_EVENTS_AT_ONCE (announce.h)
 * @tells_later: the host's: while it shows clients what they are told later
 * @mechanism: PTSCHED_MECHANISM_*, as last told by a client of its own
 * @dead: the process is gone: what is left are turns of others on its behalf
 * @told_turn: the turn of which @told counts
 * @told_ns: when its clients were told of events last; also set by who tells what is late
 * @late_ns: the host's: when it will do that
 *
 * Zeroed before first use.
 */
struct ptsc_entity {
	u32 nr_owned;
	u32 nr_members;
	u32 nr_preemptible;
	u32 nr_holds;
	u32 nr_waiters;
	u8 told;
	u8 mechanism;
	bool tells_later;
	bool dead;
	u64 told_turn;
	u64 told_ns;
	u64 late_ns;
};

static inline bool ptsc_need_not_drain(const struct ptsc_client *client)
{
	return client->mechanism >= PTSCHED_MECHANISM_SLICE;
}

/** ptsc_is_preemptible - what ptsp_set_preemptible() is to be told */
static inline bool ptsc_is_preemptible(const struct ptsc_entity *ent)
{
	return ent->nr_members && ent->nr_preemptible == ent->nr_members;
}

/** ptsc_is_full - so many clients there may be, so that what is done for all takes no time */
static inline bool ptsc_is_full(const struct ptsc_entity *ent)
{
	return ent->nr_owned >= PTSCHED_CLIENTS_MAX || ent->nr_members >= PTSCHED_CLIENTS_MAX;
}

/** ptsc_is_unused - nobody has to do with it any more: it leaves the device */
static inline bool ptsc_is_unused(const struct ptsc_entity *ent)
{
	return !ent->nr_owned && !ent->nr_members;
}

/* ---- members ---- */

static inline void ptsc_enlist(struct ptsc_client *client, struct ptsc_entity *ent)
{
	ent->nr_members++;
	ent->nr_preemptible += ptsc_need_not_drain(client);
	ent->nr_waiters += client->nr_waiters;
}

static inline void ptsc_delist(struct ptsc_client *client, struct ptsc_entity *ent)
{
	ent->nr_members--;
	ent->nr_preemptible -= ptsc_need_not_drain(client);
	ent->nr_waiters -= client->nr_waiters;
}

/** ptsc_move - a client is a member of @to from now on, and its calls that wait do so for that */
static inline void ptsc_move(struct ptsc_client *client, struct ptsc_entity *from,
			     struct ptsc_entity *to)
{
	ptsc_delist(client, from);
	ptsc_enlist(client, to);
}

/**
 * ptsc_allow_attach - PTSCHED_IOC_ATTACH to a device that the process is on
 * @self: the process
 *
 * Return: 0 or -EMFILE.
 */
static inline int ptsc_allow_attach(const struct ptsc_entity *self)
{
	return ptsc_is_full(self) ? -EMFILE : 0;
}

/** ptsc_attach - a new client of a process, which acts for nobody else */
static inline void ptsc_attach(struct ptsc_client *client, struct ptsc_entity *self, u32 mechanism)
{
	client->mechanism = mechanism;
	self->mechanism = mechanism;
	self->nr_owned++;
	ptsc_enlist(client, self);
}

/** ptsc_set_mechanism - PTSCHED_IOC_MECHANISM of a client of @self, a member of @ent */
static inline void ptsc_set_mechanism(struct ptsc_client *client, struct ptsc_entity *self,
				      struct ptsc_entity *ent, u32 mechanism)
{
	ent->nr_preemptible -= ptsc_need_not_drain(client);
	client->mechanism = mechanism;
	self->mechanism = mechanism;
	ent->nr_preemptible += ptsc_need_not_drain(client);
}

/**
 * ptsc_is_last - whether a process leaves the device with this client
 * @self: the process
 * @ent: the entity that the client is a member of
 */
static inline bool ptsc_is_last(const struct ptsc_entity *self, const struct ptsc_entity *ent)
{
	return self->nr_owned == 1 && self->nr_members == (ent == self ? 1 : 0);
}

/**
 * ptsc_detach - a client ends, which neither holds nor waits any more
 * @client: the client
 * @self: its process
 * @ent: the entity that it is a member of
 */
static inline void ptsc_detach(struct ptsc_client *client, struct ptsc_entity *self,
			       struct ptsc_entity *ent)
{
	ptsc_delist(client, ent);
	self->nr_owned--;
}

/* ---- which call is refused ---- */

/** ptsc_allow_call - what any attached client may do: 0 or -ECANCELED */
static inline int ptsc_allow_call(const struct ptsc_client *client)
{
	return client->closed ? -ECANCELED : 0;
}

/** ptsc_allow_in_turn - what needs the turn, PTSCHED_IOC_RELEASE and REPORT: 0 or -EPERM */
static inline int ptsc_allow_in_turn(const struct ptsc_client *client)
{
	return client->closed || !client->holds ? -EPERM : 0;
}

/**
 * ptsc_allow_acquire - PTSCHED_IOC_ACQUIRE
 * @client: the client
 * @gone: its device is
 *
 * Return: 0, -ECANCELED or -ENODEV.
 */
static inline int ptsc_allow_acquire(const struct ptsc_client *client, bool gone)
{
	if (client->closed)
		return -ECANCELED;
	return gone ? -ENODEV : 0;
}

/**
 * ptsc_allow_act_for - PTSCHED_IOC_ACT_FOR, whoever the requester is
 * @client: the client
 * @giver: the requester's client by which it was named; NULL: there is none
 * @gone: the device is
 *
 * Return: 0, -ECANCELED, -ENODEV, -EBUSY or -ESRCH.
 */
static inline int ptsc_allow_act_for(const struct ptsc_client *client,
				     const struct ptsc_client *giver, bool gone)
{
	int ret = ptsc_allow_acquire(client, gone);

	if (ret)
		return ret;
	if (client->holds || client->nr_waiters)
		return -EBUSY;
	return giver && giver->closed ? -ESRCH : 0;
}

/** ptsc_is_given - whether @giver, if there is one, is the right to act for its process */
static inline bool ptsc_is_given(const struct ptsc_client *giver)
{
	return giver && giver->handed_over;
}

/**
 * ptsc_allow_requester - whether an unprivileged process may act for another by itself
 * @same_user: both are of one effective user
 * @weight: the requester's
 * @own_weight: the process's
 *
 * Return: 0 or -EPERM.
 */
static inline int ptsc_allow_requester(bool same_user, u32 weight, u32 own_weight)
{
	return same_user && weight <= own_weight ? 0 : -EPERM;
}

/**
 * ptsc_allow_member - whether a client can be a member of another entity
 * @to: that entity
 * @self: the client's process
 * @ent: the entity that it is a member of
 *
 * Return: 0 or -EMFILE.
 */
static inline int ptsc_allow_member(const struct ptsc_entity *to, const struct ptsc_entity *self,
				    const struct ptsc_entity *ent)
{
	return to != ent && to != self && ptsc_is_full(to) ? -EMFILE : 0;
}

/**
 * ptsc_acts_on - whether a client may go on acting for its requester, if it has one
 * @ent: the entity that it is a member of
 * @giver: the client by which that was named; NULL: there is none
 */
static inline bool ptsc_acts_on(const struct ptsc_entity *ent, const struct ptsc_client *giver)
{
	return !ent->dead && !(giver && giver->closed);
}

/* ---- turns ---- */

/** ptsc_is_held_by - whether a thread has the turn through a client of its process */
static inline bool ptsc_is_held_by(const struct ptsc_client *client, s32 thread)
{
	/* One of several is enough: to make it wait might be for ever. */
	return client->holds &&
	       (client->holder == thread || client->holder == PTSC_SEVERAL_THREADS);
}

/** ptsc_admits - whether all members that ask, or wait, have the turn of their entity */
static inline bool ptsc_admits(const struct ptsp_entity *e)
{
	return e->state == PTSP_HOLDING && !(e->signals & PTSP_SIG_CALLBACK);
}

/**
 * ptsc_joins - whether a client that asks has its entity's turn at once
 * @client: the client
 * @e: the entity that it is a member of
 *
 * Of one that is called back so has a thread by which ptsc_is_held_by() another client of
 * its process.
 */
static inline bool ptsc_joins(const struct ptsc_client *client, const struct ptsp_entity *e)
{
	return client->holds || ptsc_admits(e);
}

/**
 * ptsc_gives_up - what a call is told that would not have the turn now, if it does not wait
 * @flags: its PTSCHED_ACQUIRE_*
 * @deadline_ns: its deadline
 * @now: the time
 *
 * Who does not wait is to disturb nobody by asking for what it does not get.
 *
 * Return: -EAGAIN or -ETIMEDOUT; 0: it waits.
 */
static inline int ptsc_gives_up(u32 flags, u64 deadline_ns, u64 now)
{
	if (flags & PTSCHED_ACQUIRE_TRY)
		return -EAGAIN;
	return deadline_ns <= now ? -ETIMEDOUT : 0;
}

/** ptsc_wait - a call of the client waits for the turn */
static inline void ptsc_wait(struct ptsc_client *client, struct ptsc_entity *ent)
{
	client->nr_waiters++;
	ent->nr_waiters++;
}

/** ptsc_stop_waiting - so many do so no more */
static inline void ptsc_stop_waiting(struct ptsc_client *client, struct ptsc_entity *ent, u32 count)
{
	client->nr_waiters -= count;
	ent->nr_waiters -= count;
}

/**
 * ptsc_hold - a thread holds the turn, which the entity has
 * @client: the client through which it does
 * @ent: the entity that this is a member of
 * @thread: the thread
 *
 * Return: whether the client did not hold it before.
 */
static inline bool ptsc_hold(struct ptsc_client *client, struct ptsc_entity *ent, s32 thread)
{
	if (client->holds) {
		if (client->holder != thread)
			client->holder = PTSC_SEVERAL_THREADS;
		return false;
	}
	client->holds = true;
	client->holder = thread;
	ent->nr_holds++;
	return true;
}

/**
 * ptsc_drop - a client's hold ends
 * @client: the client, which holds the turn
 * @ent: the entity that it is a member of
 *
 * Return: whether the turn ends with it.
 */
static inline bool ptsc_drop(struct ptsc_client *client, struct ptsc_entity *ent)
{
	client->holds = false;
	client->holder = 0;
	return !--ent->nr_holds;
}

/**
 * ptsc_drains - whether PTSCHED_IOC_ACK tells when the work of an entity will be done
 * @client: the client
 * @ent: the entity that it is a member of
 * @drain_ns: what it tells
 *
 * What other clients of the entity have in flight, this one does not know.
 */
static inline bool ptsc_drains(const struct ptsc_client *client, const struct ptsc_entity *ent,
			       u64 drain_ns)
{
	return drain_ns && client->holds && ent->nr_holds == 1;
}

/**
 * ptsc_describe_turn - the outputs of PTSCHED_IOC_ACQUIRE
 * @arg: where they go
 * @e: the entity that has the turn
 * @budget_ns: its budget when that began
 * @start_ns: when the call was made
 */
static inline void ptsc_describe_turn(struct ptsched_acquire *arg, const struct ptsp_entity *e,
				      s64 budget_ns, u64 start_ns)
{
	arg->turn = e->turn;
	arg->budget_ns = budget_ns;
	arg->waited_ns = e->granted_ns > start_ns ? e->granted_ns - start_ns : 0;
}

/**
 * ptsc_state - PTSCHED_STATE_* as the page of a client shows them
 * @client: the client
 * @e: the entity that it is a member of; NULL: none any more
 * @gone: the device is
 */
static inline u32 ptsc_state(const struct ptsc_client *client, const struct ptsp_entity *e,
			     bool gone)
{
	u32 state = e ? e->signals & ~PTSP_SIG_TURN : 0;

	if (client->holds)
		state |= PTSCHED_STATE_TURN;
	if (gone)
		state |= PTSCHED_STATE_DEAD;
	return state;
}

#endif /* PTSCHED_CONTRACT_CLIENT_H */
