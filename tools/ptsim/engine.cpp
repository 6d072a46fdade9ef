// SPDX-License-Identifier: MIT
#include "tools/ptsim/engine.hpp"

#include "kmod/policy/policy.h"

#include <algorithm>

namespace ptsim {

namespace {

/* How often progress is told. */
constexpr std::uint64_t kProgressEvents = 4096;

} // namespace

Engine::Engine(const Machine &machine, Scheduler &scheduler, const std::vector<Program> &programs)
    : machine_(machine), scheduler_(scheduler), programs_(programs), states_(programs.size()),
      outcomes_(programs.size()), fluid_(programs.size())
{
    for (std::uint32_t id = 0; id < programs.size(); id++) {
        const Program &program = programs[id];
        tasks_.push_back({id, program.user, program.nice, ptsp_nice_to_weight(program.nice)});
        states_[id].pattern = program.pattern;
        /* Its first burst; the pattern is asked when it comes. */
        states_[id].next = {program.arrives, 0};
        releases_.push({program.arrives, id});
    }
}

void Engine::watch(std::vector<std::uint32_t> ids, Ns interval)
{
    watched_ = std::move(ids);
    watch_interval_ = interval;
    look_at_ = 0;
}

void Engine::run(Ns until)
{
    for (;;) {
        const Ns next = next_event(until);
        if (progress_ && ++events_ % kProgressEvents == 0)
            progress_(now_);
        advance(next);
        if (mid_kernel() && !states_[on_].kernel_left_ns)
            end_kernel();
        while (!releases_.empty() && releases_.top().at <= now_) {
            const std::uint32_t id = releases_.top().id;
            releases_.pop();
            release(id);
        }
        if (look_at_ <= now_)
            look();
        if (now_ == until)
            break;
        decide();
    }
    tell_run(0);
    for (std::uint32_t id = 0; id < states_.size(); id++)
        if (states_[id].present)
            note_lag(id);
}

Ns Engine::next_event(Ns until) const
{
    Ns next = std::min({until, again_at_, look_at_});
    if (!releases_.empty())
        next = std::min(next, releases_.top().at);
    if (on_ != kNobody)
        next = std::min(next, now_ + handover_left_ns_ + states_[on_].kernel_left_ns);
    return std::max(next, now_);
}

void Engine::advance(Ns to)
{
    const Ns dt = to - now_;
    now_ = to;
    fluid_.advance(to);
    if (on_ != kNobody)
        serve(dt);
    else if (have_work_)
        idle_ns_ += dt;
}

void Engine::serve(Ns dt)
{
    const Ns standing = std::min(dt, handover_left_ns_);
    const Ns running = dt - standing;
    handover_left_ns_ -= standing;
    /* It needs that much more of the fluid schedule, too. */
    if (standing)
        fluid_.add(on_, tasks_[on_].weight, static_cast<double>(standing));
    states_[on_].kernel_left_ns -= running;
    untold_.device_ns += dt;
    untold_.gpu_ns += running;
    gpu_ns_ += running;
    outcomes_[on_].device_ns += dt;
    outcomes_[on_].gpu_ns += running;
}

void Engine::tell_run(std::uint32_t kernels)
{
    untold_.kernels = kernels;
    if (on_ != kNobody && (untold_.device_ns || kernels))
        scheduler_.ran(tasks_[on_], untold_, now_);
    untold_ = {};
}

void Engine::end_kernel()
{
    const std::uint32_t id = on_;
    State &state = states_[id];
    tell_run(1);
    state.burst_left_ns -= state.kernel_ns;
    state.kernel_ns = 0;
    if (!state.burst_left_ns)
        end_burst(id);
}

void Engine::end_burst(std::uint32_t id)
{
    State &state = states_[id];
    Outcome &outcome = outcomes_[id];
    outcome.bursts++;
    outcome.work_ns += state.next.work_ns;
    outcome.latencies_ns.push_back(now_ - state.next.due);
    const std::optional<Burst> next = state.pattern(now_);
    if (!next) {
        end_process(id);
        outcome.left = now_;
        return;
    }
    state.next = *next;
    if (next->by_new_process)
        end_process(id);
    else if (next->due <= now_)
        return start_burst(id);
    else
        stop_work(id);
    releases_.push({std::max(next->due, now_), id});
}

void Engine::release(std::uint32_t id)
{
    State &state = states_[id];
    if (!state.present) {
        state.present = true;
        outcomes_[id].arrived = std::min(outcomes_[id].arrived, now_);
        scheduler_.join(tasks_[id], now_);
    }
    if (!state.next.work_ns) {
        state.next = *state.pattern(now_);
        if (state.next.due > now_)
            return releases_.push({state.next.due, id});
    }
    start_burst(id);
}

void Engine::start_burst(std::uint32_t id)
{
    State &state = states_[id];
    state.burst_left_ns = state.next.work_ns;
    fluid_.add(id, tasks_[id].weight,
               state.next.work_ns == kNever ? Fluid::kForever : static_cast<double>(state.next.work_ns));
    if (state.has_work)
        return;
    state.has_work = true;
    have_work_++;
    tell_run(0);
    scheduler_.wake(tasks_[id], now_);
}

void Engine::stop_work(std::uint32_t id)
{
    states_[id].has_work = false;
    have_work_--;
    note_lag(id);
    scheduler_.sleep(tasks_[id], now_);
    if (on_ == id)
        on_ = kNobody;
}

void Engine::end_process(std::uint32_t id)
{
    stop_work(id);
    scheduler_.leave(tasks_[id], now_);
    states_[id].present = false;
}

void Engine::decide()
{
    tell_run(0);
    OnDevice on;
    if (on_ != kNobody)
        on = {&tasks_[on_], mid_kernel() ? states_[on_].kernel_left_ns : 0};
    const Decision decision = scheduler_.decide(on, now_);
    again_at_ = std::max(decision.again_at, now_ + 1);
    const std::uint32_t chosen = decision.task ? decision.task->id : kNobody;
    if (chosen != on_ && (!mid_kernel() || (machine_.preemptible && decision.at_once)))
        turn_to(chosen);
    if (on_ != kNobody)
        begin_kernel();
}

void Engine::turn_to(std::uint32_t id)
{
    if (on_ != kNobody) {
        preemptions_ += mid_kernel();
        note_lag(on_);
    }
    on_ = id;
    handover_left_ns_ = 0;
    if (id == kNobody)
        return;
    note_lag(id);
    Outcome &outcome = outcomes_[id];
    outcome.first_served = std::min(outcome.first_served, now_);
    if (context_ == id)
        return;
    context_ = id;
    handovers_++;
    handover_left_ns_ = machine_.handover_ns;
}

void Engine::begin_kernel()
{
    State &state = states_[on_];
    if (state.kernel_ns)
        return;
    state.kernel_ns = std::min(programs_[on_].kernel_ns, state.burst_left_ns);
    state.kernel_left_ns = state.kernel_ns;
}

/* Between two calls while it is served, or while it is not, the lag goes one way. */
void Engine::note_lag(std::uint32_t id)
{
    Outcome &outcome = outcomes_[id];
    const double lag = static_cast<double>(outcome.device_ns) - fluid_.service_ns(id);
    outcome.ahead_ns = std::max(outcome.ahead_ns, lag);
    outcome.behind_ns = std::max(outcome.behind_ns, -lag);
}

void Engine::look()
{
    Lag lag{now_, {}};
    for (std::uint32_t id : watched_)
        lag.ns.push_back(static_cast<double>(outcomes_[id].device_ns) - fluid_.service_ns(id));
    lags_.push_back(std::move(lag));
    look_at_ = now_ + watch_interval_;
}

} // namespace ptsim
