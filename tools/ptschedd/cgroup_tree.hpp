/* SPDX-License-Identifier: MIT */
/* The cgroups of a device: their shares, and what is in them. */
#ifndef PTSCHEDD_CGROUP_TREE_HPP
#define PTSCHEDD_CGROUP_TREE_HPP

#include "tools/ptschedd/cgroup.hpp"

#include "kmod/policy/policy.h"
#include <linux/ptsched.h>
#include <map>
#include <memory>

namespace ptsched {

struct Entity;

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

class CgroupTree {
public:
    explicit CgroupTree(ptsp_device &policy) : policy_(policy) {}
    CgroupTree(const CgroupTree &) = delete;
    CgroupTree &operator=(const CgroupTree &) = delete;

    const std::map<std::uint64_t, Cgroup> &all() const { return cgroups_; }
    /* No more come because of who is not privileged: each takes a descriptor. */
    bool is_full() const { return cgroups_.size() >= kMost; }

    /*
     * The entity is in the cgroup that its process is in by now; by other groupings in none. The caller tells the
     * policy, and calls forget() then.
     */
    void follow(Entity &entity, std::uint64_t now);
    void set_share(const CgroupPath &path, std::uint32_t share, std::shared_ptr<const UniqueFd> directory,
                   std::uint64_t now);
    /* Some of those that nobody is in, that owe nothing, and of which nothing else is known. */
    void forget(std::uint64_t now);

private:
    static constexpr std::size_t kMost = 4096;

    Cgroup *get(const CgroupPath &path, std::uint64_t now);
    bool is_used(const Cgroup &cgroup, std::uint64_t now) const;

    ptsp_device &policy_;
    std::map<std::uint64_t, Cgroup> cgroups_;
    std::uint64_t looked_at_ = 0; /* by forget(), the last one */
};

} // namespace ptsched

#endif
