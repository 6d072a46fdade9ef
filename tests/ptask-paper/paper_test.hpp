/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PAPER_TEST_HPP
#define PTSCHED_PAPER_TEST_HPP

#include "tests/vgpu/daemon.h"
#include "tests/vgpu/tap.h"

namespace test {

/* Beside the programs that use them. */
inline std::string sample(const std::string &name)
{
    return folder() + "/../samples/" + name;
}

} // namespace test

#endif /* PTSCHED_PAPER_TEST_HPP */
