// SPDX-License-Identifier: MIT
#include "tests/fuzz/broker_messages.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <linux/genetlink.h>
#include <linux/netlink.h>

namespace {

template <typename Value> std::vector<char> bytes_of(const Value &value)
{
    auto start = reinterpret_cast<const char *>(&value);
    return {start, start + sizeof(value)};
}

template <typename Argument> Argument sized()
{
    Argument argument{};
    argument.size = sizeof(argument);
    return argument;
}

BrokerMessages::Bytes begin_request(unsigned cmd)
{
    genlmsghdr header{};
    header.cmd = static_cast<std::uint8_t>(cmd);
    header.version = PTSCHED_GENL_VERSION;
    return bytes_of(header);
}

void put(BrokerMessages::Bytes &payload, unsigned type, const BrokerMessages::Bytes &value)
{
    const nlattr attribute{static_cast<std::uint16_t>(NLA_HDRLEN + value.size()), static_cast<std::uint16_t>(type)};
    BrokerMessages::Bytes head = bytes_of(attribute);
    payload.insert(payload.end(), head.begin(), head.end());
    payload.insert(payload.end(), value.begin(), value.end());
    payload.resize(NLA_ALIGN(payload.size()));
}

} // namespace

BrokerMessages::Bytes BrokerMessages::noise(std::size_t length)
{
    Bytes bytes(length);
    for (char &byte : bytes)
        byte = static_cast<char>(choices_.below(256));
    return bytes;
}

BrokerMessages::Bytes BrokerMessages::message(std::uint32_t cmd, const Bytes &payload)
{
    ptsched_broker_header header{};
    header.cmd = cmd;
    header.length = static_cast<std::uint32_t>(payload.size());
    header.id = choices_.below(64);
    header.tid = choices_.below(4);
    header.flags = choices_.one_in(3) ? PTSCHED_BROKER_NO_REPLY : 0;
    Bytes bytes(sizeof(header) + payload.size());
    memcpy(bytes.data(), &header, sizeof(header));
    std::copy(payload.begin(), payload.end(), bytes.begin() + sizeof(header));
    return bytes;
}

const char *BrokerMessages::device()
{
    return choices_.one_in(2) ? "ffff:01:00.0" : "ffff:02:00.0";
}

BrokerMessages::Bytes BrokerMessages::contract_message()
{
    switch (choices_.below(15)) {
    case 0:
        return message(PTSCHED_IOC_QUERY, bytes_of(sized<struct ptsched_query>()));
    case 1: {
        auto attach = sized<struct ptsched_attach>();
        strcpy(attach.device, device());
        attach.mechanism = choices_.below(5);
        return message(PTSCHED_IOC_ATTACH, bytes_of(attach));
    }
    case 2:
    case 3: {
        auto acquire = sized<struct ptsched_acquire>();
        acquire.flags = choices_.below(3);
        acquire.deadline_ns = choices_.one_in(2) ? PTSCHED_NEVER : choices_.number();
        return message(PTSCHED_IOC_ACQUIRE, bytes_of(acquire));
    }
    case 4: {
        auto release = sized<struct ptsched_release>();
        release.gpu_ns = choices_.number();
        release.submissions = static_cast<std::uint32_t>(choices_.number());
        release.handover_ns = choices_.number();
        return message(PTSCHED_IOC_RELEASE, bytes_of(release));
    }
    case 5: {
        auto report = sized<struct ptsched_report>();
        report.gpu_ns = choices_.number();
        report.submissions = static_cast<std::uint32_t>(choices_.number());
        return message(PTSCHED_IOC_REPORT, bytes_of(report));
    }
    case 6: {
        auto ack = sized<struct ptsched_ack>();
        ack.events = choices_.below(8);
        ack.drain_ns = choices_.number();
        return message(PTSCHED_IOC_ACK, bytes_of(ack));
    }
    case 7:
        return act_for_message();
    case 8: {
        auto mechanism = sized<struct ptsched_mechanism>();
        mechanism.mechanism = choices_.below(5);
        return message(PTSCHED_IOC_MECHANISM, bytes_of(mechanism));
    }
    case 9:
        return message(PTSCHED_IOC_HAND_OVER, bytes_of(sized<struct ptsched_hand_over>()));
    case 10: {
        auto group = sized<struct ptsched_group>();
        group.name[0] = static_cast<char>(choices_.below(3));
        return message(PTSCHED_IOC_GROUP, bytes_of(group));
    }
    case 11:
        return channels_message();
    case 12:
        return switch_message();
    case 13:
        return message(PTSCHED_BROKER_CANCEL, bytes_of(static_cast<std::uint64_t>(choices_.below(64))));
    default:
        return message(choices_.one_in(20) ? PTSCHED_BROKER_CLOSE : choices_.below(12), {});
    }
}

BrokerMessages::Bytes BrokerMessages::act_for_message()
{
    auto act_for = sized<struct ptsched_act_for>();
    act_for.kind = choices_.below(3);
    act_for.fd = static_cast<int>(choices_.below(4)) - 2;
    return message(PTSCHED_IOC_ACT_FOR, bytes_of(act_for));
}

BrokerMessages::Bytes BrokerMessages::channels_message()
{
    ptsched_broker_channels head{};
    head.client = choices_.below(3);
    head.subdevice = choices_.below(3);
    head.count = choices_.below(4);
    head.pad = choices_.one_in(20);
    Bytes payload = bytes_of(head);
    Bytes handles = noise(4 * choices_.below(4));
    payload.insert(payload.end(), handles.begin(), handles.end());
    return message(PTSCHED_BROKER_CHANNELS, payload);
}

BrokerMessages::Bytes BrokerMessages::switch_message()
{
    ptsched_broker_switch argument{};
    strcpy(argument.device, device());
    argument.device_id = choices_.below(3);
    argument.off = choices_.below(3);
    argument.turn = choices_.below(8);
    return message(PTSCHED_BROKER_SWITCH, bytes_of(argument));
}

/* Of a user, or of the cgroup whose descriptor goes along, if one does. */
BrokerMessages::Bytes BrokerMessages::share_message()
{
    const bool of_user = choices_.one_in(3);
    Bytes payload = begin_request(of_user ? PTSCHED_CMD_SET_USER : PTSCHED_CMD_SET_CGROUP);
    put(payload, of_user ? PTSCHED_A_UID : PTSCHED_A_CGROUP_FD, bytes_of(choices_.below(3)));
    put(payload, PTSCHED_A_SHARE, bytes_of(99 + choices_.below(3)));
    return message(PTSCHED_BROKER_GENL, payload);
}

BrokerMessages::Bytes BrokerMessages::tool_message()
{
    switch (choices_.below(16)) {
    case 0:
        return message(PTSCHED_BROKER_SUBSCRIBE, {});
    case 1:
    case 2:
        return share_message();
    }
    Bytes payload = begin_request(choices_.below(PTSCHED_CMD_MAX + 2));
    for (unsigned i = choices_.below(5); i > 0; i--) {
        static constexpr std::uint16_t sizes[] = {0, 1, 2, 4, 4, 4, 8, 8, 100};
        std::uint16_t size = sizes[choices_.below(std::size(sizes))];
        const unsigned attribute = choices_.below(PTSCHED_A_MAX + 3);
        put(payload, attribute, choices_.one_in(2) ? noise(size) : Bytes(size, static_cast<char>(choices_.below(3))));
    }
    return message(PTSCHED_BROKER_GENL, payload);
}

void BrokerMessages::damage(Bytes &bytes)
{
    switch (choices_.below(4)) {
    case 0:
        bytes.resize(choices_.below(static_cast<unsigned>(bytes.size()) + 1));
        break;
    case 1: {
        Bytes more = noise(choices_.below(200));
        bytes.insert(bytes.end(), more.begin(), more.end());
        break;
    }
    default:
        for (unsigned i = choices_.below(8); i > 0 && !bytes.empty(); i--)
            bytes[choices_.below(static_cast<unsigned>(bytes.size()))] = static_cast<char>(choices_.below(256));
    }
}
