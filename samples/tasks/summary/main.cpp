// SPDX-License-Identifier: MIT
/* What the programs' records in a file come to, beside what is done by hand. */
#include "samples/common/program.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

using namespace ptsched;

namespace {

using Values = std::map<std::string, double>; /* by names */

Values read_values(const std::string &path)
{
    std::ifstream file(path);
    const auto records = nlohmann::json::parse(file, nullptr, false);
    if (!records.is_array())
        throw Error(path + " has no array of records: the programs make one, with --json");
    Values values;
    for (const auto &record : records)
        values[record.at("name").get<std::string>()] = record.at("value").get<double>();
    return values;
}

/* Those of one way, of all programs. */
Values of_way(const Values &values, const std::string &way)
{
    Values found;
    for (const auto &[name, value] : values)
        if (name.starts_with("tasks/") && name.ends_with("/" + way))
            found[name.substr(0, name.size() - way.size())] = value;
    return found;
}

double geometric_mean(const std::vector<double> &values)
{
    double sum = 0;
    for (const double value : values)
        sum += std::log(value);
    return std::exp(sum / static_cast<double>(values.size()));
}

void sum_up(const samples::Settings &settings, samples::Report &report)
{
    const Values values = read_values(settings.json);
    const Values by_copies = of_way(values, "explicit"), by_prefetch = of_way(values, "prefetch");
    const Values on_two = of_way(values, "gpus2");
    const auto by_value = [](const auto &one, const auto &other) { return one.second < other.second; };
    if (!by_copies.empty()) {
        const auto worst = std::min_element(by_copies.begin(), by_copies.end(), by_value);
        std::vector<double> all;
        for (const auto &[name, value] : by_copies)
            all.push_back(value);
        report.record("worst-hand", worst->second, "", worst->first + "explicit, of " + std::to_string(all.size()));
        report.record("geomean-hand", geometric_mean(all), "", "of " + std::to_string(all.size()));
    }
    std::vector<double> ratios;
    for (const auto &[name, value] : by_prefetch)
        if (const auto other = by_copies.find(name); other != by_copies.end())
            ratios.push_back(value / other->second);
    if (!ratios.empty())
        report.record("prefetch-over-explicit", geometric_mean(ratios), "",
                      "geometric mean of " + std::to_string(ratios.size()));
    if (!on_two.empty()) {
        const auto lower = std::min_element(on_two.begin(), on_two.end(), by_value);
        report.record("gpus2", lower->second, "", lower->first + "gpus2, of " + std::to_string(on_two.size()));
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
