// SPDX-License-Identifier: MIT
#include "libptsched/pool/guest.hpp"

#include <algorithm>
#include <vector>

namespace ptsched::pool {

Guest::Guest(std::unique_ptr<Resident> resident, device::Attach how, Clock::duration idle, std::function<void()> wake)
    : resident_(std::move(resident)), idle_(idle)
{
    device::TurnCalls calls;
    calls.may_begin = wake;
    calls.recalled = [this, wake] {
        if (recalled_.load(std::memory_order_acquire))
            return;
        recalled_at_ = Clock::now();
        recalled_.store(true, std::memory_order_release);
        wake();
    };
    calls.user = "pool";
    calls.library = "pool";
    turns_ = device::Turns::open(resident_->device(), how, std::move(calls), [this] {
        return device::Activity{busy_.read(), given_.load(std::memory_order_relaxed)};
    });
}

void Guest::look(bool wanted, Clock::time_point now)
{
    if (there_)
        check(now);
    else if (wanted && may_come()) {
        /* The turn may be called back as soon as it is there. */
        recalled_.store(false, std::memory_order_release);
        waits_ = turns_ && !turns_->begin();
        if (!waits_)
            come(now);
    }
    if (there_)
        next_look_ = std::min(next_check_, idle_since_ + idle_);
    else
        next_look_ = Clock::time_point::max();
}

void Guest::come(Clock::time_point now)
{
    try {
        /* Who has no turns of his own has the interposer's. */
        const device::Exempt exempt(turns_ != nullptr);
        resident_->start();
    } catch (...) {
        if (turns_)
            turns_->ended(false);
        throw;
    }
    there_ = true;
    tell_load();
    idle_since_ = now;
    next_check_ = now + check_every;
    launches_.fetch_add(1, std::memory_order_relaxed);
}

void Guest::check(Clock::time_point now)
{
    const bool is_idle = !resident_->in_flight() && now - idle_since_ >= idle_;
    if (recalled_.load(std::memory_order_acquire) || is_idle || stays_away_)
        resident_->leave();
    if (now < next_check_ && !resident_->leaves())
        return;
    next_check_ = now + (resident_->leaves() ? Clock::duration(check_leaving) : Clock::duration(check_every));
    if (resident_->is_there())
        return;
    there_ = false;
    tell_load();
    if (recalled_.load(std::memory_order_acquire))
        last_park_.store((Clock::now() - recalled_at_).count(), std::memory_order_relaxed);
    parks_.fetch_add(1, std::memory_order_relaxed);
    if (turns_)
        turns_->ended();
}

void Guest::tell_load()
{
    if (!turns_)
        return;
    busy_.set(there_ && resident_->in_flight());
    given_.store(resident_->given(), std::memory_order_relaxed);
}

void Guest::leave()
{
    stays_away_ = true;
    if (there_)
        resident_->leave();
}

void Guest::quit()
{
    turns_.reset();
}

void Guest::abandon(std::unique_ptr<Guest> guest)
{
    static Mutex mutex;
    static auto &kept PTSCHED_GUARDED_BY(mutex) = *new std::vector<std::unique_ptr<Guest>>;

    Guard lock(mutex);
    kept.push_back(std::move(guest));
}

} // namespace ptsched::pool
