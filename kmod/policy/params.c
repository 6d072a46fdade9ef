// SPDX-License-Identifier: GPL-2.0-only OR MIT
/* Settings of a device: defaults and ranges (uapi/linux/ptsched.h). */
#include <linux/ptsched.h>

#include "policy.h"

struct ptsp_params ptsp_default_params(void)
{
	return (struct ptsp_params){
		.kind = PTSP_WEIGHTED,
		.grouping = PTSP_BY_PROCESS,
		.idle_sharing = true,
		.many = false,
		.alpha = PTSCHED_ALPHA_MAX,
		/* On an H200 a hand-over of gated programs costs about 1 ms. */
		.slice_ns = 30000000,
		.grace_ns = 2000000,
		.drain_ns = 100000000,
		.inflight_ns = 2000000,
	};
}

enum ptsp_param ptsp_check_params(const struct ptsp_params *params)
{
	if (params->kind > PTSP_NONE)
		return PTSP_PARAM_KIND;
	if (params->grouping > PTSP_BY_CGROUP)
		return PTSP_PARAM_GROUPING;
	if (!params->alpha || params->alpha > PTSCHED_ALPHA_MAX)
		return PTSP_PARAM_ALPHA;
	if (params->slice_ns < PTSCHED_SLICE_MIN_NS || params->slice_ns > PTSCHED_SLICE_MAX_NS)
		return PTSP_PARAM_SLICE;
	if (params->grace_ns > PTSCHED_GRACE_MAX_NS)
		return PTSP_PARAM_GRACE;
	if (params->drain_ns < PTSCHED_DRAIN_MIN_NS || params->drain_ns > PTSCHED_DRAIN_MAX_NS)
		return PTSP_PARAM_DRAIN;
	if (params->inflight_ns < PTSCHED_INFLIGHT_MIN_NS ||
	    params->inflight_ns > PTSCHED_INFLIGHT_MAX_NS)
		return PTSP_PARAM_INFLIGHT;
	return PTSP_PARAM_OK;
}
