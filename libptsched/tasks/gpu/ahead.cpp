// SPDX-License-Identifier: MIT
#include "libptsched/tasks/gpu/ahead.hpp"

#include <utility>

namespace ptsched::tasks {

namespace {

/* What others need is not to be pushed out. */
constexpr std::size_t share_of_memory = 8;

} // namespace

Ahead::Ahead(const Site &site, Directory &directory, std::function<void(Task &)> release)
    : site_(site), directory_(directory), release_(std::move(release)),
      most_unused_(device::memory_bytes(*site.device).value_or(0) / share_of_memory)
{
}

Ahead::~Ahead()
{
    while (Task *task = next())
        release_(*task);
    for (const Brought &brought : brought_)
        release_(*brought.task);
}

void Ahead::expect(Task &task)
{
    bool is_worth_it = false;
    for_each_settled(task, [&](const Access &access) { is_worth_it |= access.range.bytes() >= worth_a_copy; });
    if (!is_worth_it)
        return;
    task.references.fetch_add(1, std::memory_order_relaxed);
    Guard lock(mutex_);
    expected_.push_back(&task);
    count_.fetch_add(1, std::memory_order_release);
}

Task *Ahead::next()
{
    Guard lock(mutex_);
    if (expected_.empty())
        return nullptr;
    Task *const task = expected_.front();
    expected_.pop_front();
    return task;
}

void Ahead::forget_used()
{
    while (!brought_.empty() && is_over(*brought_.front().task)) {
        unused_ -= brought_.front().bytes;
        count_.fetch_sub(1, std::memory_order_relaxed);
        release_(*brought_.front().task);
        brought_.pop_front();
    }
}

bool Ahead::is_copying()
{
    try {
        while (!copies_.empty() && copies_.front().arrival->reached()) {
            in_flight_ -= copies_.front().bytes;
            copies_.pop_front();
        }
    } catch (const Error &) {
        /* The device has failed, which tasks are told by what they give it. */
        copies_.clear();
        in_flight_ = 0;
    }
    return !copies_.empty();
}

void Ahead::go_on()
{
    if (!count_.load(std::memory_order_acquire))
        return;
    forget_used();
    is_copying();
    while (in_flight_ < most_in_flight && unused_ < most_unused_) {
        Task *const task = next();
        if (!task)
            return;
        const std::size_t bytes = bring(*task);
        unused_ += bytes;
        brought_.push_back({task, bytes});
    }
}

/* Returns how many bytes it took. */
std::size_t Ahead::bring(const Task &task)
{
    std::size_t bytes = 0;
    try {
        for_each_settled(task, [&](const Access &access) {
            if (access.range.bytes() < worth_a_copy)
                return;
            if (device::MarkerPtr arrival = directory_.bring_ahead(task, access, site_)) {
                bytes += access.range.bytes();
                in_flight_ += access.range.bytes();
                copies_.push_back({std::move(arrival), access.range.bytes()});
            }
        });
    } catch (const Error &) {
        /* The task will try again, and say so if it cannot be. */
    }
    return bytes;
}

} // namespace ptsched::tasks
