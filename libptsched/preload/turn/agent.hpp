/* SPDX-License-Identifier: MIT */
/* The thread that gives turns back. */
#ifndef PTSCHED_PRELOAD_TURN_AGENT_HPP
#define PTSCHED_PRELOAD_TURN_AGENT_HPP

namespace ptsched::preload {

/* Starts it if there is none yet. False: not possible. */
bool start_agent();

/* At exit: has it tell the scheduler what was used, and make no call after that. Waits a moment for it. */
void quiet_agent();

/* In a forked child: there is none. */
void forget_agent();

} // namespace ptsched::preload

#endif
