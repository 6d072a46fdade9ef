/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PRELOAD_TURN_AT_EXIT_HPP
#define PTSCHED_PRELOAD_TURN_AT_EXIT_HPP

namespace ptsched::preload {

/* Has exit() tell the scheduler and the user what was used. */
void register_exit_handler();

} // namespace ptsched::preload

#endif
