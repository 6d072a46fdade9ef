/* SPDX-License-Identifier: MIT */
/* What is checked in a process that has no other threads: a forked child. */
#ifndef PTASK_TEST_CHILD_HPP
#define PTASK_TEST_CHILD_HPP

#include "tests/sanitizers.h"
#include "tests/vgpu/tap.h"

#include <sys/wait.h>
#include <unistd.h>

namespace test {

/* Why a case with such a child cannot be run. */
#ifdef PTSCHED_TEST_TSAN
constexpr char no_threads_in_children[] = "the thread sanitizer lets a forked child have no threads";
#else
constexpr char no_threads_in_children[] = "";
#endif

inline void check_in_a_child(bool (*is_so)())
{
    const pid_t child = fork();
    if (!child)
        _exit(!is_so());
    int status = -1;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
}

} // namespace test

#endif /* PTASK_TEST_CHILD_HPP */
