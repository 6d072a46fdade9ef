/* SPDX-License-Identifier: MIT */
/* What wakes the agent. */
#ifndef PTSCHED_PRELOAD_TURN_AGENT_BELL_HPP
#define PTSCHED_PRELOAD_TURN_AGENT_BELL_HPP

#include "libptsched/base/doorbell.hpp"

#include <atomic>

namespace ptsched::preload {

/* It shall look at all devices now. */
void wake_agent();

/* The same, if it took a longer nap. */
void nudge_agent();

/* The agent's own. */
class AgentBell : public Doorbell {
public:
    /* Whether it is about to sleep for so long that it is worth a nudge. */
    void set_napping(bool napping) { napping_.store(napping, std::memory_order_release); }
    bool end_nap() { return napping_.exchange(false, std::memory_order_acq_rel); }

private:
    std::atomic<bool> napping_{false};
};

extern AgentBell *agent_bell;

/* In a forked child. */
void forget_agent_bell();

} // namespace ptsched::preload

#endif
