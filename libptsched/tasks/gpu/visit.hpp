/* SPDX-License-Identifier: MIT */
/* When a runtime has a device: always, or in turns that it has beside other processes. For the thread that serves. */
#ifndef PTSCHED_TASKS_GPU_VISIT_HPP
#define PTSCHED_TASKS_GPU_VISIT_HPP

#include <ptsched/device/turns.hpp>

#include <atomic>
#include <functional>
#include <memory>

namespace ptsched::tasks {

class Visit {
public:
    /* @wake is called by any thread when may_give() may say yes after it has said no. Throws Error as Turns::open(). */
    Visit(device::Device &device, device::Attach how, std::function<void()> wake);
    Visit(const Visit &) = delete;
    Visit &operator=(const Visit &) = delete;

    /* Whether the device may be given work now; asks for a turn if there must be one. Does not block. */
    bool may_give();
    /* There is no work there any more, and none to be given now. */
    void leave();
    bool has_turns() const { return turns_ != nullptr; }
    /* Any thread may ask. */
    bool is_there() const { return !turns_ || there_.load(std::memory_order_acquire); }
    bool is_recalled() const { return recalled_.load(std::memory_order_acquire); }

private:
    std::atomic<bool> there_{false};
    std::atomic<bool> recalled_{false};    /* since the turn began */
    std::atomic<bool> heard_{false};       /* that a turn may begin, since it could not */
    bool waits_ = false;                   /* for that */
    std::unique_ptr<device::Turns> turns_; /* null: nobody else is asked; calls back until it is gone */
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_GPU_VISIT_HPP */
