/* SPDX-License-Identifier: MIT */
/* Who may see which process, and by which number: what /proc shows under hidepid, for everybody. */
#ifndef PTSCHEDD_VIEWER_HPP
#define PTSCHEDD_VIEWER_HPP

#include "tools/ptschedd/process.hpp"

#include <sys/stat.h>
#include <vector>

namespace ptsched {

class Viewer {
public:
    /* Whoever opened the other end of @socket: a privileged program may be made to write to it. */
    Viewer(int socket, ProcessRef process);

    /* Of root, or the broker's own user. */
    bool is_privileged() const { return privileged_; }
    /* The user who opened the socket. */
    uid_t opener() const { return uid_; }
    /* Whether it may see all processes of that user. */
    bool sees_user(std::optional<uid_t> uid) const { return privileged_ || uid == uid_; }
    /* Whether the user who opened the socket may make and remove files in this directory, by its mode. */
    bool may_write(const struct stat &directory) const;
    /* The number of @target in the viewer's pid namespace; 0: it may not be seen. */
    pid_t pid_of(const Process &target) const;

private:
    std::vector<gid_t> groups() const;

    int socket_;
    ProcessRef process_;
    uid_t uid_;
    bool privileged_;
};

} // namespace ptsched

#endif
