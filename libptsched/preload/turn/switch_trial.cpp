// SPDX-License-Identifier: MIT
#include "libptsched/preload/turn/switch_trial.hpp"

#include "libptsched/base/time_calls.hpp"
#include "libptsched/preload/driver/driver.hpp"
#include "libptsched/preload/turn/attachment.hpp"
#include "libptsched/preload/turn/switch_channels.hpp"

#include <algorithm>
#include <atomic>
#include <pthread.h>

namespace ptsched::preload {
namespace {

/*
 * In a trial, something must complete within on_ns while the channels are on, and within again_ns after they were off.
 * While they are off, it is waited for so many times as long as that took, within limits; they are put on again when
 * all is known, or after some time for who may have no CPU to look, or wait in the driver. What could not be seen is
 * tried again.
 */
constexpr std::uint64_t on_ns = 100000000, again_ns = 1000000000, patience_min_ns = 2000000, patience_max_ns = 20000000,
                        spare_ns = 10000000, look_ns = 50000;
constexpr unsigned patience_factor = 4, trials = 5, trials_needed = 2;

/*
 * A word filled in a stream of our own, and an event behind that, which completes if the process's channels are on. (An
 * event alone completes at once where nothing is before it.) The word is of a pool of our own: memory that is freed in
 * a stream is not waited for, as cuMemFree() would, and what the program has in its pools stays as it was.
 */
class Probe {
public:
    explicit Probe(CUdevice ordinal)
    {
        CUmemPoolProps properties{};
        properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, ordinal};
        const OwnCalls &own = driver.own();
        ok_ = own.stream_create(&stream_, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS &&
              own.event_create(&event_, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS &&
              own.pool_create(&pool_, &properties) == CUDA_SUCCESS &&
              own.pool_alloc(&word_, sizeof(unsigned), pool_, stream_) == CUDA_SUCCESS;
    }
    ~Probe()
    {
        const OwnCalls &own = driver.own();
        if (word_)
            own.free_async(word_, stream_);
        if (pool_)
            own.pool_destroy(pool_);
        if (event_)
            own.event_destroy(event_);
        if (stream_)
            own.stream_destroy(stream_);
    }
    Probe(const Probe &) = delete;
    Probe &operator=(const Probe &) = delete;

    bool ok() const { return ok_; }
    bool send()
    {
        bool sent = driver.own().fill_async(word_, 0, 1, stream_) == CUDA_SUCCESS &&
                    driver.own().event_record(event_, stream_) == CUDA_SUCCESS;
        sent_ns_ = monotonic_ns();
        return sent;
    }
    bool has_arrived() const { return driver.own().event_query(event_) == CUDA_SUCCESS; }
    bool arrives_within(std::uint64_t ns) const
    {
        std::uint64_t end = monotonic_ns() + ns;
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
    CUmemoryPool pool_{};
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
    Undo(Attachment &device, std::uint64_t after_ns) : device_(device), after_ns_(after_ns)
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
        self.error_ = switch_channels(self.device_, false, 0);
        return nullptr;
    }

    Attachment &device_;
    std::uint64_t after_ns_;
    pthread_t thread_{};
    bool started_{false}, joined_{false};
    std::atomic<bool> now_{false}, begun_{false};
    std::string error_;
};

/* What is sent while the channels are off is @held back if, with time enough to complete, it has not. */
Trial try_once(Attachment &device, Probe &probe, bool &held)
{
    if (!probe.send() || !probe.arrives_within(on_ns))
        return {Trial::unclear, "nothing of ours completes beside the program's work even while the channels are on"};
    std::uint64_t patience = std::clamp(patience_factor * probe.since_sent_ns(), patience_min_ns, patience_max_ns);
    std::string error = switch_channels(device, true, 0);
    Undo undo(device, patience + spare_ns);
    if (!undo.started()) {
        switch_channels(device, false, 0);
        return {Trial::fails, "cannot start a thread"};
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
        return {Trial::fails, undo.wait()};
    if (!error.empty())
        return {Trial::fails, error};
    if (!sent || !probe.arrives_within(again_ns))
        return {Trial::unclear, "nothing of ours completes beside the program's work after the channels were off"};
    if (completed)
        return {Trial::fails, "it has no effect"};
    return {Trial::works, ""};
}

} // namespace

Trial try_switch(Attachment &device)
{
    if (!driver.can_probe())
        return {Trial::fails, "there is nothing to try the switch with"};
    Probe probe(device.ordinal());
    if (!probe.ok())
        return {Trial::unclear, "the driver has nothing left to try the switch with"};
    unsigned found = 0;
    for (unsigned i = 0; i < trials && found < trials_needed; i++) {
        bool held = false;
        if (Trial trial = try_once(device, probe, held); trial.result != Trial::works)
            return trial;
        found += held;
    }
    /* If nothing could be seen, nothing was seen to complete either. */
    return {Trial::works, ""};
}

} // namespace ptsched::preload
