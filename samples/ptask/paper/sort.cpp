// SPDX-License-Identifier: MIT
/* A bitonic sort of a matrix of integers: comparisons over more than a row are made on the transposed matrix. */
#include "samples/ptask/paper/parameters.h"
#include "samples/ptask/paper/programs.hpp"

#include <algorithm>

namespace ptsched::paper {

Workload bitonic_sort(unsigned rows)
{
    constexpr unsigned row = PAPER_ROW;
    const unsigned count = rows * row;
    const Geometry sorting{{rows, 1, 1}, {row, 1, 1}};
    const Content content = integers(count, 3);
    Workload workload;

    if (!rows || (rows & (rows - 1)) || rows > row)
        throw Error("a bitonic sort of " + std::to_string(rows) + " rows: a power of two up to " + std::to_string(row) +
                    " is needed");
    auto transposed = [&](ValueId value, unsigned width, unsigned height) {
        Geometry tiles{{(width + 15) / 16, (height + 15) / 16, 1}, {PAPER_THREADS, 1, 1}};
        return workload.step("transpose", tiles, {value}, count, constant_of(Plane{width, height}));
    };
    auto sorted = [&](ValueId value, unsigned level, unsigned mask) {
        return workload.step("sort_level", sorting, {value}, count, constant_of(Level{level, mask}));
    };
    ValueId value = workload.step("sort_rows", sorting, {workload.input(content)}, count);
    for (unsigned level = 2 * row; level <= count; level *= 2) {
        value = transposed(value, row, rows);
        value = sorted(value, level / row, (level & ~count) / row);
        value = transposed(value, rows, row);
        value = sorted(value, row, level);
    }
    workload.name = "sort/" + std::to_string(row) + "x" + std::to_string(rows);
    workload.results = {value};
    workload.expected = [content](unsigned) {
        Content ordered = content;
        std::sort(ordered.begin(), ordered.end());
        return std::vector<Content>{ordered};
    };
    return workload;
}

} // namespace ptsched::paper
