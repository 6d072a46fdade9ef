// SPDX-License-Identifier: MIT
/* Clients of a device: which entity each belongs to. */
#include "tools/ptschedd/device.hpp"

namespace ptsched {

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

} // namespace ptsched
