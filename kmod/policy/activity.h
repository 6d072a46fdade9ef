/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* Who is active, as time passes; for the policy's own files. */
#ifndef PTSCHED_POLICY_ACTIVITY_H
#define PTSCHED_POLICY_ACTIVITY_H

#include "structures.h"

/* Bring the device's clock, earnings and charges up to @now. */
void ptsp_advance(struct ptsp_device *dev, u64 now);

/* Start or stop counting among those who earn; both need a settled entity. */
void ptsp_activate(struct ptsp_device *dev, struct ptsp_entity *e);
void ptsp_deactivate(struct ptsp_device *dev, struct ptsp_entity *e);

/* Who is idle no longer has what it was told to have without asking. */
void ptsp_forget_preadmission(struct ptsp_device *dev, struct ptsp_entity *e);

#endif /* PTSCHED_POLICY_ACTIVITY_H */
