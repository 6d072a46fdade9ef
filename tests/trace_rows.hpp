/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_TESTS_TRACE_ROWS_HPP
#define PTSCHED_TESTS_TRACE_ROWS_HPP

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace test {

/* Events by the names of their group and row. */
using Rows = std::map<std::pair<std::string, std::string>, std::vector<nlohmann::json>>;

/* Of a timeline in the Trace Event Format. */
inline Rows rows_in(const std::string &timeline)
{
    std::map<int, std::string> groups;
    std::map<std::pair<int, int>, std::string> names;
    Rows rows;
    const auto events = nlohmann::json::parse(timeline);
    for (const auto &event : events.at("traceEvents")) {
        int group = event.at("pid"), row = event.at("tid");
        if (event.at("ph") == "M" && event.at("name") == "process_name")
            groups[group] = event.at("args").at("name");
        else if (event.at("ph") == "M")
            names[{group, row}] = event.at("args").at("name");
        else
            rows[{groups.at(group), names.at({group, row})}].push_back(event);
    }
    return rows;
}

} // namespace test

#endif /* PTSCHED_TESTS_TRACE_ROWS_HPP */
