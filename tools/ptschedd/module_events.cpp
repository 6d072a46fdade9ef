// SPDX-License-Identifier: MIT
#include "module_events.hpp"

#include "log.hpp"

#include <linux/ptsched.h>
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <stdexcept>
#include <string>
#include <sys/epoll.h>

namespace ptsched {
namespace {

using Socket = std::unique_ptr<nl_sock, void (*)(nl_sock *)>;

Socket open_socket()
{
    Socket socket(nl_socket_alloc(), nl_socket_free);
    int error = socket ? genl_connect(socket.get()) : -NLE_NOMEM;
    if (error < 0)
        throw std::runtime_error(std::string("netlink: ") + nl_geterror(error));
    return socket;
}

int take(nl_msg *message, void *argument)
{
    nlattr *attributes[PTSCHED_A_MAX + 1];
    if (genlmsg_parse(nlmsg_hdr(message), 0, attributes, PTSCHED_A_MAX, nullptr) < 0)
        return NL_SKIP;
    for (int needed : {PTSCHED_A_EVENT, PTSCHED_A_PID, PTSCHED_A_DEVICE_ID, PTSCHED_A_TURN})
        if (!attributes[needed])
            return NL_SKIP;
    (*static_cast<ModuleEvents::Handler *>(argument))({
        .kind = nla_get_u32(attributes[PTSCHED_A_EVENT]),
        .pid = static_cast<pid_t>(nla_get_u32(attributes[PTSCHED_A_PID])),
        .device_id = nla_get_u32(attributes[PTSCHED_A_DEVICE_ID]),
        .turn = nla_get_u64(attributes[PTSCHED_A_TURN]),
    });
    return NL_OK;
}

} // namespace

bool module_is_loaded()
{
    try {
        return genl_ctrl_resolve(open_socket().get(), PTSCHED_GENL_NAME) >= 0;
    } catch (const std::runtime_error &) {
        return false;
    }
}

ModuleEvents::ModuleEvents(EventLoop &loop, Handler handler, std::function<void()> lost)
    : loop_(loop), handler_(std::move(handler)), lost_(std::move(lost)), socket_(open_socket())
{
    int group = genl_ctrl_resolve_grp(socket_.get(), PTSCHED_GENL_NAME, PTSCHED_GENL_EVENTS);
    nl_socket_disable_seq_check(socket_.get());
    nl_socket_set_buffer_size(socket_.get(), 4 << 20, 0);
    nl_socket_set_nonblocking(socket_.get());
    nl_socket_modify_cb(socket_.get(), NL_CB_VALID, NL_CB_CUSTOM, take, &handler_);
    int error = group < 0 ? group : nl_socket_add_membership(socket_.get(), group);
    if (error < 0)
        throw std::runtime_error(std::string("the module's events cannot be had: ") + nl_geterror(error));
    key_ = loop_.add(nl_socket_get_fd(socket_.get()), EPOLLIN, [this](uint32_t) { receive(); });
}

ModuleEvents::~ModuleEvents()
{
    loop_.remove(key_, nl_socket_get_fd(socket_.get()));
}

void ModuleEvents::receive()
{
    int error = nl_recvmsgs_default(socket_.get());
    if (error == 0 || error == -NLE_AGAIN)
        return;
    debug("events of the module were lost: %s", nl_geterror(error));
    lost_();
}

} // namespace ptsched
