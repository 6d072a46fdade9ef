/* SPDX-License-Identifier: MIT */
/*
 * Task Bench's patterns of tasks (E. Slaughter et al., "Task Bench: A Parameterized Benchmark for Evaluating Parallel
 * Runtime Performance", SC'20): a step has a task for each point, which reads what some tasks of the step before it
 * have written.
 */
#ifndef SAMPLES_TASKBENCH_PATTERN_HPP
#define SAMPLES_TASKBENCH_PATTERN_HPP

#include <algorithm>
#include <bit>
#include <string>

namespace ptsched::taskbench {

enum class Pattern { trivial, stencil, fft, tree, all_to_all, spread };
constexpr Pattern all_patterns[] = {Pattern::trivial, Pattern::stencil,    Pattern::fft,
                                    Pattern::tree,    Pattern::all_to_all, Pattern::spread};
const char *to_string(Pattern pattern);

struct Grid {
    Pattern pattern;
    unsigned width, steps;

    /* A tree doubles from step to step until it is as wide. */
    unsigned width_at(unsigned step) const
    {
        return pattern == Pattern::tree && step < 31 ? std::min(width, 1U << step) : width;
    }
    unsigned long tasks() const
    {
        unsigned long count = 0;
        for (unsigned step = 0; step < steps; step++)
            count += width_at(step);
        return count;
    }
};

/* How far a spread task reads, and after how many steps it reads the same points again; Task Bench's own choice. */
constexpr unsigned spread_points = 3;

/* Calls @visit with each point of the step before that a task reads, in a fixed order. */
template <typename Visit> void each_read(const Grid &grid, unsigned step, unsigned point, const Visit &visit)
{
    const unsigned width = grid.width;
    if (step == 0)
        return;
    switch (grid.pattern) {
    case Pattern::trivial:
        break;
    case Pattern::stencil:
        for (unsigned i = point - std::min(point, 1U); i <= std::min(point + 1, width - 1); i++)
            visit(i);
        break;
    case Pattern::fft: {
        const unsigned levels = std::max(1U, static_cast<unsigned>(std::bit_width(width - 1)));
        const unsigned distance = 1U << (step - 1) % levels;
        if (point >= distance)
            visit(point - distance);
        visit(point);
        if (point + distance < width)
            visit(point + distance);
        break;
    }
    case Pattern::tree:
        visit(point / 2);
        break;
    case Pattern::all_to_all:
        for (unsigned i = 0; i < width; i++)
            visit(i);
        break;
    case Pattern::spread:
        for (unsigned i = 0; i < std::min(spread_points, width); i++)
            visit((point + i * width / spread_points + (i ? step % spread_points : 0)) % width);
        break;
    }
}

/* What the task with most of them reads. */
inline unsigned most_reads(const Grid &grid)
{
    return grid.pattern == Pattern::all_to_all ? grid.width : 3;
}

} // namespace ptsched::taskbench

#endif /* SAMPLES_TASKBENCH_PATTERN_HPP */
