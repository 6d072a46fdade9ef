/* SPDX-License-Identifier: MIT */
/* What "ptsched doctor" looks at: the machine in system.cpp, the rest in doctor.cpp. */
#ifndef PTSCHED_TOOL_CHECKS_HPP
#define PTSCHED_TOOL_CHECKS_HPP

#include "tools/ptsched/scheduler.hpp"

#include <string>
#include <vector>

namespace ptsched {

enum class Level { Ok, Note, Problem };

struct Check {
    std::string name;
    Level level;
    std::string finding;
    std::string advice; /* what to do; empty: nothing */
};

using Checks = std::vector<Check>;

/* The module, loaded or to be loaded, and its device node. */
void check_module(Checks &checks);
/* What module, broker and libraries ask of the kernel. */
void check_kernel(Checks &checks);
void check_nice(Checks &checks);
/* Whether nice decides on the CPU what it decides on the GPU. */
void check_cpu_nice(Checks &checks);
/* GPUs on the PCI bus, the NVIDIA driver and its library; @scheduled: the scheduler has devices. */
void check_gpus(Checks &checks, bool scheduled);

/*
 * The level at which decisions can be enforced on each GPU, by trying. Makes a context on each; blocks until it has had
 * a turn. @preload: the interposer's path.
 */
void check_levels(Checks &checks, const Choice &choice, const std::string &preload);

} // namespace ptsched

#endif /* PTSCHED_TOOL_CHECKS_HPP */
