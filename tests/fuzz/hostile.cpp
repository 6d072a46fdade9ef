// SPDX-License-Identifier: MIT
#include "tests/fuzz/hostile.hpp"

#include "libptsched/base/passed_fds.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

namespace {

constexpr std::size_t kPeers = 24;
constexpr std::size_t kHandles = 16;

} // namespace

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
        BrokerMessages::Bytes content = messages_.noise(below(64));
        if (write(fd.get(), content.data(), content.size()) >= 0 && one_in(2))
            fcntl(fd.get(), F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW);
        return fd;
    }
    case 4:
        /* A pipe that nobody writes to: reading it would never end. */
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

bool HostilePeers::send(int socket, const BrokerMessages::Bytes &bytes)
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
        /* A full socket is one that the broker stopped reading, as it should. */
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
            for (std::size_t i = 0; i < (head->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
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
    std::size_t which = below(static_cast<unsigned>(peers_.size()));
    int socket = peers_[which].get();
    if (one_in(100)) {
        peers_.erase(peers_.begin() + static_cast<long>(which));
        return;
    }
    if (one_in(3))
        read_answers(socket);
    BrokerMessages::Bytes bytes = one_in(20)  ? messages_.noise(below(PTSCHED_BROKER_MAX_MESSAGE + 64))
                                  : one_in(4) ? messages_.tool_message()
                                              : messages_.contract_message();
    if (one_in(5))
        messages_.damage(bytes);
    if (!send(socket, bytes))
        peers_.erase(peers_.begin() + static_cast<long>(which));
}
