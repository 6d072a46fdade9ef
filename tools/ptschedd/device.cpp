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
    std::uint64_t next = late_.empty() ? policy_next_ns_ : std::min(policy_next_ns_, late_.front()->late_ns);
    return deadlines_.empty() ? next : std::min(next, *deadlines_.begin());
}

/*
 * Others can change what a holder sees as often as they like, by asking for the turn and giving up again. What it must
 * obey is told at once, and never taken back; of the rest it is told at once so many times in a turn, and then once in
 * a while, of all that changed meanwhile.
 */
bool Device::announces_later(Entity &entity, std::uint32_t changed)
{
    if (!SharedPage::is_event(changed) || changed & (PTSP_SIG_CALLBACK | PTSP_SIG_PREEMPT) ||
        entity.state != PTSP_HOLDING)
        return false;
    if (entity.told_turn != entity.turn) {
        entity.told_turn = entity.turn;
        entity.told = 0;
    }
    if (entity.told < PTSCHED_EVENTS_AT_ONCE) {
        entity.told++;
    } else if (now_ - entity.told_ns < PTSCHED_EVENTS_PAUSE_NS) {
        if (std::find(late_.begin(), late_.end(), &entity) == late_.end()) {
            entity.late_ns = now_ + PTSCHED_EVENTS_PAUSE_NS;
            late_.push_back(&entity);
        }
        return true;
    }
    /* With what was to be told later. */
    std::erase(late_, &entity);
    entity.told_ns = now_;
    return false;
}

void Device::announce()
{
    while (!late_.empty() && late_.front()->late_ns <= now_) {
        Entity &entity = *late_.front();
        late_.pop_front();
        entity.told_ns = now_;
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
    if (entity.owned || !entity.members.empty())
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
    if (entity.state == PTSP_WAITING && !entity.waiters) {
        ptsp_cancel(&policy_, &entity, now());
        if (entity.wait_told)
            events_.event(PTSCHED_EVENT_CANCEL, *this, &entity);
    }
    run();
    if (entity.state == PTSP_IDLE && entity.waiters) {
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
    tell_leaving(entity);
    std::vector<Client *> members = entity.members;
    std::erase_if(members, [](const Client *client) { return client->holds; });
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
    std::uint32_t state = client.entity ? client.entity->signals & ~PTSP_SIG_TURN : 0;
    client.page.set_state(client.holds ? state | PTSCHED_STATE_TURN : state);
    if (!client.entity || !client.entity->tells_later)
        client.page.tell();
}

/* A process may have so many, so that nothing that is done for all of them takes long. */
bool Device::is_full(const Entity &entity)
{
    return std::max<std::size_t>(entity.owned, entity.members.size()) >= PTSCHED_CLIENTS_MAX;
}

int Device::attach(Client &client, std::uint32_t mechanism, const Process *parent)
{
    Entity &entity = join(client.process, parent);
    if (is_full(entity))
        return -EMFILE;
    entity.members.push_back(&client);
    entity.owned++;
    client.self = client.entity = &entity;
    show(client);
    set_mechanism(client, mechanism);
    return 0;
}

void Device::set_mechanism(Client &client, std::uint32_t mechanism)
{
    client.mechanism = client.self->mechanism = mechanism;
    set_preemptible(*client.entity);
    run();
}

/* After a change of the members, or of what one of them can do. */
void Device::set_preemptible(Entity &entity)
{
    bool preemptible = !entity.members.empty() &&
                       std::all_of(entity.members.begin(), entity.members.end(),
                                   [](const Client *client) { return client->mechanism >= PTSCHED_MECHANISM_SLICE; });
    ptsp_set_preemptible(&policy_, &entity, preemptible, now());
}

/* The client takes the turns of another entity; calls that wait do so for that one. */
void Device::move(Client &client, Entity &to)
{
    Entity &from = *client.entity;
    client.giver_open = nullptr;
    if (&from == &to)
        return;
    auto waiters = static_cast<unsigned>(client.waiters.size());
    to.members.push_back(&client);
    to.waiters += waiters;
    std::erase(from.members, &client);
    from.waiters -= waiters;
    set_preemptible(from);
    set_preemptible(to);
    client.entity = &to;
    admit(to);
    show(client);
    update(from);
    leave_if_unused(from);
    update(to);
}

/* Whether it may without a client that was handed over. */
bool Device::may_act_for(const Client &client, const Entity &entity)
{
    if (client.process->has_cap_sys_nice(client.opener))
        return true;
    /* Of another user than who connected, it is by a program that may not know what it has inherited. */
    auto user = client.process->effective_uid();
    return user && (client.opener == 0 || user == client.opener) && user == entity.process->effective_uid() &&
           entity.current_weight() <= client.self->current_weight();
}

/* Whether it may go on acting for its requester; it may act for nobody. */
bool Device::may_act_on(const Client &client)
{
    return !client.entity->process->gone && (!client.giver_open || *client.giver_open);
}

int Device::act_for(Client &client, const ProcessRef &requester, const Client *giver, const Process *parent)
{
    if (client.holds || !client.waiters.empty())
        return -EBUSY;
    if (!requester) {
        move(client, *client.self);
        return 0;
    }
    Entity &entity = join(requester, parent);
    int ret = 0;
    if (!(giver && giver->handed_over) && !may_act_for(client, entity))
        ret = -EPERM;
    else if (&entity != client.entity && &entity != client.self && is_full(entity))
        ret = -EMFILE;
    else
        move(client, entity);
    if (!ret && giver)
        client.giver_open = giver->open;
    leave_if_unused(entity);
    return ret;
}

void Device::detach(Client &client)
{
    Entity &entity = *client.entity;
    Entity &self = *client.self;
    *client.open = false;
    if (self.owned == 1 && self.members.size() == (&entity == &self ? 1 : 0))
        tell_leaving(self);
    while (!client.waiters.empty())
        settle(client, client.waiters.begin(), -ECANCELED);
    if (client.holds)
        drop_turn(client, 0);
    std::erase(entity.members, &client);
    set_preemptible(entity);
    self.owned--;
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
    if (!client.holds)
        return -EPERM;
    charge(*client.entity, report.gpu_ns, report.submissions);
    run();
    return 0;
}

/* --- turns --- */

bool Device::thread_holds(const Client &client, std::uint32_t tid) const
{
    /* One of several is enough: to make it wait might be for ever. */
    return std::any_of(client.entity->members.begin(), client.entity->members.end(), [&](const Client *other) {
        return other->holds && other->process == client.process &&
               (other->holder == tid || other->holder == kSeveralThreads);
    });
}

bool Device::may_join_turn(const Client &client, std::uint32_t tid) const
{
    const Entity &entity = *client.entity;
    return client.holds ||
           (entity.state == PTSP_HOLDING && (!(entity.signals & PTSP_SIG_CALLBACK) || thread_holds(client, tid)));
}

void Device::hold(Client &client, std::uint32_t tid)
{
    if (client.holds) {
        if (client.holder != tid)
            client.holder = kSeveralThreads;
        return;
    }
    client.holds = true;
    client.holder = tid;
    client.entity->holds++;
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
    if (!client.holds && client.waiters.empty() && !may_act_on(client))
        move(client, *client.self);
    tolerate(*client.entity, flags & PTSCHED_ACQUIRE_ABOVE);
    if (may_join_turn(client, waiter.tid)) {
        hold(client, waiter.tid);
        return 0;
    }
    /* Who does not wait is to disturb nobody by asking for what it does not get. */
    bool tries = flags & PTSCHED_ACQUIRE_TRY;
    if ((tries || waiter.deadline_ns <= now()) && !ptsp_would_grant(&policy_, client.entity, now_))
        return tries ? -EAGAIN : -ETIMEDOUT;
    const std::uint64_t number = ++last_call_;
    client.waiters.push_back(waiter);
    client.waiters.back().number = number;
    client.entity->waiters++;
    /* From here on the sink is told, be it at once. */
    asker_cpu_ = waiter.cpu;
    update(*client.entity);
    asker_cpu_ = 0;
    auto mine = std::find_if(client.waiters.begin(), client.waiters.end(),
                             [&](const Waiter &other) { return other.number == number; });
    if (mine == client.waiters.end())
        return -EINPROGRESS;
    if (tries || mine->deadline_ns <= now_) {
        settle(client, mine, tries ? -EAGAIN : -ETIMEDOUT);
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
    client.entity->waiters--;
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
    if (entity.state == PTSP_HOLDING && !(entity.signals & PTSP_SIG_CALLBACK))
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
    entity.tells_later = announces_later(entity, entity.signals ^ old);
    for (Client *client : entity.members)
        show(*client);
    entity.tells_later = false;
    if (old & PTSP_SIG_CALLBACK)
        admit(entity);
}

/* With its last hold, the turn of an entity ends. */
void Device::drop_turn(Client &client, std::uint64_t handover_ns)
{
    Entity &entity = *client.entity;
    client.holds = false;
    client.holder = 0;
    show(client);
    if (--entity.holds)
        return;
    now();
    events_.event(PTSCHED_EVENT_RELEASE, *this, &entity);
    ptsp_release(&policy_, &entity, handover_ns, now_);
}

int Device::release(Client &client, const struct ptsched_release &release)
{
    if (!client.holds)
        return -EPERM;
    Entity &entity = *client.entity;
    charge(entity, release.gpu_ns, release.submissions);
    drop_turn(client, release.handover_ns);
    update(entity);
    if (!may_act_on(client))
        move(client, *client.self);
    return 0;
}

void Device::ack(Client &client, const struct ptsched_ack &ack)
{
    client.page.acknowledge(ack.events);
    /* What other clients of the entity have in flight, this one does not know. */
    if (!ack.drain_ns || !client.holds || client.entity->holds != 1)
        return;
    ptsp_drain(&policy_, client.entity, ack.drain_ns, now());
    update(*client.entity);
}

} // namespace ptsched
