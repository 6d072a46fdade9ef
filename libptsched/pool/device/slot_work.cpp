// SPDX-License-Identifier: MIT
#include "libptsched/pool/device/slot_work.hpp"

#include <utility>

namespace ptsched::pool {

namespace {

/* Between looks at what others may have collected. */
constexpr std::chrono::microseconds look_again{200};

class SlotMarker final : public device::Marker {
public:
    SlotMarker(std::shared_ptr<SlotWork> work, std::uint64_t steps) : work_(std::move(work)), steps_(steps) {}
    bool reached() override
    {
        if (!seen() && work_->reached(steps_))
            see();
        return seen();
    }
    void wait() override
    {
        if (seen())
            return;
        work_->wait(steps_);
        see();
    }

private:
    const std::shared_ptr<SlotWork> work_;
    const std::uint64_t steps_;
};

} // namespace

void SlotWork::add_task(const SlotCode &code, const std::vector<void *> &arguments)
{
    Step step{.kind = code.kind()};
    code.write_task(step.task.bytes.data(), arguments);
    {
        Guard lock(mutex_);
        add(std::move(step));
    }
    go_on();
}

/* Without a wait, if nothing is to come before but other copies. */
void SlotWork::add_copy(Copy copy)
{
    Guard lock(mutex_);
    if (!is_idle()) {
        add({.copy = std::move(copy)});
        return;
    }
    has_copies_ = true;
    copy(device_.copies());
}

void SlotWork::add_wait(const device::MarkerPtr &marker)
{
    if (marker->seen())
        return;
    Guard lock(mutex_);
    add({.waits_for = marker});
}

void SlotWork::add(Step step)
{
    if (std::exchange(has_copies_, false)) {
        steps_.push_back({.waits_for = device_.copies().mark()});
        given_++;
    }
    steps_.push_back(std::move(step));
    given_++;
}

device::MarkerPtr SlotWork::mark()
{
    Guard lock(mutex_);
    if (is_idle() && has_copies_)
        return device_.copies().mark();
    return std::make_shared<SlotMarker>(shared_from_this(), given_);
}

/* As far as that goes now. Returns the marker that is to be waited for, if there is one. */
device::MarkerPtr SlotWork::begin_steps()
{
    while (!has_task_ && !steps_.empty()) {
        Step &step = steps_.front();
        if (step.copy) {
            step.copy(device_.copies());
            step = {.waits_for = device_.copies().mark()};
        }
        if (step.waits_for)
            return step.waits_for;
        if (!device_.push(shared_from_this(), step.kind, step.task.bytes.data()))
            break;
        has_task_ = true;
        steps_.pop_front();
    }
    return nullptr;
}

device::MarkerPtr SlotWork::first_wait()
{
    Guard lock(mutex_);
    return begin_steps();
}

/* Markers of others are asked without the lock: that may lead to other work, and from there to this. */
void SlotWork::go_on()
{
    for (;;) {
        const device::MarkerPtr marker = first_wait();
        if (!marker || !marker->reached())
            return;
        Guard lock(mutex_);
        /* Unless somebody else was faster. */
        if (!has_task_ && !steps_.empty() && steps_.front().waits_for == marker) {
            steps_.pop_front();
            ended_.fetch_add(1, std::memory_order_release);
        }
    }
}

void SlotWork::task_ended()
{
    Guard lock(mutex_);
    has_task_ = false;
    ended_.fetch_add(1, std::memory_order_release);
}

bool SlotWork::reached(std::uint64_t steps)
{
    const auto is = [&] { return ended_.load(std::memory_order_acquire) >= steps; };
    if (is())
        return true;
    device_.collect(Core::Duration::zero());
    go_on();
    return is();
}

void SlotWork::wait(std::uint64_t steps)
{
    while (!reached(steps)) {
        if (const device::MarkerPtr marker = first_wait())
            marker->wait();
        else
            device_.collect(look_again);
    }
}

} // namespace ptsched::pool
