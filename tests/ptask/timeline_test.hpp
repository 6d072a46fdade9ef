/* SPDX-License-Identifier: MIT */
#ifndef PTASK_TIMELINE_TEST_HPP
#define PTASK_TIMELINE_TEST_HPP

#include "tests/ptask/ptask_test.hpp"
#include "tests/trace_rows.hpp"

namespace test {

/* What a graph with a timeline did. */
inline Rows rows_of(const Graph &graph)
{
    return rows_in(graph.timeline());
}

} // namespace test

#endif /* PTASK_TIMELINE_TEST_HPP */
