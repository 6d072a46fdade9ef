/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* How long it takes to hand the turn over; for the policy's own files. */
#ifndef PTSCHED_POLICY_HANDOVER_H
#define PTSCHED_POLICY_HANDOVER_H

#include "structures.h"

/* How long @e, which holds, keeps the turn while others wait: ptsp_slice() at most. */
u64 ptsp_slice_of(const struct ptsp_device *dev, const struct ptsp_entity *e);

/* @e, whose turn has just ended, says that the device stood still for so long. */
void ptsp_claim_handover(struct ptsp_device *dev, const struct ptsp_entity *e, u64 ns);

/* Others are active than before. */
void ptsp_judge_handover(struct ptsp_device *dev);

/* @e leaves. */
void ptsp_forget_claim(struct ptsp_device *dev, const struct ptsp_entity *e);

#endif /* PTSCHED_POLICY_HANDOVER_H */
