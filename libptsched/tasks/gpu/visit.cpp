// SPDX-License-Identifier: MIT
#include "libptsched/tasks/gpu/visit.hpp"

#include <utility>

namespace ptsched::tasks {

Visit::Visit(device::Device &device, device::Attach how, std::function<void()> wake)
{
    device::TurnCalls calls;
    calls.may_begin = [this, wake = std::move(wake)] {
        heard_.store(true, std::memory_order_release);
        wake();
    };
    calls.recalled = [this] { recalled_.store(true, std::memory_order_release); };
    calls.user = "program";
    calls.library = "tasks";
    turns_ = device::Turns::open(device, how, std::move(calls));
}

bool Visit::may_give()
{
    if (!turns_)
        return true;
    if (there_.load(std::memory_order_relaxed))
        return !is_recalled();
    if (waits_ && !heard_.exchange(false, std::memory_order_acq_rel))
        return false;
    /* The turn may be called back as soon as it is there. */
    recalled_.store(false, std::memory_order_release);
    waits_ = !turns_->begin();
    there_.store(!waits_, std::memory_order_release);
    return !waits_;
}

void Visit::leave()
{
    if (!turns_ || !there_.load(std::memory_order_relaxed))
        return;
    there_.store(false, std::memory_order_release);
    turns_->ended();
}

} // namespace ptsched::tasks
