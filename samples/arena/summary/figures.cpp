// SPDX-License-Identifier: MIT
#include "samples/arena/summary/figures.hpp"

#include <cstdio>
#include <vector>

namespace ptsched::arena_summary {

namespace {

/* A column, and what a workload has there. */
struct Column {
    std::string head, name;
    std::string over = {}; /* not empty: divided by that */
};

constexpr int first_width = 15, width = 14;

std::optional<double> value_of(const samples::Values &values, const std::string &workload, const std::string &name)
{
    const auto found = values.find("arena/" + workload + "/" + name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> cell(const samples::Values &values, const std::string &workload, const Column &column)
{
    return column.over.empty() ? value_of(values, workload, column.name)
                               : ratio_of(values, workload, column.name, column.over);
}

void print_table(const samples::Values &values, const std::string &title, const std::vector<Column> &columns)
{
    std::printf("\n%s\n%-*s", title.c_str(), first_width, "");
    for (const Column &column : columns)
        std::printf("%*s", width, column.head.c_str());
    std::printf("\n");
    for (const char *workload : workloads) {
        std::printf("%-*s", first_width, workload);
        for (const Column &column : columns)
            if (const std::optional<double> value = cell(values, workload, column))
                std::printf("%*.2f", width, *value);
            else
                std::printf("%*s", width, "-");
        std::printf("\n");
    }
}

std::vector<Column> breakdown_of(const std::string &variant)
{
    std::vector<Column> columns;
    for (const char *part : {"host", "copies", "kernels", "faults", "differences", "page-copies"})
        columns.push_back({part, variant + "/" + part + "_ms"});
    return columns;
}

} // namespace

std::optional<double> ratio_of(const samples::Values &values, const std::string &workload, const std::string &of,
                               const std::string &over)
{
    const std::optional<double> one = value_of(values, workload, of), other = value_of(values, workload, over);
    return one && other ? std::optional(*one / *other) : std::nullopt;
}

void print_figures(const samples::Values &values)
{
    const std::string ideal = "ideal_ms";
    print_table(values, "Figure 2: what both sides have, in accesses to memory, %", {{"both", "common-accesses"}});
    print_table(values, "Figure 3: time without owners and with, by hand = 1",
                {{"without", "shared_ms", "hand_ms"}, {"with", "owned_ms", "hand_ms"}});
    print_table(values, "Figure 4: where the time goes without owners, ms; faults of all threads together",
                breakdown_of("shared"));
    print_table(values, "Figure 5: where it goes with owners", breakdown_of("owned"));
    print_table(values, "Figure 6: time, ideal = 1",
                {{"by hand", "hand_ms", ideal}, {"with owners", "owned_ms", ideal}, {"managed", "managed_ms", ideal}});
}

} // namespace ptsched::arena_summary
