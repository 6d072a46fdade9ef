/* SPDX-License-Identifier: MIT */
/* What the agent does for a device in each of its rounds. */
#ifndef PTSCHED_PRELOAD_TURN_LOOK_AFTER_HPP
#define PTSCHED_PRELOAD_TURN_LOOK_AFTER_HPP

#include <cstdint>

namespace ptsched::preload {

class Device;

/* Of a scheduled device, by the agent only. Returns after how long to look again, ns; kNoLimit: not by itself. */
std::uint64_t look_after(Device &device);

} // namespace ptsched::preload

#endif
