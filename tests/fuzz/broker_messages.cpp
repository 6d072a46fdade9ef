// SPDX-License-Identifier: MIT
#include "tests/fuzz/broker_messages.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <utility>

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

/* What is worth trying in a structure; in any other, each word is something small, or any number. */
template <typename Argument> void BrokerMessages::fill(Argument &argument)
{
    for (std::size_t at = sizeof(argument.size); at < sizeof(argument); at += sizeof(std::uint32_t)) {
        const auto word = choices_.one_in(4) ? static_cast<std::uint32_t>(choices_.number()) : choices_.below(3);
        memcpy(reinterpret_cast<char *>(&argument) + at, &word, sizeof(word));
    }
}

template <> void BrokerMessages::fill(struct ptsched_query &) {}

template <> void BrokerMessages::fill(struct ptsched_attach &attach)
{
    strcpy(attach.device, device());
    attach.mechanism = choices_.below(5);
}

template <> void BrokerMessages::fill(struct ptsched_acquire &acquire)
{
    acquire.flags = choices_.below(3);
    acquire.deadline_ns = choices_.one_in(2) ? PTSCHED_NEVER : choices_.number();
}

template <> void BrokerMessages::fill(struct ptsched_release &release)
{
    release.gpu_ns = choices_.number();
    release.submissions = static_cast<std::uint32_t>(choices_.number());
    release.handover_ns = choices_.number();
}

template <> void BrokerMessages::fill(struct ptsched_report &report)
{
    report.gpu_ns = choices_.number();
    report.submissions = static_cast<std::uint32_t>(choices_.number());
}

template <> void BrokerMessages::fill(struct ptsched_ack &ack)
{
    ack.events = choices_.below(8);
    ack.drain_ns = choices_.number();
}

template <> void BrokerMessages::fill(struct ptsched_act_for &act_for)
{
    act_for.kind = choices_.below(3);
    act_for.fd = static_cast<int>(choices_.below(4)) - 2;
}

template <> void BrokerMessages::fill(struct ptsched_mechanism &mechanism)
{
    mechanism.mechanism = choices_.below(5);
}

template <> void BrokerMessages::fill(struct ptsched_hand_over &) {}

template <> void BrokerMessages::fill(struct ptsched_group &group)
{
    group.name[0] = static_cast<char>(choices_.below(3));
}

template <typename Argument> BrokerMessages::Bytes BrokerMessages::call(std::uint32_t number)
{
    auto argument = sized<Argument>();
    fill(argument);
    return message(number, bytes_of(argument));
}

BrokerMessages::Bytes BrokerMessages::contract_message()
{
    using Maker = Bytes (BrokerMessages::*)(std::uint32_t);
    static constexpr std::pair<std::uint32_t, Maker> calls[] = {
#define PTSC_CALL(NAME, name, ...) {PTSCHED_IOC_##NAME, &BrokerMessages::call<struct ptsched_##name>},
#include "kmod/contract/calls.h"
    };
    constexpr unsigned others = 4;
    unsigned which = choices_.below(static_cast<unsigned>(std::size(calls)) + 1 + others);
    /* Twice as often as the rest. */
    constexpr unsigned acquire = _IOC_NR(PTSCHED_IOC_ACQUIRE);
    which -= which > acquire;
    if (which < std::size(calls))
        return (this->*calls[which].second)(calls[which].first);
    switch (which - std::size(calls)) {
    case 0:
        return channels_message();
    case 1:
        return switch_message();
    case 2:
        return message(PTSCHED_BROKER_CANCEL, bytes_of(static_cast<std::uint64_t>(choices_.below(64))));
    default:
        return message(choices_.one_in(20) ? PTSCHED_BROKER_CLOSE : choices_.below(12), {});
    }
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
