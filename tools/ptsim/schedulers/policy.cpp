// SPDX-License-Identifier: MIT
/*
 * The project's policy: kmod/policy, compiled as it is. The programs behave as the interposer makes them: who is called
 * back tells how long the kernel that it has begun will take, gives the turn back when that has ended or has been taken
 * off, and asks again; who has nothing to do gives it back when somebody wants it.
 */
#include "kmod/policy/policy.h"

#include "tools/ptsim/schedulers/all.hpp"

#include <algorithm>
#include <unordered_map>

namespace ptsim {
namespace {

/* Of several that have the turn, the hardware gives each so much at a time. */
constexpr Ns kHardwareSlice = 2 * kMs;

class Policy : public Scheduler {
public:
    Policy(const Machine &machine, const ptsp_params &params) : machine_(machine)
    {
        ptsp_device_init(&device_, &params, &kOps, 0);
    }

    void join(const Task &task, Ns now) override
    {
        if (task.id >= entities_.size())
            entities_.resize(task.id + 1);
        entities_[task.id] = std::make_unique<Entity>(*this, task);
        Entity &e = *entities_[task.id];
        ptsp_join(&device_, &e, &users_[task.user], nullptr, now);
        ptsp_set_preemptible(&device_, &e, machine_.preemptible, now);
    }

    void leave(const Task &task, Ns now) override
    {
        Entity &e = *entities_[task.id];
        std::erase(holders_, &e);
        ptsp_leave(&device_, &e, now);
        entities_[task.id].reset();
    }

    void wake(const Task &task, Ns now) override
    {
        Entity &e = *entities_[task.id];
        e.has_work = true;
        if (e.state == PTSP_IDLE)
            ptsp_wait(&device_, &e, now);
    }

    void sleep(const Task &task, Ns) override { entities_[task.id]->has_work = false; }

    void ran(const Task &task, const Run &run, Ns now) override
    {
        Entity &e = *entities_[task.id];
        e.unreported_ns += run.gpu_ns;
        e.ran_ns = now;
        if (run.kernels)
            report(e, run.kernels, now);
    }

    Decision decide(const OnDevice &on, Ns now) override
    {
        Ns next;
        do {
            next = ptsp_run(&device_, now);
        } while (obey_signals(on, now));
        return choose(on, next, now);
    }

private:
    struct Entity : ptsp_entity {
        Entity(Policy &its_policy, const Task &its_task) : ptsp_entity{}, policy(its_policy), task(its_task) {}

        Policy &policy;
        const Task &task;
        bool has_work = false;
        bool drain_told = false;
        Ns unreported_ns = 0;
        Ns ran_ns = 0;
        Ns since_ns = 0; /* when the device last turned to it */
    };

    static std::uint32_t weight_of(const ptsp_entity *e) { return static_cast<const Entity *>(e)->task.weight; }

    static void signalled(ptsp_entity *entity, std::uint32_t old)
    {
        Entity &e = *static_cast<Entity *>(entity);
        if ((e.signals & ~old) & PTSP_SIG_TURN) {
            e.drain_told = false;
            e.policy.holders_.push_back(&e);
        } else if ((old & ~e.signals) & PTSP_SIG_TURN) {
            std::erase(e.policy.holders_, &e);
        }
    }

    static void forced(ptsp_entity *) {}

    static constexpr ptsp_ops kOps = {.weight = weight_of, .signal = signalled, .forced = forced};

    void report(Entity &e, std::uint32_t kernels, Ns now)
    {
        if (e.state == PTSP_HOLDING)
            ptsp_report(&device_, &e, e.unreported_ns, kernels, now);
        e.unreported_ns = 0;
    }

    void give_back(Entity &e, Ns now)
    {
        if (e.unreported_ns)
            report(e, 0, now);
        ptsp_release(&device_, &e, machine_.handover_ns, now);
        if (e.has_work)
            ptsp_wait(&device_, &e, now);
    }

    /* Whether somebody did something that the policy has to know. */
    bool obey_signals(const OnDevice &on, Ns now)
    {
        bool changed = false;
        const std::vector<Entity *> holders = holders_;
        for (Entity *e : holders) {
            const bool running = on.task == &e->task && on.kernel_left_ns;
            const bool taken_off = machine_.preemptible && (e->signals & PTSP_SIG_PREEMPT);
            if (!(e->signals & PTSP_SIG_CALLBACK)) {
                if (e->has_work || !(e->signals & PTSP_SIG_WANTED))
                    continue;
            } else if (running && !taken_off) {
                if (e->drain_told)
                    continue;
                e->drain_told = true;
                ptsp_drain(&device_, e, on.kernel_left_ns, now);
                changed = true;
                continue;
            }
            give_back(*e, now);
            changed = true;
        }
        return changed;
    }

    /* Of those that may submit, the next one in turn. */
    Decision choose(const OnDevice &on, Ns next, Ns now)
    {
        Entity *chosen = nullptr, *running = nullptr;
        bool several = false;
        for (Entity *e : holders_) {
            if (on.task == &e->task)
                running = e;
            /* What it has begun is to end. */
            if (running == e && on.kernel_left_ns && (e->signals & PTSP_SIG_CALLBACK))
                return {on.task, true, next};
            if (!e->has_work || (e->signals & PTSP_SIG_CALLBACK))
                continue;
            several = several || chosen;
            if (!chosen || e->ran_ns < chosen->ran_ns)
                chosen = e;
        }
        if (running && on.kernel_left_ns && several &&
            (!machine_.preemptible || now - running->since_ns < kHardwareSlice))
            chosen = running;
        if (!chosen)
            return {nullptr, true, next};
        if (chosen != running)
            chosen->since_ns = now;
        if (several && machine_.preemptible)
            next = std::min(next, std::max(chosen->since_ns + kHardwareSlice, now + 1));
        return {&chosen->task, true, next};
    }

    const Machine machine_;
    ptsp_device device_;
    std::vector<std::unique_ptr<Entity>> entities_;
    std::unordered_map<std::uint32_t, ptsp_user> users_;
    std::vector<Entity *> holders_;
};

ptsp_params settings(const Machine &machine)
{
    ptsp_params params = ptsp_default_params();
    params.slice_ns = machine.slice_ns;
    return params;
}

} // namespace

std::unique_ptr<Scheduler> make_weighted(const Machine &machine, std::uint64_t)
{
    return std::make_unique<Policy>(machine, settings(machine));
}

std::unique_ptr<Scheduler> make_weighted_idle_off(const Machine &machine, std::uint64_t)
{
    ptsp_params params = settings(machine);
    params.idle_sharing = false;
    return std::make_unique<Policy>(machine, params);
}

std::unique_ptr<Scheduler> make_literal(const Machine &machine, std::uint64_t)
{
    ptsp_params params = settings(machine);
    params.kind = PTSP_LITERAL;
    return std::make_unique<Policy>(machine, params);
}

std::unique_ptr<Scheduler> make_literal_many(const Machine &machine, std::uint64_t)
{
    ptsp_params params = settings(machine);
    params.kind = PTSP_LITERAL;
    params.many = true;
    params.idle_sharing = false;
    return std::make_unique<Policy>(machine, params);
}

} // namespace ptsim
