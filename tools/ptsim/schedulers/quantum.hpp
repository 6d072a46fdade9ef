/* SPDX-License-Identifier: MIT */
/*
 * What the schedulers have in common that give out quanta: who has one keeps the device until it is used up or there is
 * nothing to do.
 */
#ifndef PTSIM_QUANTUM_HPP
#define PTSIM_QUANTUM_HPP

#include "tools/ptsim/scheduler.hpp"

namespace ptsim {

class QuantumScheduler : public Scheduler {
public:
    explicit QuantumScheduler(const Machine &machine) : machine_(machine) {}

    void join(const Task &, Ns) override {}
    void leave(const Task &, Ns) override {}
    void wake(const Task &task, Ns) override { insert(task, true); }

    void sleep(const Task &task, Ns) override
    {
        if (current_ != &task) {
            remove(task);
            return;
        }
        stopped(task, used_ns_);
        current_ = nullptr;
    }

    void ran(const Task &task, const Run &run, Ns) override
    {
        used_ns_ += run.device_ns;
        charge(task, run.device_ns);
    }

    Decision decide(const OnDevice &on, Ns now) override
    {
        /* Where kernels cannot be taken off there is nothing to decide before the end of this one. */
        if (on.kernel_left_ns && !machine_.preemptible)
            return {on.task};
        if (current_ && used_ns_ >= machine_.slice_ns) {
            stopped(*current_, used_ns_);
            insert(*current_, false);
            current_ = nullptr;
        }
        if (!current_) {
            current_ = extract();
            used_ns_ = 0;
        }
        return {current_, true, current_ ? now + machine_.slice_ns - used_ns_ : kNever};
    }

protected:
    virtual void insert(const Task &task, bool woke) = 0;
    virtual void remove(const Task &task) = 0;
    /* Out of the queue who has the next quantum; nullptr: nobody waits. */
    virtual const Task *extract() = 0;
    virtual void charge(const Task &, Ns) {}
    virtual void stopped(const Task &, Ns) {}

    const Machine machine_;

private:
    const Task *current_ = nullptr;
    Ns used_ns_ = 0;
};

} // namespace ptsim

#endif
