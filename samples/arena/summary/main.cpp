// SPDX-License-Identifier: MIT
/* What the programs' records in a file come to: beside what is done by hand, managed memory, and what is shared. */
#include "samples/arena/summary/figures.hpp"
#include "samples/common/program.hpp"

#include <algorithm>

using namespace ptsched;

namespace {

/* What one variant's numbers are for another's, of those workloads that have both. */
samples::Values ratios(const samples::Values &values, const std::string &of, const std::string &over)
{
    samples::Values found;
    for (const char *workload : arena_summary::workloads)
        if (const std::optional<double> ratio = arena_summary::ratio_of(values, workload, of, over))
            found[workload] = *ratio;
    return found;
}

std::vector<double> all_of(const samples::Values &values)
{
    std::vector<double> all;
    for (const auto &[name, value] : values)
        all.push_back(value);
    return all;
}

void record_mean(samples::Report &report, const std::string &name, const samples::Values &found)
{
    if (!found.empty())
        report.record(name, samples::geometric_mean(all_of(found)), "",
                      "geometric mean of " + std::to_string(found.size()));
}

void record_largest(samples::Report &report, const std::string &name, const samples::Values &found)
{
    const auto largest = std::max_element(found.begin(), found.end(),
                                          [](const auto &one, const auto &other) { return one.second < other.second; });
    if (largest != found.end())
        report.record(name, largest->second, "", largest->first + ", of " + std::to_string(found.size()));
}

void sum_up(const samples::Settings &settings, samples::Report &report)
{
    const samples::Values values = samples::read_values(settings.json);
    record_mean(report, "ownership-over-hand", ratios(values, "owned_ms", "hand_ms"));
    record_largest(report, "worst-ownership-over-hand", ratios(values, "owned_ms", "hand_ms"));
    record_mean(report, "over-managed", ratios(values, "managed_ms", "owned_ms"));
    record_largest(report, "worst-shared-over-owned", ratios(values, "shared_ms", "owned_ms"));
    record_mean(report, "managed-over-hand", ratios(values, "managed_ms", "hand_ms"));
    record_mean(report, "hand-over-ideal", ratios(values, "hand_ms", "ideal_ms"));
    record_mean(report, "ownership-over-ideal", ratios(values, "owned_ms", "ideal_ms"));
    record_mean(report, "lines-ownership-over-hand", ratios(values, "owned/lines", "hand/lines"));
    arena_summary::print_figures(values);
}

} // namespace

int main(int argc, char **argv)
{
    return samples::run_program(argc, argv, "arena-summary",
                                "Adds to a file with the programs' records what they come to: means, and the worst; "
                                "prints the paper's figures.",
                                [](const samples::Settings &settings, samples::Report &report) {
                                    if (!settings.check && !settings.json.empty())
                                        sum_up(settings, report);
                                });
}
