// SPDX-License-Identifier: MIT
#include "hostile.hpp"

#include "passed_fds.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

namespace {

constexpr size_t kPeers = 24;
constexpr size_t kHandles = 16;

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

} // namespace

HostilePeers::Bytes HostilePeers::noise(size_t length)
{
    Bytes bytes(length);
    for (char &byte : bytes)
        byte = static_cast<char>(random_());
    return bytes;
}

void HostilePeers::connect()
{
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
    ptsched::UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (::connect(fd.get(), reinterpret_cast<sockaddr *>(&address), sizeof(address)) < 0)
        return;
    if (peers_.size() < kPeers)
        peers_.push_back(std::move(fd));
    else
        peers_[below(kPeers)] = std::move(fd);
}

HostilePeers::Bytes HostilePeers::message(uint32_t cmd, const Bytes &payload)
{
    ptsched_broker_header header{};
    header.cmd = cmd;
    header.length = static_cast<uint32_t>(payload.size());
    header.id = below(64);
    header.tid = below(4);
    header.flags = one_in(3) ? PTSCHED_BROKER_NO_REPLY : 0;
    Bytes bytes(sizeof(header) + payload.size());
    memcpy(bytes.data(), &header, sizeof(header));
    std::copy(payload.begin(), payload.end(), bytes.begin() + sizeof(header));
    return bytes;
}

// In order by itself; the state that it meets is anything.
HostilePeers::Bytes HostilePeers::contract_message()
{
    switch (below(13)) {
    case 0:
        return message(PTSCHED_IOC_QUERY, bytes_of(sized<struct ptsched_query>()));
    case 1: {
        auto attach = sized<struct ptsched_attach>();
        strcpy(attach.device, one_in(2) ? "ffff:01:00.0" : "ffff:02:00.0");
        attach.mechanism = below(5);
        return message(PTSCHED_IOC_ATTACH, bytes_of(attach));
    }
    case 2:
    case 3: {
        auto acquire = sized<struct ptsched_acquire>();
        acquire.flags = below(3);
        acquire.deadline_ns = one_in(2) ? PTSCHED_NEVER : random_();
        return message(PTSCHED_IOC_ACQUIRE, bytes_of(acquire));
    }
    case 4: {
        auto release = sized<struct ptsched_release>();
        release.gpu_ns = random_();
        release.submissions = static_cast<uint32_t>(random_());
        release.handover_ns = random_();
        return message(PTSCHED_IOC_RELEASE, bytes_of(release));
    }
    case 5: {
        auto report = sized<struct ptsched_report>();
        report.gpu_ns = random_();
        report.submissions = static_cast<uint32_t>(random_());
        return message(PTSCHED_IOC_REPORT, bytes_of(report));
    }
    case 6: {
        auto ack = sized<struct ptsched_ack>();
        ack.events = below(8);
        ack.drain_ns = random_();
        return message(PTSCHED_IOC_ACK, bytes_of(ack));
    }
    case 7: {
        auto act_for = sized<struct ptsched_act_for>();
        act_for.kind = below(3);
        act_for.fd = static_cast<int>(below(4)) - 2;
        return message(PTSCHED_IOC_ACT_FOR, bytes_of(act_for));
    }
    case 8: {
        auto mechanism = sized<struct ptsched_mechanism>();
        mechanism.mechanism = below(5);
        return below(2) ? message(PTSCHED_IOC_MECHANISM, bytes_of(mechanism))
                        : message(PTSCHED_IOC_HAND_OVER, bytes_of(sized<struct ptsched_hand_over>()));
    }
    case 9: {
        Bytes payload = bytes_of(ptsched_broker_channels{below(3), below(3), below(4), below(20) == 0});
        Bytes handles = noise(4 * below(4));
        payload.insert(payload.end(), handles.begin(), handles.end());
        return message(PTSCHED_BROKER_CHANNELS, payload);
    }
    case 10: {
        ptsched_broker_switch argument{};
        strcpy(argument.device, one_in(2) ? "ffff:01:00.0" : "ffff:02:00.0");
        argument.device_id = below(3);
        argument.off = below(3);
        argument.turn = below(8);
        return message(PTSCHED_BROKER_SWITCH, bytes_of(argument));
    }
    case 11:
        return message(PTSCHED_BROKER_CANCEL, bytes_of(static_cast<uint64_t>(below(64))));
    default:
        return message(one_in(20) ? PTSCHED_BROKER_CLOSE : static_cast<uint32_t>(below(12)), {});
    }
}

HostilePeers::Bytes HostilePeers::tool_message()
{
    if (one_in(16))
        return message(PTSCHED_BROKER_SUBSCRIBE, {});
    genlmsghdr header{};
    header.cmd = static_cast<uint8_t>(below(7));
    header.version = PTSCHED_GENL_VERSION;
    Bytes payload = bytes_of(header);
    for (unsigned i = below(5); i > 0; i--) {
        static constexpr uint16_t sizes[] = {0, 1, 2, 4, 4, 4, 8, 8, 100};
        uint16_t size = sizes[below(std::size(sizes))];
        nlattr attribute{static_cast<uint16_t>(NLA_HDRLEN + size), static_cast<uint16_t>(below(PTSCHED_A_MAX + 3))};
        Bytes value = one_in(2) ? noise(size) : Bytes(size, static_cast<char>(below(3)));
        Bytes head = bytes_of(attribute);
        payload.insert(payload.end(), head.begin(), head.end());
        payload.insert(payload.end(), value.begin(), value.end());
        payload.resize(NLA_ALIGN(payload.size()));
    }
    return message(PTSCHED_BROKER_GENL, payload);
}

void HostilePeers::damage(Bytes &bytes)
{
    switch (below(4)) {
    case 0:
        bytes.resize(below(static_cast<unsigned>(bytes.size()) + 1));
        break;
    case 1: {
        Bytes more = noise(below(200));
        bytes.insert(bytes.end(), more.begin(), more.end());
        break;
    }
    default:
        for (unsigned i = below(8); i > 0 && !bytes.empty(); i--)
            bytes[below(static_cast<unsigned>(bytes.size()))] = static_cast<char>(random_());
    }
}

ptsched::UniqueFd HostilePeers::some_file()
{
    switch (below(6)) {
    case 0:
        return ptsched::UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
    case 1:
        return ptsched::UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
    case 2:
        return ptsched::UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, getppid(), 0)));
    case 3: {
        ptsched::UniqueFd fd(memfd_create("hostile", MFD_CLOEXEC | MFD_ALLOW_SEALING));
        Bytes content = noise(below(64));
        if (write(fd.get(), content.data(), content.size()) >= 0 && one_in(2))
            fcntl(fd.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW);
        return fd;
    }
    case 4:
        // A pipe that nobody writes to: reading it would never end.
        if (int ends[2]; pipe2(ends, O_CLOEXEC) == 0) {
            ptsched::UniqueFd other(ends[1]);
            handles_.push_back(std::move(other));
            return ptsched::UniqueFd(ends[0]);
        }
        return {};
    default:
        return handles_.empty() ? ptsched::UniqueFd()
                                : ptsched::UniqueFd(dup(handles_[below(static_cast<unsigned>(handles_.size()))].get()));
    }
}

bool HostilePeers::send(int socket, const Bytes &bytes)
{
    iovec part{const_cast<char *>(bytes.data()), bytes.size()};
    msghdr out{};
    out.msg_iov = &part;
    out.msg_iovlen = 1;
    std::vector<ptsched::UniqueFd> files;
    if (one_in(4))
        for (unsigned i = one_in(8) ? 60 : 1 + below(3); i > 0; i--)
            if (auto file = some_file())
                files.push_back(std::move(file));
    std::vector<int> numbers;
    for (const auto &file : files)
        numbers.push_back(file.get());
    ptsched::PassedFds<64> passed;
    passed.put(out, numbers.data(), numbers.size());
    if (sendmsg(socket, &out, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        // A full socket is one that the broker stopped reading, as it should.
        return errno == EAGAIN;
    sent_++;
    return true;
}

void HostilePeers::read_answers(int socket)
{
    for (;;) {
        char buffer[PTSCHED_BROKER_MAX_MESSAGE];
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * PTSCHED_BROKER_NR_FDS)];
        iovec part{buffer, sizeof(buffer)};
        msghdr in{};
        in.msg_iov = &part;
        in.msg_iovlen = 1;
        in.msg_control = control;
        in.msg_controllen = sizeof(control);
        if (recvmsg(socket, &in, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) <= 0)
            return;
        for (cmsghdr *head = CMSG_FIRSTHDR(&in); head; head = CMSG_NXTHDR(&in, head)) {
            for (size_t i = 0; i < (head->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
                int fd;
                memcpy(&fd, CMSG_DATA(head) + i * sizeof(fd), sizeof(fd));
                handles_.emplace_back(fd);
            }
        }
        if (handles_.size() > kHandles)
            handles_.erase(handles_.begin(), handles_.end() - kHandles);
    }
}

void HostilePeers::step()
{
    if (peers_.size() < kPeers / 2 || one_in(40))
        connect();
    if (peers_.empty())
        return;
    size_t which = below(static_cast<unsigned>(peers_.size()));
    int socket = peers_[which].get();
    if (one_in(100)) {
        peers_.erase(peers_.begin() + static_cast<long>(which));
        return;
    }
    if (one_in(3))
        read_answers(socket);
    Bytes bytes = one_in(20)  ? noise(below(PTSCHED_BROKER_MAX_MESSAGE + 64))
                  : one_in(4) ? tool_message()
                              : contract_message();
    if (one_in(5))
        damage(bytes);
    if (!send(socket, bytes))
        peers_.erase(peers_.begin() + static_cast<long>(which));
}
