/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PRELOAD_TURN_SWITCH_CHANNELS_HPP
#define PTSCHED_PRELOAD_TURN_SWITCH_CHANNELS_HPP

#include <cstdint>
#include <string>

namespace ptsched::preload {

class Attachment;

/*
 * Takes the process's channels on the device off, or puts them back: by the helper, where there is one that can, else
 * by this process itself. Call-backs up to @turn are dealt with. Empty, or what went wrong.
 */
std::string switch_channels(const Attachment &device, bool off, std::uint64_t turn);

} // namespace ptsched::preload

#endif
