/* SPDX-License-Identifier: MIT */
/*
 * Whether switching the process's channels off and on does what it should, found out by its effect on work of our own.
 */
#ifndef PTSCHED_PRELOAD_TURN_SWITCH_TRIAL_HPP
#define PTSCHED_PRELOAD_TURN_SWITCH_TRIAL_HPP

#define PTSCHED_CUDA_ABI_TYPES_ONLY
#include "libptsched/cuda/cuda_abi.h"

#include <string>

namespace ptsched::preload {

class Attachment;

struct Trial {
    /* Unclear: the program's own work was in the way, so that another trial may find out. */
    enum { works, fails, unclear } result;
    std::string why; /* it does not work, or could not be found out */
};

/*
 * With the context current, in a turn. Takes some milliseconds, at most one and a half seconds. Leaves nothing behind
 * in the context, and waits for none of its work.
 */
Trial try_switch(Attachment &device);

} // namespace ptsched::preload

#endif
