/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Gangs: processes that wait for each other, on several devices. Pure computation,
 * as policy.h; the host has one lock for all gangs, inside those of the devices.
 */
#ifndef PTSCHED_POLICY_GANG_H
#define PTSCHED_POLICY_GANG_H

#include "structures.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A gang has so many members at most: it is walked as a whole. */
#define PTSP_GANG_MAX	64

/**
 * struct ptsp_gang - entities that are to have their turns at the same time
 * @nr_members: how many there are
 * @until_ns: the gang goes first until then; the host reads it after ptsp_gang_lead()
 *
 * In the host's memory, as the two below; ptsp_gang_init() before first use.
 */
struct ptsp_gang {
	u32 nr_members;
	u64 until_ns;
	/* private: */
	struct ptsp_link members;
};

/**
 * struct ptsp_front - which gang goes first on a device; zeroed before first use
 * @gang: the one that did so last; NULL: none, or it has no member there any more
 * @refused: a member on this device that ptsp_gang_lead() is to be called for again
 * @again_ns: at this instant, if it has the turn then
 */
struct ptsp_front {
	const struct ptsp_gang *gang;
	struct ptsp_member *refused;
	u64 again_ns;
};

/**
 * struct ptsp_member - an entity's part in a gang
 * @link: in the gang's members
 * @gang: the gang
 * @front: of the entity's device
 */
struct ptsp_member {
	struct ptsp_link link;
	struct ptsp_gang *gang;
	struct ptsp_front *front;
};

/** ptsp_gang_first - the first member of a gang; NULL: it has none */
struct ptsp_member *ptsp_gang_first(const struct ptsp_gang *gang);

/** ptsp_gang_next - the member after @m; NULL: it is the last */
struct ptsp_member *ptsp_gang_next(const struct ptsp_member *m);

/** ptsp_gang_init - a gang without members */
void ptsp_gang_init(struct ptsp_gang *gang);

/** ptsp_gang_join - @m, of the device with @front, joins; false: the gang is full */
bool ptsp_gang_join(struct ptsp_gang *gang, struct ptsp_member *m, struct ptsp_front *front);

/** ptsp_gang_part - @m is no longer a member */
void ptsp_gang_part(struct ptsp_member *m);

/**
 * ptsp_gang_lead - a member has the turn
 * @m: that member
 * @until_ns: when its slice ends
 * @now: the time
 *
 * Return: whether its gang goes first from now on, until then. Then the host calls
 * ptsp_lead() for all members, with the gang's until_ns, @m included. It does not
 * where the gang goes first already, nor where another does so on one of its
 * devices: of two, each with the turn on a device of the other's, the second waits.
 * Then @m is its front's @refused one.
 */
bool ptsp_gang_lead(struct ptsp_member *m, u64 until_ns, u64 now);

#ifdef __cplusplus
}
#endif

#endif /* PTSCHED_POLICY_GANG_H */
