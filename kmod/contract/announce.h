/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * How often the process that has the turn is told that its page has changed. Others
 * cause that by asking for the turn and giving up again, as often as they like. What a
 * holder must obey, CALLBACK and PREEMPT, is told at once, and neither is taken back. Of
 * the rest a holder is told at once so many times in a turn, and then once in a while,
 * of all that changed meanwhile. The state itself is always what it is.
 */
#ifndef PTSCHED_CONTRACT_ANNOUNCE_H
#define PTSCHED_CONTRACT_ANNOUNCE_H

#include "client.h"

/* Changes of the page that are events. */
#define PTSC_EVENTS									\
	(PTSCHED_STATE_CALLBACK | PTSCHED_STATE_WANTED | PTSCHED_STATE_CONTENDED |	\
	 PTSCHED_STATE_PREEMPT | PTSCHED_STATE_OUTWEIGHED | PTSCHED_STATE_EXACT |	\
	 PTSCHED_STATE_BESIDE | PTSCHED_STATE_ABOVE | PTSCHED_STATE_BELOW |		\
	 PTSCHED_STATE_DEAD)

/** enum ptsc_announcement - when a change is told */
enum ptsc_announcement {
	PTSC_AT_ONCE,	/* whatever else is to be told, and when */
	PTSC_WITH_LATE,	/* at once, with what was to be told later */
	PTSC_LATER,	/* PTSCHED_EVENTS_PAUSE_NS from now, with all that has changed by then */
};

/** ptsc_is_event - whether a change of a client's state is told to who polls it */
static inline bool ptsc_is_event(u32 changed)
{
	return changed & PTSC_EVENTS;
}

/**
 * ptsc_announce - when the clients of an entity are told of a change
 * @ent: what they have been told
 * @e: the entity
 * @changed: PTSP_SIG_* that changed
 * @now: the time
 */
static inline enum ptsc_announcement ptsc_announce(struct ptsc_entity *ent,
						   const struct ptsp_entity *e, u32 changed,
						   u64 now)
{
	if (!ptsc_is_event(changed) || changed & (PTSP_SIG_CALLBACK | PTSP_SIG_PREEMPT) ||
	    e->state != PTSP_HOLDING)
		return PTSC_AT_ONCE;
	if (ent->told_turn != e->turn) {
		ent->told_turn = e->turn;
		ent->told = 0;
	}
	if (ent->told < PTSCHED_EVENTS_AT_ONCE)
		ent->told++;
	else if (now - ent->told_ns < PTSCHED_EVENTS_PAUSE_NS)
		return PTSC_LATER;
	ent->told_ns = now;
	return PTSC_WITH_LATE;
}

#endif /* PTSCHED_CONTRACT_ANNOUNCE_H */
