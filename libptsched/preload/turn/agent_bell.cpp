// SPDX-License-Identifier: MIT
#include "libptsched/preload/turn/agent_bell.hpp"

#include "libptsched/base/no_cancellation.hpp"
#include "libptsched/preload/common/immortal.hpp"

namespace ptsched::preload {
namespace {

constinit Immortal<AgentBell> first_bell;

} // namespace

constinit AgentBell *agent_bell = &first_bell.value;

void wake_agent()
{
    NoCancellation here;
    agent_bell->ring();
}

void nudge_agent()
{
    if (agent_bell->end_nap())
        wake_agent();
}

void forget_agent_bell()
{
    agent_bell->close_inherited();
    agent_bell = new AgentBell;
}

} // namespace ptsched::preload
