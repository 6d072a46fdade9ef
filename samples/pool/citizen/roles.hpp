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
 * What the first of @words says; returns at the end of its input.
 *
 * "loop MODULE" launches a kernel and waits, again and again. To "steps US" it answers how many steps take so long, to
 * "run STEPS SECONDS" how many such kernels there were in a second.
 *
 * "pool MODULE BLOCKS THREADS STEPS ATTACH" is a pool, which attaches if the last is "attach". After "work" it is never
 * idle, and is on the device; it answers "again" when it has come there since it was last asked, with the nanoseconds
 * that it took to leave when it was last called back, and "rest", once all tasks have ended and it has left, with the
 * numbers of tasks, launches and parks so far.
 *
 * "rival ADDRESS" is another client of the scheduler. To "take" it answers for how many nanoseconds it waited for the
 * turn, which it has given back.
 */
void play_role(const std::vector<std::string> &words);

} // namespace ptsched::pool::bench

#endif /* SAMPLES_POOL_CITIZEN_ROLES_HPP */
