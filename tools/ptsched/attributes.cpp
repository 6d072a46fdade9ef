// SPDX-License-Identifier: MIT
/* The attributes of the generic netlink family, to and from C++. */
#include "tools/ptsched/scheduler.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <linux/genetlink.h>
#include <netlink/attr.h>
#include <netlink/genl/genl.h>

namespace ptsched {

namespace {

/* One message, its attributes looked up by number. */
class Attributes {
public:
    Attributes(const void *message, std::size_t length)
    {
        if (length < GENL_HDRLEN)
            throw Error("the scheduler sent a message that is too short");
        /* libnl takes no const, but does not write. */
        auto *first = reinterpret_cast<nlattr *>(static_cast<char *>(const_cast<void *>(message)) + GENL_HDRLEN);
        if (nla_parse(table_.data(), PTSCHED_A_MAX, first, static_cast<int>(length - GENL_HDRLEN), nullptr) < 0)
            throw Error("the scheduler sent a message that cannot be read");
    }

    bool has(int attribute) const { return table_[attribute] != nullptr; }

    template <typename T> T number(int attribute) const
    {
        const nlattr *found = table_[attribute];
        if (!found || nla_len(found) < static_cast<int>(sizeof(T)))
            throw Error("the scheduler's answer lacks attribute " + std::to_string(attribute) +
                        "; do tool and scheduler have the same version? (ptsched doctor)");
        T value;
        std::memcpy(&value, nla_data(found), sizeof(value));
        return value;
    }

    std::string text(int attribute) const
    {
        const nlattr *found = table_[attribute];
        if (!found)
            return {};
        const char *data = static_cast<const char *>(nla_data(found));
        return {data, strnlen(data, static_cast<std::size_t>(nla_len(found)))};
    }

    Counters counters() const
    {
        return {
            .turns = number<std::uint64_t>(PTSCHED_A_TURNS),
            .callbacks = number<std::uint64_t>(PTSCHED_A_CALLBACKS),
            .preempts = number<std::uint64_t>(PTSCHED_A_PREEMPTS),
            .escalations = number<std::uint64_t>(PTSCHED_A_ESCALATIONS),
            .forced = number<std::uint64_t>(PTSCHED_A_FORCED),
            .overrun_ns = number<std::uint64_t>(PTSCHED_A_OVERRUN_NS),
            .occupancy_ns = number<std::uint64_t>(PTSCHED_A_OCCUPANCY_NS),
            .held_ns = number<std::uint64_t>(PTSCHED_A_HELD_NS),
            .gpu_ns = number<std::uint64_t>(PTSCHED_A_GPU_NS),
            .given_ns = number<std::uint64_t>(PTSCHED_A_GIVEN_NS),
        };
    }

private:
    std::array<nlattr *, PTSCHED_A_MAX + 1> table_{};
};

Device parse_device(const void *message, std::size_t length)
{
    Attributes a(message, length);

    return {
        .id = a.number<std::uint32_t>(PTSCHED_A_DEVICE_ID),
        .pci = a.text(PTSCHED_A_DEVICE),
        .uuid = a.text(PTSCHED_A_UUID),
        .policy = a.number<std::uint32_t>(PTSCHED_A_POLICY),
        .grouping = a.has(PTSCHED_A_GROUPING) ? a.number<std::uint32_t>(PTSCHED_A_GROUPING) : PTSCHED_GROUPING_PROCESS,
        .idle_sharing = a.number<std::uint8_t>(PTSCHED_A_IDLE_SHARING) != 0,
        .many = a.number<std::uint8_t>(PTSCHED_A_MANY) != 0,
        .slice_ns = a.number<std::uint64_t>(PTSCHED_A_SLICE_NS),
        .grace_ns = a.number<std::uint64_t>(PTSCHED_A_GRACE_NS),
        .drain_ns = a.number<std::uint64_t>(PTSCHED_A_DRAIN_NS),
        .inflight_ns = a.number<std::uint64_t>(PTSCHED_A_INFLIGHT_NS),
        .alpha = a.number<std::uint32_t>(PTSCHED_A_ALPHA),
        .node = a.number<std::uint64_t>(PTSCHED_A_NODE),
        .slice_effective_ns = a.number<std::uint64_t>(PTSCHED_A_SLICE_EFFECTIVE_NS),
        .handover_ns = a.number<std::uint64_t>(PTSCHED_A_HANDOVER_NS),
        .entities = a.number<std::uint32_t>(PTSCHED_A_ENTITIES),
        .waiters = a.number<std::uint32_t>(PTSCHED_A_WAITERS),
        .counters = a.counters(),
    };
}

Entity parse_entity(const void *message, std::size_t length)
{
    Attributes a(message, length);

    return {
        .device_id = a.number<std::uint32_t>(PTSCHED_A_DEVICE_ID),
        .pid = a.number<std::uint32_t>(PTSCHED_A_PID),
        .uid = a.number<std::uint32_t>(PTSCHED_A_UID),
        .comm = a.text(PTSCHED_A_COMM),
        .nice = a.number<std::int32_t>(PTSCHED_A_NICE),
        .weight = a.number<std::uint32_t>(PTSCHED_A_WEIGHT),
        .weight_set = a.number<std::uint8_t>(PTSCHED_A_WEIGHT_SET) != 0,
        .state = a.number<std::uint32_t>(PTSCHED_A_STATE),
        .active = a.number<std::uint8_t>(PTSCHED_A_ACTIVE) != 0,
        .budget_ns = a.number<std::int64_t>(PTSCHED_A_BUDGET_NS),
        .wait_ns = a.number<std::uint64_t>(PTSCHED_A_WAIT_NS),
        .submissions = a.number<std::uint64_t>(PTSCHED_A_SUBMISSIONS),
        .clients = a.number<std::uint32_t>(PTSCHED_A_CLIENTS),
        .mechanism = a.number<std::uint32_t>(PTSCHED_A_MECHANISM),
        .share = a.has(PTSCHED_A_SHARE) ? a.number<std::uint32_t>(PTSCHED_A_SHARE) : PTSCHED_SHARE_DEFAULT,
        .group = a.has(PTSCHED_A_GROUP) ? a.text(PTSCHED_A_GROUP) : "",
        .user_gpu_ns =
            a.has(PTSCHED_A_USER_GPU_NS) ? std::optional(a.number<std::uint64_t>(PTSCHED_A_USER_GPU_NS)) : std::nullopt,
        .cgroup = a.has(PTSCHED_A_CGROUP) ? std::optional(a.number<std::uint64_t>(PTSCHED_A_CGROUP)) : std::nullopt,
        .counters = a.counters(),
    };
}

Account parse_account(const void *message, std::size_t length)
{
    Attributes a(message, length);
    Account account{
        .device_id = a.number<std::uint32_t>(PTSCHED_A_DEVICE_ID),
        .uid = {},
        .parent = {},
        .share = a.number<std::uint32_t>(PTSCHED_A_SHARE),
        .processes = a.number<std::uint32_t>(PTSCHED_A_ENTITIES),
        .gpu_ns = a.number<std::uint64_t>(PTSCHED_A_GPU_NS),
    };

    if (!a.has(PTSCHED_A_CGROUP)) {
        account.uid = a.number<std::uint32_t>(PTSCHED_A_UID);
        return account;
    }
    account.cgroup = a.number<std::uint64_t>(PTSCHED_A_CGROUP);
    if (a.has(PTSCHED_A_PARENT_CGROUP))
        account.parent = a.number<std::uint64_t>(PTSCHED_A_PARENT_CGROUP);
    return account;
}

void put(nl_msg *message, int attribute, std::uint64_t value)
{
    int failed;

    switch (attribute) {
    case PTSCHED_A_IDLE_SHARING:
    case PTSCHED_A_MANY:
        failed = nla_put_u8(message, attribute, static_cast<std::uint8_t>(value));
        break;
    case PTSCHED_A_DEVICE_ID:
    case PTSCHED_A_POLICY:
    case PTSCHED_A_ALPHA:
    case PTSCHED_A_PID:
    case PTSCHED_A_WEIGHT:
    case PTSCHED_A_GROUPING:
    case PTSCHED_A_UID:
    case PTSCHED_A_SHARE:
    case PTSCHED_A_CGROUP_FD:
        failed = nla_put_u32(message, attribute, static_cast<std::uint32_t>(value));
        break;
    default:
        failed = nla_put_u64(message, attribute, value);
    }
    if (failed)
        throw std::bad_alloc();
}

} // namespace

std::unique_ptr<nl_msg, void (*)(nl_msg *)> new_message(std::uint8_t command)
{
    std::unique_ptr<nl_msg, void (*)(nl_msg *)> message(nlmsg_alloc(), nlmsg_free);

    if (!message ||
        !genlmsg_put(message.get(), NL_AUTO_PORT, NL_AUTO_SEQ, 0, 0, NLM_F_REQUEST, command, PTSCHED_GENL_VERSION))
        throw std::bad_alloc();
    return message;
}

Event parse_event(const void *message, std::size_t length)
{
    Attributes a(message, length);
    Event event{
        .event = a.number<std::uint32_t>(PTSCHED_A_EVENT),
        .time_ns = a.number<std::uint64_t>(PTSCHED_A_TIME_NS),
        .pid = {},
        .comm = a.text(PTSCHED_A_COMM),
    };

    if (event.event == PTSCHED_EVENT_LOST)
        return event;
    event.device_id = a.number<std::uint32_t>(PTSCHED_A_DEVICE_ID);
    if (a.has(PTSCHED_A_PID)) {
        event.pid = a.number<std::uint32_t>(PTSCHED_A_PID);
        event.budget_ns = a.number<std::int64_t>(PTSCHED_A_BUDGET_NS);
        event.turn = a.number<std::uint64_t>(PTSCHED_A_TURN);
    }
    return event;
}

std::vector<Device> Scheduler::devices()
{
    std::vector<Device> found;
    auto request = new_message(PTSCHED_CMD_GET_DEVICE);

    dump(request.get(),
         [&](const void *message, std::size_t length) { found.push_back(parse_device(message, length)); });
    return found;
}

std::vector<Entity> Scheduler::entities(std::optional<std::uint32_t> device_id)
{
    std::vector<Entity> found;
    auto request = new_message(PTSCHED_CMD_GET_ENTITY);

    if (device_id)
        put(request.get(), PTSCHED_A_DEVICE_ID, *device_id);
    dump(request.get(),
         [&](const void *message, std::size_t length) { found.push_back(parse_entity(message, length)); });
    return found;
}

std::optional<std::vector<Account>> Scheduler::accounts(std::optional<std::uint32_t> device_id)
{
    std::vector<Account> found;
    auto request = new_message(PTSCHED_CMD_GET_ACCOUNT);

    if (device_id)
        put(request.get(), PTSCHED_A_DEVICE_ID, *device_id);
    try {
        dump(request.get(),
             [&](const void *message, std::size_t length) { found.push_back(parse_account(message, length)); });
    } catch (const Refused &refusal) {
        if (refusal.error() != EOPNOTSUPP)
            throw;
        return std::nullopt;
    }
    return found;
}

void Scheduler::set(std::uint8_t command, std::optional<std::uint32_t> device_id, const std::vector<Setting> &settings,
                    int passed)
{
    auto request = new_message(command);

    if (device_id)
        put(request.get(), PTSCHED_A_DEVICE_ID, *device_id);
    for (const Setting &setting : settings)
        put(request.get(), setting.attribute, setting.value);
    change(request.get(), passed);
}

void Scheduler::set_device(std::optional<std::uint32_t> device_id, const std::vector<Setting> &settings)
{
    set(PTSCHED_CMD_SET_DEVICE, device_id, settings);
}

void Scheduler::set_entity(std::uint32_t pid, std::uint32_t weight, std::optional<std::uint32_t> device_id)
{
    set(PTSCHED_CMD_SET_ENTITY, device_id, {{PTSCHED_A_PID, pid}, {PTSCHED_A_WEIGHT, weight}});
}

void Scheduler::set_user(std::uint32_t uid, std::uint32_t share, std::optional<std::uint32_t> device_id)
{
    set(PTSCHED_CMD_SET_USER, device_id, {{PTSCHED_A_UID, uid}, {PTSCHED_A_SHARE, share}});
}

void Scheduler::set_cgroup(int directory, std::uint32_t share, std::optional<std::uint32_t> device_id)
{
    set(PTSCHED_CMD_SET_CGROUP, device_id,
        {{PTSCHED_A_CGROUP_FD, static_cast<std::uint64_t>(directory)}, {PTSCHED_A_SHARE, share}}, directory);
}

} // namespace ptsched
