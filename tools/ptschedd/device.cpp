// SPDX-License-Identifier: MIT
#include "tools/ptschedd/device.hpp"

#include <algorithm>
#include <cerrno>

namespace ptsched {
namespace {

std::uint64_t next_entity_id = 1;

} // namespace

struct PolicyOps {
    static Entity &of(ptsp_entity *e) { return *static_cast<Entity *>(e); }

    static u32 weight(const ptsp_entity *e) { return static_cast<const Entity *>(e)->current_weight(); }
    static void signal(ptsp_entity *e, u32 old) { of(e).device.signalled(of(e), old); }
    static void forced(ptsp_entity *e)
    {
        Device &device = of(e).device;
        device.events_.event(PTSCHED_EVENT_FORCED, device, &of(e));
    }

    static constexpr ptsp_ops ops{weight, signal, forced};
};

Device::Device(std::uint32_t id, std::string address, std::string uuid, const ptsp_params &params, EventSink &events)
    : id_(id), address_(std::move(address)), uuid_(std::move(uuid)), events_(events)
{
    ptsp_device_init(&policy_, &params, &PolicyOps::ops, now());
}

std::uint64_t Device::now()
{
    return now_ = monotonic_ns();
}

void Device::run()
{
    now();
    decide();
}

void Device::decide()
{
    policy_next_ns_ = ptsp_run(&policy_, now_);
    announce();
    /* After the decision: a grant that is due beats the deadline. */
    if (!deadlines_.empty() && *deadlines_.begin() <= now_)
        expire_deadlines();
}

std::uint64_t Device::next_ns() const
{
    std::uint64_t next =
        late_.empty() ? policy_next_ns_ : std::min<std::uint64_t>(policy_next_ns_, late_.front()->contract.late_ns);
    return deadlines_.empty() ? next : std::min(next, *deadlines_.begin());
}

/* Whether its clients are told later, by announce(). */
bool Device::announces_later(Entity &entity, std::uint32_t changed)
{
    switch (ptsc_announce(&entity.contract, &entity, changed, now_)) {
    case PTSC_AT_ONCE:
        return false;
    case PTSC_WITH_LATE:
        std::erase(late_, &entity);
        return false;
    case PTSC_LATER:
        break;
    }
    if (std::find(late_.begin(), late_.end(), &entity) == late_.end()) {
        entity.contract.late_ns = now_ + PTSCHED_EVENTS_PAUSE_NS;
        late_.push_back(&entity);
    }
    return true;
}

void Device::announce()
{
    while (!late_.empty() && late_.front()->contract.late_ns <= now_) {
        Entity &entity = *late_.front();
        late_.pop_front();
        entity.contract.told_ns = now_;
        for (Client *client : entity.members)
            client->page.tell();
    }
}

void Device::expire_deadlines()
{
    std::vector<Entity *> changed;
    for (auto &[process, entity] : entities_) {
        for (Client *client : entity->members) {
            for (auto waiter = client->waiters.begin(); waiter != client->waiters.end();) {
                auto late = waiter++;
                if (!late->timed || late->deadline_ns > now_)
                    continue;
                settle(*client, late, -ETIMEDOUT);
                changed.push_back(entity.get());
            }
        }
    }
    for (Entity *entity : changed)
        update(*entity);
}

/* --- entities --- */

Entity &Device::join(const ProcessRef &process, const Process *parent)
{
    auto found = entities_.find(process.get());
    if (found != entities_.end())
        return *found->second;
    forget_accounts();
    auto made = std::make_unique<Entity>(*this, process, next_entity_id++);
    /* Nothing may go wrong between its making and its first member. */
    made->members.reserve(1);
    Entity &entity = *made;
    entity.account = &account(process->uid());
    cgroups_.follow(entity, now());
    entities_.emplace(process.get(), std::move(made));
    entity.account->entities++;
    auto its_parent = entities_.find(parent);
    ptsp_join(&policy_, &entity, &account_of(entity),
              its_parent == entities_.end() ? nullptr : its_parent->second.get(), now());
    events_.event(PTSCHED_EVENT_ATTACH, *this, &entity);
    return entity;
}

void Device::tell_leaving(Entity &entity)
{
    if (entity.leaving)
        return;
    entity.leaving = true;
    now();
    events_.event(PTSCHED_EVENT_EXIT, *this, &entity);
}

void Device::leave_if_unused(Entity &entity)
{
    if (!ptsc_is_unused(&entity.contract))
        return;
    tell_leaving(entity);
    ptsp_leave(&policy_, &entity, now());
    entity.account->entities--;
    std::erase(late_, &entity);
    entities_.erase(entity.process.get());
    run();
}

Account &Device::account(uid_t uid)
{
    auto [entry, made] = accounts_.try_emplace(uid);
    Account &account = entry->second;
    if (made) {
        ptsp_group_init(&policy_, &account.group, nullptr, ptsp_share_to_weight(account.share), now());
        account.grouped.group = &account.group;
    }
    return account;
}

/* Among whom the entity's time is divided, by the device's settings. */
ptsp_user &Device::account_of(Entity &entity) const
{
    if (Cgroup *cgroup = entity.cgroup.get())
        return cgroup->account;
    return policy_.params.grouping == PTSP_BY_USER ? entity.account->grouped : entity.account->alone;
}

/* Since it was here last, another setting may have come, or its process another cgroup. */
void Device::regroup(Entity &entity)
{
    cgroups_.follow(entity, now());
    if (entity.user == &account_of(entity))
        return;
    ptsp_move(&policy_, &entity, &account_of(entity), now_);
    cgroups_.forget(now_);
}

void Device::set_share(uid_t uid, std::uint32_t share)
{
    Account &its = account(uid);
    its.share = share;
    ptsp_group_set_weight(&policy_, &its.group, ptsp_share_to_weight(share), now());
    run();
}

void Device::set_share(const CgroupPath &path, std::uint32_t share, std::shared_ptr<const UniqueFd> directory)
{
    cgroups_.set_share(path, share, std::move(directory), now());
    run();
}

/* Accounts of users who have nobody here, owe nothing, and of whom nothing else is known; of cgroups, too. */
void Device::forget_accounts()
{
    std::uint64_t at = now();
    std::erase_if(accounts_, [&](const auto &entry) {
        const Account &account = entry.second;
        return !account.entities && account.share == PTSCHED_SHARE_DEFAULT &&
               !ptsp_user_owes(&policy_, &account.alone, at) && !ptsp_user_owes(&policy_, &account.grouped, at);
    });
    cgroups_.forget(at);
}

/* Lets the policy know whether anybody waits. */
void Device::update(Entity &entity)
{
    if (entity.state == PTSP_WAITING && !entity.contract.nr_waiters) {
        ptsp_cancel(&policy_, &entity, now());
        if (entity.wait_told)
            events_.event(PTSCHED_EVENT_CANCEL, *this, &entity);
    }
    run();
    if (entity.state == PTSP_IDLE && entity.contract.nr_waiters) {
        regroup(entity);
        ptsp_wait(&policy_, &entity, now());
        entity.wait_told = false;
        decide();
        /* Most are given the turn at once, and an event less is sent of them. */
        if (entity.state == PTSP_WAITING) {
            entity.wait_told = true;
            events_.event(PTSCHED_EVENT_WAIT, *this, &entity);
        }
    }
}

void Device::process_gone(const Process &process)
{
    auto found = entities_.find(&process);
    if (found == entities_.end())
        return;
    /* What is left are turns of others on its behalf; who has none acts for itself. */
    Entity &entity = *found->second;
    entity.contract.dead = true;
    tell_leaving(entity);
    std::vector<Client *> members = entity.members;
    std::erase_if(members, [](const Client *client) { return client->contract->holds; });
    for (Client *client : members)
        move(*client, *client->self);
}

void Device::fix_weight(Entity &entity, std::uint32_t weight)
{
    entity.fixed_weight = weight;
    run();
}

void Device::lead(Entity &entity, std::uint64_t until_ns)
{
    ptsp_lead(&policy_, &entity, until_ns, now());
    run();
}

void Device::set_params(const ptsp_params &params)
{
    ptsp_set_params(&policy_, &params, now());
    events_.event(PTSCHED_EVENT_SETTINGS, *this, nullptr);
    run();
}

/* --- clients --- */

void Device::show(Client &client)
{
    client.page.set_state(ptsc_state(client.contract.get(), client.entity, false));
    if (!client.entity || !client.entity->contract.tells_later)
        client.page.tell();
}

int Device::attach(Client &client, std::uint32_t mechanism, const Process *parent)
{
    Entity &entity = join(client.process, parent);
    const int ret = ptsc_allow_attach(&entity.contract);
    if (ret)
        return ret;
    entity.members.push_back(&client);
    ptsc_attach(client.contract.get(), &entity.contract, mechanism);
    client.self = client.entity = &entity;
    show(client);
    set_preemptible(entity);
    run();
    return 0;
}

int Device::set_mechanism(Client &client, std::uint32_t mechanism)
{
    const int ret = ptsc_allow_call(client.contract.get());
    if (ret)
        return ret;
    ptsc_set_mechanism(client.contract.get(), &client.self->contract, &client.entity->contract, mechanism);
    set_preemptible(*client.entity);
    run();
    return 0;
}

/* After a change of the members, or of what one of them can do. */
void Device::set_preemptible(Entity &entity)
{
    ptsp_set_preemptible(&policy_, &entity, ptsc_is_preemptible(&entity.contract), now());
}

/* The client takes the turns of another entity; calls that wait do so for that one. */
void Device::move(Client &client, Entity &to)
{
    Entity &from = *client.entity;
    client.giver = nullptr;
    if (&from == &to)
        return;
    to.members.push_back(&client);
    std::erase(from.members, &client);
    ptsc_move(client.contract.get(), &from.contract, &to.contract);
    set_preemptible(from);
    set_preemptible(to);
    client.entity = &to;
    admit(to);
    show(client);
    update(from);
    leave_if_unused(from);
    update(to);
}

/* Without a client that was handed over. */
int Device::allow_requester(const Client &client, const Process &requester) const
{
    if (client.process->has_cap_sys_nice(client.opener))
        return 0;
    auto found = entities_.find(&requester);
    const std::uint32_t weight =
        found == entities_.end() ? ptsp_nice_to_weight(requester.nice()) : found->second->current_weight();
    /* Of another user than who connected, it is by a program that may not know what it has inherited. */
    auto user = client.process->effective_uid();
    const bool same_user = user && (client.opener == 0 || user == client.opener) && user == requester.effective_uid();
    return ptsc_allow_requester(same_user, weight, client.self->current_weight());
}

/* Whether it may go on acting for its requester; it may act for nobody. */
bool Device::acts_on(const Client &client)
{
    /* An end may be known before it is dealt with here. */
    return !client.entity->process->gone && ptsc_acts_on(&client.entity->contract, client.giver.get());
}

int Device::act_for(Client &client, const ProcessRef &requester, const Client *giver, const Process *parent)
{
    const ptsc_client *named = giver ? giver->contract.get() : nullptr;
    int ret = ptsc_allow_act_for(client.contract.get(), named, false);
    if (!ret && requester && !ptsc_is_given(named))
        ret = allow_requester(client, *requester);
    if (ret)
        return ret;
    Entity &entity = requester ? join(requester, parent) : *client.self;
    ret = ptsc_allow_member(&entity.contract, &client.self->contract, &client.entity->contract);
    if (ret)
        return ret;
    move(client, entity);
    if (giver)
        client.giver = giver->contract;
    return 0;
}

void Device::detach(Client &client)
{
    Entity &entity = *client.entity;
    Entity &self = *client.self;
    client.contract->closed = true;
    if (ptsc_is_last(&self.contract, &entity.contract))
        tell_leaving(self);
    while (!client.waiters.empty())
        settle(client, client.waiters.begin(), -ECANCELED);
    if (client.contract->holds)
        drop_turn(client, 0);
    std::erase(entity.members, &client);
    ptsc_detach(client.contract.get(), &self.contract, &entity.contract);
    set_preemptible(entity);
    client.entity = client.self = nullptr;
    show(client);
    update(entity);
    bool another = &entity != &self;
    leave_if_unused(entity);
    if (another)
        leave_if_unused(self);
}

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

/* --- turns --- */

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
