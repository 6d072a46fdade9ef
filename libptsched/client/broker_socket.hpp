// SPDX-License-Identifier: MIT
#ifndef PTSCHED_CLIENT_BROKER_SOCKET_HPP
#define PTSCHED_CLIENT_BROKER_SOCKET_HPP

#include "fd.hpp"

namespace ptsched {

// A connection to the broker at $PTSCHED_SOCKET or PTSCHED_BROKER_SOCKET. -ENOENT: nobody listens there.
int connect_to_broker(UniqueFd &socket);

} // namespace ptsched

#endif
