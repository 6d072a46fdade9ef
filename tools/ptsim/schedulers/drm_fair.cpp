// SPDX-License-Identifier: MIT
/*
 * The fair policy of the DRM GPU scheduler (T. Ursulin's series "Fair DRM scheduler", 2025, drivers/gpu/drm/scheduler):
 *
 * - One run queue, ordered by virtual GPU time. The job, here a kernel, that is given to the device next is one of the
 *   entity with the least. Nothing is taken off the device: what jobs do there is the hardware's affair.
 * - GPU time counts when the job has ended, times 4 at priority high, 16 at normal and 128 at low (shifts of 2, 4, 7).
 * - An entity whose queue runs empty keeps its distance from the least virtual time in the queue, and has it again when
 *   it comes back. Who was the first itself and comes back behind another is moved by the difference of the priorities
 *   in microseconds, or by a nanosecond, forwards and backwards by turns, where these are the same.
 *
 * It knows no nice value. Here, those below 0 have priority high, and those from 10 on low. An entity has one job in
 * flight, so that the time of all that it gave to the device is known when it comes to the next.
 */
#include "tools/ptsim/schedulers/all.hpp"

#include <set>

namespace ptsim {
namespace {

/* In the order of the kernel's enum: a smaller one goes first. */
enum Priority { kHigh = 1, kNormal, kLow };

class DrmFair : public Scheduler {
public:
    void join(const Task &task, Ns) override
    {
        if (task.id >= entities_.size())
            entities_.resize(task.id + 1);
        entities_[task.id] = {.task = &task, .priority = task.nice < 0 ? kHigh : task.nice < 10 ? kNormal : kLow};
    }

    void leave(const Task &, Ns) override {}

    void wake(const Task &task, Ns) override
    {
        restore(entities_[task.id]);
        queue_.insert({entities_[task.id].vruntime, task.id});
    }

    void sleep(const Task &task, Ns) override
    {
        Entity &e = entities_[task.id];
        if (current_ == &task)
            current_ = nullptr;
        else
            queue_.erase({e.vruntime, task.id});
        const std::int64_t least = least_vruntime();
        e.vruntime = least && e.vruntime > least ? e.vruntime - least : 0;
    }

    void ran(const Task &task, const Run &run, Ns) override
    {
        Entity &e = entities_[task.id];
        static constexpr int kShift[] = {1, 2, 4, 7};
        e.vruntime += static_cast<std::int64_t>(run.device_ns) << kShift[e.priority];
    }

    Decision decide(const OnDevice &on, Ns) override
    {
        if (on.kernel_left_ns)
            return {on.task, false};
        if (current_)
            queue_.insert({entities_[current_->id].vruntime, current_->id});
        current_ = queue_.empty() ? nullptr : entities_[queue_.extract(queue_.begin()).value().second].task;
        return {current_, false};
    }

private:
    struct Entity {
        const Task *task = nullptr;
        Priority priority = kNormal;
        std::int64_t vruntime = 0; /* while it has no job: its distance */
    };

    const Entity *head() const
    {
        const Entity *first = queue_.empty() ? nullptr : &entities_[queue_.begin()->second];
        const Entity *running = current_ ? &entities_[current_->id] : nullptr;
        if (!first || !running)
            return first ? first : running;
        return first->vruntime < running->vruntime ? first : running;
    }

    std::int64_t least_vruntime() const { return head() ? head()->vruntime : 0; }

    void restore(Entity &e)
    {
        const std::int64_t least = least_vruntime();
        if (!e.vruntime && least) {
            const int difference = e.priority - head()->priority;
            e.vruntime = difference * static_cast<std::int64_t>(kUs);
            if (!difference) {
                e.vruntime = shuffle_;
                shuffle_ = -shuffle_;
            }
        }
        e.vruntime += least;
    }

    std::vector<Entity> entities_;
    std::set<std::pair<std::int64_t, std::uint32_t>> queue_;
    const Task *current_ = nullptr;
    int shuffle_ = -1;
};

} // namespace

std::unique_ptr<Scheduler> make_drm_fair(const Machine &, std::uint64_t)
{
    return std::make_unique<DrmFair>();
}

} // namespace ptsim
