/* SPDX-License-Identifier: MIT */
#include "preemption.hpp"

#include "be_prompt.hpp"
#include "channels.hpp"
#include "clock.hpp"
#include "config.hpp"
#include "device.hpp"
#include "driver.hpp"
#include "gate.hpp"
#include "helper.hpp"
#include "log.hpp"
#include "thread.hpp"

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

/*
 * In a trial, something must complete within on_ns while the channels are on. While they are off, it is waited for so
 * many times as long as that took, within limits; they are put on again when all is known, or after some time for who
 * may have no CPU to look, or wait in the driver. What could not be seen is tried again.
 */
constexpr std::uint64_t on_ns = 1000000000, patience_min_ns = 2000000, patience_max_ns = 20000000, spare_ns = 10000000,
                        look_ns = 50000;
constexpr unsigned patience_factor = 4, trials = 5, trials_needed = 2;

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

/*
 * A word filled in a stream of our own, and an event behind that, which completes if the process's channels are on. (An
 * event alone completes at once where nothing is before it.) The memory stays: to free it would wait for the device.
 */
class Probe {
public:
    Probe()
    {
        ok_ = driver.own().stream_create(&stream_, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS &&
              driver.own().event_create(&event_, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS &&
              driver.own().mem_alloc(&word_, sizeof(unsigned)) == CUDA_SUCCESS;
    }
    ~Probe()
    {
        if (event_)
            driver.own().event_destroy(event_);
        if (stream_)
            driver.own().stream_destroy(stream_);
    }
    Probe(const Probe &) = delete;
    Probe &operator=(const Probe &) = delete;

    bool send()
    {
        bool sent = ok_ && driver.own().fill_async(word_, 0, 1, stream_) == CUDA_SUCCESS &&
                    driver.own().event_record(event_, stream_) == CUDA_SUCCESS;
        sent_ns_ = monotonic_ns();
        return sent;
    }
    bool has_arrived() const { return driver.own().event_query(event_) == CUDA_SUCCESS; }
    bool arrives() const
    {
        std::uint64_t end = monotonic_ns() + on_ns;
        do {
            if (has_arrived())
                return true;
            nap(look_ns);
        } while (monotonic_ns() < end);
        return false;
    }
    std::uint64_t since_sent_ns() const { return monotonic_ns() - sent_ns_; }

private:
    CUstream stream_{};
    CUevent event_{};
    CUdeviceptr word_{};
    bool ok_;
    std::uint64_t sent_ns_{0};
};

/*
 * Puts channels on again after a while, from a thread of its own: a call to the driver made while they are off may wait
 * for a lock that another thread holds until its work is done.
 */
class Undo {
public:
    Undo(Device &device, std::uint64_t after_ns) : device_(device), after_ns_(after_ns)
    {
        started_ = pthread_create(&thread_, nullptr, run, this) == 0;
    }
    ~Undo() { wait(); }
    Undo(const Undo &) = delete;
    Undo &operator=(const Undo &) = delete;
    bool started() const { return started_; }
    /* Now, and until it is done. Returns what went wrong. */
    const std::string &wait()
    {
        now_.store(true, std::memory_order_release);
        if (started_ && !joined_)
            pthread_join(thread_, nullptr);
        joined_ = true;
        return error_;
    }
    bool has_begun() const { return begun_.load(std::memory_order_acquire); }

private:
    static void *run(void *argument)
    {
        auto &self = *static_cast<Undo *>(argument);
        std::uint64_t end = monotonic_ns() + self.after_ns_;
        while (!self.now_.load(std::memory_order_acquire) && monotonic_ns() < end)
            nap(look_ns);
        self.begun_.store(true, std::memory_order_release);
        self.error_ = Preemption::switch_channels(self.device_, false, 0);
        return nullptr;
    }

    Device &device_;
    std::uint64_t after_ns_;
    pthread_t thread_{};
    bool started_{false}, joined_{false};
    std::atomic<bool> now_{false}, begun_{false};
    std::string error_;
};

/* What is sent while the channels are off is @held back if, with time enough to complete, it has not. */
std::string try_switch_once(Device &device, Probe &probe, bool &held)
{
    if (!probe.send() || !probe.arrives())
        return "nothing completes even while the channels are on";
    std::uint64_t patience = std::clamp(patience_factor * probe.since_sent_ns(), patience_min_ns, patience_max_ns);
    std::string error = Preemption::switch_channels(device, true, 0);
    Undo undo(device, patience + spare_ns);
    if (!undo.started()) {
        Preemption::switch_channels(device, false, 0);
        return "cannot start a thread";
    }
    bool sent = error.empty() && probe.send(), completed = false;
    while (sent && !completed && !held) {
        nap(look_ns);
        std::uint64_t passed = probe.since_sent_ns();
        bool arrived = probe.has_arrived();
        if (undo.has_begun())
            break;
        completed = arrived;
        held = !arrived && passed > patience;
    }
    if (!undo.wait().empty())
        return undo.wait();
    bool goes_on = sent && probe.arrives();
    if (!error.empty())
        return error;
    if (!goes_on)
        return "work does not go on after it was off";
    return completed ? "it has no effect" : "";
}

/* Empty, or why switching the process's channels on the device cannot be relied upon. */
std::string try_switch(Device &device)
{
    Probe probe;
    unsigned found = 0;
    for (unsigned i = 0; i < trials && found < trials_needed; i++) {
        bool held = false;
        if (std::string error = try_switch_once(device, probe, held); !error.empty())
            return error;
        found += held;
    }
    /* If nothing could be seen, nothing was seen to complete either. */
    return "";
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

void Preemption::find_level(Device &device)
{
    std::lock_guard guard(lock_);
    /* Channels may be made later than a context. */
    std::uint64_t births = channels->births();
    if (tried_ && (level_ != Level::gate || births == births_))
        return;
    /* As in take_off(). The end of a context that begins now waits for the lock. */
    if (ending_.load(std::memory_order_acquire))
        return;
    tried_ = true;
    births_ = births;
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
        why = try_preempt(device);
        if (why.empty())
            level = Level::preempt;
    }
    set_level(device, level, why);
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

std::string Preemption::try_preempt(Device &device)
{
    if (debugger_attached())
        return being_debugged;
    Context *context = process->any_context(device);
    if (!context || !driver.can_probe())
        return "there is nothing to try the switch with";
    ContextScope current(context->handle);
    if (!current.ok())
        return "the context cannot be used";
    helper->connect();
    std::string error = try_switch(device);
    if (!error.empty() && helper->poll_fd() >= 0) {
        debug("%s: not by ptschedd: %s", device.address(), error.c_str());
        helper->leave();
        error = try_switch(device);
    }
    if (error.empty() && !has_asker_)
        has_asker_ = start_own_thread(ask, &device);
    return error.empty() && !has_asker_ ? "cannot start a thread" : error;
}

void Preemption::adjust_slice(Device &device, bool outweighed)
{
    if (level_ == Level::gate)
        return;
    std::lock_guard guard(lock_);
    std::uint64_t births = channels->births();
    if (outweighed == outweighed_ && (births == births_ || !outweighed))
        return;
    outweighed_ = outweighed;
    births_ = births;
    std::string error = channels->set_timeslice(device.address(), outweighed ? short_slice_us : 0);
    if (!error.empty() && level_ == Level::slice)
        set_level(device, Level::gate, error);
    short_slice_ = outweighed && error.empty();
}

bool Preemption::take_off(Device &device, bool submitting, ptsched_usage &usage)
{
    std::lock_guard guard(lock_);
    if (!can_take_off() || off_.load(std::memory_order_relaxed))
        return off_.load(std::memory_order_relaxed);
    if (ending_.load(std::memory_order_acquire))
        return false;
    if (debugger_attached()) {
        static std::atomic<bool> warned{false};
        warn_once(warned, "%s: work is not taken off the device any more; others wait until it has drained",
                  being_debugged);
        set_level(device, Level::slice, being_debugged);
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
        bool needed = self.is_off() || device.ahead.load(std::memory_order_acquire);
        if (needed && !ask_for_turn(device))
            continue;
        /* If it is called back already, the agent does it. */
        try {
            self.put_back_in_turn(device);
            done = questions;
        } catch (const std::bad_alloc &) {
            nap(spare_ns);
        }
    }
    for (;;)
        pause();
}

} // namespace ptsched::preload
