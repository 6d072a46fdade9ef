// SPDX-License-Identifier: GPL-2.0-only OR MIT
/*
 * Gangs (Ousterhout's coscheduling, ICDCS 1982): who waits for others that have no
 * turn holds a device for nothing.
 *
 * Each device gives out its turns by itself, by budgets. When it gives one to a
 * member of a gang, the gang goes first for a slice: on the gang's other devices, its
 * members come before all others of their weight, and whoever of those has the turn
 * there goes at once. What they hold is charged as ever, and who is in debt waits as
 * ever: a gang gets its time together, not more of it.
 */
#include "arithmetic.h"
#include "gang.h"
#include "list.h"

static struct ptsp_member *entry(const struct ptsp_gang *gang, struct ptsp_link *link)
{
	if (link == &gang->members)
		return NULL;
	return (struct ptsp_member *)((char *)link - offsetof(struct ptsp_member, link));
}

struct ptsp_member *ptsp_gang_first(const struct ptsp_gang *gang)
{
	return entry(gang, gang->members.next);
}

struct ptsp_member *ptsp_gang_next(const struct ptsp_member *m)
{
	return entry(m->gang, m->link.next);
}

void ptsp_gang_init(struct ptsp_gang *gang)
{
	gang->nr_members = 0;
	gang->until_ns = 0;
	ptsp_list_init(&gang->members);
}

bool ptsp_gang_join(struct ptsp_gang *gang, struct ptsp_member *m, struct ptsp_front *front)
{
	if (gang->nr_members == PTSP_GANG_MAX)
		return false;
	gang->nr_members++;
	m->gang = gang;
	m->front = front;
	ptsp_list_add_before(&m->link, &gang->members);
	return true;
}

void ptsp_gang_part(struct ptsp_member *m)
{
	ptsp_list_del(&m->link);
	m->gang->nr_members--;
	/* Of another member there is not known whether it has the turn: the next grant shows. */
	if (m->front->gang == m->gang)
		m->front->gang = NULL;
	if (m->front->refused == m)
		m->front->refused = NULL;
	m->gang = NULL;
}

/* Until when another gang goes first on one of the gang's devices; 0: none does. */
static u64 others_until(const struct ptsp_gang *gang, u64 now)
{
	const struct ptsp_gang *first;
	const struct ptsp_member *m;
	u64 until = 0;

	for (m = ptsp_gang_first(gang); m; m = ptsp_gang_next(m)) {
		first = m->front->gang;
		if (first && first != gang && first->until_ns > now)
			until = max_u64(until, first->until_ns);
	}
	return until;
}

bool ptsp_gang_lead(struct ptsp_member *m, u64 until_ns, u64 now)
{
	struct ptsp_gang *gang = m->gang;
	struct ptsp_member *other;

	m->front->refused = NULL;
	if (gang->nr_members < 2 || gang->until_ns > now || until_ns <= now)
		return false;
	m->front->again_ns = others_until(gang, now);
	if (m->front->again_ns) {
		m->front->refused = m;
		return false;
	}
	for (other = ptsp_gang_first(gang); other; other = ptsp_gang_next(other))
		other->front->gang = gang;
	gang->until_ns = until_ns;
	return true;
}
