// SPDX-License-Identifier: MIT
/* One thread per process, which sleeps in poll() until the scheduler wants something of a turn. */
#include "libptsched/preload/turn/agent.hpp"

#include "libptsched/base/be_prompt.hpp"
#include "libptsched/base/lock.hpp"
#include "libptsched/base/time_calls.hpp"
#include "libptsched/preload/common/exiting.hpp"
#include "libptsched/preload/common/immortal.hpp"
#include "libptsched/preload/common/thread.hpp"
#include "libptsched/preload/driver/driver.hpp"
#include "libptsched/preload/turn/agent_bell.hpp"
#include "libptsched/preload/turn/helper.hpp"
#include "libptsched/preload/turn/look_after.hpp"
#include "libptsched/preload/turn/process.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <vector>

namespace ptsched::preload {
namespace {

constexpr std::uint64_t for_ever = kNoLimit;
constexpr std::uint64_t long_nap_ns = 100000, no_memory_nap_ns = 10000000, no_bell_nap_ns = 10000000;
/* An exit waits so long for the last report. */
constexpr std::uint64_t quiet_ns = 100000000;

struct Agent {
    Mutex lock;
    std::atomic<bool> started{false};    /* written with the lock; who exits looks without it */
    std::atomic<std::uint32_t> quiet{0}; /* seen exiting: no more calls from here */
};

constinit Immortal<Agent> first_agent;
constinit Agent *agent = &first_agent.value;

/* The CPUs of threads that its wake-ups are for: the program's own, and heavier ones that it is to make room for. */
cpu_set_t cpus_to_leave()
{
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    auto add = [&cpus](int cpu) {
        if (cpu >= 0)
            CPU_SET(cpu, &cpus);
    };
    for (const Device *device : process->devices()) {
        add(device->submitters_cpu());
        if (device->scheduled())
            add(static_cast<int>(__atomic_load_n(&device->page()->asker_cpu, __ATOMIC_RELAXED)) - 1);
    }
    return cpus;
}

/* What the agent sleeps on; kept from round to round, so that it goes on where there is no more memory. */
struct Polled {
    std::vector<pollfd> fds;
    std::vector<Device *> devices; /* whose they are, but for the last */
};

void leave_helper()
{
    helper->leave();
    for (Device *device : process->devices()) {
        if (device->scheduled())
            device->preemption.helper_is_gone();
    }
}

/* A program may have closed what it does not know. The helper, and the scheduler, are lost with that. */
void collect(Polled &on)
{
    auto &[fds, polled] = on;
    agent_bell->open();
    fds.assign({{agent_bell->fd(), POLLIN, 0}});
    polled.assign({nullptr});
    for (Device *device : process->devices()) {
        if (!device->scheduled())
            continue;
        const int fd = ptsched_poll_fd(device->client());
        if (fd < 0) {
            device->open_gate(ptsched_strerror(-EBADFD));
            continue;
        }
        fds.push_back({fd, POLLIN, 0});
        polled.push_back(device);
    }
    const int fd = helper->poll_fd();
    if (fd < 0 && helper->is_connected())
        leave_helper();
    fds.push_back({fd, 0, 0});
}

void sleep_until_needed(Polled &on, std::uint64_t ns)
{
    auto &[fds, polled] = on;
    collect(on);
    if (fds[0].fd < 0)
        ns = std::min(ns, no_bell_nap_ns);
    agent_bell->set_napping(ns > long_nap_ns);
    int ready = poll_within(fds.data(), fds.size(), ns);
    agent_bell->set_napping(false);
    if (ready <= 0)
        return;
    constexpr short gone = POLLHUP | POLLERR | POLLNVAL;
    if (fds[0].revents & POLLIN)
        agent_bell->answer();
    for (std::size_t i = 1; i < polled.size(); i++) {
        if (fds[i].revents & gone)
            polled[i]->scheduler_is_gone();
        if (fds[i].revents & POLLIN)
            polled[i]->agent.acknowledged.set_called(true);
    }
    if (fds.back().revents & gone)
        leave_helper();
}

/* Then the thread that ends the process is told, and nothing else is done any more. */
[[noreturn]] void report_at_exit()
{
    for (Device *device : process->devices()) {
        if (device->scheduled())
            device->report_end(monotonic_ns());
    }
    agent->quiet.store(1, std::memory_order_release);
    wake_waiters(agent->quiet);
    for (;;)
        wait_while(agent->quiet, 1, for_ever);
}

/* Returns after how long to look again. */
std::uint64_t look_after_all(bool &relaxed)
{
    std::uint64_t ns = for_ever;
    for (Device *device : process->devices()) {
        if (!device->scheduled())
            continue;
        if (!relaxed) {
            CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
            relaxed = driver.own().exchange_capture_mode(&mode) == CUDA_SUCCESS;
        }
        ns = std::min(ns, look_after(*device));
    }
    return ns;
}

void *run(void *)
{
    pthread_setname_np(pthread_self(), "ptsched-agent");
    /* Others wait for this thread of a low program. Weights come from the leader's nice. */
    be_prompt();
    prctl(PR_SET_TIMERSLACK, 1000);
    SleepingPlace place;
    Polled polled;
    bool relaxed = false;
    for (;;) {
        try {
            if (exiting.load(std::memory_order_acquire))
                report_at_exit();
            std::uint64_t ns = look_after_all(relaxed);
            place.avoid(cpus_to_leave());
            sleep_until_needed(polled, ns);
        } catch (const std::bad_alloc &) {
            nap(no_memory_nap_ns);
        }
    }
    return nullptr;
}

} // namespace

bool start_agent()
{
    Guard guard(agent->lock);
    if (agent->started)
        return true;
    if (!agent_bell->open())
        return false;
    agent->started = start_own_thread(run, nullptr);
    return agent->started;
}

void quiet_agent()
{
    if (!agent->started)
        return;
    wake_agent();
    std::uint64_t now = monotonic_ns(), end = now + quiet_ns;
    for (; now < end && !agent->quiet.load(std::memory_order_acquire); now = monotonic_ns())
        wait_while(agent->quiet, 0, end - now);
}

void forget_agent()
{
    forget_agent_bell();
    agent = new Agent;
}

} // namespace ptsched::preload
