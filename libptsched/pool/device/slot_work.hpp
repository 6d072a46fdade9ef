/* SPDX-License-Identifier: MIT */
/*
 * The work of one queue: tasks, copies, and waits for other queues, one after another. There is no thread for it: it
 * goes on when somebody gives more, or asks whether something has ended, as who waits for it does.
 */
#ifndef PTSCHED_POOL_DEVICE_SLOT_WORK_HPP
#define PTSCHED_POOL_DEVICE_SLOT_WORK_HPP

#include "libptsched/pool/device/slot_device.hpp"

#include <array>

namespace ptsched::pool {

/* Thread-safe. */
class SlotWork : public std::enable_shared_from_this<SlotWork> {
public:
    /* In a queue of the GPU. */
    using Copy = std::function<void(device::Queue &queue)>;

    explicit SlotWork(SlotDeviceImpl &device) : device_(device) {}
    SlotWork(const SlotWork &) = delete;
    SlotWork &operator=(const SlotWork &) = delete;

    const SlotDeviceImpl &device() const { return device_; }
    void add_task(const SlotCode &code, const std::vector<void *> &arguments);
    void add_copy(Copy copy);
    void add_wait(const device::MarkerPtr &marker);
    device::MarkerPtr mark();
    /* Whether the first so many steps have ended. Throws Error if that cannot be any more. */
    bool reached(std::uint64_t steps);
    void wait(std::uint64_t steps);
    /* The task that the pool has for it has; go_on() is to follow. */
    void task_ended();
    /* Begins what can be begun. Throws Error as reached() does. */
    void go_on();

private:
    struct alignas(Piece) Task {
        std::array<std::byte, most_bytes> bytes;
    };
    /* One of these. */
    struct Step {
        device::MarkerPtr waits_for = {};
        Copy copy = {};
        unsigned kind = 0;
        Task task = {};
    };

    bool is_idle() const PTSCHED_REQUIRES(mutex_) { return !has_task_ && steps_.empty(); }
    void add(Step step) PTSCHED_REQUIRES(mutex_);
    device::MarkerPtr begin_steps() PTSCHED_REQUIRES(mutex_);
    device::MarkerPtr first_wait();

    SlotDeviceImpl &device_;
    mutable Mutex mutex_;
    bool has_copies_ PTSCHED_GUARDED_BY(mutex_) = false; /* that what is added is to wait for */
    bool has_task_ PTSCHED_GUARDED_BY(mutex_) = false;   /* in the pool */
    std::deque<Step> steps_ PTSCHED_GUARDED_BY(mutex_);  /* that have not begun, or wait */
    std::uint64_t given_ PTSCHED_GUARDED_BY(mutex_) = 0; /* steps so far */
    std::atomic<std::uint64_t> ended_{0};
};

} // namespace ptsched::pool

#endif /* PTSCHED_POOL_DEVICE_SLOT_WORK_HPP */
