// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* How long it takes to hand the turn over: what clients claim, and what the device goes by. */
#include "budget.h"
#include "handover.h"

/* The slice is at least so many hand-overs, so that they cost 3 % at most. */
#define HANDOVERS_PER_SLICE	30

u64 ptsp_slice(const struct ptsp_device *dev)
{
	return max_u64(dev->params.slice_ns, HANDOVERS_PER_SLICE * dev->handover_ns);
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

/* Told by the client: however large, it makes the slice ten times as long at most. */
void ptsp_claim_handover(struct ptsp_device *dev, const struct ptsp_entity *e, u64 ns)
{
	struct ptsp_claim *claim = claim_of(dev, e);

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
