// SPDX-License-Identifier: MIT
#include "libptsched/preload/turn/helper.hpp"

#include "libptsched/client/broker_connection.hpp"
#include "libptsched/client/broker_socket.hpp"
#include "libptsched/preload/common/debug.hpp"
#include "libptsched/preload/common/immortal.hpp"
#include "libptsched/preload/turn/attachment.hpp"
#include "libptsched/preload/turn/channels.hpp"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <unistd.h>

namespace ptsched::preload {

namespace {

constinit Immortal<Helper> first_helper;

bool may_have_our_file(int socket)
{
    ucred peer;
    socklen_t size = sizeof(peer);
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == 0 || peer.uid == geteuid());
}

/* One that does not answer is no help: the program goes on without it. */
constexpr std::chrono::seconds patience{1};

void tell(void *connection, const ChannelSet &set)
{
    struct {
        ptsched_broker_channels head;
        std::uint32_t handles[PTSCHED_BROKER_MAX_CHANNELS];
    } message{};
    if (set.channels.size() > PTSCHED_BROKER_MAX_CHANNELS)
        return;
    message.head.client = set.client;
    message.head.subdevice = set.subdevice;
    message.head.count = static_cast<std::uint32_t>(set.channels.size());
    std::size_t size = set.channels.size() * sizeof(std::uint32_t);
    if (size)
        std::memcpy(message.handles, set.channels.data(), size);
    static_cast<BrokerConnection *>(connection)
        ->post(PTSCHED_BROKER_CHANNELS, &message, static_cast<std::uint32_t>(sizeof(message.head) + size),
               size ? set.fd : -1);
}

} // namespace

constinit Helper *helper = &first_helper.value;

std::shared_ptr<BrokerConnection> Helper::connection()
{
    Guard guard(lock_);
    return connection_;
}

void Helper::connect()
{
    UniqueFd socket;
    if (connection() || connect_to_broker(socket, patience))
        return;
    if (!may_have_our_file(socket.get())) {
        debug("ptschedd is neither root's nor this user's: it does not help");
        return;
    }
    auto made = std::make_shared<BrokerConnection>(std::move(socket), patience);
    channels->watch(tell, made.get());
    Guard guard(lock_);
    connection_ = std::move(made);
}

void Helper::await_freed()
{
    UniqueFd socket;
    if (connect_to_broker(socket, patience))
        return;
    BrokerConnection connection(std::move(socket), patience + std::chrono::nanoseconds(PTSCHED_BROKER_FREED_WITHIN_NS));
    char nothing;
    if (int error = connection.call(PTSCHED_BROKER_AWAIT_FREED, &nothing, 0))
        debug("programs that have ended may still have memory: %s", std::strerror(-error));
}

int Helper::set(const Attachment &device, bool off, std::uint64_t turn)
{
    std::shared_ptr<BrokerConnection> used = connection();
    if (!used)
        return -ENOTCONN;
    ptsched_broker_switch request{};
    static_assert(sizeof(request.device) == PTSCHED_NAME_LEN);
    std::memcpy(request.device, device.address(), sizeof(request.device));
    ptsched_identity(device.client(), &request.device_id, nullptr);
    request.off = off;
    request.turn = turn;
    int ret = used->call(PTSCHED_BROKER_SWITCH, &request, sizeof(request));
    return ret == -EPIPE || ret == -EHOSTDOWN || ret == -EBADFD || ret == -EXDEV || ret == -ENFILE ? -ENOTCONN : ret;
}

void Helper::leave()
{
    channels->watch(nullptr, nullptr);
    Guard guard(lock_);
    connection_.reset();
}

bool Helper::is_connected()
{
    return connection() != nullptr;
}

int Helper::poll_fd()
{
    std::shared_ptr<BrokerConnection> used = connection();
    return used ? used->fd() : -1;
}

void Helper::forget()
{
    /* Its locks may be held by threads that are no more; the socket must not keep the parent's connection alive. */
    int inherited = connection_ ? connection_->fd() : -1;
    helper = new Helper;
    if (inherited >= 0)
        close(inherited);
}

} // namespace ptsched::preload
