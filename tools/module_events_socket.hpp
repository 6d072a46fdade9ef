/* SPDX-License-Identifier: MIT */
/* Generic netlink sockets, as both tools need them. They throw @Failure with what libnl says. */
#ifndef PTSCHED_TOOLS_MODULE_EVENTS_SOCKET_HPP
#define PTSCHED_TOOLS_MODULE_EVENTS_SOCKET_HPP

#include "libptsched/client/broker_socket.hpp"

#include <linux/ptsched.h>
#include <memory>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
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
    /* Else an answer that is lost would be waited for without end. */
    const timeval limit{.tv_sec = kBrokerPatience.count(), .tv_usec = 0};
    setsockopt(nl_socket_get_fd(socket.get()), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    return socket;
}

/* Asks for the module's events. Those that come before the answer are dropped. */
inline int subscribe_to_module(nl_sock *socket)
{
    int family = genl_ctrl_resolve(socket, PTSCHED_GENL_NAME);
    nl_msg *message = family < 0 ? nullptr : nlmsg_alloc();
    if (!message)
        return family < 0 ? family : -NLE_NOMEM;
    if (!genlmsg_put(message, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, 0, PTSCHED_CMD_SUBSCRIBE, PTSCHED_GENL_VERSION)) {
        nlmsg_free(message);
        return -NLE_NOMEM;
    }
    return nl_send_sync(socket, message);
}

/* One that receives the module's events, does not block, and has room for a burst. */
template <typename Failure> NetlinkSocket open_module_events_socket()
{
    NetlinkSocket socket = open_netlink_socket<Failure>();
    nl_socket_disable_seq_check(socket.get());
    nl_socket_set_buffer_size(socket.get(), 4 << 20, 0);
    int error = subscribe_to_module(socket.get());
    if (error < 0)
        throw Failure(std::string("the module's events cannot be had: ") + nl_geterror(error));
    nl_socket_set_nonblocking(socket.get());
    return socket;
}

} // namespace ptsched

#endif
