/* SPDX-License-Identifier: MIT */
/*
 * Programs that share a device under the policy, in virtual time, some of which do
 * other than the library would in order to get more.
 *
 * The device serves those that have work on it in equal parts, however they came
 * there, but for who is below another; what each has had of it is what counts
 * here, not what anybody reports. A program computes, kernel after kernel, while it has the
 * turn, and gives it back when it is called back, or pauses.
 */
#ifndef TESTS_UNIT_POLICY_RIVALS_H
#define TESTS_UNIT_POLICY_RIVALS_H

#include "kmod/policy/policy.h"

#define MS	1000000ULL
#define SECOND	(1000 * MS)

/* What a program has to do. */
struct demand {
	u64 kernel_ns;
	bool indivisible;	/* once submitted, all of a kernel is in flight, however long it is */
	u64 gap_ns;		/* on the host, between two kernels */
	u64 burst_ns;		/* of GPU time, after which it pauses; 0: it never does */
	u64 pause_ns;		/* and has no turn meanwhile */
};

enum rebirth {
	REBORN_NEVER,
	REBORN_DRAINED,		/* ends and begins anew after each turn */
	REBORN_HOLDING,		/* ends when it is called back, in its turn */
	REBORN_FORKED,		/* after each turn a child goes on */
};

enum renice { RENICE_NEVER, RENICE_HOLDING, RENICE_WAITING, RENICE_OFTEN };

/* How a program differs from an honest one, for which all is 0. */
struct ways {
	bool lies;		/* of its GPU time it reports: */
	u32 reported_permille;
	u64 claimed_handover_ns; /* 0: what it takes */
	bool drained_at_once;	/* so it says, called back */
	u64 defies_ns;		/* goes on so long after a call-back, PTSP_NEVER: for ever */
	u64 keeps_ns;		/* has the turn so long after its work has drained */
	bool stubborn;		/* says it can be taken off the device, and is not */
	enum rebirth rebirth;
	u64 life_ns;		/* ends and begins anew when its work took so long */
	u64 tries_ns;		/* asks so often without waiting, until it has the turn */
	u64 waits_ns;		/* gives up after so long, and asks again */
	u64 pauses_ns;		/* before it asks again */
	bool above;		/* asks for turns above others */
	enum renice renice;	/* when it is lighter than it might be */
	bool acts_for;		/* takes its turns for itself and for another process, one after the other */
};

enum rival_phase { RIVAL_AWAY, RIVAL_WAITING, RIVAL_ON_HOST, RIVAL_ON_DEVICE, RIVAL_KEEPING };

struct rival;

/* A process, of which a rival may have several, one after another. */
struct process {
	struct ptsp_entity entity;	/* first: the ops get this pointer */
	struct rival *of;
};

struct rival {
	struct demand demand;
	struct ways ways;
	int nice;
	u32 user;			/* number of its user, whose debts it shares */
	bool preemptible;
	u64 gpu_ns;			/* what it has had of the device */

	/* private: */
	struct process processes[2];
	u32 current;
	enum rival_phase phase;
	u64 until_ns;
	u64 asked_ns;
	u64 called_back_ns;		/* when it saw that; PTSP_NEVER: not in this turn */
	u64 left_ns;			/* of its kernel */
	u64 burst_ns;			/* since its last pause */
	u64 unreported_ns;
	u64 life_ns;
	u32 kernels;
};

#define RIVALS_MAX	8

struct contest {
	struct ptsp_device dev;
	struct ptsp_user users[RIVALS_MAX];
	struct rival rivals[RIVALS_MAX];
	u32 nr;
	u64 now;
	u64 timer;
	bool told;			/* somebody has been told of a decision */
};

/* @contest->rivals and @nr are set, with nothing private, and all else is 0. */
void contest_run(struct contest *contest, const struct ptsp_params *params, u64 until);

/* What all of a rival's processes and its user owe now. */
u64 rival_debt(const struct contest *contest, const struct rival *rival);

#endif
