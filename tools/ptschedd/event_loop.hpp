/* SPDX-License-Identifier: MIT */
/* epoll, with handlers that may disappear while events of them are pending. */
#ifndef PTSCHEDD_EVENT_LOOP_HPP
#define PTSCHEDD_EVENT_LOOP_HPP

#include <ptsched/base/fd.hpp>

#include <cstdint>
#include <functional>
#include <unordered_map>

namespace ptsched {

class EventLoop {
public:
    using Handler = std::function<void(std::uint32_t events)>;

    /* For the calling thread, which is the one that runs it. */
    EventLoop();

    /* Watches a descriptor until remove(); the key names the registration. */
    std::uint64_t add(int fd, std::uint32_t events, Handler handler);
    void change(std::uint64_t key, int fd, std::uint32_t events);
    void remove(std::uint64_t key, int fd);

    /* Waits for events, until monotonic_ns() is @until_ns at most, and handles them. */
    void run_once(std::uint64_t until_ns);

private:
    UniqueFd epoll_;
    std::uint64_t next_key_ = 1;
    std::unordered_map<std::uint64_t, Handler> handlers_;
};

} // namespace ptsched

#endif
