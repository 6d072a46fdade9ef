// SPDX-License-Identifier: MIT
#include "tests/fuzz/scripted_broker.hpp"

#include "libptsched/base/passed_fds.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <sys/socket.h>
#include <sys/un.h>

namespace fuzz {
namespace {

constexpr std::size_t kMostFds = 8;

std::string *folder;

void remove_folder()
{
    unlink((*folder + "/broker").c_str());
    rmdir(folder->c_str());
}

[[noreturn]] void fail(const char *what)
{
    perror(what);
    abort();
}

void send(int socket, const Said &said)
{
    iovec part{const_cast<char *>(said.bytes.data()), said.bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    int fds[kMostFds];
    std::size_t count = 0;
    for (const ptsched::UniqueFd &fd : said.fds)
        if (fd && count < kMostFds)
            fds[count++] = fd.get();
    ptsched::PassedFds<kMostFds> passed;
    passed.put(message, fds, count);
    /* What does not fit is not said. */
    sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

} // namespace

ScriptedBroker::ScriptedBroker() : listener_(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0))
{
    char name[] = "/tmp/ptsched-fuzz.XXXXXX";
    if (!listener_ || !mkdtemp(name))
        fail("a folder for the broker's socket");
    folder = new std::string(name);
    atexit(remove_folder);
    path_ = *folder + "/broker";
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    path_.copy(address.sun_path, sizeof(address.sun_path) - 1);
    if (bind(listener_.get(), reinterpret_cast<sockaddr *>(&address), sizeof(address)) < 0 ||
        listen(listener_.get(), SOMAXCONN) < 0)
        fail("the broker's socket");
    setenv("PTSCHED_SOCKET", path_.c_str(), 1);
    thread_ = std::thread([this] { serve(); });
    thread_.detach();
}

void ScriptedBroker::will_say(Script first, Script second)
{
    ptsched::Guard lock(mutex_);
    scripts_.clear();
    scripts_.push_back(std::move(second));
    scripts_.push_back(std::move(first));
}

/* Connections that nobody has a script for are not taken while one lasts. */
void ScriptedBroker::rest()
{
    ptsched::Guard lock(mutex_);
    scripts_.clear();
    told_.clear();
}

void ScriptedBroker::serve()
{
    for (;;) {
        ptsched::UniqueFd peer(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        ptsched::Guard lock(mutex_);
        if (!peer || scripts_.empty())
            continue;
        Script script = std::move(scripts_.back());
        scripts_.pop_back();
        for (const Said &said : script.said)
            send(peer.get(), said);
        shutdown(peer.get(), script.is_deaf ? SHUT_RDWR : SHUT_WR);
        /* What it has not read would take from the other what it has not read, if it were closed now. */
        told_.push_back(std::move(peer));
    }
}

} // namespace fuzz
