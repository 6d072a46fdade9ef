/* SPDX-License-Identifier: MIT */
/* Who is scheduled: entities (a process on a device) and their clients. */
#ifndef PTSCHEDD_ENTITY_HPP
#define PTSCHEDD_ENTITY_HPP

#include "kmod/contract/announce.h"
#include "kmod/contract/client.h"
#include "kmod/policy/policy.h"
#include "tools/ptschedd/cgroup_membership.hpp"
#include "tools/ptschedd/process.hpp"
#include "tools/ptschedd/rank.hpp"
#include "tools/ptschedd/shared_page.hpp"

#include <list>
#include <memory>
#include <string>
#include <vector>

namespace ptsched {

class Device;
struct Client;

/* A call that waits for the turn. */
struct Waiter {
    std::uint64_t id; /* the client's, who may give it to several */
    std::int32_t tid;
    std::uint32_t cpu;    /* 1 + where it runs, 0: not known */
    std::uint32_t length; /* of the structure, to be answered in the same size */
    std::uint64_t since_ns;
    std::uint64_t deadline_ns;
    bool timed = false;       /* the device watches the deadline */
    std::uint64_t number = 0; /* the device's, of no other call */
};

/* A user's account on a device. */
struct Account {
    unsigned entities = 0;
    std::uint64_t gpu_ns = 0; /* of all processes that it has or had there */
    std::uint32_t share = PTSCHED_SHARE_DEFAULT;
    ptsp_user alone = {};   /* of processes among which time is divided */
    ptsp_group group = {};  /* the others, whose time is the user's */
    ptsp_user grouped = {}; /* of these */
};

struct Entity : ptsp_entity {
    Entity(Device &its_device, ProcessRef its_process, std::uint64_t its_id)
        : ptsp_entity{}, device(its_device), process(std::move(its_process)), id(its_id)
    {
    }

    std::uint32_t current_weight() const { return fixed_weight ? fixed_weight : ptsp_nice_to_weight(process->nice()); }

    Device &device;
    ProcessRef process;
    std::uint64_t id;
    Account *account = nullptr;
    CgroupMembership cgroup{};
    std::string cgroup_name{};      /* as last looked at */
    std::uint32_t fixed_weight = 0; /* 0: from nice */
    ptsc_entity contract{};
    std::int64_t granted_budget_ns = 0;
    bool leaving = false;          /* its end has been told */
    bool wait_told = false;        /* that it waits has been told */
    std::vector<Client *> members; /* clients whose turns are this entity's */
    std::unique_ptr<Rank> rank;    /* its part in a group; null: it has none */
};

/* Takes the answers to calls that had to wait. Throws nothing: the policy may be at work. */
class AcquireSink {
public:
    virtual void acquired(const Waiter &waiter, int result) = 0;

protected:
    ~AcquireSink() = default;
};

/* An attached client. */
struct Client {
    Client(AcquireSink &its_sink, ProcessRef its_process, uid_t its_opener)
        : sink(its_sink), process(std::move(its_process)), opener(its_opener)
    {
    }

    AcquireSink &sink;
    ProcessRef process;
    uid_t opener; /* effective user of the process when it connected */
    SharedPage page;
    /* Also of those that act for its process by it. */
    const std::shared_ptr<ptsc_client> contract = std::make_shared<ptsc_client>();
    /* Of the client by which this one acts for another process; null: none. */
    std::shared_ptr<const ptsc_client> giver = {};
    Entity *self = nullptr;
    Entity *entity = nullptr; /* self, unless it acts for another */
    std::list<Waiter> waiters;
};

} // namespace ptsched

#endif
