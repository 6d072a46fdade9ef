/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_CLIENT_BROKER_SOCKET_HPP
#define PTSCHED_CLIENT_BROKER_SOCKET_HPP

#include <ptsched/base/fd.hpp>

#include <chrono>

namespace ptsched {

/*
 * So long may the broker take for what it answers at once: it is one that nobody has to wait for, even on a machine
 * where every CPU is wanted by many. One that takes longer is stopped, or hangs.
 */
inline constexpr std::chrono::seconds kBrokerPatience{4};

/*
 * A connection to the broker at $PTSCHED_SOCKET or PTSCHED_BROKER_SOCKET, whose sends end after @patience with EAGAIN.
 * -ENOENT: nobody listens there. -EHOSTDOWN: the broker has taken no connection for so long.
 */
int connect_to_broker(UniqueFd &socket, std::chrono::microseconds patience = kBrokerPatience);

} // namespace ptsched

#endif
