/* SPDX-License-Identifier: MIT */
/*
 * Graphs of a process that use the same device. While there are several, what all of them have on it is bounded, and
 * each begins runs there in proportion to the priorities of its tasks, by clocks as in Arbiter. Nobody is kept from
 * beginning while the device has little to do.
 */
#ifndef PTSCHED_PTASK_DEVICES_DEVICE_SHARE_HPP
#define PTSCHED_PTASK_DEVICES_DEVICE_SHARE_HPP

#include "libptsched/base/lock.hpp"
#include <ptsched/device/device.hpp>

#include <atomic>
#include <functional>
#include <vector>

namespace ptsched::ptask {

class DeviceShare {
public:
    /*
     * Runs of all that there are at most, and with how many a device has little to do, so that nobody is kept from
     * beginning. Where they take long, fewer are enough until graphs' threads have seen an end and begun more, and what
     * comes later is put in order; but never less than the fewest.
     */
    static constexpr unsigned fewest = 4, few = 32, most = 128;
    static constexpr double enough_seconds = 500e-6, few_seconds = 125e-6;

    /* @wake: called when one who was told no may ask again, by any thread and with a lock: it must not block. */
    DeviceShare(const device::Device &device, std::function<void()> wake);
    ~DeviceShare() { leave(); }
    DeviceShare(const DeviceShare &) = delete;
    DeviceShare &operator=(const DeviceShare &) = delete;

    bool alone() const { return device_.count.load(std::memory_order_relaxed) < 2; }
    /* Who is told no asks again. */
    bool may_begin() { return alone() || is_next(); }
    /* @seconds: that the run is expected to take; @charge: that time over its weight. */
    void begin(double seconds, double charge);
    /* Nothing is left that it was asked for, or that began elsewhere. */
    void rest();
    /* @seconds: as it began. Others who wait for that are woken. */
    void ended(double seconds);
    /* For good. */
    void leave();

private:
    struct Shared {
        Mutex mutex; /* also for their clocks, and whether they want to begin runs */
        std::vector<DeviceShare *> sharers PTSCHED_GUARDED_BY(mutex);
        double mean_charge PTSCHED_GUARDED_BY(mutex) = 0;
        std::atomic<unsigned> count{0}; /* of sharers */
    };

    static Shared &shared_by(const device::Device &device);
    bool is_next();

    Shared &device_;
    const std::function<void()> wake_;
    std::atomic<unsigned> runs_{0};  /* only the graph's thread changes these */
    std::atomic<double> seconds_{0}; /* that its runs are expected to take */
    double clock_ = 0;
    bool wants_ = false; /* to begin runs; only the graph's thread changes it */
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_DEVICES_DEVICE_SHARE_HPP */
