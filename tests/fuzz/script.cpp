// SPDX-License-Identifier: MIT
/* What a scripted broker says, read from the input of a fuzz target. */
#include "tests/fuzz/scripted_broker.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/ptsched.h>
#include <sys/mman.h>
#include <sys/resource.h>

namespace fuzz {
namespace {

constexpr std::size_t kMostMessages = 64;

using Bytes = std::vector<char>;

template <typename Value> void append(Bytes &bytes, const Value &value)
{
    auto start = reinterpret_cast<const char *>(&value);
    bytes.insert(bytes.end(), start, start + sizeof(value));
}

Bytes noise(fuzz_input &input, std::size_t length)
{
    Bytes bytes(length);
    for (char &byte : bytes)
        byte = static_cast<char>(fuzz_byte(&input));
    return bytes;
}

void damage(Bytes &bytes, fuzz_input &input)
{
    for (unsigned i = fuzz_below(&input, 4); i > 0 && !bytes.empty(); i--) {
        const std::size_t at = fuzz_byte(&input) | fuzz_below(&input, 16) << 8;
        bytes[at % bytes.size()] = static_cast<char>(fuzz_byte(&input));
    }
    if (std::uint8_t change = fuzz_byte(&input); change > 240)
        bytes.resize(bytes.size() * (change - 240) / 8);
}

Bytes packet(std::uint32_t cmd, std::uint64_t id, int result, const Bytes &payload)
{
    ptsched_broker_header header{};
    header.cmd = cmd;
    header.length = static_cast<std::uint32_t>(payload.size());
    header.result = result;
    header.id = id;
    Bytes bytes;
    append(bytes, header);
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    return bytes;
}

enum class Kind { u8, u32, u64, text };

Kind kind_of(std::uint16_t attribute)
{
    switch (attribute) {
    case PTSCHED_A_IDLE_SHARING:
    case PTSCHED_A_MANY:
    case PTSCHED_A_WEIGHT_SET:
    case PTSCHED_A_ACTIVE:
        return Kind::u8;
    case PTSCHED_A_DEVICE:
    case PTSCHED_A_UUID:
    case PTSCHED_A_COMM:
    case PTSCHED_A_GROUP:
        return Kind::text;
    case PTSCHED_A_DEVICE_ID:
    case PTSCHED_A_POLICY:
    case PTSCHED_A_ALPHA:
    case PTSCHED_A_ENTITIES:
    case PTSCHED_A_WAITERS:
    case PTSCHED_A_PID:
    case PTSCHED_A_UID:
    case PTSCHED_A_NICE:
    case PTSCHED_A_WEIGHT:
    case PTSCHED_A_GROUPING:
    case PTSCHED_A_SHARE:
    case PTSCHED_A_CGROUP_FD:
    case PTSCHED_A_STATE:
    case PTSCHED_A_CLIENTS:
    case PTSCHED_A_MECHANISM:
    case PTSCHED_A_EVENT:
        return Kind::u32;
    default:
        return Kind::u64;
    }
}

Bytes value_of(std::uint16_t attribute, fuzz_input &input)
{
    Bytes value;
    switch (kind_of(attribute)) {
    case Kind::u8:
        append(value, fuzz_byte(&input));
        break;
    case Kind::u32:
        append(value, static_cast<std::uint32_t>(fuzz_below(&input, 8)));
        break;
    case Kind::u64:
        append(value, fuzz_time(&input));
        break;
    case Kind::text:
        value = noise(input, fuzz_below(&input, 20));
        value.push_back('\0');
    }
    return value;
}

Bytes query()
{
    struct ptsched_query answer {};
    answer.size = sizeof(answer);
    answer.version_major = PTSCHED_VERSION_MAJOR;
    answer.nr_devices = 2;
    answer.page_size = static_cast<std::uint32_t>(sysconf(_SC_PAGESIZE));
    Bytes bytes;
    append(bytes, answer);
    return bytes;
}

/* A structure that begins with its size. */
Bytes structure(std::size_t size, fuzz_input &input)
{
    Bytes bytes;
    append(bytes, static_cast<std::uint32_t>(size));
    Bytes rest = noise(input, size - bytes.size());
    bytes.insert(bytes.end(), rest.begin(), rest.end());
    return bytes;
}

ptsched::UniqueFd memory(std::size_t size, int seals)
{
    ptsched::UniqueFd fd(memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (ftruncate(fd.get(), static_cast<off_t>(size)) < 0)
        fd.reset();
    fcntl(fd.get(), F_ADD_SEALS, seals);
    return fd;
}

ptsched::UniqueFd pipe_end(int flags)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | flags) < 0)
        return {};
    ptsched::UniqueFd other(ends[1]);
    return ptsched::UniqueFd(ends[0]);
}

ptsched::UniqueFd some_file(fuzz_input &input)
{
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    switch (fuzz_below(&input, 6)) {
    case 0:
        return memory(page, F_SEAL_SHRINK | F_SEAL_GROW);
    case 1:
        return memory(0, F_SEAL_SHRINK | F_SEAL_GROW);
    case 2:
        return memory(page, 0);
    case 3:
        return pipe_end(O_NONBLOCK);
    case 4:
        return pipe_end(0);
    default:
        return ptsched::UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
    }
}

/* Those of an attached client, in order or not. */
std::vector<ptsched::UniqueFd> client_files(fuzz_input &input)
{
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    std::vector<ptsched::UniqueFd> files;
    if (fuzz_below(&input, 4)) {
        ptsched::UniqueFd state = memory(page, F_SEAL_SHRINK | F_SEAL_GROW);
        /* The client may hold the turn. */
        const std::uint32_t held = PTSCHED_STATE_TURN;
        if (pwrite(state.get(), &held, sizeof(held), offsetof(ptsched_page, state)) < 0)
            return files;
        files.emplace_back(fcntl(state.get(), F_DUPFD_CLOEXEC, 0));
        files.push_back(std::move(state));
        files.push_back(pipe_end(O_NONBLOCK));
        files.push_back(memory(0, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE));
        return files;
    }
    for (unsigned i = fuzz_below(&input, 6); i > 0; i--)
        files.push_back(some_file(input));
    return files;
}

Bytes refusal(fuzz_input &input)
{
    ptsched_broker_refusal refusal{};
    refusal.attribute = fuzz_below(&input, PTSCHED_A_MAX + 2);
    const Bytes text = noise(input, fuzz_below(&input, sizeof(refusal.text) + 1));
    std::copy(text.begin(), text.end(), refusal.text);
    Bytes bytes;
    append(bytes, refusal);
    return bytes;
}

/* Of a request; the next number is @id. */
Said answer(fuzz_input &input, std::uint64_t id)
{
    const int result = fuzz_below(&input, 4) ? 0 : -static_cast<int>(fuzz_byte(&input));
    switch (fuzz_below(&input, 8)) {
    case 0:
        return {packet(PTSCHED_IOC_QUERY, id, 0, query()), {}};
    case 1:
        return {packet(PTSCHED_IOC_ATTACH, id, 0, structure(sizeof(struct ptsched_attach), input)),
                client_files(input)};
    case 2:
        return {packet(PTSCHED_IOC_ACQUIRE, id, 0, structure(sizeof(struct ptsched_acquire), input)), {}};
    case 3:
        return {packet(PTSCHED_IOC_ACT_FOR, id, 0, structure(sizeof(struct ptsched_act_for), input)), {}};
    case 4:
        return {packet(PTSCHED_IOC_MECHANISM, id, result, structure(sizeof(struct ptsched_mechanism), input)), {}};
    case 5:
        return {packet(PTSCHED_BROKER_GENL, id, 0, read_attributes(input)), {}};
    case 6:
        return {packet(PTSCHED_BROKER_GENL, id, result, refusal(input)), {}};
    default:
        return {packet(PTSCHED_BROKER_GENL, id, result, {}), {}};
    }
}

Said saying(fuzz_input &input, std::uint64_t &next_id)
{
    switch (fuzz_below(&input, 12)) {
    case 0:
        return {noise(input, fuzz_byte(&input) * 2), {}};
    case 1:
        return {packet(PTSCHED_BROKER_TURNED_AWAY, 0, -static_cast<int>(fuzz_byte(&input)), refusal(input)), {}};
    case 2:
        return {packet(PTSCHED_BROKER_EVENT, 0, -ENOBUFS, {}), {}};
    case 3:
    case 4:
        return {packet(PTSCHED_BROKER_EVENT, 0, 0, read_attributes(input)), {}};
    case 5: {
        Said damaged = answer(input, next_id++);
        damage(damaged.bytes, input);
        return damaged;
    }
    case 6:
        /* Another part of a dump, or an answer that was given. */
        return answer(input, next_id - 1);
    case 7:
        return answer(input, fuzz_byte(&input));
    default:
        return answer(input, next_id++);
    }
}

} // namespace

Bytes read_attributes(fuzz_input &input)
{
    genlmsghdr header{};
    header.cmd = PTSCHED_CMD_GET_DEVICE;
    header.version = PTSCHED_GENL_VERSION;
    Bytes bytes;
    append(bytes, header);
    const std::uint16_t left_out = fuzz_byte(&input), wrong = fuzz_byte(&input);
    for (std::uint16_t attribute = PTSCHED_A_DEVICE_ID; attribute <= PTSCHED_A_MAX; attribute++) {
        if (attribute == left_out)
            continue;
        Bytes value = value_of(attribute, input);
        if (attribute == wrong)
            value = noise(input, fuzz_byte(&input));
        nlattr head{static_cast<std::uint16_t>(NLA_HDRLEN + value.size()), attribute};
        if (attribute == wrong && fuzz_below(&input, 2))
            head.nla_len = static_cast<std::uint16_t>(fuzz_byte(&input) << 8 | fuzz_byte(&input));
        append(bytes, head);
        bytes.insert(bytes.end(), value.begin(), value.end());
        bytes.resize(NLA_ALIGN(bytes.size()));
    }
    return bytes;
}

Script read_script(fuzz_input &input)
{
    Script script;
    std::uint64_t next_id = 1;
    script.is_deaf = fuzz_byte(&input) & 1;
    for (unsigned left = fuzz_below(&input, kMostMessages); left > 0 && !fuzz_is_empty(&input); left--)
        script.said.push_back(saying(input, next_id));
    return script;
}

} // namespace fuzz
