// SPDX-License-Identifier: MIT
#include "libptsched/preload/turn/gate.hpp"

#include "libptsched/base/no_cancellation.hpp"
#include "libptsched/base/time_calls.hpp"
#include "libptsched/preload/common/exiting.hpp"
#include "libptsched/preload/common/stats.hpp"
#include "libptsched/preload/turn/agent_bell.hpp"
#include "libptsched/preload/turn/attach.hpp"
#include "libptsched/preload/turn/process.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <new>
#include <optional>
#include <sched.h>

namespace ptsched::preload {
namespace {

/* One submission in this time is measured while the program is alone. It costs two events and a look at them. */
constexpr std::uint64_t sample_every_ns = 10000000;
constexpr std::int32_t sample_interval_max = 4096, never = INT_MAX;
/* Beside others, so many samples or more come in the time of work that may be in flight. */
constexpr std::uint64_t samples_in_bound = 5;

/* Where any number may hold turns, budgets live from reports: one after so many bounds on the work in flight. */
constexpr std::uint64_t report_bounds = 5;
constexpr std::uint64_t report_alone_ns = 100000000;

/* Beside others' work, what is in flight may take so long. */
constexpr std::uint64_t others_last_ns = 500000000;

constexpr std::uint64_t room_nap_min_ns = 10000, room_nap_max_ns = 5000000, unknown_nap_ns = 300000,
                        turn_nap_ns = 20000000;

/*
 * A state that lets nothing through at once: for streams whose work only the submitting thread can measure, and devices
 * whose submissions threads do not count by themselves.
 */
const std::uint32_t look_closer = 0;

struct Place {
    Device *device;
    Stream *stream; /* NULL: the device is not scheduled */
};

class Window {
public:
    Window(Thread &thread, Device &device, const void *frame) : thread_(thread)
    {
        thread_.opened_at = frame;
        thread_.device.store(&device, std::memory_order_relaxed);
        thread_.window.store(thread_.window.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    ~Window() { leave(); }
    Window(const Window &) = delete;
    Window &operator=(const Window &) = delete;
    void leave()
    {
        if (inside_)
            thread_.window.store(thread_.window.load(std::memory_order_relaxed) + 1, std::memory_order_release);
        inside_ = false;
    }

private:
    Thread &thread_;
    bool inside_{true};
};

bool find_place(Thread &thread, CUstream handle, Place &place)
{
    std::uint32_t epoch = slots_epoch.load(std::memory_order_acquire);
    if (thread.epoch != epoch) {
        thread.forget_slots();
        thread.epoch = epoch;
        if (std::uint32_t samples = samples_epoch.load(std::memory_order_acquire); thread.samples_epoch != samples) {
            thread.samples_epoch = samples;
            thread.sample_interval = 1;
            thread.until_sample = 0;
        }
    }
    Slot &slot = thread.slot(handle);
    if (slot.stream && in_slot(slot, handle)) {
        place = {slot.device, slot.stream};
        return true;
    }

    bool is_default = handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
    CUcontext current = nullptr;
    CUresult result = is_default ? driver.own().ctx_get_current(&current) : driver.own().stream_ctx(handle, &current);
    Context *context = result == CUDA_SUCCESS && current ? process->find_or_add_context(current) : nullptr;
    if (!context)
        return false;
    place.device = context->device;
    attach(*place.device);
    place.stream = nullptr;
    bool own_only = handle == CU_STREAM_PER_THREAD;
    if (place.device->scheduled()) {
        place.stream = place.device->meter.find_stream(context, handle, own_only ? &thread : nullptr);
        if (!place.stream)
            return false;
    }

    unsigned counted = place.device->index();
    bool has_fast_path = !(place.stream && own_only) && counted < counted_devices;
    slot = {.handle = handle,
            .context = current,
            .check_context = is_default && process->several_contexts(),
            .state = has_fast_path ? place.device->state_word() : &look_closer,
            .device = place.device,
            .stream = place.stream,
            .submissions = has_fast_path ? &thread.submissions[counted] : nullptr};
    return true;
}

std::uint64_t work_bound(const Device &device)
{
    return __atomic_load_n(&device.page()->inflight_ns, __ATOMIC_RELAXED);
}

/* By how much the work in flight would exceed @bound with this submission, and those that it stands for. */
std::uint64_t excess_ns(Device &device, const Key &key, std::uint32_t stands_for, std::uint64_t bound,
                        std::uint64_t now)
{
    /* A long one may come a little before the end of what is in flight, or the device would stand still each time. */
    std::uint64_t estimate = device.meter.estimate_ns(key, stands_for), most = bound - bound / 4;
    if (!estimate || estimate > most)
        estimate = most;
    std::uint64_t total = device.meter.in_flight_ns(now) + estimate;
    return total > bound ? total - bound : 0;
}

/*
 * Whether another submission may be in flight now; if not, for how long to look away, 0: until the agent has changed
 * something. Asking the driver what has completed costs more than a launch, so that it is done only when the estimates
 * alone leave no room, or a report is due.
 */
bool has_room(Device &device, const Key &key, std::uint32_t stands_for, std::uint32_t state, std::uint64_t &nap_ns)
{
    std::uint64_t bound = work_bound(device);
    nap_ns = 0;
    if (state & PTSCHED_STATE_EXACT &&
        !device.all_measured(__atomic_load_n(&device.page()->events, __ATOMIC_ACQUIRE), device.state())) {
        wake_agent();
        return false;
    }
    std::uint64_t now = monotonic_ns();
    auto unknown = [&] {
        return device.meter.unknown_in_flight() || (stands_for && !device.meter.submissions_in(bound));
    };
    if (bound && !device.report_due(now, report_bounds * bound) && !unknown() &&
        !excess_ns(device, key, stands_for, bound, now))
        return true;
    {
        CaptureModeScope relaxed;
        device.meter.reap(now);
    }
    device.report(now, bound ? report_bounds * bound : report_alone_ns);
    if (!bound || device.meter.idle() || device.meter.broken() || device.meter.waits_for_program(now))
        return true;
    nap_ns = unknown_nap_ns;
    if (unknown())
        return false;
    std::uint64_t excess = excess_ns(device, key, stands_for, bound, now);
    /* A part of it each time, since estimates err; with enough left in flight to find out in time. */
    nap_ns = std::max({room_nap_min_ns, std::min(excess, bound / 2) / 2, std::min(excess / 8, room_nap_max_ns)});
    return !excess;
}

/*
 * How many submissions the next measured one shall stand for: no more than are given, or run, in the time between two
 * samples, or fill a part of the @bound on the work in flight. Random, so that no pattern of the program is in step.
 */
void plan_next_sample(Thread &thread, Meter &meter, std::uint64_t bound, std::uint64_t now)
{
    std::uint64_t passed = now - thread.sampled_ns;
    std::uint64_t fitting =
        passed ? std::uint64_t(thread.sample_interval) * sample_every_ns / passed : sample_interval_max;
    std::uint64_t most = std::min<std::uint64_t>(std::uint64_t(thread.sample_interval) * 4, sample_interval_max);
    /* While that is not known, the next ones may take long. */
    std::uint64_t run =
        meter.submissions_in(bound ? std::min(sample_every_ns, bound / samples_in_bound) : sample_every_ns);
    most = std::min(most, run ? run : std::uint64_t(thread.sample_interval));
    std::uint64_t mean = std::clamp<std::uint64_t>(fitting, 1, most);
    thread.random = thread.random * 6364136223846793005 + 1442695040888963407;
    thread.sample_interval = static_cast<std::int32_t>(mean / 2 + (thread.random >> 33) % mean);
    if (!has_heavy_barrier() || thread.sample_interval < 1)
        thread.sample_interval = 1;
    thread.until_sample = thread.sample_interval - 1;
    thread.sampled_ns = now;
}

/* Until when work of others is expected to be on the device; of a turn that is still to come, as of the last. */
std::uint64_t busy_until(const Device &device, std::uint64_t now)
{
    std::uint64_t granted = __atomic_load_n(&device.page()->granted_ns, __ATOMIC_RELAXED);
    std::uint64_t until = __atomic_load_n(&device.page()->busy_until_ns, __ATOMIC_RELAXED);
    if (device.state() & PTSCHED_STATE_TURN)
        return until;
    return until > granted ? now + (until - granted) : now;
}

/* Lighter ones that stay on the device are to leave it. In a turn, and so at once. */
void ask_to_be_alone(Device &device)
{
    if (device.want_alone() && !device.asker.ask_behind())
        device.ask_for_turn();
}

CUresult measured(const Place &place, const Key &key, std::uint32_t stands_for, const Call &call)
{
    Device &device = *place.device;
    std::uint64_t now = monotonic_ns();
    Record *record;

    device.submits_at(now);
    device.submitter_runs_on(sched_getcpu());
    /* From one pause to the next: who has them on the device each time loses more than by having them taken off. */
    if (device.state() & PTSCHED_STATE_ABOVE && device.above.is_settled())
        ask_to_be_alone(device);
    bool first = device.turn_is_used(now);
    if (std::uint64_t short_ns = stands_for || first ? 0 : device.meter.short_ns(*place.stream, key)) {
        CUresult result = call();
        if (result == CUDA_SUCCESS)
            device.meter.count(*place.stream, short_ns, now);
        device.add_submissions(1);
        return result;
    }
    {
        CaptureModeScope relaxed;
        record = device.meter.begin(*place.stream, key, stands_for, now, busy_until(device, now), first);
    }
    /* Not before the meter knows of it, which would charge it by the mean, and then once more. */
    device.add_submissions(1);
    if (record && record->waits)
        device.may_wait_for_host();
    auto end = [&](bool submitted) {
        if (!record) {
            device.note_unmeasured();
            return;
        }
        CaptureModeScope relaxed;
        device.meter.end(*place.stream, record, submitted);
    };
    CUresult result;
    try {
        result = call();
    } catch (...) {
        /* The thread ends in the driver, or a call-back has thrown: what was submitted by then nobody knows. */
        end(false);
        device.note_unmeasured();
        throw;
    }
    end(result == CUDA_SUCCESS);
    return result;
}

CUresult sampled(Thread &thread, const Place &place, const Key &key, std::uint32_t stands_for, const Call &call)
{
    Device &device = *place.device;
    CUresult result = measured(place, key, stands_for, call);
    std::uint64_t now = monotonic_ns();
    {
        CaptureModeScope relaxed;
        device.meter.reap(now);
    }
    device.report(now, report_alone_ns);
    /* Beside others it looks by itself. */
    bool beside_others = device.state() & PTSCHED_STATE_CONTENDED;
    if (device.begin_activity() && !beside_others)
        wake_agent();
    if (!place.stream->owner)
        plan_next_sample(thread, device.meter, beside_others ? work_bound(device) : 0, now);
    return result;
}

/* A wait with a submission. */
class HeldBack {
public:
    explicit HeldBack(Device &device) : device_(device) {}
    ~HeldBack()
    {
        if (since_)
            device_.held_back_no_more();
    }
    HeldBack(const HeldBack &) = delete;
    HeldBack &operator=(const HeldBack &) = delete;
    void begin()
    {
        if (since_)
            return;
        since_ = monotonic_ns();
        device_.hold_back();
        counters.waits.fetch_add(1, std::memory_order_relaxed);
    }
    std::uint64_t since() const { return since_; }
    void end() const
    {
        if (since_)
            counters.wait_ns.fetch_add(monotonic_ns() - since_, std::memory_order_relaxed);
    }

private:
    Device &device_;
    std::uint64_t since_{0};
};

/* Whether the work in flight, of which some may take @at_least_ns, may be waiting for this very submission. */
bool is_waited_for(Device &device, const HeldBack &held_back, std::uint64_t at_least_ns)
{
    if (!held_back.since())
        return false;
    std::uint64_t now = monotonic_ns();
    auto [completed, longest_ns] = device.meter.progress();
    if (!device.stall.lets_through(now, held_back.since(), completed, std::max(longest_ns, at_least_ns)))
        return false;
    device.meter.suspect(now);
    counters.through.fetch_add(1, std::memory_order_relaxed);
    return true;
}

/*
 * Whether the turn would be there at once, so that the device may turn to the submission while the scheduler is asked;
 * then until it has been. Not a copy (only of those is there a guess), whose call may last as long as it does.
 */
bool goes_ahead(Device &device, const Key &key, std::uint32_t state)
{
    return (state & (PTSCHED_STATE_TURN | PTSCHED_STATE_PREADMITTED)) == PTSCHED_STATE_PREADMITTED && !key.guess_ns &&
           !device.preemption.is_off() && device.go_ahead();
}

CUresult submit_ahead(const Place &place, const Key &key, Window &window, const Call &call)
{
    counters.ahead.fetch_add(1, std::memory_order_relaxed);
    Device &device = *place.device;
    CUresult result;
    try {
        result = measured(place, key, 0, call);
    } catch (...) {
        device.turn_is_asked_for();
        throw;
    }
    window.leave();
    /* By another thread: what the program submits behind it, an event for instance, need not wait for the answer. */
    if (!device.asker.ask_behind()) {
        while (!device.ask_for_turn())
            continue;
    }
    return result;
}

enum class Waited { again, let_through };

/*
 * Until there may be a turn. A called-back turn is given back by the agent once the work in flight has drained; where
 * that takes long because the work waits for this thread, the scheduler has by then admitted others (SHARED), and the
 * submission goes through.
 */
Waited wait_for_turn(Device &device, std::uint32_t state, std::uint32_t seen, const HeldBack &held_back)
{
    if (state & PTSCHED_STATE_TURN) {
        if (state & PTSCHED_STATE_SHARED) {
            bool known = device.waits_for_host();
            counters.through.fetch_add(known, std::memory_order_relaxed);
            if (known || is_waited_for(device, held_back, others_last_ns))
                return Waited::let_through;
        }
        nudge_agent();
        device.wait_for_change(seen, turn_nap_ns);
        return Waited::again;
    }
    device.submitter_runs_on(sched_getcpu());
    device.ask_for_turn();
    return Waited::again;
}

CUresult straight(Thread &thread, Device &device, const Call &call)
{
    device.add_submissions(1);
    if (!device.scheduled() && has_heavy_barrier())
        thread.until_sample = never;
    return call();
}

/* Who submits. */
struct Caller {
    const void *frame; /* as for Thread::opened_at */
    bool has_waited{false};
};

CUresult in_turn(Thread &thread, const Place &place, CUstream handle, const Key &key, const Call &drivers,
                 Caller &caller)
{
    Device &device = *place.device;
    HeldBack held_back(device);
    /* Whichever way leads to it, the wait is over then. */
    auto waited = [&] {
        held_back.end();
        return drivers();
    };
    Call call(waited);

    for (;;) {
        if (!device.scheduled() || exiting.load(std::memory_order_acquire))
            return straight(thread, device, call);
        std::uint32_t seen = device.changes();
        Window window(thread, device, caller.frame);
        std::uint32_t state = device.state();
        bool may_submit =
            (state & (PTSCHED_STATE_TURN | PTSCHED_STATE_CALLBACK)) == PTSCHED_STATE_TURN && !device.is_closing();
        bool by_samples = !(state & PTSCHED_STATE_EXACT);

        if (may_submit && device.preemption.is_off()) {
            window.leave();
            device.preemption.put_back_in_turn();
            continue;
        }
        if (may_submit && by_samples && thread.until_sample > 0 && !place.stream->owner) {
            thread.until_sample--;
            if (!device.has_used_turn())
                device.turn_is_used(monotonic_ns());
            device.add_submissions(1);
            return call();
        }
        if (driver.is_capturing(handle)) {
            counters.captured.fetch_add(1, std::memory_order_relaxed);
            return call();
        }
        auto stands_for = static_cast<std::uint32_t>(by_samples && !place.stream->owner ? thread.sample_interval : 0);
        bool alone = by_samples && !(state & (PTSCHED_STATE_WANTED | PTSCHED_STATE_CONTENDED));
        std::uint64_t nap_ns = 0;
        if (may_submit &&
            (alone || has_room(device, key, stands_for, state, nap_ns) || is_waited_for(device, held_back, 0)))
            return alone || stands_for ? sampled(thread, place, key, stands_for, call) : measured(place, key, 0, call);
        if (goes_ahead(device, key, state))
            return submit_ahead(place, key, window, call);
        window.leave();

        if (device.meter.broken()) {
            wake_agent(); /* to give the turn back */
            return call();
        }
        if (state & PTSCHED_STATE_DEAD) {
            device.open_gate("the scheduler is gone");
            continue;
        }
        held_back.begin();
        caller.has_waited = true;
        if (may_submit && nap_ns) {
            nap(nap_ns);
        } else if (may_submit) {
            device.wait_for_change(seen, turn_nap_ns);
        } else if (wait_for_turn(device, state, seen, held_back) == Waited::let_through) {
            Window again(thread, device, caller.frame);
            return measured(place, key, 0, call);
        }
    }
}

CUresult scheduled(CUstream stream, const Key &key, const Call &call, Caller &caller)
{
    if (stream == no_stream || !driver.bind())
        return call();
    Thread *thread = get_thread();
    Place place;
    if (!thread || thread->is_inside(caller.frame) || !driver.usable() || !find_place(*thread, stream, place))
        return call();
    if (!place.stream)
        return straight(*thread, *place.device, call);
    return in_turn(*thread, place, stream, key, call, caller);
}

} // namespace

CUresult submit_slowly(CUstream stream, const Key &key, Call call, const void *frame)
{
    /* A wait for the turn is none that the program knows of: it is not where its thread may end. */
    NoCancellation here;
    Caller caller{frame};
    bool made = false, returned = false;
    CUresult result = CUDA_SUCCESS;
    auto once = [&] {
        made = true;
        /* What was asked for in the wait would else find the driver at once, where it would hardly have been before. */
        std::optional<NoCancellation::Lifted> for_the_driver;
        if (!caller.has_waited)
            for_the_driver.emplace(here);
        result = call();
        returned = true;
        return result;
    };
    try {
        return scheduled(stream, key, Call(once), caller);
    } catch (const std::bad_alloc &) {
        if (made && !returned)
            throw; /* out of the driver, and so not ours */
        return made ? result : once();
    }
}

void settled()
{
    Thread *thread = this_thread;
    Device *device = thread ? thread->device.load(std::memory_order_relaxed) : nullptr;
    if (!device)
        return;
    std::uint32_t state = device->state();
    if (state & PTSCHED_STATE_CONTENDED && !device->above.is_settled())
        device->above.settled(device->submissions());
    /*
     * What was waited for may have taken long, or others may have the device now: the next submission is looked at, and
     * stands for what was until now.
     */
    if (thread->until_sample > 0 && thread->until_sample < thread->sample_interval &&
        (state & PTSCHED_STATE_ABOVE || monotonic_ns() - thread->sampled_ns > sample_every_ns)) {
        thread->sample_interval -= thread->until_sample;
        thread->until_sample = 0;
    }
    /* Who is merely wanted elsewhere is looked at often enough, and would pay for a wake-up each time. */
    if (state & (PTSCHED_STATE_CALLBACK | PTSCHED_STATE_ABOVE))
        nudge_agent();
}

void will_wait_for_host()
{
    Thread *thread = this_thread;
    if (Device *device = thread ? thread->device.load(std::memory_order_relaxed) : nullptr) {
        device->may_wait_for_host();
        return;
    }
    for (Device *device : process->devices())
        device->may_wait_for_host();
}

} // namespace ptsched::preload
