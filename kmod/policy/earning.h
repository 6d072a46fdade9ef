/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Who earns, and with whom; for the policy's own files. */
#ifndef PTSCHED_POLICY_EARNING_H
#define PTSCHED_POLICY_EARNING_H

#include "structures.h"

/* A member of so much @weight begins, or ceases, to earn with others of @group. */
void ptsp_start_earning(struct ptsp_device *dev, struct ptsp_group *group, u32 weight);

/* @over_ns: so much more it has spent than earned, which those who stay pay. */
void ptsp_stop_earning(struct ptsp_device *dev, struct ptsp_group *group, u32 weight, s64 over_ns);

/* One that earns with others of @group has another weight. */
void ptsp_reweigh(struct ptsp_device *dev, struct ptsp_group *group, u32 old, u32 weight);

#endif /* PTSCHED_POLICY_EARNING_H */
