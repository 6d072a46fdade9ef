// SPDX-License-Identifier: MIT
/* Where ptschedd is built without libnl. Programs switch for themselves there. */
#include "tools/ptschedd/module_events.hpp"

#include <stdexcept>

struct nl_sock {};

namespace ptsched {

bool module_is_loaded()
{
    return false;
}

ModuleEvents::ModuleEvents(EventLoop &loop, Handler, std::function<void()>) : loop_(loop), socket_(nullptr, nullptr)
{
    throw std::runtime_error("built without libnl: the module's events cannot be had");
}

ModuleEvents::~ModuleEvents() = default;

} // namespace ptsched
