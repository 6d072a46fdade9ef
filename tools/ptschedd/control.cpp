// SPDX-License-Identifier: MIT
#include "tools/ptschedd/control.hpp"

#include <cerrno>

namespace ptsched {
namespace {

void put_stats(AttributeWriter &out, const ptsp_stats &stats)
{
    out.put<std::uint64_t>(PTSCHED_A_TURNS, stats.turns);
    out.put<std::uint64_t>(PTSCHED_A_CALLBACKS, stats.callbacks);
    out.put<std::uint64_t>(PTSCHED_A_PREEMPTS, stats.preempts);
    out.put<std::uint64_t>(PTSCHED_A_ESCALATIONS, stats.escalations);
    out.put<std::uint64_t>(PTSCHED_A_FORCED, stats.forced);
    out.put<std::uint64_t>(PTSCHED_A_OVERRUN_NS, stats.overrun_ns);
    out.put<std::uint64_t>(PTSCHED_A_OCCUPANCY_NS, stats.occupancy_ns);
    out.put<std::uint64_t>(PTSCHED_A_HELD_NS, stats.held_ns);
    out.put<std::uint64_t>(PTSCHED_A_GPU_NS, stats.gpu_ns);
    out.put<std::uint64_t>(PTSCHED_A_GIVEN_NS, stats.given_ns);
}

AttributeWriter describe(const Device &device)
{
    AttributeWriter out(PTSCHED_CMD_GET_DEVICE);
    const ptsp_device &policy = device.policy();
    out.put<std::uint32_t>(PTSCHED_A_DEVICE_ID, device.id());
    out.put_string(PTSCHED_A_DEVICE, device.address());
    if (!device.uuid().empty())
        out.put_string(PTSCHED_A_UUID, device.uuid());
    out.put<std::uint32_t>(PTSCHED_A_POLICY, policy.params.kind);
    out.put<std::uint32_t>(PTSCHED_A_GROUPING, policy.params.grouping);
    out.put<std::uint8_t>(PTSCHED_A_IDLE_SHARING, policy.params.idle_sharing);
    out.put<std::uint8_t>(PTSCHED_A_MANY, policy.params.many);
    out.put<std::uint64_t>(PTSCHED_A_SLICE_NS, policy.params.slice_ns);
    out.put<std::uint64_t>(PTSCHED_A_GRACE_NS, policy.params.grace_ns);
    out.put<std::uint64_t>(PTSCHED_A_DRAIN_NS, policy.params.drain_ns);
    out.put<std::uint64_t>(PTSCHED_A_INFLIGHT_NS, policy.params.inflight_ns);
    out.put<std::uint32_t>(PTSCHED_A_ALPHA, policy.params.alpha);
    out.put<std::uint64_t>(PTSCHED_A_NODE, device.node());
    out.put<std::uint64_t>(PTSCHED_A_SLICE_EFFECTIVE_NS, ptsp_slice(&policy));
    out.put<std::uint64_t>(PTSCHED_A_HANDOVER_NS, policy.handover_ns);
    out.put<std::uint32_t>(PTSCHED_A_ENTITIES, policy.nr_entities);
    out.put<std::uint32_t>(PTSCHED_A_WAITERS, policy.nr_waiters);
    put_stats(out, policy.stats);
    return out;
}

AttributeWriter describe(const Device &device, const Entity &entity, const Viewer &viewer, pid_t pid)
{
    AttributeWriter out(PTSCHED_CMD_GET_ENTITY);
    out.put<std::uint32_t>(PTSCHED_A_DEVICE_ID, device.id());
    out.put<std::uint32_t>(PTSCHED_A_PID, static_cast<std::uint32_t>(pid));
    out.put<std::uint32_t>(PTSCHED_A_UID, entity.process->uid());
    out.put_string(PTSCHED_A_COMM, entity.process->comm());
    out.put<std::int32_t>(PTSCHED_A_NICE, entity.process->nice());
    out.put<std::uint32_t>(PTSCHED_A_WEIGHT, entity.current_weight());
    out.put<std::uint8_t>(PTSCHED_A_WEIGHT_SET, entity.fixed_weight != 0);
    out.put<std::uint32_t>(PTSCHED_A_STATE, entity.state);
    out.put<std::uint8_t>(PTSCHED_A_ACTIVE, entity.active);
    out.put<std::int64_t>(PTSCHED_A_BUDGET_NS, ptsp_budget(&device.policy(), &entity, monotonic_ns()));
    out.put<std::uint64_t>(PTSCHED_A_WAIT_NS, entity.stats.wait_ns);
    out.put<std::uint64_t>(PTSCHED_A_SUBMISSIONS, entity.stats.submissions);
    out.put<std::uint32_t>(PTSCHED_A_CLIENTS, entity.contract.nr_owned);
    out.put<std::uint32_t>(PTSCHED_A_MECHANISM, entity.contract.mechanism);
    if (viewer.sees_user(entity.process->uid())) {
        out.put<std::uint64_t>(PTSCHED_A_USER_GPU_NS, entity.account->gpu_ns);
        if (const Cgroup *cgroup = entity.cgroup.get())
            out.put<std::uint64_t>(PTSCHED_A_CGROUP, cgroup->number);
    }
    out.put<std::uint32_t>(PTSCHED_A_SHARE, entity.account->share);
    if (entity.rank)
        out.put_string(PTSCHED_A_GROUP, entity.rank->name);
    put_stats(out, ptsp_stats_of(&device.policy(), &entity));
    return out;
}

AttributeWriter describe(const Device &device, uid_t uid, const Account &account)
{
    AttributeWriter out(PTSCHED_CMD_GET_ACCOUNT);
    out.put<std::uint32_t>(PTSCHED_A_DEVICE_ID, device.id());
    out.put<std::uint32_t>(PTSCHED_A_UID, uid);
    out.put<std::uint32_t>(PTSCHED_A_SHARE, account.share);
    out.put<std::uint32_t>(PTSCHED_A_ENTITIES, account.entities);
    out.put<std::uint64_t>(PTSCHED_A_GPU_NS, account.gpu_ns);
    return out;
}

AttributeWriter describe(const Device &device, const Cgroup &cgroup)
{
    AttributeWriter out(PTSCHED_CMD_GET_ACCOUNT);
    out.put<std::uint32_t>(PTSCHED_A_DEVICE_ID, device.id());
    out.put<std::uint64_t>(PTSCHED_A_CGROUP, cgroup.number);
    if (cgroup.parent)
        out.put<std::uint64_t>(PTSCHED_A_PARENT_CGROUP, cgroup.parent->number);
    out.put<std::uint32_t>(PTSCHED_A_SHARE, cgroup.share);
    out.put<std::uint32_t>(PTSCHED_A_ENTITIES, cgroup.entities);
    out.put<std::uint64_t>(PTSCHED_A_GPU_NS, cgroup.gpu_ns);
    return out;
}

Verdict refuse_unknown(std::uint16_t attribute)
{
    return {-EINVAL, attribute, "this attribute does not belong to this command"};
}

/* @found becomes the device that the request names, which must be there, or all. */
Verdict find_targets(DeviceList &devices, const AttributeReader &request, std::vector<Device *> &found)
{
    auto only = request.get(PTSCHED_A_DEVICE_ID);
    for (auto &device : devices)
        if (!only || *only == device->id())
            found.push_back(device.get());
    return only && found.empty() ? Verdict{-ENODEV, PTSCHED_A_DEVICE_ID, "no such device"} : Verdict{};
}

ptsp_params merge(ptsp_params params, const AttributeReader &request)
{
    if (auto kind = request.get(PTSCHED_A_POLICY))
        params.kind = static_cast<ptsp_kind>(*kind);
    if (auto grouping = request.get(PTSCHED_A_GROUPING))
        params.grouping = static_cast<ptsp_grouping>(*grouping);
    params.idle_sharing = request.get(PTSCHED_A_IDLE_SHARING).value_or(params.idle_sharing);
    params.many = request.get(PTSCHED_A_MANY).value_or(params.many);
    params.slice_ns = request.get(PTSCHED_A_SLICE_NS).value_or(params.slice_ns);
    params.grace_ns = request.get(PTSCHED_A_GRACE_NS).value_or(params.grace_ns);
    params.drain_ns = request.get(PTSCHED_A_DRAIN_NS).value_or(params.drain_ns);
    params.inflight_ns = request.get(PTSCHED_A_INFLIGHT_NS).value_or(params.inflight_ns);
    params.alpha = static_cast<std::uint32_t>(request.get(PTSCHED_A_ALPHA).value_or(params.alpha));
    return params;
}

std::uint16_t attribute_of(ptsp_param param)
{
    switch (param) {
    case PTSP_PARAM_OK:
        break;
    case PTSP_PARAM_KIND:
        return PTSCHED_A_POLICY;
    case PTSP_PARAM_GROUPING:
        return PTSCHED_A_GROUPING;
    case PTSP_PARAM_ALPHA:
        return PTSCHED_A_ALPHA;
    case PTSP_PARAM_SLICE:
        return PTSCHED_A_SLICE_NS;
    case PTSP_PARAM_GRACE:
        return PTSCHED_A_GRACE_NS;
    case PTSP_PARAM_DRAIN:
        return PTSCHED_A_DRAIN_NS;
    case PTSP_PARAM_INFLIGHT:
        return PTSCHED_A_INFLIGHT_NS;
    }
    return 0;
}

Verdict check_settings(const AttributeReader &request)
{
    if (request.get(PTSCHED_A_IDLE_SHARING).value_or(0) > 1)
        return {-ERANGE, PTSCHED_A_IDLE_SHARING, "idle sharing: 0 or 1"};
    if (request.get(PTSCHED_A_MANY).value_or(0) > 1)
        return {-ERANGE, PTSCHED_A_MANY, "many: 0 or 1"};
    /* Before the value is squeezed into an enumeration. */
    ptsp_param fault = request.get(PTSCHED_A_POLICY).value_or(0) > PTSP_NONE ? PTSP_PARAM_KIND : PTSP_PARAM_OK;
    if (request.get(PTSCHED_A_GROUPING).value_or(0) > PTSP_BY_CGROUP)
        fault = PTSP_PARAM_GROUPING;
    if (fault == PTSP_PARAM_OK) {
        ptsp_params params = merge(ptsp_default_params(), request);
        fault = ptsp_check_params(&params);
    }
    if (fault == PTSP_PARAM_OK)
        return {};
    return {-ERANGE, attribute_of(fault), range_of(fault)};
}

Verdict set_device(DeviceList &devices, const AttributeReader &request)
{
    std::uint16_t unknown =
        request.other_than({PTSCHED_A_DEVICE_ID, PTSCHED_A_POLICY, PTSCHED_A_IDLE_SHARING, PTSCHED_A_MANY,
                            PTSCHED_A_SLICE_NS, PTSCHED_A_GRACE_NS, PTSCHED_A_DRAIN_NS, PTSCHED_A_INFLIGHT_NS,
                            PTSCHED_A_ALPHA, PTSCHED_A_NODE, PTSCHED_A_GROUPING});
    if (unknown)
        return refuse_unknown(unknown);
    auto node = request.get(PTSCHED_A_NODE);
    if (node && !request.has(PTSCHED_A_DEVICE_ID))
        return {-EINVAL, PTSCHED_A_NODE, "a node belongs to one device: say to which"};
    Verdict verdict = check_settings(request);
    if (verdict.error)
        return verdict;
    std::vector<Device *> found;
    if (Verdict verdict = find_targets(devices, request, found); verdict.error)
        return verdict;
    for (Device *device : found) {
        device->set_node(node.value_or(device->node()));
        device->set_params(merge(device->policy().params, request));
    }
    return {};
}

Verdict set_entity(DeviceList &devices, const AttributeReader &request, const Viewer &viewer)
{
    std::uint16_t unknown = request.other_than({PTSCHED_A_DEVICE_ID, PTSCHED_A_PID, PTSCHED_A_WEIGHT});
    if (unknown)
        return refuse_unknown(unknown);
    auto pid = request.get(PTSCHED_A_PID);
    auto weight = request.get(PTSCHED_A_WEIGHT);
    if (!pid)
        return {-EINVAL, PTSCHED_A_PID, "the process is missing"};
    if (!weight)
        return {-EINVAL, PTSCHED_A_WEIGHT, "the weight is missing"};
    if (*weight > PTSCHED_WEIGHT_MAX)
        return {-ERANGE, PTSCHED_A_WEIGHT,
                "weight: 1 to " + std::to_string(PTSCHED_WEIGHT_MAX) + ", or 0 for that of nice"};
    std::vector<Device *> found;
    if (Verdict verdict = find_targets(devices, request, found); verdict.error)
        return verdict;
    bool attached = false;
    for (Device *device : found) {
        for (auto &[process, entity] : device->entities()) {
            if (!*pid || static_cast<std::uint64_t>(viewer.pid_of(*process)) != *pid)
                continue;
            attached = true;
            device->fix_weight(*entity, static_cast<std::uint32_t>(*weight));
        }
    }
    return attached ? Verdict{} : Verdict{-ESRCH, PTSCHED_A_PID, "the process is not attached"};
}

Verdict no_privilege()
{
    return {-EPERM, 0, "only root and the broker's own user may change settings"};
}

/* Of a user or a cgroup; there must be one. */
Verdict check_share(const AttributeReader &request)
{
    auto share = request.get(PTSCHED_A_SHARE);
    if (!share)
        return {-EINVAL, PTSCHED_A_SHARE, "the share is missing"};
    if (!*share || *share > PTSCHED_SHARE_MAX)
        return {-ERANGE, PTSCHED_A_SHARE, "share: 1 to " + std::to_string(PTSCHED_SHARE_MAX)};
    return {};
}

Verdict set_user(DeviceList &devices, const AttributeReader &request)
{
    if (std::uint16_t unknown = request.other_than({PTSCHED_A_DEVICE_ID, PTSCHED_A_UID, PTSCHED_A_SHARE}))
        return refuse_unknown(unknown);
    auto uid = request.get(PTSCHED_A_UID);
    if (!uid)
        return {-EINVAL, PTSCHED_A_UID, "the user is missing"};
    if (Verdict verdict = check_share(request); verdict.error)
        return verdict;
    if (static_cast<uid_t>(*uid) == static_cast<uid_t>(-1))
        return {-ERANGE, PTSCHED_A_UID, "user: 0 to 4294967294"};
    std::vector<Device *> found;
    if (Verdict verdict = find_targets(devices, request, found); verdict.error)
        return verdict;
    for (Device *device : found)
        device->set_share(static_cast<uid_t>(*uid), static_cast<std::uint32_t>(*request.get(PTSCHED_A_SHARE)));
    return {};
}

/* By who may make such cgroups, as their cpu.weight. */
Verdict set_cgroup(DeviceList &devices, const AttributeReader &request, Requester &requester)
{
    if (std::uint16_t unknown = request.other_than({PTSCHED_A_DEVICE_ID, PTSCHED_A_CGROUP_FD, PTSCHED_A_SHARE}))
        return refuse_unknown(unknown);
    if (!request.has(PTSCHED_A_CGROUP_FD))
        return {-EINVAL, PTSCHED_A_CGROUP_FD, "the cgroup is missing"};
    if (Verdict verdict = check_share(request); verdict.error)
        return verdict;
    if (!requester.fd)
        return {-EBADF, PTSCHED_A_CGROUP_FD, "the cgroup's descriptor is missing"};
    std::string fault;
    auto cgroup = find_cgroup(requester.fd.get(), fault);
    if (!cgroup)
        return {-EINVAL, PTSCHED_A_CGROUP_FD, fault};
    if (!requester.privileged && !(requester.sends_itself && requester.viewer.may_write(cgroup->above)))
        return {-EPERM, 0, "only root, the broker's own user and who may write the directory above it may do that"};
    std::vector<Device *> found;
    if (Verdict verdict = find_targets(devices, request, found); verdict.error)
        return verdict;
    for (const Device *device : found)
        if (!requester.privileged && device->cgroups().is_full())
            return {-ENOSPC, 0, "the broker remembers no more cgroups for users"};
    const auto directory = std::make_shared<const UniqueFd>(std::move(requester.fd));
    for (Device *device : found)
        device->set_share(cgroup->path, static_cast<std::uint32_t>(*request.get(PTSCHED_A_SHARE)), directory);
    return {};
}

Verdict get_accounts(DeviceList &devices, const AttributeReader &request, const Viewer &viewer,
                     const std::function<void(std::span<const char>)> &emit)
{
    if (std::uint16_t unknown = request.other_than({PTSCHED_A_DEVICE_ID}))
        return refuse_unknown(unknown);
    std::vector<Device *> found;
    if (Verdict verdict = find_targets(devices, request, found); verdict.error)
        return verdict;
    for (Device *device : found) {
        device->run();
        device->forget_accounts();
        for (const auto &[uid, account] : device->accounts())
            if (viewer.sees_user(uid))
                emit(describe(*device, uid, account).bytes());
        for (const auto &[number, cgroup] : device->cgroups().all())
            if (viewer.is_privileged())
                emit(describe(*device, cgroup).bytes());
    }
    return {};
}

Verdict get_entities(DeviceList &devices, const AttributeReader &request, const Viewer &viewer,
                     const std::function<void(std::span<const char>)> &emit)
{
    if (std::uint16_t unknown = request.other_than({PTSCHED_A_DEVICE_ID}))
        return refuse_unknown(unknown);
    std::vector<Device *> found;
    if (Verdict verdict = find_targets(devices, request, found); verdict.error)
        return verdict;
    for (Device *device : found) {
        device->run();
        for (auto &[process, entity] : device->entities())
            if (pid_t pid = viewer.pid_of(*process))
                emit(describe(*device, *entity, viewer, pid).bytes());
    }
    return {};
}

Verdict get_devices(DeviceList &devices, const AttributeReader &request,
                    const std::function<void(std::span<const char>)> &emit)
{
    if (std::uint16_t unknown = request.other_than({}))
        return refuse_unknown(unknown);
    for (auto &device : devices) {
        device->run();
        emit(describe(*device).bytes());
    }
    return {};
}

} // namespace

std::string range_of(ptsp_param param)
{
    auto range = [](const char *name, std::uint64_t from, std::uint64_t to) {
        return std::string(name) + ": " + std::to_string(from) + " to " + std::to_string(to) + " ns";
    };
    switch (param) {
    case PTSP_PARAM_OK:
        break;
    case PTSP_PARAM_KIND:
        return "policy: 0 (weighted), 1 (literal) or 2 (none)";
    case PTSP_PARAM_GROUPING:
        return "grouping: 0 (process), 1 (user) or 2 (cgroup)";
    case PTSP_PARAM_ALPHA:
        return "alpha: 1 to " + std::to_string(PTSCHED_ALPHA_MAX);
    case PTSP_PARAM_SLICE:
        return range("slice", PTSCHED_SLICE_MIN_NS, PTSCHED_SLICE_MAX_NS);
    case PTSP_PARAM_GRACE:
        return range("grace", 0, PTSCHED_GRACE_MAX_NS);
    case PTSP_PARAM_DRAIN:
        return range("drain", PTSCHED_DRAIN_MIN_NS, PTSCHED_DRAIN_MAX_NS);
    case PTSP_PARAM_INFLIGHT:
        return range("inflight", PTSCHED_INFLIGHT_MIN_NS, PTSCHED_INFLIGHT_MAX_NS);
    }
    return {};
}

Verdict control(DeviceList &devices, std::span<const char> bytes, Requester requester,
                const std::function<void(std::span<const char>)> &emit)
{
    AttributeReader request;
    if (!request.parse(bytes))
        return {-EINVAL, request.fault(), "malformed message or attribute"};
    switch (request.cmd()) {
    case PTSCHED_CMD_GET_DEVICE:
        return get_devices(devices, request, emit);
    case PTSCHED_CMD_GET_ENTITY:
        return get_entities(devices, request, requester.viewer, emit);
    case PTSCHED_CMD_GET_ACCOUNT:
        return get_accounts(devices, request, requester.viewer, emit);
    case PTSCHED_CMD_SET_DEVICE:
        return requester.privileged ? set_device(devices, request) : no_privilege();
    case PTSCHED_CMD_SET_ENTITY:
        return requester.privileged ? set_entity(devices, request, requester.viewer) : no_privilege();
    case PTSCHED_CMD_SET_USER:
        return requester.privileged ? set_user(devices, request) : no_privilege();
    case PTSCHED_CMD_SET_CGROUP:
        return set_cgroup(devices, request, requester);
    default:
        return {-EOPNOTSUPP, 0, "no such command"};
    }
}

AttributeWriter describe_event(std::uint32_t kind, const Device &device, const Entity *entity, pid_t pid)
{
    std::uint64_t now = device.decided_ns();
    AttributeWriter out(PTSCHED_CMD_EVENT);
    out.put<std::uint32_t>(PTSCHED_A_EVENT, kind);
    out.put<std::uint64_t>(PTSCHED_A_TIME_NS, now);
    out.put<std::uint32_t>(PTSCHED_A_DEVICE_ID, device.id());
    if (!entity)
        return out;
    out.put<std::uint32_t>(PTSCHED_A_PID, static_cast<std::uint32_t>(pid));
    out.put_string(PTSCHED_A_COMM, entity->process->comm());
    out.put<std::int64_t>(PTSCHED_A_BUDGET_NS, ptsp_budget(&device.policy(), entity, now));
    out.put<std::uint64_t>(PTSCHED_A_TURN, entity->turn);
    return out;
}

} // namespace ptsched
