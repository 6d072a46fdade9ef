// SPDX-License-Identifier: MIT
#include "libptsched/preload/turn/preemption.hpp"

#include "libptsched/base/time_calls.hpp"
#include "libptsched/preload/common/config.hpp"
#include "libptsched/preload/common/debug.hpp"
#include "libptsched/preload/common/stats.hpp"
#include "libptsched/preload/common/warn.hpp"
#include "libptsched/preload/driver/driver.hpp"
#include "libptsched/preload/turn/asker.hpp"
#include "libptsched/preload/turn/attachment.hpp"
#include "libptsched/preload/turn/channels.hpp"
#include "libptsched/preload/turn/helper.hpp"
#include "libptsched/preload/turn/switch_channels.hpp"
#include "libptsched/preload/turn/switch_trial.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <unistd.h>

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

/* Of the device: whose kernels fill no more than this leaves room for others' beside them, until they fill more. */
constexpr double leaves_room_at = 0.5, fills_at = 0.6;

void warn_of_debugger()
{
    static std::atomic<bool> warned{false};
    warn_once(warned, "%s: meanwhile work is not taken off the device; others wait until it has drained",
              being_debugged);
}

} // namespace

void Preemption::set_level(Level level, const std::string &why)
{
    static constexpr const char *names[] = {"gate", "slice", "preempt"};
    static constexpr unsigned mechanisms[] = {PTSCHED_MECHANISM_GATE, PTSCHED_MECHANISM_SLICE,
                                              PTSCHED_MECHANISM_PREEMPT};
    auto index = static_cast<unsigned>(level);
    level_ = level;
    why_ = why;
    bool helped = level == Level::preempt && helper->poll_fd() >= 0;
    debug("%s: level %s%s%s%s", device_.address(), names[index], helped ? ", by ptschedd" : "",
          why.empty() ? "" : ", since ", why.c_str());
    ptsched_set_mechanism(device_.client(), mechanisms[index]);
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

void Preemption::find_level()
{
    Guard guard(lock_);
    if (device_.shares_channels()) {
        find_shared_level();
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
        why = try_slice();
        if (why.empty()) {
            level = Level::slice;
            why = capped;
        }
    }
    if (level == Level::slice && config().level >= Level::preempt) {
        Trial trial = try_preempt();
        why = trial.why;
        if (trial.result == Trial::works)
            level = Level::preempt;
        else if (trial.result == Trial::unclear)
            try_again_later();
    }
    set_level(level, why);
}

/* The work of who leaves room keeps others' from the device no more than a short time slice does. */
void Preemption::find_shared_level()
{
    const bool was_slice = level_ == Level::slice, first = !tried_.exchange(true);
    const bool leaves_room = device_.meter.occupancy() <= (was_slice ? fills_at : leaves_room_at);
    const Level level = leaves_room && config().level >= Level::slice ? Level::slice : Level::gate;
    if (first || level != level_)
        set_level(level, "clients of MPS share their channels: none can be taken off alone");
}

Preemption::Found Preemption::found()
{
    Guard guard(lock_);
    return {level_, why_};
}

std::string Preemption::try_slice()
{
    std::string error = channels->set_timeslice(device_.address(), short_slice_us);
    std::string undone = channels->set_timeslice(device_.address(), 0);
    /* It may have been another before, which is wanted again. */
    wanted_slice_ = slice_ = TimeSlice::usual;
    return error.empty() ? undone : error;
}

Trial Preemption::try_preempt()
{
    if (debugger_attached()) {
        warn_of_debugger();
        return {Trial::unclear, being_debugged};
    }
    Context *context = device_.any_context();
    if (!context)
        return {Trial::unclear, "there is no context to try the switch in"};
    ContextScope current(context->handle);
    if (!current.ok())
        return {Trial::fails, "the context cannot be used"};
    helper->connect();
    Trial trial = try_switch(device_);
    if (trial.result == Trial::fails && helper->poll_fd() >= 0) {
        debug("%s: not by ptschedd: %s", device_.address(), trial.why.c_str());
        helper->leave();
        trial = try_switch(device_);
    }
    return trial.result == Trial::works && !asker_.start() ? Trial{Trial::fails, "cannot start a thread"} : trial;
}

void Preemption::adjust_slice(TimeSlice wanted)
{
    static constexpr std::uint64_t us[] = {0, short_slice_us, long_slice_us};
    if (level_ == Level::gate || device_.shares_channels())
        return;
    Guard guard(lock_);
    std::uint64_t births = channels->births();
    if (wanted == wanted_slice_ && (births == births_ || wanted == TimeSlice::usual))
        return;
    wanted_slice_ = wanted;
    births_ = births;
    std::string error = channels->set_timeslice(device_.address(), us[static_cast<unsigned>(wanted)]);
    if (!error.empty() && level_ == Level::slice)
        set_level(Level::gate, error);
    slice_ = error.empty() ? wanted : TimeSlice::usual;
}

bool Preemption::take_off(bool submitting, ptsched_usage &usage)
{
    Guard guard(lock_);
    if (!can_take_off() || off_.load(std::memory_order_relaxed))
        return off_.load(std::memory_order_relaxed);
    /* Without a context there is nothing to take off, nor a channel to do it with. */
    if (ending_.load(std::memory_order_acquire) || !device_.any_context())
        return false;
    if (debugger_attached()) {
        warn_of_debugger();
        set_level(Level::slice, being_debugged);
        try_again_later();
        return false;
    }
    /* No call to the driver while the channels are off: see Undo. */
    all_measured_ = !submitting &&
                    device_.all_measured(__atomic_load_n(&device_.page()->events, __ATOMIC_ACQUIRE), device_.state());
    std::uint64_t before = monotonic_ns();
    /* Work comes to a halt half-way through the call (H200: 0.38 of 0.67 ms), and goes on at the end of that back. */
    device_.meter.pause(before + cost_ns_ / 2);
    usage = device_.take_usage(0);
    off_turn_ = device_.page()->turn;
    if (std::string error = switch_channels(device_, true, off_turn_); !error.empty()) {
        switch_channels(device_, false, off_turn_);
        device_.meter.resume(monotonic_ns());
        ptsched_report(device_.client(), &usage);
        set_level(Level::slice, error);
        try_again_later();
        return false;
    }
    std::uint64_t now = monotonic_ns();
    cost_ns_ = cost_ns_ ? (3 * cost_ns_ + now - before) / 4 : now - before;
    off_.store(true, std::memory_order_release);
    counters.preemptions.fetch_add(1, std::memory_order_relaxed);
    return true;
}

void Preemption::put_back()
{
    Guard guard(lock_);
    switch_on();
}

void Preemption::try_put_back()
{
    try {
        put_back();
    } catch (const std::bad_alloc &) {
    }
}

void Preemption::put_back_in_turn()
{
    Guard guard(lock_);
    if ((device_.state() & (PTSCHED_STATE_TURN | PTSCHED_STATE_CALLBACK)) == PTSCHED_STATE_TURN)
        switch_on();
}

void Preemption::switch_on()
{
    if (!off_.load(std::memory_order_relaxed))
        return;
    if (std::string error = switch_channels(device_, false, off_turn_); !error.empty())
        set_level(Level::slice, error);
    device_.meter.resume(monotonic_ns());
    if (all_measured_)
        device_.begin_measured(__atomic_load_n(&device_.page()->events, __ATOMIC_ACQUIRE));
    else
        device_.note_unmeasured();
    off_.store(false, std::memory_order_release);
}

void Preemption::context_ends()
{
    ending_.fetch_add(1, std::memory_order_acq_rel);
    try_put_back();
    /* The helper shall not do it by itself either, in this turn or the next. */
    if (can_take_off() && device_.page())
        helper->set(device_, false, device_.page()->turn + 1);
}

void Preemption::helper_is_gone()
{
    Guard guard(lock_);
    if (can_take_off() && !off_.load(std::memory_order_relaxed))
        channels->switch_on(device_.address());
}

} // namespace ptsched::preload
