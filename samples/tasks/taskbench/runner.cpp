// SPDX-License-Identifier: MIT
#include "samples/tasks/taskbench/runner.hpp"

namespace ptsched::taskbench {

namespace {

/* Task Bench's kernel that computes: it does not wait for memory, and takes a time for each iteration. */
double multiply_and_add(double value, unsigned long iterations)
{
    constexpr unsigned numbers = 32;
    double x[numbers];
    for (unsigned i = 0; i < numbers; i++)
        x[i] = value + i;
    for (unsigned long iteration = 0; iteration < iterations; iteration++)
        for (double &one : x)
            one = one * 0.999 + 0.5;
    double sum = 0;
    for (const double one : x)
        sum += one;
    return sum;
}

} // namespace

bool run_on_host(const Grid &grid, const Cells &cells, unsigned step, unsigned point, unsigned long iterations)
{
    bool right = true;
    each_read(grid, step, point, [&](unsigned from) {
        const Cell &read = cells.at(step - 1, from);
        right = right && read.step + 1 == step && read.point == from;
    });
    cells.at(step, point) = {step, point, multiply_and_add(point, iterations)};
    return right;
}

void Cells::clear(const Grid &grid) const
{
    for (unsigned step = 0; step < 2; step++)
        for (unsigned point = 0; point < grid.width; point++)
            at(step, point) = {~0U, ~0U, 0};
}

void Cells::check(const Grid &grid) const
{
    for (unsigned step = grid.steps - std::min(grid.steps, 2U); step < grid.steps; step++)
        for (unsigned point = 0; point < grid.width_at(step); point++)
            if (at(step, point).step != step || at(step, point).point != point)
                throw Error("task " + std::to_string(point) + " of step " + std::to_string(step) + " of " +
                            to_string(grid.pattern) + " has not written what it was to write");
}

} // namespace ptsched::taskbench
