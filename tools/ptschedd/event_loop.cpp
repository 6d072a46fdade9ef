// SPDX-License-Identifier: MIT
#include "tools/ptschedd/event_loop.hpp"

#include "libptsched/base/time_calls.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <system_error>

namespace ptsched {

EventLoop::EventLoop() : epoll_(epoll_create1(EPOLL_CLOEXEC))
{
    if (!epoll_)
        throw std::system_error(errno, std::generic_category(), "epoll_create1");
    /* By default the kernel may end a wait 50 us late. */
    prctl(PR_SET_TIMERSLACK, 1);
}

std::uint64_t EventLoop::add(int fd, std::uint32_t events, Handler handler)
{
    std::uint64_t key = next_key_++;
    epoll_event event{.events = events, .data = {.u64 = key}};
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) < 0)
        throw std::system_error(errno, std::generic_category(), "epoll_ctl");
    handlers_.emplace(key, std::move(handler));
    return key;
}

void EventLoop::change(std::uint64_t key, int fd, std::uint32_t events)
{
    epoll_event event{.events = events, .data = {.u64 = key}};
    if (epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) < 0)
        throw std::system_error(errno, std::generic_category(), "epoll_ctl");
}

void EventLoop::remove(std::uint64_t key, int fd)
{
    if (handlers_.erase(key))
        epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

void EventLoop::run_once(std::uint64_t until_ns)
{
    std::array<epoll_event, 64> events;
    std::uint64_t within_ns = until_ns == kNoLimit ? kNoLimit : until_ns - std::min(monotonic_ns(), until_ns);
    int count = epoll_wait_within(epoll_.get(), events.data(), events.size(), within_ns);
    if (count < 0 && errno != EINTR)
        throw std::system_error(errno, std::generic_category(), "epoll_wait");
    for (int i = 0; i < count; i++) {
        /* The structure is packed: nothing may refer to its parts. */
        std::uint64_t key = events[i].data.u64;
        auto found = handlers_.find(key);
        if (found == handlers_.end())
            continue;
        /* A copy: the handler may remove itself. */
        Handler handler = found->second;
        handler(events[i].events);
    }
}

} // namespace ptsched
