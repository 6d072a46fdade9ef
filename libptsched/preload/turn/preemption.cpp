/* SPDX-License-Identifier: MIT */
#include "libptsched/preload/turn/preemption.hpp"

#include "libptsched/base/be_prompt.hpp"
#include "libptsched/base/clock.hpp"
#include "libptsched/preload/common/config.hpp"
#include "libptsched/preload/common/debug.hpp"
#include "libptsched/preload/common/stats.hpp"
#include "libptsched/preload/common/thread.hpp"
#include "libptsched/preload/common/warn.hpp"
#include "libptsched/preload/driver/driver.hpp"
#include "libptsched/preload/turn/channels.hpp"
#include "libptsched/preload/turn/device.hpp"
#include "libptsched/preload/turn/gate.hpp"
#include "libptsched/preload/turn/helper.hpp"
#include "libptsched/preload/turn/switch_trial.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

namespace ptsched::preload {

namespace {

/* Shorter ones make no waker faster (H200: 0.28 ms at 50 us, 0.37 ms at 200 us); alone it costs nothing. */
constexpr std::uint64_t short_slice_us = 50;
/* Longer than what keeps the device busy in one go in programs that come and go. */
constexpr std::uint64_t long_slice_us = 30000;

/* A debugger looks at the device as its program does: nothing may be off behind its back. */
bool debugger_attached()
{
    constexpr char field[] = "\nTracerPid:\t";
    char text[2048];
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    const char *found = std::strstr(text, field);
    return found && found[sizeof(field) - 1] != '0';
}

constexpr const char *being_debugged = "a debugger is attached";

/* What could not be found out, or was not to be done, is tried again after this time, and then after twice as long. */
constexpr std::uint64_t again_min_ns = 1000000000, again_max_ns = 64 * again_min_ns;

constexpr std::uint64_t no_memory_nap_ns = 10000000;

/* Of the device: whose kernels fill no more than this leaves room for others' beside them, until they fill more. */
constexpr double leaves_room_at = 0.5, fills_at = 0.6;

void warn_of_debugger()
{
    static std::atomic<bool> warned{false};
    warn_once(warned, "%s: meanwhile work is not taken off the device; others wait until it has drained",
              being_debugged);
}

} // namespace

void Preemption::set_level(Device &device, Level level, const std::string &why)
{
    static constexpr const char *names[] = {"gate", "slice", "preempt"};
    static constexpr unsigned mechanisms[] = {PTSCHED_MECHANISM_GATE, PTSCHED_MECHANISM_SLICE,
                                              PTSCHED_MECHANISM_PREEMPT};
    auto index = static_cast<unsigned>(level);
    level_ = level;
    why_ = why;
    bool helped = level == Level::preempt && helper->poll_fd() >= 0;
    debug("%s: level %s%s%s%s", device.address(), names[index], helped ? ", by ptschedd" : "",
          why.empty() ? "" : ", since ", why.c_str());
    ptsched_set_mechanism(device.client(), mechanisms[index]);
}

/* Channels may be made later than a context; and what is in the way of a trial goes away. */
bool Preemption::must_try(std::uint64_t births) const
{
    if (!tried_ || (again_ns_ && monotonic_ns() >= again_ns_))
        return true;
    return births != births_ && (level_ == Level::gate || again_ns_);
}

void Preemption::try_again_later()
{
    again_after_ns_ = std::clamp(2 * again_after_ns_, again_min_ns, again_max_ns);
    again_ns_ = monotonic_ns() + again_after_ns_;
}

void Preemption::find_level(Device &device)
{
    std::lock_guard guard(lock_);
    if (device.shares_channels()) {
        find_shared_level(device);
        return;
    }
    std::uint64_t births = channels->births();
    if (!must_try(births))
        return;
    /* As in take_off(). The end of a context that begins now waits for the lock. */
    if (ending_.load(std::memory_order_acquire))
        return;
    tried_ = true;
    births_ = births;
    again_ns_ = 0;
    Level level = Level::gate;
    const char *capped = "PTSCHED_LEVEL allows no more";
    std::string why = capped;
    if (config().level >= Level::slice) {
        why = try_slice(device);
        if (why.empty()) {
            level = Level::slice;
            why = capped;
        }
    }
    if (level == Level::slice && config().level >= Level::preempt) {
        Trial trial = try_preempt(device);
        why = trial.why;
        if (trial.result == Trial::works)
            level = Level::preempt;
        else if (trial.result == Trial::unclear)
            try_again_later();
    }
    set_level(device, level, why);
}

/* The work of who leaves room keeps others' from the device no more than a short time slice does. */
void Preemption::find_shared_level(Device &device)
{
    const bool was_slice = level_ == Level::slice, first = !tried_.exchange(true);
    const bool leaves_room = device.meter.occupancy() <= (was_slice ? fills_at : leaves_room_at);
    const Level level = leaves_room && config().level >= Level::slice ? Level::slice : Level::gate;
    if (first || level != level_)
        set_level(device, level, "clients of MPS share their channels: none can be taken off alone");
}

Preemption::Found Preemption::found()
{
    std::lock_guard guard(lock_);
    return {level_, why_};
}

std::string Preemption::try_slice(Device &device)
{
    std::string error = channels->set_timeslice(device.address(), short_slice_us);
    std::string undone = channels->set_timeslice(device.address(), 0);
    /* It may have been another before, which is wanted again. */
    wanted_slice_ = slice_ = TimeSlice::usual;
    return error.empty() ? undone : error;
}

std::string Preemption::switch_channels(Device &device, bool off, std::uint64_t turn)
{
    bool helped = helper->poll_fd() >= 0;
    int error = helper->set(device, off, turn);
    if (!error)
        return "";
    if (error != -ENOTCONN)
        debug("%s: ptschedd cannot switch the channels: %s", device.address(), std::strerror(-error));
    helper->leave();
    /* It may have taken them off before it failed, and off twice is not on again at once. */
    if (off && helped)
        channels->switch_on(device.address());
    return off ? channels->switch_off(device.address()) : channels->switch_on(device.address());
}

Trial Preemption::try_preempt(Device &device)
{
    if (debugger_attached()) {
        warn_of_debugger();
        return {Trial::unclear, being_debugged};
    }
    Context *context = process->any_context(device);
    if (!context)
        return {Trial::unclear, "there is no context to try the switch in"};
    ContextScope current(context->handle);
    if (!current.ok())
        return {Trial::fails, "the context cannot be used"};
    helper->connect();
    Trial trial = try_switch(device);
    if (trial.result == Trial::fails && helper->poll_fd() >= 0) {
        debug("%s: not by ptschedd: %s", device.address(), trial.why.c_str());
        helper->leave();
        trial = try_switch(device);
    }
    if (trial.result == Trial::works && !has_asker_)
        has_asker_ = start_own_thread(ask, &device);
    return trial.result == Trial::works && !has_asker_ ? Trial{Trial::fails, "cannot start a thread"} : trial;
}

void Preemption::adjust_slice(Device &device, TimeSlice wanted)
{
    static constexpr std::uint64_t us[] = {0, short_slice_us, long_slice_us};
    if (level_ == Level::gate || device.shares_channels())
        return;
    std::lock_guard guard(lock_);
    std::uint64_t births = channels->births();
    if (wanted == wanted_slice_ && (births == births_ || wanted == TimeSlice::usual))
        return;
    wanted_slice_ = wanted;
    births_ = births;
    std::string error = channels->set_timeslice(device.address(), us[static_cast<unsigned>(wanted)]);
    if (!error.empty() && level_ == Level::slice)
        set_level(device, Level::gate, error);
    slice_ = error.empty() ? wanted : TimeSlice::usual;
}

bool Preemption::take_off(Device &device, bool submitting, ptsched_usage &usage)
{
    std::lock_guard guard(lock_);
    if (!can_take_off() || off_.load(std::memory_order_relaxed))
        return off_.load(std::memory_order_relaxed);
    /* Without a context there is nothing to take off, nor a channel to do it with. */
    if (ending_.load(std::memory_order_acquire) || !process->any_context(device))
        return false;
    if (debugger_attached()) {
        warn_of_debugger();
        set_level(device, Level::slice, being_debugged);
        try_again_later();
        return false;
    }
    /* No call to the driver while the channels are off: see Undo. */
    all_measured_ =
        !submitting && device.all_measured(__atomic_load_n(&device.page()->events, __ATOMIC_ACQUIRE), device.state());
    std::uint64_t before = monotonic_ns();
    /* Work comes to a halt half-way through the call (H200: 0.38 of 0.67 ms), and goes on at the end of that back. */
    device.meter.pause(before + cost_ns_ / 2);
    usage = device.take_usage(0);
    off_turn_ = device.page()->turn;
    if (std::string error = switch_channels(device, true, off_turn_); !error.empty()) {
        switch_channels(device, false, off_turn_);
        device.meter.resume(monotonic_ns());
        ptsched_report(device.client(), &usage);
        set_level(device, Level::slice, error);
        try_again_later();
        return false;
    }
    std::uint64_t now = monotonic_ns();
    cost_ns_ = cost_ns_ ? (3 * cost_ns_ + now - before) / 4 : now - before;
    off_.store(true, std::memory_order_release);
    counters.preemptions.fetch_add(1, std::memory_order_relaxed);
    return true;
}

void Preemption::put_back(Device &device)
{
    std::lock_guard guard(lock_);
    switch_on(device);
}

void Preemption::try_put_back(Device &device)
{
    try {
        put_back(device);
    } catch (const std::bad_alloc &) {
    }
}

void Preemption::put_back_in_turn(Device &device)
{
    std::lock_guard guard(lock_);
    if ((device.state() & (PTSCHED_STATE_TURN | PTSCHED_STATE_CALLBACK)) == PTSCHED_STATE_TURN)
        switch_on(device);
}

void Preemption::switch_on(Device &device)
{
    if (!off_.load(std::memory_order_relaxed))
        return;
    if (std::string error = switch_channels(device, false, off_turn_); !error.empty())
        set_level(device, Level::slice, error);
    device.meter.resume(monotonic_ns());
    if (all_measured_)
        device.begin_measured();
    else
        device.unmeasured.store(true, std::memory_order_release);
    off_.store(false, std::memory_order_release);
}

void Preemption::context_ends(Device &device)
{
    ending_.fetch_add(1, std::memory_order_acq_rel);
    try_put_back(device);
    /* The helper shall not do it by itself either, in this turn or the next. */
    if (can_take_off() && device.page())
        helper->set(device, false, device.page()->turn + 1);
}

void Preemption::helper_is_gone(Device &device)
{
    std::lock_guard guard(lock_);
    if (can_take_off() && !off_.load(std::memory_order_relaxed))
        channels->switch_on(device.address());
}

void Preemption::ask_for_next_turn()
{
    questions_.fetch_add(1, std::memory_order_release);
    wake_waiters(questions_);
}

bool Preemption::ask_behind()
{
    if (!has_asker_.load(std::memory_order_acquire))
        return false;
    ask_for_next_turn();
    return true;
}

void *Preemption::ask(void *argument)
{
    auto &device = *static_cast<Device *>(argument);
    Preemption &self = device.preemption;
    std::uint32_t done = 0;

    pthread_setname_np(pthread_self(), "ptsched-asker");
    /* The device turns to what went ahead of the question by itself, but not always soon. */
    be_prompt();
    SleepingPlace place;
    while (!exiting.load(std::memory_order_acquire)) {
        std::uint32_t questions = self.questions_.load(std::memory_order_acquire);
        if (questions == done) {
            place.avoid(device.submitters_cpu.load(std::memory_order_relaxed));
            wait_while(self.questions_, questions, kNoLimit);
            continue;
        }
        /* Another thread may have asked by now. */
        bool needed = self.is_off() || device.ahead.load(std::memory_order_acquire) ||
                      device.alone_wanted.load(std::memory_order_acquire);
        if (needed && !ask_for_turn(device))
            continue;
        /* If it is called back already, the agent does it. */
        try {
            self.put_back_in_turn(device);
            done = questions;
        } catch (const std::bad_alloc &) {
            nap(no_memory_nap_ns);
        }
    }
    for (;;)
        pause();
}

} // namespace ptsched::preload
