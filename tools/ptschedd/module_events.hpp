/* SPDX-License-Identifier: MIT */
/* What the kernel module tells of its decisions, over generic netlink. */
#ifndef PTSCHEDD_MODULE_EVENTS_HPP
#define PTSCHEDD_MODULE_EVENTS_HPP

#include "tools/ptschedd/event_loop.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <sys/types.h>

struct nl_sock;

namespace ptsched {

struct ModuleEvent {
    std::uint32_t kind; /* PTSCHED_EVENT_* */
    pid_t pid;
    std::uint32_t device_id;
    std::uint64_t turn;
};

/* Whether the module is loaded. */
bool module_is_loaded();

class ModuleEvents {
public:
    using Handler = std::function<void(const ModuleEvent &event)>;

    /* @lost is called when events were lost. Throws std::runtime_error with a sentence. */
    ModuleEvents(EventLoop &loop, Handler handler, std::function<void()> lost);
    ModuleEvents(const ModuleEvents &) = delete;
    ModuleEvents &operator=(const ModuleEvents &) = delete;
    ~ModuleEvents();

    void handle(const ModuleEvent &event) { handler_(event); }
    void lost(const char *why);

private:
    void receive();

    EventLoop &loop_;
    Handler handler_;
    std::function<void()> lost_;
    std::unique_ptr<nl_sock, void (*)(nl_sock *)> socket_;
    std::uint64_t key_ = 0;
};

} // namespace ptsched

#endif
