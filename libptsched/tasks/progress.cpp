// SPDX-License-Identifier: MIT
/* Whether what is waited for can come: tasks could wait for each other, in one runtime or in several. */
#include "libptsched/tasks/here.hpp"

#include <algorithm>

namespace ptsched::tasks {

namespace {

/* It must have looked for so long as if nothing could go on. */
constexpr std::chrono::milliseconds patience{200};

/* Tasks of one runtime that wait for another. */
struct Between {
    CoreImpl *of, *on;
    bool operator==(const Between &) const = default;
};
Mutex between_mutex;
std::vector<Between> between PTSCHED_GUARDED_BY(between_mutex);

} // namespace

Waiting::Waiting(CoreImpl &on) : task_(Here::get().task), lane_(task_ ? Here::get().lane : nullptr), on_(on)
{
    if (!lane_)
        return;
    if (task_->core != &on_) {
        Guard lock(between_mutex);
        between.push_back({task_->core, &on_});
    }
    lane_->waiting.fetch_add(1, std::memory_order_release);
}

Waiting::~Waiting()
{
    if (!lane_)
        return;
    lane_->waiting.fetch_sub(1, std::memory_order_release);
    if (task_->core != &on_) {
        Guard lock(between_mutex);
        between.erase(std::ranges::find(between, Between{task_->core, &on_}));
    }
}

/* For a while nothing runs but what waits, and nothing is ready, held, on a GPU or on its way home. */
bool CoreImpl::is_stuck()
{
    Guard lock(progress_mutex_);
    const std::uint64_t ended = lanes_.sum(&Lane::ended) + lanes_.sum(&Lane::ran);
    const bool goes_on = ended != last_ended_ || holds_.load(std::memory_order_acquire) ||
                         fetching_.load(std::memory_order_acquire) || crew_.has_ready() || has_to_serve() ||
                         lanes_.sum(&Lane::running) != lanes_.sum(&Lane::waiting);
    const auto now = Clock::now();
    if (goes_on || !stuck_since_) {
        last_ended_ = ended;
        stuck_since_ = now;
        return false;
    }
    return now - *stuck_since_ >= patience;
}

/* What is waited for cannot come: neither here nor where tasks of this runtime wait. */
void CoreImpl::check_progress()
{
    if (!is_stuck())
        return;
    std::vector<CoreImpl *> stuck{this};
    {
        Guard lock(between_mutex);
        for (std::size_t i = 0; i < stuck.size(); i++)
            for (const Between &one : between) {
                if (one.of != stuck[i] || std::ranges::count(stuck, one.on))
                    continue;
                if (!one.on->is_stuck())
                    return;
                stuck.push_back(one.on);
            }
    }
    throw Error(stuck.size() == 1 ? "tasks: nothing can go on: tasks wait for each other"
                                  : "tasks: nothing can go on: tasks of " + std::to_string(stuck.size()) +
                                        " runtimes wait for each other");
}

} // namespace ptsched::tasks
