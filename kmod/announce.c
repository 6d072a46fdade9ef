// SPDX-License-Identifier: GPL-2.0-only
/* Clients that are told of changes of their page later: see contract/announce.h. */
#include "core.h"

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
	switch (ptsc_announce(&ent->contract, &ent->policy, changed, dev->locked_ns)) {
	case PTSC_AT_ONCE:
		return false;
	case PTSC_WITH_LATE:
		list_del_init(&ent->late);
		return false;
	case PTSC_LATER:
		break;
	}
	if (list_empty(&ent->late)) {
		ent->contract.late_ns = dev->locked_ns + PTSCHED_EVENTS_PAUSE_NS;
		list_add_tail(&ent->late, &dev->late);
	}
	dev->changed = true;
	return true;
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
	if (ent->contract.late_ns <= now) {
		list_del_init(&ent->late);
		ent->contract.told_ns = now;
		list_for_each_entry(client, &ent->members, link)
			ptsched_client_tell(client);
		ent = list_first_entry_or_null(&dev->late, struct ptsched_entity, late);
	}
	return ent ? ent->contract.late_ns : PTSP_NEVER;
}
