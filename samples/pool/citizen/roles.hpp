/* SPDX-License-Identifier: MIT */
/* What this program is when it starts itself; it is then told what to do as Child has it. */
#ifndef SAMPLES_POOL_CITIZEN_ROLES_HPP
#define SAMPLES_POOL_CITIZEN_ROLES_HPP

#include <ptsched/pool.hpp>

#include <string>
#include <vector>

namespace ptsched::pool::bench {

/* How large pools are: on a virtual GPU, blocks share the processors of the machine. */
struct Size {
    unsigned blocks, threads; /* no blocks: as many as there are at once */
};
Options options_for(device::Device &gpu, const std::string &module, const std::string &kernel, const Size &size);
/* How many steps of a task take so many microseconds. */
unsigned steps_of_task(device::Device &gpu, const std::string &module, double microseconds);

/*
 * By the first of @words; returns at the end of its input.
 *
 *	loop MODULE		launches a kernel and waits, again and again. "steps US": how many steps take so long;
 *				"run STEPS SECONDS": how many kernels there were in a second
 *	pool MODULE BLOCKS THREADS STEPS ATTACH
 *				"work": from now on it is never idle, and is on the device; "again": it has come to the
 *device since it was last asked; "rest": how many tasks, launches and parks there were, all of which have ended rival
 *ADDRESS		"take": for how many nanoseconds it waited for the turn, which it has given back
 */
void play_role(const std::vector<std::string> &words);

} // namespace ptsched::pool::bench

#endif /* SAMPLES_POOL_CITIZEN_ROLES_HPP */
