// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often the process that has the turn is told that its page has changed. Others
 * cause that by asking for the turn and giving up again, as often as they like. What a
 * holder must obey, CALLBACK and PREEMPT, is told at once, and neither is taken back. Of
 * the rest a holder is told at once so many times in a turn, and then once in a while,
 * of all that changed meanwhile. The state itself is always what it is.
 */
#include "core.h"

/* Changes of the page that are events. */
#define EVENTS	(PTSCHED_STATE_CALLBACK | PTSCHED_STATE_WANTED | PTSCHED_STATE_CONTENDED |	\
		 PTSCHED_STATE_PREEMPT | PTSCHED_STATE_OUTWEIGHED | PTSCHED_STATE_EXACT |	\
		 PTSCHED_STATE_BESIDE | PTSCHED_STATE_ABOVE | PTSCHED_STATE_BELOW |		\
		 PTSCHED_STATE_DEAD)

/**
 * ptsched_is_event - whether a change of a client's state is told to who polls it
 * @changed: PTSCHED_STATE_* that changed
 */
bool ptsched_is_event(u32 changed)
{
	return changed & EVENTS;
}

/**
 * ptsched_announces_later - whether the clients of an entity are to be told later
 * @ent: the entity, locked
 * @changed: PTSP_SIG_* that changed
 *
 * ptsched_announce() does it then.
 */
bool ptsched_announces_later(struct ptsched_entity *ent, u32 changed)
{
	struct ptsched_dev *dev = ent->dev;

	lockdep_assert_held(&dev->lock);
	if (!ptsched_is_event(changed) || changed & (PTSP_SIG_CALLBACK | PTSP_SIG_PREEMPT) ||
	    ent->policy.state != PTSP_HOLDING)
		return false;
	if (ent->told_turn != ent->policy.turn) {
		ent->told_turn = ent->policy.turn;
		ent->told = 0;
	}
	if (ent->told < PTSCHED_EVENTS_AT_ONCE) {
		ent->told++;
	} else if (dev->locked_ns - ent->told_ns < PTSCHED_EVENTS_PAUSE_NS) {
		if (list_empty(&ent->late)) {
			ent->late_ns = dev->locked_ns + PTSCHED_EVENTS_PAUSE_NS;
			list_add_tail(&ent->late, &dev->late);
		}
		dev->changed = true;
		return true;
	}
	/* With what was to be told later. */
	list_del_init(&ent->late);
	ent->told_ns = dev->locked_ns;
	return false;
}

/**
 * ptsched_announce - tell what was to be told later, of one entity
 * @dev: the device, locked; there is something in dev->late
 * @now: the time
 *
 * Return: when it is to be called again, or PTSP_NEVER.
 */
u64 ptsched_announce(struct ptsched_dev *dev, u64 now)
{
	struct ptsched_entity *ent = list_first_entry(&dev->late, struct ptsched_entity, late);
	struct ptsched_client *client;

	lockdep_assert_held(&dev->lock);
	if (ent->late_ns <= now) {
		list_del_init(&ent->late);
		ent->told_ns = now;
		list_for_each_entry(client, &ent->members, link)
			ptsched_client_tell(client);
		ent = list_first_entry_or_null(&dev->late, struct ptsched_entity, late);
	}
	return ent ? ent->late_ns : PTSP_NEVER;
}
