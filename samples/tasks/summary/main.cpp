// SPDX-License-Identifier: MIT
/* What the programs' records in a file come to, beside what is done by hand. */
#include "samples/common/program.hpp"
#include "samples/common/values.hpp"

#include <algorithm>

using namespace ptsched;

namespace {

void sum_up(const samples::Settings &settings, samples::Report &report)
{
    const samples::Values all_values = samples::read_values(settings.json);
    const auto of_way = [&](const std::string &way) {
        return samples::values_that_end(all_values, "tasks/", "/" + way);
    };
    const samples::Values by_copies = of_way("explicit"), by_prefetch = of_way("prefetch"), on_two = of_way("gpus2");
    const auto by_value = [](const auto &one, const auto &other) { return one.second < other.second; };
    if (!by_copies.empty()) {
        const auto worst = std::min_element(by_copies.begin(), by_copies.end(), by_value);
        std::vector<double> all;
        for (const auto &[name, value] : by_copies)
            all.push_back(value);
        report.record("worst-hand", worst->second, "", worst->first + "/explicit, of " + std::to_string(all.size()));
        report.record("geomean-hand", samples::geometric_mean(all), "", "of " + std::to_string(all.size()));
    }
    std::vector<double> ratios;
    for (const auto &[name, value] : by_prefetch)
        if (const auto other = by_copies.find(name); other != by_copies.end())
            ratios.push_back(value / other->second);
    if (!ratios.empty())
        report.record("prefetch-over-explicit", samples::geometric_mean(ratios), "",
                      "geometric mean of " + std::to_string(ratios.size()));
    if (!on_two.empty()) {
        const auto lower = std::min_element(on_two.begin(), on_two.end(), by_value);
        report.record("gpus2", lower->second, "", lower->first + "/gpus2, of " + std::to_string(on_two.size()));
    }
}

} // namespace

int main(int argc, char **argv)
{
    return samples::run_program(
        argc, argv, "tasks-summary",
        "Adds to a file with the programs' records what they come to: the worst beside by hand, "
        "and means.",
        [](const samples::Settings &settings, samples::Report &report) {
            if (!settings.check && !settings.json.empty())
                sum_up(settings, report);
        });
}
