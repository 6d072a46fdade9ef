/* SPDX-License-Identifier: MIT */
/* Processes that are to have their turns together, since they wait for each other (kmod/policy/gang.h). */
#ifndef PTSCHEDD_RANK_HPP
#define PTSCHEDD_RANK_HPP

#include "kmod/policy/gang.h"

#include <string>

namespace ptsched {

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

} // namespace ptsched

#endif
