// SPDX-License-Identifier: MIT
// Generic netlink sockets, as both tools need them. They throw @Failure with what libnl says.
#ifndef PTSCHED_TOOLS_MODULE_EVENTS_SOCKET_HPP
#define PTSCHED_TOOLS_MODULE_EVENTS_SOCKET_HPP

#include "broker_socket.hpp"

#include <linux/ptsched.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/socket.h>

#include <memory>
#include <string>
#include <sys/socket.h>
#include <sys/time.h>

namespace ptsched {

using NetlinkSocket = std::unique_ptr<nl_sock, decltype(&nl_socket_free)>;

template <typename Failure> NetlinkSocket open_netlink_socket()
{
    NetlinkSocket socket(nl_socket_alloc(), nl_socket_free);
    int error = socket ? genl_connect(socket.get()) : -NLE_NOMEM;
    if (error < 0)
        throw Failure(std::string("cannot open a netlink socket: ") + nl_geterror(error));
    // Else an answer that is lost would be waited for without end.
    const timeval limit{.tv_sec = kBrokerPatience.count(), .tv_usec = 0};
    setsockopt(nl_socket_get_fd(socket.get()), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    return socket;
}

/* One that has joined the module's event group, does not block, and has room for a burst. */
template <typename Failure> NetlinkSocket open_module_events_socket()
{
    NetlinkSocket socket = open_netlink_socket<Failure>();
    int group = genl_ctrl_resolve_grp(socket.get(), PTSCHED_GENL_NAME, PTSCHED_GENL_EVENTS);
    nl_socket_disable_seq_check(socket.get());
    nl_socket_set_buffer_size(socket.get(), 4 << 20, 0);
    nl_socket_set_nonblocking(socket.get());
    int error = group < 0 ? group : nl_socket_add_membership(socket.get(), group);
    if (error < 0)
        throw Failure(std::string("the module's events cannot be had: ") + nl_geterror(error));
    return socket;
}

} // namespace ptsched

#endif
