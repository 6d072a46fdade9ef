/* SPDX-License-Identifier: MIT */
/* The process that a request is of, which cannot be mistaken for another one. */
#ifndef PTCRYPTFS_GPU_REQUESTER_HPP
#define PTCRYPTFS_GPU_REQUESTER_HPP

#include <ptsched/base/fd.hpp>

#include <memory>
#include <sys/types.h>

namespace ptcryptfs {

class Requester {
public:
    Requester(pid_t process, ptsched::UniqueFd pidfd) : process_(process), pidfd_(std::move(pidfd)) {}
    bool is_gone() const;
    /* Whether it is alive, and @thread is one of its own. */
    bool has(pid_t thread) const;
    bool is(const Requester &other) const { return process_ == other.process_ && !is_gone() && !other.is_gone(); }
    int pidfd() const { return pidfd_.get(); }

private:
    const pid_t process_;
    const ptsched::UniqueFd pidfd_;
};

using RequesterPtr = std::shared_ptr<const Requester>;

/* The kernel names a request by the thread that has made it. Null for 0, and for one that is gone or not to be seen. */
RequesterPtr requester_of(pid_t thread);

} // namespace ptcryptfs

#endif /* PTCRYPTFS_GPU_REQUESTER_HPP */
