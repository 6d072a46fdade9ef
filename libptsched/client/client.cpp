// SPDX-License-Identifier: MIT
/* The C ABI: ptsched/ptsched.h on top of a transport. */
#include "kmod/policy/weight.h"
#include "libptsched/base/no_cancellation.hpp"
#include "libptsched/client/device_name.hpp"
#include "libptsched/client/device_node.hpp"
#include "libptsched/client/group.hpp"
#include "libptsched/client/transport.hpp"

#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>

struct ptsched_client {
    std::unique_ptr<ptsched::Transport> transport;
    std::uint64_t features = 0;
    std::uint32_t device_id = 0;
    std::uint64_t entity = 0;
};

namespace {

using ptsched::Transport;

/* Nothing is thrown into C, errno stays the caller's, and no call is a cancellation point. */
template <typename Function> int guarded(Function function)
{
    ptsched::NoCancellation here;
    int saved = errno;
    int ret;
    try {
        ret = function();
    } catch (const std::bad_alloc &) {
        ret = -ENOMEM;
    } catch (...) {
        ret = -EIO;
    }
    errno = saved;
    return ret;
}

int connect_to(ptsched_backend backend, std::unique_ptr<Transport> &transport)
{
    switch (backend) {
    case PTSCHED_BACKEND_MODULE:
        return ptsched::open_module(transport);
    case PTSCHED_BACKEND_BROKER:
        return ptsched::open_broker(transport);
    case PTSCHED_BACKEND_AUTO: {
        int module = ptsched::open_module(transport);
        if (!module)
            return 0;
        int broker = ptsched::open_broker(transport);
        /* A module that may not be used says more than a broker that is not there. */
        return broker == -ENOENT ? module : broker;
    }
    }
    return -EINVAL;
}

int check_version(Transport &transport, std::uint64_t &features)
{
    auto query = ptsched::sized<ptsched::Query>();
    int ret = transport.query(query);
    if (ret)
        return ret;
    features = query.features;
    return query.version_major == PTSCHED_VERSION_MAJOR ? 0 : -EPROTO;
}

/* A scheduler that gives turns only to who can open the device's node is shown one. */
int attach_with_node(Transport &transport, ptsched::Attach &attach)
{
    int ret = transport.attach(attach);
    if (ret != -EACCES)
        return ret;
    ptsched::try_nodes(attach.device, [&](int fd) {
        attach.flags = PTSCHED_ATTACH_NODE;
        attach.node = fd;
        ret = transport.attach(attach);
        return ret != -EACCES;
    });
    return ret;
}

int attach(Transport &transport, const char *device, unsigned int mechanism, ptsched::Attach &attach)
{
    attach = ptsched::sized<ptsched::Attach>();
    attach.mechanism = mechanism;
    std::size_t length = strlen(device);
    if (length >= sizeof(attach.device))
        return -EINVAL;
    memcpy(attach.device, device, length);
    int ret = attach_with_node(transport, attach);
    /* An instance of a GPU that MIG divides: a scheduler that knows no such names has no such device. */
    if (ret == -EINVAL && strncmp(device, "MIG-", 4) == 0)
        return -ENODEV;
    if (ret != -ENODEV || strncmp(device, "GPU-", 4) != 0)
        return ret;

    std::string address = ptsched::address_of_uuid(device);
    if (address.empty() || address.size() >= sizeof(attach.device))
        return ret;
    memset(attach.device, 0, sizeof(attach.device));
    memcpy(attach.device, address.data(), address.size());
    return attach_with_node(transport, attach);
}

int set_group(const ptsched_client &client, std::string_view name)
{
    auto group = ptsched::sized<ptsched::Group>();
    if (name.size() >= sizeof(group.name))
        return -ENAMETOOLONG;
    if (!(client.features & PTSCHED_FEATURE_GROUP))
        return -EOPNOTSUPP;
    name.copy(group.name, name.size());
    return client.transport->call(PTSCHED_IOC_GROUP, group);
}

/* What a scheduler that knows no groups, or a group that is full, gives up is not worth a failure. */
void join_group(const ptsched_client &client)
{
    const std::string name = ptsched::group_of_environment();
    if (!name.empty())
        set_group(client, name);
}

int open_client(const char *device, unsigned int mechanism, ptsched_backend backend, ptsched_client **client)
{
    if (!device || !client)
        return -EINVAL;
    auto made = std::make_unique<ptsched_client>();
    int ret = connect_to(backend, made->transport);
    if (ret)
        return ret;
    ret = check_version(*made->transport, made->features);
    if (ret)
        return ret;
    ptsched::Attach result;
    ret = attach(*made->transport, device, mechanism, result);
    if (ret)
        return ret;
    made->device_id = result.device_id;
    made->entity = result.entity;
    join_group(*made);
    *client = made.release();
    return 0;
}

} // namespace

int ptsched_open(const char *device, unsigned int mechanism, enum ptsched_backend backend,
                 struct ptsched_client **client)
{
    return guarded([&] {
        int ret = open_client(device, mechanism, backend, client);
        /* A broker that ends, or will not have this process, is none. */
        return ret == -EPIPE ? -ENOENT : ret;
    });
}

void ptsched_close(struct ptsched_client *client)
{
    guarded([&] {
        delete client;
        return 0;
    });
}

enum ptsched_backend ptsched_client_backend(const struct ptsched_client *client)
{
    return client->transport->backend();
}

int ptsched_query(struct ptsched_client *client, struct ptsched_query *query)
{
    return guarded([&] {
        auto result = ptsched::sized<ptsched::Query>();
        int ret = client->transport->query(result);
        if (!ret)
            *query = result;
        return ret;
    });
}

int ptsched_identity(const struct ptsched_client *client, std::uint32_t *device_id, std::uint64_t *entity)
{
    if (device_id)
        *device_id = client->device_id;
    if (entity)
        *entity = client->entity;
    return 0;
}

int ptsched_acquire(struct ptsched_client *client, std::uint64_t deadline_ns, unsigned int flags,
                    struct ptsched_acquire *result)
{
    return guarded([&] {
        auto acquire = ptsched::sized<ptsched::Acquire>();
        /* Who does not know it takes all lighter ones off. */
        acquire.flags = client->features & PTSCHED_FEATURE_ABOVE ? flags : flags & ~PTSCHED_ACQUIRE_ABOVE;
        acquire.deadline_ns = deadline_ns;
        int ret = client->transport->acquire(acquire);
        if (!ret && result)
            *result = acquire;
        return ret;
    });
}

int ptsched_release(struct ptsched_client *client, const struct ptsched_usage *usage)
{
    return guarded([&] {
        auto release = ptsched::sized<ptsched::Release>();
        if (usage) {
            release.submissions = usage->submissions;
            release.gpu_ns = usage->gpu_ns;
            release.handover_ns = usage->handover_ns;
        }
        return client->transport->release(release);
    });
}

int ptsched_report(struct ptsched_client *client, const struct ptsched_usage *usage)
{
    return guarded([&] {
        if (!usage)
            return -EINVAL;
        auto report = ptsched::sized<ptsched::Report>();
        report.submissions = usage->submissions;
        report.gpu_ns = usage->gpu_ns;
        return client->transport->report(report);
    });
}

int ptsched_ack(struct ptsched_client *client, std::uint32_t events, std::uint64_t drain_ns)
{
    return guarded([&] {
        auto ack = ptsched::sized<ptsched::Ack>();
        ack.events = events;
        ack.drain_ns = drain_ns;
        return client->transport->ack(ack);
    });
}

int ptsched_act_for(struct ptsched_client *client, unsigned int kind, int fd)
{
    return guarded([&] {
        auto act_for = ptsched::sized<ptsched::ActFor>();
        act_for.kind = kind;
        act_for.fd = fd;
        return client->transport->call(PTSCHED_IOC_ACT_FOR, act_for, fd);
    });
}

int ptsched_set_mechanism(struct ptsched_client *client, unsigned int mechanism)
{
    return guarded([&] {
        auto argument = ptsched::sized<ptsched::Mechanism>();
        argument.mechanism = mechanism;
        return client->transport->call(PTSCHED_IOC_MECHANISM, argument);
    });
}

int ptsched_set_group(struct ptsched_client *client, const char *name)
{
    return guarded([&] { return set_group(*client, name ? name : ""); });
}

int ptsched_poll_fd(const struct ptsched_client *client)
{
    return client->transport->poll_fd();
}

int ptsched_hand_over(struct ptsched_client *client)
{
    return guarded([&] { return client->transport->hand_over(); });
}

const struct ptsched_page *ptsched_client_page(const struct ptsched_client *client)
{
    return client->transport->page();
}

std::uint32_t ptsched_nice_to_weight(int nice)
{
    return ptsp_nice_to_weight(nice);
}
