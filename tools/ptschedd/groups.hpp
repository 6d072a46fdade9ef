/* SPDX-License-Identifier: MIT */
/* The groups of processes that are to have their turns together, of all devices. */
#ifndef PTSCHEDD_GROUPS_HPP
#define PTSCHEDD_GROUPS_HPP

#include "tools/ptschedd/device.hpp"
#include "tools/ptschedd/rank.hpp"

#include <map>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace ptsched {

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
