// SPDX-License-Identifier: MIT
/*
 * Earliest eligible virtual deadline first (Stoica and Abdel-Wahab, 1995), as Linux 6.6 has it in kernel/sched/fair.c:
 *
 * - The virtual time V is the mean of the tasks' virtual run times, by weight. A task is eligible while its own is not
 *   beyond V, which is to say that its lag is not negative.
 * - Of the eligible ones, that with the earliest virtual deadline goes first, which is a slice over the weight after
 * its
 *   run time, and is set anew whenever it is reached.
 * - PLACE_LAG: who sleeps keeps its lag, two slices at most, and is placed so that it has the same again. A newcomer
 * has
 *   none, and half a slice until its first deadline (PLACE_DEADLINE_INITIAL).
 * - RUN_TO_PARITY: who runs and is still eligible goes on to its deadline. One that wakes up takes its place only if
 * that
 *   one has had its share.
 *
 * What differs: the slice is that of the device instead of 3 ms, times are exact instead of those of a tick, and the
 * tasks lie in two ordered sets, those that are eligible by deadline and the others by run time, instead of one tree.
 */
#include "tools/ptsim/schedulers/all.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace ptsim {
namespace {

constexpr double kNice0 = 1024;
constexpr Ns kTick = 4 * kMs;

class Eevdf : public Scheduler {
public:
    explicit Eevdf(const Machine &machine) : machine_(machine) {}

    void join(const Task &task, Ns) override
    {
        if (task.id >= entities_.size())
            entities_.resize(task.id + 1);
        entities_[task.id] = {.task = &task, .initial = true};
    }

    void leave(const Task &, Ns) override {}

    void wake(const Task &task, Ns) override
    {
        place(entities_[task.id]);
        queue(task.id);
        woken_ = &task;
    }

    void sleep(const Task &task, Ns) override
    {
        Entity &e = entities_[task.id];
        if (current_ == &task)
            current_ = nullptr;
        else
            unqueue(task.id);
        if (woken_ == &task)
            woken_ = nullptr;
        const double limit = virtual_ns(std::max(2 * machine_.slice_ns, kTick), task);
        e.lag = std::clamp(now_v_ - e.runtime, -limit, limit);
        move_mean(e, -static_cast<double>(task.weight));
    }

    void ran(const Task &task, const Run &run, Ns) override
    {
        Entity &e = entities_[task.id];
        e.runtime += virtual_ns(run.device_ns, task);
        now_v_ += static_cast<double>(run.device_ns) * kNice0 / weight_;
        if (e.runtime < e.deadline)
            return;
        e.deadline = e.runtime + virtual_ns(machine_.slice_ns, task);
        slice_over_ = true;
    }

    Decision decide(const OnDevice &on, Ns now) override
    {
        if (on.kernel_left_ns && !machine_.preemptible)
            return {on.task};
        if (current_ && (slice_over_ || outrun_by_woken())) {
            queue(current_->id);
            current_ = nullptr;
        }
        woken_ = nullptr;
        slice_over_ = false;
        if (!current_)
            current_ = first(true);
        return {current_, true, current_ ? now + left_ns(*current_) : kNever};
    }

private:
    struct Entity {
        const Task *task = nullptr;
        double runtime = 0; /* virtual: ns at weight 1024 */
        double deadline = 0;
        double lag = 0; /* while it sleeps */
        bool initial = false;
        bool eligible = false; /* in which of the sets it is */
    };

    using Queue = std::set<std::pair<double, std::uint32_t>>;

    static double virtual_ns(Ns ns, const Task &task) { return static_cast<double>(ns) * kNice0 / task.weight; }

    /* A task of @e's run time comes (its weight) or goes (less its weight). */
    void move_mean(const Entity &e, double weight)
    {
        const double sum = weight_ + weight;
        if (sum > 0.5)
            now_v_ = (weight_ * now_v_ + weight * e.runtime) / sum;
        weight_ = sum > 0.5 ? sum : 0;
    }

    void place(Entity &e)
    {
        const double weight = e.task->weight;
        /* Its coming moves V towards it: with so much more it has the lag that it had. */
        const double lag = weight_ > 0 ? e.lag * (weight_ + weight) / weight_ : 0;
        e.runtime = now_v_ - lag;
        e.deadline = e.runtime + virtual_ns(e.initial ? machine_.slice_ns / 2 : machine_.slice_ns, *e.task);
        e.initial = false;
        move_mean(e, weight);
    }

    void queue(std::uint32_t id)
    {
        Entity &e = entities_[id];
        e.eligible = e.runtime <= now_v_;
        (e.eligible ? eligible_ : others_).insert({e.eligible ? e.deadline : e.runtime, id});
    }

    void unqueue(std::uint32_t id)
    {
        const Entity &e = entities_[id];
        (e.eligible ? eligible_ : others_).erase({e.eligible ? e.deadline : e.runtime, id});
    }

    /* V has gone on, and may have gone back a little when one came or went. */
    void sort_out()
    {
        while (!others_.empty() && others_.begin()->first <= now_v_) {
            const std::uint32_t id = others_.begin()->second;
            unqueue(id);
            queue(id);
        }
        while (!eligible_.empty() && entities_[eligible_.begin()->second].runtime > now_v_) {
            const std::uint32_t id = eligible_.begin()->second;
            unqueue(id);
            queue(id);
        }
    }

    /* Who waits and goes first; nullptr: nobody waits. */
    const Task *first(bool take)
    {
        sort_out();
        /* One is always eligible, but for rounding. */
        const Queue &from = eligible_.empty() ? others_ : eligible_;
        if (from.empty())
            return nullptr;
        const std::uint32_t id = from.begin()->second;
        if (take)
            unqueue(id);
        return entities_[id].task;
    }

    bool outrun_by_woken() { return woken_ && entities_[current_->id].runtime > now_v_ && first(false) == woken_; }

    Ns left_ns(const Task &task) const
    {
        const Entity &e = entities_[task.id];
        return static_cast<Ns>(std::ceil((e.deadline - e.runtime) * task.weight / kNice0)) + 1;
    }

    const Machine machine_;
    std::vector<Entity> entities_;
    Queue eligible_;
    Queue others_;
    const Task *current_ = nullptr;
    const Task *woken_ = nullptr;
    bool slice_over_ = false;
    double now_v_ = 0;
    double weight_ = 0;
};

} // namespace

std::unique_ptr<Scheduler> make_eevdf(const Machine &machine, std::uint64_t)
{
    return std::make_unique<Eevdf>(machine);
}

} // namespace ptsim
