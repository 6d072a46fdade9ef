// SPDX-License-Identifier: MIT
#include "libptsched/ptask/devices/ready.hpp"

#include <algorithm>

namespace ptsched::ptask {

namespace {

/* Waits are not counted in less, so that no priority is without effect where nobody waits. */
constexpr double shortest_wait = 100e-6;

} // namespace

void Ready::advance(Clock::time_point now)
{
    if (now <= at_)
        return;
    waits_ += Seconds(now - at_).count() / std::max(wait_.value(), shortest_wait);
    at_ = now;
}

void Ready::add(TaskImpl &task, double priority, double average_run, Clock::time_point now)
{
    double rank = 0;
    if (mode_ == Mode::priority || mode_ == Mode::data_aware) {
        double run = run_.value() > 0 ? std::min(average_run / run_.value(), 2.0) : 1;
        advance(now);
        rank = priority + weights_.short_run * (1 - run) - weights_.waiting * waits_;
    }
    heap_.push({rank, number_++, now, &task});
}

TaskImpl &Ready::pop(Clock::time_point now)
{
    const Entry first = heap_.top();
    heap_.pop();
    advance(now);
    wait_.add(Seconds(now - first.since).count());
    return *first.task;
}

} // namespace ptsched::ptask
