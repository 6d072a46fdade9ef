/* SPDX-License-Identifier: MIT */
/*
 * Loops over what is on the host, by the threads of the host's pool and the caller.
 *
 *	parallel_for(n, [&](std::size_t begin, std::size_t end) {
 *		for (std::size_t i = begin; i < end; i++)
 *			y[i] += a * x[i];
 *	});
 */
#ifndef PTSCHED_DEVICE_PARALLEL_HPP
#define PTSCHED_DEVICE_PARALLEL_HPP

#include <cstddef>
#include <functional>

#pragma GCC visibility push(default)

namespace ptsched::device {

/* Calls from @begin on and before @end. */
using RangeFunction = std::function<void(std::size_t begin, std::size_t end)>;

enum class Chunks {
    equal,   /* one for each processor, always the same of as many, and done on the same NUMA node */
    dynamic, /* of ParallelFor::grain, for whoever has the time */
};

struct ParallelFor {
    Chunks chunks = Chunks::equal;
    /* No chunk is smaller, but the last; 0: a few chunks for each processor where they are dynamic. */
    std::size_t grain = 0;
};

/*
 * Calls @body for all of 0 to @count, each once, and blocks until that is done. Throws what it throws, the first of
 * several; then what has not begun is not done. May be called by any thread, @body and functions of the host included:
 * the caller does what nobody else has the time for. @body may be called by several threads at once.
 */
void parallel_for(std::size_t count, const RangeFunction &body, const ParallelFor &how = {});

/*
 * Fills memory with zeroes, for the first time: thus it is on the nodes where a parallel_for() with equal chunks over
 * what is in it works. Without an effect but zeroes on a machine of one node, and on memory that was written before.
 */
void first_touch(void *memory, std::size_t bytes);

/* That the process may use: of the host's processors, and the NUMA nodes that have some of these. At least 1. */
unsigned host_processors();
unsigned host_nodes();

} // namespace ptsched::device

#pragma GCC visibility pop

#endif /* PTSCHED_DEVICE_PARALLEL_HPP */
