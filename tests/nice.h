/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_TESTS_NICE_H
#define PTSCHED_TESTS_NICE_H

#include <cerrno>
#include <sys/resource.h>
#include <system_error>

namespace test {

/*
 * The nice values that a test gives are those that it expects to see: the test
 * begins at 0, however nice its caller is. Needs CAP_SYS_NICE where that is nicer.
 */
inline void begin_at_nice_0()
{
    if (setpriority(PRIO_PROCESS, 0, 0) < 0)
        throw std::system_error(errno, std::generic_category(), "nice 0, from which the test counts");
}

} // namespace test

#endif /* PTSCHED_TESTS_NICE_H */
