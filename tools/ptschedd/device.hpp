/* SPDX-License-Identifier: MIT */
/* A device and its turn: the rules of uapi/linux/ptsched.h around the policy. */
#ifndef PTSCHEDD_DEVICE_HPP
#define PTSCHEDD_DEVICE_HPP

#include "libptsched/base/time_calls.hpp"
#include "tools/ptschedd/cgroup_tree.hpp"
#include "tools/ptschedd/entity.hpp"

#include <deque>
#include <linux/ptsched.h>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace ptsched {

/* Hears of what PTSCHED_EVENT_* tell; @entity is null for SETTINGS. Throws nothing: the policy may be at work. */
class EventSink {
public:
    virtual void event(std::uint32_t kind, const Device &device, const Entity *entity) = 0;

protected:
    ~EventSink() = default;
};

class Device {
public:
    Device(std::uint32_t id, std::string address, std::string uuid, const ptsp_params &params, EventSink &events);
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;

    std::uint32_t id() const { return id_; }
    const std::string &address() const { return address_; }
    const std::string &uuid() const { return uuid_; }
    /* By PTSCHED_NODE(); 0: whoever attaches is not asked for it. */
    std::uint64_t node() const { return node_; }
    void set_node(std::uint64_t node) { node_ = node; }
    const ptsp_device &policy() const { return policy_; }
    /* Which group goes first here. */
    ptsp_front &front() { return front_; }
    const std::map<const Process *, std::unique_ptr<Entity>> &entities() const { return entities_; }
    const std::map<uid_t, Account> &accounts() const { return accounts_; }
    const CgroupTree &cgroups() const { return cgroups_; }

    /* @parent is the process that forked the client's, if it is known. 0 or -EMFILE. */
    int attach(Client &client, std::uint32_t mechanism, const Process *parent);
    int set_mechanism(Client &client, std::uint32_t mechanism);
    /* 0 or a negative errno; -EINPROGRESS: the client's sink will be told. */
    int acquire(Client &client, const Waiter &waiter, std::uint32_t flags);
    int release(Client &client, const struct ptsched_release &release);
    int ack(Client &client, const struct ptsched_ack &ack);
    int report(Client &client, const struct ptsched_report &report);
    /* @requester null: for oneself. @giver is the requester's client by which it was named, or null. */
    int act_for(Client &client, const ProcessRef &requester, const Client *giver, const Process *parent);
    /* A call that waits is answered with -ECANCELED. */
    void cancel(Client &client, std::uint64_t call);
    /* Calls that wait are answered with -ECANCELED. */
    void detach(Client &client);
    /* Its clients have been detached. */
    void process_gone(const Process &process);

    void set_params(const ptsp_params &params);
    void fix_weight(Entity &entity, std::uint32_t weight);
    /* The user need not have processes here. */
    void set_share(uid_t uid, std::uint32_t share);
    /* Nor the cgroup, whose directory this is. */
    void set_share(const CgroupPath &path, std::uint32_t share, std::shared_ptr<const UniqueFd> directory);
    /* Of users, and some of cgroups, that matter here no more. */
    void forget_accounts();
    /* The entity goes before all others of its weight until then. */
    void lead(Entity &entity, std::uint64_t until_ns);

    /* Decides what is due; to be called at next_ns() at the latest. */
    void run();
    std::uint64_t next_ns() const;
    /* The instant of the latest decision. */
    std::uint64_t decided_ns() const { return now_; }

private:
    friend struct PolicyOps;

    std::uint64_t now();
    void decide();
    Entity &join(const ProcessRef &process, const Process *parent);
    void tell_leaving(Entity &entity);
    void leave_if_unused(Entity &entity);
    Account &account(uid_t uid);
    ptsp_user &account_of(Entity &entity) const;
    void regroup(Entity &entity);
    void update(Entity &entity);
    void set_preemptible(Entity &entity);
    void tolerate(Entity &entity, bool above);
    void move(Client &client, Entity &to);
    bool may_join_turn(const Client &client, std::int32_t tid) const;
    bool thread_holds(const Client &client, std::int32_t tid) const;
    void hold(Client &client, std::int32_t tid);
    void charge(Entity &entity, std::uint64_t gpu_ns, std::uint32_t submissions);
    void drop_turn(Client &client, std::uint64_t handover_ns);
    void granted(Entity &entity);
    void hold_all(Entity &entity);
    void admit(Entity &entity);
    void signalled(Entity &entity, std::uint32_t old);
    void settle(Client &client, std::list<Waiter>::iterator waiter, int result);
    void expire_deadlines();
    bool announces_later(Entity &entity, std::uint32_t changed);
    void announce();
    int allow_requester(const Client &client, const Process &requester) const;
    static bool acts_on(const Client &client);
    static void show(Client &client);

    std::uint32_t id_;
    std::string address_;
    std::string uuid_;
    std::uint64_t node_ = 0;
    EventSink &events_;
    ptsp_device policy_;
    ptsp_front front_{};
    std::uint64_t now_ = 0;
    std::uint64_t policy_next_ns_ = PTSP_NEVER;
    std::uint64_t last_call_ = 0; /* the number of the call that asked last */
    std::uint32_t asker_cpu_ = 0; /* 1 + the CPU of the thread that asks, while that is decided; 0: nobody does */
    CgroupTree cgroups_{policy_};
    std::map<const Process *, std::unique_ptr<Entity>> entities_; /* which are in them */
    std::map<uid_t, Account> accounts_;
    /* Of every call that waits and has one. */
    std::multiset<std::uint64_t> deadlines_;
    /* Whose clients are to be told of events later, in that order. */
    std::deque<Entity *> late_;
};

} // namespace ptsched

#endif
