/* SPDX-License-Identifier: MIT */
#ifndef PTASK_TIMELINE_TEST_HPP
#define PTASK_TIMELINE_TEST_HPP

#include "tests/ptask/ptask_test.hpp"

#include <map>
#include <nlohmann/json.hpp>

namespace test {

/* Events by the names of their group and row. */
using Rows = std::map<std::pair<std::string, std::string>, std::vector<nlohmann::json>>;
/* What a graph with a timeline did. */
Rows rows_of(const Graph &graph);

} // namespace test

#endif /* PTASK_TIMELINE_TEST_HPP */
