// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Slices, and how long it takes to hand the turn over: what clients claim, what counts. */
#include "arithmetic.h"
#include "handover.h"
#include "policy.h"
#include "vtime.h"

/* The slice is at least so many hand-overs, so that they cost 3 % at most. */
#define HANDOVERS_PER_SLICE	30
/* Who weighs less than the mean of the active over this has a shorter slice. */
#define LIGHT			3
/* The shortest slice, in hand-overs, and as a part of the device's. */
#define LEAST_HANDOVERS		8
#define LEAST_SHIFT		4

u64 ptsp_slice(const struct ptsp_device *dev)
{
	return max_u64(dev->params.slice_ns, HANDOVERS_PER_SLICE * dev->handover_ns);
}

/*
 * A slice of a light one is due after as many of the others as its weight says: once in
 * several seconds, beside weights of 1 and 70. Who has a shorter one has it more often,
 * and nobody waits for its end for long. What each hand-over costs is shared by the time
 * between two such slices, which is LIGHT slices for each of the active: 1.1 % in all, at most.
 */
u64 ptsp_slice_of(const struct ptsp_device *dev, const struct ptsp_entity *e)
{
	u64 slice = ptsp_slice(dev), sum = dev->active_weight << PTSP_RATE_SHIFT, weight, least;

	if (dev->params.kind != PTSP_WEIGHTED || !e->active)
		return slice;
	weight = LIGHT * dev->nr_active * ptsp_rate(e);
	if (weight >= sum)
		return slice;
	least = max_u64(slice >> LEAST_SHIFT, LEAST_HANDOVERS * dev->handover_ns);
	return max_u64(mul_div(slice, weight, sum), least);
}

/* Where the claims of @e are kept: in its own place, a free one, or the oldest. */
static struct ptsp_claim *claim_of(struct ptsp_device *dev, const struct ptsp_entity *e)
{
	struct ptsp_claim *claim;

	for (claim = dev->claims; claim < dev->claims + dev->nr_claims; claim++)
		if (claim->by == e)
			return claim;
	if (dev->nr_claims < PTSP_CLAIMS)
		dev->nr_claims++;
	else
		claim = &dev->claims[dev->oldest_claim++ % PTSP_CLAIMS];
	*claim = (struct ptsp_claim){ .by = e };
	return claim;
}

/*
 * The median of those who take turns now: what others found beside others says
 * nothing. The lower of the two in the middle, so that of two claimants none
 * makes the slice longer.
 */
void ptsp_judge_handover(struct ptsp_device *dev)
{
	const struct ptsp_claim *claim;
	u64 sorted[PTSP_CLAIMS];
	u32 n = 0, pos;

	for (claim = dev->claims; claim < dev->claims + dev->nr_claims; claim++) {
		if (!claim->by->active)
			continue;
		for (pos = n++; pos && sorted[pos - 1] > claim->ns; pos--)
			sorted[pos] = sorted[pos - 1];
		sorted[pos] = claim->ns;
	}
	if (n)
		dev->handover_ns = sorted[(n - 1) / 2];
}

/*
 * Told by the client: however large, it makes the slice ten times as long at most. In its
 * first turn it got ready, which it will not do again.
 */
void ptsp_claim_handover(struct ptsp_device *dev, const struct ptsp_entity *e, u64 ns)
{
	struct ptsp_claim *claim;

	if (e->stats.turns < 2)
		return;
	claim = claim_of(dev, e);
	ns = min_u64(ns, dev->now_ns - e->granted_ns);
	ns = min_u64(ns, dev->params.slice_ns * 10 / HANDOVERS_PER_SLICE);
	claim->ns = ptsp_average(claim->ns, ns);
	if (dev->nr_claims == 1)
		dev->handover_ns = claim->ns;
	else
		ptsp_judge_handover(dev);
}

void ptsp_forget_claim(struct ptsp_device *dev, const struct ptsp_entity *e)
{
	struct ptsp_claim *claim;

	for (claim = dev->claims; claim < dev->claims + dev->nr_claims; claim++) {
		if (claim->by == e) {
			*claim = dev->claims[--dev->nr_claims];
			return;
		}
	}
}
