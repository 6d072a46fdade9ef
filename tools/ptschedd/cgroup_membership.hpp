/* SPDX-License-Identifier: MIT */
/* A cgroup of a device, and who is in it. */
#ifndef PTSCHEDD_CGROUP_MEMBERSHIP_HPP
#define PTSCHEDD_CGROUP_MEMBERSHIP_HPP

#include "kmod/policy/structures.h"
#include <ptsched/base/fd.hpp>

#include <cstdint>
#include <linux/ptsched.h>
#include <memory>

namespace ptsched {

struct Cgroup {
    Cgroup *parent = nullptr; /* the root */
    std::uint32_t share = PTSCHED_SHARE_DEFAULT;
    std::uint64_t number = 0;
    std::uint64_t gpu_ns = 0; /* of all that is or was in it */
    unsigned entities = 0;    /* in it and in those below */
    unsigned children = 0;
    ptsp_group group = {};
    ptsp_user account = {}; /* of the processes that are in it and in none below */
    /* If it has a share of its own, for as long as there is such a cgroup. */
    std::shared_ptr<const UniqueFd> directory = {};
};

/* Which cgroup an entity is in; its end is that of this. */
class CgroupMembership {
public:
    CgroupMembership() = default;
    CgroupMembership(const CgroupMembership &) = delete;
    CgroupMembership &operator=(const CgroupMembership &) = delete;
    ~CgroupMembership() { change(nullptr); }

    /* Null: the root, or time is not divided among cgroups. */
    Cgroup *get() const { return cgroup_; }
    void change(Cgroup *cgroup);
    void charge(std::uint64_t gpu_ns) const;

private:
    Cgroup *cgroup_ = nullptr;
};

} // namespace ptsched

#endif
