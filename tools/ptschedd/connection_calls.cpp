// SPDX-License-Identifier: MIT
/* The calls of uapi/linux/ptsched.h, as the messages of a connection. */
#include "libptsched/base/time_calls.hpp"
#include "tools/ptschedd/connection.hpp"
#include "tools/ptschedd/log.hpp"
#include "tools/ptschedd/server.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <system_error>

namespace ptsched {
namespace {

/* The structure of a request, by the rules of the uapi header for its size. */
template <typename Argument> int copy_in(std::span<const char> payload, std::uint32_t first, Argument &argument)
{
    std::uint32_t size;
    if (payload.size() < sizeof(size))
        return -EINVAL;
    memcpy(&size, payload.data(), sizeof(size));
    if (size != payload.size() || ptsc_check_size(size, first))
        return -EINVAL;
    const std::size_t known = std::min(payload.size(), sizeof(argument));
    argument = {};
    memcpy(&argument, payload.data(), known);
    auto rest = payload.subspan(known);
    return std::any_of(rest.begin(), rest.end(), [](char byte) { return byte != 0; }) ? -E2BIG : 0;
}

/* As many bytes as came: what is beyond the structure is zero. */
template <typename Argument> std::vector<char> copy_out(std::span<const char> payload, Argument argument)
{
    std::vector<char> reply(payload.begin(), payload.end());
    argument.size = static_cast<std::uint32_t>(reply.size());
    memcpy(reply.data(), &argument, std::min(reply.size(), sizeof(argument)));
    return reply;
}

/* The node that a descriptor is open on, for writing; 0: it is something else. */
std::uint64_t node_of_file(int fd)
{
    struct stat status;
    const int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || flags & O_PATH || (flags & O_ACCMODE) == O_RDONLY || fstat(fd, &status) < 0 ||
        !S_ISCHR(status.st_mode))
        return 0;
    return PTSCHED_NODE(major(status.st_rdev), minor(status.st_rdev));
}

} // namespace

template <typename Argument>
void Connection::serve(Request &request, std::uint32_t first, ptsc_caller caller, int (*check)(const Argument *))
{
    Argument argument;
    int ret = copy_in(request.payload, first, argument);
    if (!ret)
        ret = check_caller(request, caller);
    if (!ret)
        ret = check(&argument);
    if (!ret)
        ret = carry_out(argument, request);
    if (ret == -EINPROGRESS)
        return; /* answered there, or later */
    if (ret)
        return answer(request, ret);
    answer(request, 0, copy_out(request.payload, argument));
}

void Connection::serve_contract(Request &request)
{
#define PTSC_CALL(NAME, name, first, size, caller, is_valid)                                                           \
    if (ptsc_is_call(request.header.cmd, PTSCHED_IOC_##NAME))                                                          \
        return serve(request, first, caller, ptsc_check_##name);
#include "kmod/contract/calls.h"
    answer(request, -ENOTTY);
}

int Connection::carry_out(struct ptsched_query &argument, Request &)
{
    ptsc_answer_query(&argument, static_cast<std::uint32_t>(server_.devices().size()),
                      static_cast<std::uint32_t>(sysconf(_SC_PAGESIZE)));
    return 0;
}

int Connection::carry_out(struct ptsched_attach &argument, Request &request)
{
    if (client_)
        return ptsc_check_attach_again(is_from_owner(request));
    if (!is_from_owner(request))
        return -EPERM;
    Device *device = nullptr;
    int ret = server_.find_device(argument.device, device);
    if (ret)
        return ret;

    ret = check_node(argument, request, *device);
    if (ret)
        return ret;
    std::unique_ptr<Client> client;
    try {
        client = std::make_unique<Client>(*this, process_, viewer_.opener());
    } catch (const std::system_error &error) {
        warn("process %d cannot be served: %s", process_->pid(), error.what());
        return -error.code().value();
    }
    ret = device->attach(*client, argument.mechanism, server_.parent_of(*process_));
    if (ret)
        return ret;
    device_ = device;
    client_ = std::move(client);
    argument.device_id = device_->id();
    argument.entity = client_->self->id;

    auto ends = client_->page.take_client_ends();
    const ptsched_broker_header &header = request.header;
    Outgoing reply{make_header(header.cmd, header.length, 0, header.id), copy_out(request.payload, argument), {}};
    reply.fds.push_back(std::move(ends.page));
    reply.fds.push_back(std::move(ends.state));
    reply.fds.push_back(std::move(ends.poll));
    reply.fds.push_back(std::move(ends.handle));
    send(std::move(reply));
    return -EINPROGRESS;
}

int Connection::check_node(const struct ptsched_attach &argument, const Request &request, const Device &device) const
{
    const bool given = argument.flags & PTSCHED_ATTACH_NODE;
    if (given && (argument.node < 0 || request.fds.empty()))
        return -EBADF;
    const std::uint64_t node = given ? node_of_file(request.fds[0].get()) : 0;
    return server_.suffices(device, node) || process_->has_cap_sys_nice(viewer_.opener()) ? 0 : -EACCES;
}

int Connection::carry_out(struct ptsched_acquire &argument, Request &request)
{
    if (client_->waiters.size() >= PTSCHED_BROKER_MAX_CALLS)
        return -ENOBUFS;
    Waiter waiter{.id = request.header.id,
                  .tid = static_cast<std::int32_t>(request.header.tid),
                  .cpu = std::min<std::uint32_t>(request.header.cpu, CPU_SETSIZE),
                  .length = request.header.length,
                  .since_ns = monotonic_ns(),
                  .deadline_ns = argument.deadline_ns};
    if (client_->entity->weight > ptsp_nice_to_weight(0))
        server_.important_one_asks(static_cast<int>(waiter.cpu) - 1);
    int ret = device_->acquire(*client_, waiter, argument.flags);
    if (ret != -EINPROGRESS)
        acquired(waiter, ret);
    return -EINPROGRESS;
}

void Connection::acquired(const Waiter &waiter, int result)
{
    /* Another peer's doing may have led here. */
    serving([&] {
        Outgoing message{make_header(PTSCHED_IOC_ACQUIRE, 0, result, waiter.id), {}, {}};
        if (result == 0) {
            const Entity &entity = *client_->entity;
            struct ptsched_acquire argument {};
            argument.size = waiter.length;
            argument.deadline_ns = waiter.deadline_ns;
            ptsc_describe_turn(&argument, &entity, entity.granted_budget_ns, waiter.since_ns);
            message.header.length = waiter.length;
            message.payload.resize(waiter.length);
            memcpy(message.payload.data(), &argument, sizeof(argument));
        }
        send(std::move(message));
    });
}

int Connection::carry_out(struct ptsched_release &argument, Request &)
{
    return device_->release(*client_, argument);
}

int Connection::carry_out(struct ptsched_report &argument, Request &)
{
    return device_->report(*client_, argument);
}

int Connection::carry_out(struct ptsched_ack &argument, Request &)
{
    return device_->ack(*client_, argument);
}

int Connection::carry_out(struct ptsched_mechanism &argument, Request &)
{
    return device_->set_mechanism(*client_, argument.mechanism);
}

int Connection::carry_out(struct ptsched_hand_over &, Request &)
{
    const int ret = ptsc_allow_call(client_->contract.get());
    if (!ret)
        client_->contract->handed_over = true;
    return ret;
}

int Connection::carry_out(struct ptsched_group &argument, Request &)
{
    const int ret = ptsc_allow_call(client_->contract.get());
    return ret ? ret : server_.groups().set(*client_->self, argument.name);
}

int Connection::carry_out(struct ptsched_act_for &argument, Request &request)
{
    const bool by_client = argument.kind == PTSCHED_ACT_FOR_CLIENT;
    if (argument.fd == -1)
        return device_->act_for(*client_, nullptr, nullptr, nullptr);
    if (argument.fd < 0 || request.fds.empty())
        return -EBADF;
    ProcessRef requester;
    const Client *giver = nullptr;
    int ret = by_client ? server_.client_of_handle(request.fds[0].get(), *device_, giver)
                        : server_.process_of_pidfd(std::move(request.fds[0]), requester);
    if (ret)
        return ret;
    if (giver)
        requester = giver->process;
    return device_->act_for(*client_, requester, giver, server_.parent_of(*requester));
}

} // namespace ptsched
