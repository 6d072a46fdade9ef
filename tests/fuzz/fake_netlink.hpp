/* SPDX-License-Identifier: MIT */
/*
 * Generic netlink with a family ptsched that says what the input of a fuzz target is. It stands between libnl and the
 * kernel, for sockets of this kind alone: sendmsg(), recvmsg() and poll() are defined here.
 */
#ifndef PTSCHED_TEST_FAKE_NETLINK_HPP
#define PTSCHED_TEST_FAKE_NETLINK_HPP

#include "tests/fuzz/input.h"

namespace fake_netlink {

/* To whatever is asked of the family next; after that, there is silence, and whoever polls is told to stop. */
void will_say(fuzz_input &input);

} // namespace fake_netlink

#endif
