// SPDX-License-Identifier: MIT
#include "tools/ptschedd/module_events.hpp"

#include "tools/module_events_socket.hpp"
#include "tools/ptschedd/log.hpp"

#include <linux/ptsched.h>
#include <netlink/errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <stdexcept>
#include <sys/epoll.h>

namespace ptsched {
namespace {

int take(nl_msg *message, void *argument)
{
    auto &events = *static_cast<ModuleEvents *>(argument);
    nlattr *attributes[PTSCHED_A_MAX + 1];
    if (genlmsg_parse(nlmsg_hdr(message), 0, attributes, PTSCHED_A_MAX, nullptr) < 0)
        return NL_SKIP;
    if (attributes[PTSCHED_A_EVENT] && nla_get_u32(attributes[PTSCHED_A_EVENT]) == PTSCHED_EVENT_LOST)
        events.lost("more came than the module could tell");
    for (int needed : {PTSCHED_A_EVENT, PTSCHED_A_PID, PTSCHED_A_DEVICE_ID, PTSCHED_A_TURN})
        if (!attributes[needed])
            return NL_SKIP;
    events.handle({
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
        return genl_ctrl_resolve(open_netlink_socket<std::runtime_error>().get(), PTSCHED_GENL_NAME) >= 0;
    } catch (const std::runtime_error &) {
        return false;
    }
}

ModuleEvents::ModuleEvents(EventLoop &loop, Handler handler, std::function<void()> lost)
    : loop_(loop), handler_(std::move(handler)), lost_(std::move(lost)),
      socket_(open_module_events_socket<std::runtime_error>())
{
    nl_socket_modify_cb(socket_.get(), NL_CB_VALID, NL_CB_CUSTOM, take, this);
    key_ = loop_.add(nl_socket_get_fd(socket_.get()), EPOLLIN, [this](std::uint32_t) { receive(); });
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
    lost(nl_geterror(error));
}

void ModuleEvents::lost(const char *why)
{
    debug("events of the module were lost: %s", why);
    lost_();
}

} // namespace ptsched
