/* SPDX-License-Identifier: MIT */
/* Parts of a case that are tried in a process of their own, which may be another user's. */
#ifndef PTSCHED_TEST_FORKED_HPP
#define PTSCHED_TEST_FORKED_HPP

#include "tests/conformance/tap.hpp"

#include <cstdio>
#include <exception>
#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

namespace forked {

/* What it finds, as its exit status. */
template <typename Body> int result_of(Body body)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        int status = 1;
        try {
            status = body();
        } catch (const std::exception &error) {
            printf("# %s\n", error.what());
            fflush(stdout);
        }
        _exit(status);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* @body checks something as that user, who is in no groups but its own and @group. */
template <typename Body> void check_as(uid_t uid, gid_t group, Body body)
{
    CHECK_EQ(0, result_of([&] {
                 if (setgroups(1, &group) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0)
                     throw tap::Failure("no other user can be had");
                 body();
                 return 0;
             }));
}

} // namespace forked

#endif
