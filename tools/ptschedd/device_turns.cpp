// SPDX-License-Identifier: MIT
/* Turns of clients, and what they tell of them. */
#include "tools/ptschedd/device.hpp"

#include <algorithm>
#include <cerrno>

namespace ptsched {

void Device::charge(Entity &entity, std::uint64_t gpu_ns, std::uint32_t submissions)
{
    std::uint64_t before = entity.stats.gpu_ns;
    ptsp_report(&policy_, &entity, gpu_ns, submissions, now());
    entity.account->gpu_ns += entity.stats.gpu_ns - before;
    entity.cgroup.charge(entity.stats.gpu_ns - before);
}

int Device::report(Client &client, const struct ptsched_report &report)
{
    const int ret = ptsc_allow_in_turn(client.contract.get());
    if (ret)
        return ret;
    charge(*client.entity, report.gpu_ns, report.submissions);
    run();
    return 0;
}

bool Device::thread_holds(const Client &client, std::int32_t tid) const
{
    return std::any_of(client.entity->members.begin(), client.entity->members.end(), [&](const Client *other) {
        return other->process == client.process && ptsc_is_held_by(other->contract.get(), tid);
    });
}

bool Device::may_join_turn(const Client &client, std::int32_t tid) const
{
    return ptsc_joins(client.contract.get(), client.entity) ||
           (client.entity->state == PTSP_HOLDING && thread_holds(client, tid));
}

void Device::hold(Client &client, std::int32_t tid)
{
    if (!ptsc_hold(client.contract.get(), &client.entity->contract, tid))
        return;
    const ptsp_params &params = policy_.params;
    client.page.describe_turn(*client.entity, client.entity->granted_budget_ns,
                              params.kind == PTSP_NONE ? 0 : params.inflight_ns);
    show(client);
}

/* Whether lighter ones may stay on the device. */
void Device::tolerate(Entity &entity, bool above)
{
    if (above == entity.tolerates)
        return;
    ptsp_tolerate(&policy_, &entity, above, now());
    run();
}

int Device::acquire(Client &client, const Waiter &waiter, std::uint32_t flags)
{
    int ret = ptsc_allow_acquire(client.contract.get(), false);
    if (ret)
        return ret;
    if (!client.contract->holds && client.waiters.empty() && !acts_on(client))
        move(client, *client.self);
    tolerate(*client.entity, flags & PTSCHED_ACQUIRE_ABOVE);
    if (may_join_turn(client, waiter.tid)) {
        hold(client, waiter.tid);
        return 0;
    }
    ret = ptsc_gives_up(flags, waiter.deadline_ns, now());
    if (ret && !ptsp_would_grant(&policy_, client.entity, now_))
        return ret;
    const std::uint64_t number = ++last_call_;
    client.waiters.push_back(waiter);
    client.waiters.back().number = number;
    ptsc_wait(client.contract.get(), &client.entity->contract);
    /* From here on the sink is told, be it at once. */
    asker_cpu_ = waiter.cpu;
    update(*client.entity);
    asker_cpu_ = 0;
    auto mine = std::find_if(client.waiters.begin(), client.waiters.end(),
                             [&](const Waiter &other) { return other.number == number; });
    if (mine == client.waiters.end())
        return -EINPROGRESS;
    ret = ptsc_gives_up(flags, mine->deadline_ns, now_);
    if (ret) {
        settle(client, mine, ret);
        update(*client.entity);
    } else if (mine->deadline_ns != PTSCHED_NEVER) {
        deadlines_.insert(mine->deadline_ns);
        mine->timed = true;
    }
    return -EINPROGRESS;
}

void Device::settle(Client &client, std::list<Waiter>::iterator waiter, int result)
{
    Waiter call = *waiter;
    client.waiters.erase(waiter);
    ptsc_stop_waiting(client.contract.get(), &client.entity->contract, 1);
    if (call.timed)
        deadlines_.erase(deadlines_.find(call.deadline_ns));
    client.sink.acquired(call, result);
}

void Device::cancel(Client &client, std::uint64_t call)
{
    for (auto waiter = client.waiters.begin(); waiter != client.waiters.end(); ++waiter) {
        if (waiter->id != call)
            continue;
        settle(client, waiter, -ECANCELED);
        update(*client.entity);
        return;
    }
}

/* The policy's callback: nothing here may call it back. */
void Device::granted(Entity &entity)
{
    entity.granted_budget_ns = ptsp_budget(&policy_, &entity, entity.granted_ns);
    events_.event(PTSCHED_EVENT_GRANT, *this, &entity);
    hold_all(entity);
}

/* All calls that wait have the turn of their entity. */
void Device::hold_all(Entity &entity)
{
    for (Client *client : entity.members) {
        while (!client->waiters.empty()) {
            hold(*client, client->waiters.front().tid);
            settle(*client, client->waiters.begin(), 0);
        }
    }
}

/* Calls may wait although their entity has the turn: to be called when one of both becomes true. */
void Device::admit(Entity &entity)
{
    if (ptsc_admits(&entity))
        hold_all(entity);
}

void Device::signalled(Entity &entity, std::uint32_t old)
{
    std::uint32_t added = entity.signals & ~old;
    if (added & PTSP_SIG_TURN)
        granted(entity);
    if (added & PTSP_SIG_CALLBACK) {
        events_.event(PTSCHED_EVENT_CALLBACK, *this, &entity);
        /* Those whose helpers are called now: their wake-ups are to leave the asker its CPU. */
        for (Client *client : entity.members)
            client->page.show_asker(asker_cpu_);
    }
    if (added & PTSP_SIG_PREEMPT)
        events_.event(PTSCHED_EVENT_PREEMPT, *this, &entity);
    entity.contract.tells_later = announces_later(entity, entity.signals ^ old);
    for (Client *client : entity.members)
        show(*client);
    entity.contract.tells_later = false;
    if (old & PTSP_SIG_CALLBACK)
        admit(entity);
}

/* With its last hold, the turn of an entity ends. */
void Device::drop_turn(Client &client, std::uint64_t handover_ns)
{
    Entity &entity = *client.entity;
    const bool ends = ptsc_drop(client.contract.get(), &entity.contract);
    show(client);
    if (!ends)
        return;
    now();
    events_.event(PTSCHED_EVENT_RELEASE, *this, &entity);
    ptsp_release(&policy_, &entity, handover_ns, now_);
}

int Device::release(Client &client, const struct ptsched_release &release)
{
    const int ret = ptsc_allow_in_turn(client.contract.get());
    if (ret)
        return ret;
    Entity &entity = *client.entity;
    charge(entity, release.gpu_ns, release.submissions);
    drop_turn(client, release.handover_ns);
    update(entity);
    if (!acts_on(client))
        move(client, *client.self);
    return 0;
}

int Device::ack(Client &client, const struct ptsched_ack &ack)
{
    const int ret = ptsc_allow_call(client.contract.get());
    if (ret)
        return ret;
    client.page.acknowledge(ack.events);
    if (!ptsc_drains(client.contract.get(), &client.entity->contract, ack.drain_ns))
        return 0;
    ptsp_drain(&policy_, client.entity, ack.drain_ns, now());
    update(*client.entity);
    return 0;
}

} // namespace ptsched
