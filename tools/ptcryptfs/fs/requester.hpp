/* SPDX-License-Identifier: MIT */
/* For whom a request is: the process that has made it. */
#ifndef PTCRYPTFS_FS_REQUESTER_HPP
#define PTCRYPTFS_FS_REQUESTER_HPP

#define FUSE_USE_VERSION 312

#include <fuse_lowlevel.h>

namespace ptcryptfs {

/*
 * From now on, what this thread does is for that process, and it has its nice value; for a request of the kernel's own,
 * as for pages of mappings, 0. Who may not raise a thread's priority again never lowers it: all is at the nice value
 * that ptcryptfs was started with then.
 */
void act_for(const fuse_ctx &who);

/* As long as it lives, what this thread makes belongs to the process's user and group, if it may do that. */
class Owner {
public:
    explicit Owner(const fuse_ctx &who);
    ~Owner();
    Owner(const Owner &) = delete;
    Owner &operator=(const Owner &) = delete;
};

} // namespace ptcryptfs

#endif /* PTCRYPTFS_FS_REQUESTER_HPP */
