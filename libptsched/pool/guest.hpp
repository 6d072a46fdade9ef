/* SPDX-License-Identifier: MIT */
/* When a pool's kernel is on a device: in its turns, and while there is something to do. For the pool's thread. */
#ifndef PTSCHED_POOL_GUEST_HPP
#define PTSCHED_POOL_GUEST_HPP

#include "libptsched/pool/resident.hpp"
#include "libptsched/pool/stopwatch.hpp"
#include <ptsched/device/turns.hpp>

#include <atomic>
#include <functional>

namespace ptsched::pool {

class Guest {
public:
    /*
     * After @idle without a task it leaves. @wake is called by any thread when look() may do something that it did not.
     */
    Guest(std::unique_ptr<Resident> resident, device::Attach how, Clock::duration idle, std::function<void()> wake);
    Guest(const Guest &) = delete;
    Guest &operator=(const Guest &) = delete;

    Resident &resident() { return *resident_; }
    /* How many tasks may be given to it. */
    std::size_t room() { return there_ ? resident_->room() : 0; }
    bool is_there() const { return there_; }
    /* Whether look() would ask for a turn, or launch. */
    bool may_come() const { return !there_ && !stays_away_ && !waits_; }
    /* A turn may have come. */
    void hear() { waits_ = false; }

    /*
     * Brings the kernel to the device or takes it off. @wanted: there are tasks for it. @now is looked at rarely.
     * Throws device::Fault if the kernel has failed. Does not block.
     */
    void look(bool wanted, Clock::time_point now);
    /* From now on it stays away. */
    void leave();
    /* When look() is to be called again though nothing happens. */
    Clock::time_point next_look() const { return next_look_; }
    /* Something was given or collected. */
    void busy(Clock::time_point now) { idle_since_ = now; }
    /* Tells the scheduler, in time, whether it has tasks. To be called when some were given or collected. */
    void tell_load();

    std::uint64_t launches() const { return launches_.load(std::memory_order_relaxed); }
    /* From the last call-back until the kernel had left. */
    Clock::duration last_park() const { return Clock::duration(last_park_.load(std::memory_order_relaxed)); }
    std::uint64_t parks() const { return parks_.load(std::memory_order_relaxed); }

    /* It has no turns any more, and nobody is woken. After leave(). */
    void quit();
    /* Its kernel does not end: what that uses stays until the process ends. After quit(). */
    static void abandon(std::unique_ptr<Guest> guest);

private:
    /* Between looks at whether the kernel is still there, which is a call of the driver. */
    static constexpr std::chrono::milliseconds check_every{1};
    static constexpr std::chrono::microseconds check_leaving{5};

    void come(Clock::time_point now);
    void check(Clock::time_point now);

    const std::unique_ptr<Resident> resident_;
    const Clock::duration idle_;
    Stopwatch busy_;                      /* on the device, with tasks */
    std::atomic<std::uint64_t> given_{0}; /* tasks */
    std::atomic<bool> recalled_{false};
    Clock::time_point recalled_at_{}; /* before it is said to be */
    std::atomic<Clock::rep> last_park_{0};
    std::unique_ptr<device::Turns> turns_; /* null: nobody else is asked */
    bool there_ = false, stays_away_ = false;
    bool waits_ = false; /* for a turn */
    Clock::time_point idle_since_{}, next_check_{}, next_look_{};
    std::atomic<std::uint64_t> launches_{0}, parks_{0};
};

} // namespace ptsched::pool

#endif /* PTSCHED_POOL_GUEST_HPP */
