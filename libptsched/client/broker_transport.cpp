// SPDX-License-Identifier: MIT
/* The broker: a connection per client, shared by the threads of the process. */
#include "libptsched/client/broker_connection.hpp"
#include "libptsched/client/broker_page.hpp"
#include "libptsched/client/broker_socket.hpp"
#include "libptsched/client/transport.hpp"

#include <cerrno>

namespace ptsched {
namespace {

class BrokerTransport final : public Transport {
public:
    explicit BrokerTransport(UniqueFd socket) : connection_(std::move(socket)), owner_(getpid()) {}

    ~BrokerTransport() override
    {
        /* Else a forked child's copy of the socket would keep the turn. */
        if (!owned())
            page_.forget();
        else if (!dead_)
            connection_.post(PTSCHED_BROKER_CLOSE, nullptr, 0);
    }

    ptsched_backend backend() const override { return PTSCHED_BACKEND_BROKER; }

    int query(Query &query) override
    {
        return dead_ ? dead_.load() : checked(connection_.call(PTSCHED_IOC_QUERY, &query, sizeof(query)));
    }

    int attach(Attach &attach) override
    {
        UniqueFd fds[PTSCHED_BROKER_NR_FDS];
        const int node = attach.flags & PTSCHED_ATTACH_NODE ? attach.node : -1;
        int ret = owned() ? connection_.call_for_fds(PTSCHED_IOC_ATTACH, &attach, sizeof(attach), fds, node) : -EPERM;
        if (ret)
            return ret;
        /* Nobody is to wait in ack(). */
        if (!(fcntl(fds[PTSCHED_BROKER_FD_POLL].get(), F_GETFL) & O_NONBLOCK))
            return -EPROTO;
        poll_ = KeptFd(std::move(fds[PTSCHED_BROKER_FD_POLL]));
        handle_ = KeptFd(std::move(fds[PTSCHED_BROKER_FD_HANDLE]));
        return page_.map(fds[PTSCHED_BROKER_FD_PAGE].get(), fds[PTSCHED_BROKER_FD_STATE].get());
    }

    int acquire(Acquire &acquire) override
    {
        int ret = usable();
        if (ret)
            return ret;
        return checked(connection_.call_interruptible(PTSCHED_IOC_ACQUIRE, &acquire, sizeof(acquire)));
    }

    int release(const Release &release) override
    {
        int ret = usable();
        if (ret)
            return ret;
        if (!(page_.clear(PTSCHED_STATE_TURN) & PTSCHED_STATE_TURN))
            return -EPERM;
        return post(PTSCHED_IOC_RELEASE, &release, sizeof(release));
    }

    int report(const Report &report) override
    {
        int ret = usable();
        if (ret)
            return ret;
        if (!(ptsched_state(page_.get()) & PTSCHED_STATE_TURN))
            return -EPERM;
        return post(PTSCHED_IOC_REPORT, &report, sizeof(report));
    }

    int ack(const Ack &ack) override
    {
        int ret = usable();
        if (ret)
            return ret;
        if (!poll_.is_ours())
            return checked(-EBADFD);
        char byte;
        ssize_t got;
        /*
         * The broker puts it back if there is more than is acknowledged here, and takes it away where that has crossed.
         */
        while ((got = read(poll_.get(), &byte, 1)) < 0 && errno == EINTR)
            continue;
        if (got == 0)
            return checked(-EPIPE); /* before the socket tells */
        return post(PTSCHED_IOC_ACK, &ack, sizeof(ack));
    }

    int hand_over() override
    {
        int ret = usable();
        if (ret)
            return ret;
        if (!handle_.is_ours())
            return -EBADFD;
        auto argument = sized<HandOver>();
        ret = Transport::call(PTSCHED_IOC_HAND_OVER, argument);
        return ret ? ret : handle_.get();
    }

    int poll_fd() const override { return poll_.is_ours() ? poll_.get() : -1; }
    const ptsched_page *page() const override { return page_.get(); }

private:
    bool owned() const { return getpid() == owner_; }

    int usable() const
    {
        if (!owned())
            return -EPERM;
        return dead_;
    }

    int call(std::uint32_t number, void *argument, std::uint32_t size, int fd) override
    {
        int ret = usable();
        return ret ? ret : checked(connection_.call(number, argument, size, fd));
    }

    int post(std::uint32_t cmd, const void *argument, std::uint32_t length)
    {
        return checked(connection_.post(cmd, argument, length));
    }

    int checked(int ret)
    {
        if ((ret == -EPIPE || ret == -EHOSTDOWN || ret == -EBADFD) && owned()) {
            dead_ = ret;
            page_.set_dead();
        }
        return ret;
    }

    BrokerConnection connection_;
    BrokerPage page_;
    KeptFd poll_;
    KeptFd handle_;
    pid_t owner_;
    std::atomic<int> dead_{0}; /* why it is, as a negative errno */
};

} // namespace

int open_broker(std::unique_ptr<Transport> &transport)
{
    UniqueFd socket;
    int ret = connect_to_broker(socket);
    if (ret)
        return ret;
    transport = std::make_unique<BrokerTransport>(std::move(socket));
    return 0;
}

} // namespace ptsched
