/* SPDX-License-Identifier: MIT */
/* Processes that are to have their turns together, since they wait for each other (kmod/policy/gang.h). */
#ifndef PTSCHEDD_GROUPS_HPP
#define PTSCHEDD_GROUPS_HPP

#include "kmod/policy/gang.h"
#include <map>
#include <memory>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace ptsched {

class Device;
struct Entity;

struct Group : ptsp_gang {
    Group();
    Group(const Group &) = delete;
    Group &operator=(const Group &) = delete;
};

/* An entity's part in a group, which it leaves with its end. */
struct Rank : ptsp_member {
    Rank(Entity &its_entity, Group &its_group, const std::string &name_of_group)
        : ptsp_member{}, entity(its_entity), group(its_group), name(name_of_group)
    {
    }
    ~Rank();
    Rank(const Rank &) = delete;
    Rank &operator=(const Rank &) = delete;

    Entity &entity;
    Group &group;
    const std::string &name;
};

class Groups {
public:
    /*
     * The entity's process is in the group of that name of its user's, and in no other; empty: in none. 0 or -ENOSPC.
     */
    int set(Entity &entity, const std::string &name);
    /* A process got the turn. Throws nothing: the policy may be at work. */
    void granted(const Entity &entity);
    /* Another group went first when a process there, the device's front().refused, got the turn. */
    void again(Device &device);
    /* Has those go first whose time it is. */
    void lead();

private:
    void forget_empty();
    void try_to_lead(Rank &rank, std::uint64_t now);

    std::map<std::pair<uid_t, std::string>, Group> groups_;
    /* Of which the devices have not been told. */
    std::vector<Group *> leading_;
};

} // namespace ptsched

#endif
