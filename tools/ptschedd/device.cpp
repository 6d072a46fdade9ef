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

} // namespace ptsched
