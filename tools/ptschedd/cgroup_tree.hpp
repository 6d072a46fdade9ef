/* SPDX-License-Identifier: MIT */
/* The cgroups of a device: their shares, and who is in them. */
#ifndef PTSCHEDD_CGROUP_TREE_HPP
#define PTSCHEDD_CGROUP_TREE_HPP

#include "kmod/policy/policy.h"
#include "tools/ptschedd/cgroup.hpp"
#include "tools/ptschedd/cgroup_membership.hpp"
#include "tools/ptschedd/entity.hpp"

#include <linux/ptsched.h>
#include <map>
#include <memory>

namespace ptsched {

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
