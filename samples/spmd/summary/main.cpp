// SPDX-License-Identifier: MIT
/* What the programs' records in a file come to: the worst of each kind, and a table of all programs. */
#include "samples/common/program.hpp"
#include "samples/common/values.hpp"

#include <algorithm>
#include <cstdio>
#include <set>

using namespace ptsched;
using samples::Values;

namespace {

/* By programs, without what was summed up before. */
Values of_programs(const Values &values, const std::string &begin, const std::string &end = {})
{
    Values found = samples::values_that_end(values, "prs/" + begin + "/", end);
    std::erase_if(found, [](const auto &one) { return one.first == "worst" || one.first.find('/') != one.first.npos; });
    return found;
}

void record_worst(samples::Report &report, const std::string &name, const Values &found, const std::string &unit,
                  bool is_most)
{
    const auto [least, most] = std::minmax_element(
        found.begin(), found.end(), [](const auto &one, const auto &other) { return one.second < other.second; });
    if (found.empty())
        return;
    const auto &worst = is_most ? *most : *least;
    report.record(name, worst.second, unit, worst.first + ", of " + std::to_string(found.size()));
}

/* Of all programs that scale, by how many ranks there are. */
void record_scaling(samples::Report &report, const Values &values, const std::string &kind)
{
    std::set<std::string> counts;
    for (const auto &[name, value] : samples::values_that_end(values, "prs/" + kind + "/", ""))
        counts.insert(name.substr(0, name.find('/')));
    for (const std::string &count : counts)
        record_worst(report, kind + "/" + count, of_programs(values, kind + "/" + count), "", false);
}

struct Column {
    const char *title, *begin, *end;
};
constexpr Column columns[] = {{"over-hand", "over-hand", ""},
                              {"static", "split-efficiency", "/static"},
                              {"dynamic", "split-efficiency", "/dynamic"},
                              {"gain", "gain", ""},
                              {"p-model", "p-model", ""},
                              {"p-best", "p-best", ""},
                              {"p-error", "p-error", ""},
                              {"over-hand-cpu", "over-hand-cpu", ""}};

void print_table(const Values &values)
{
    std::set<std::string> programs;
    for (const Column &column : columns)
        for (const auto &[name, value] : of_programs(values, column.begin, column.end))
            programs.insert(name);
    std::printf("\n%-12s", "");
    for (const Column &column : columns)
        std::printf("%14s", column.title);
    for (const std::string &program : programs) {
        std::printf("\n%-12s", program.c_str());
        for (const Column &column : columns) {
            const Values found = of_programs(values, column.begin, column.end);
            const auto one = found.find(program);
            one == found.end() ? std::printf("%14s", "-") : std::printf("%14.3f", one->second);
        }
    }
    std::printf("\n");
}

void sum_up(const samples::Settings &settings, samples::Report &report)
{
    const Values values = samples::read_values(settings.json);
    const Values fixed = of_programs(values, "split-efficiency", "/static"),
                 polled = of_programs(values, "split-efficiency", "/dynamic");
    Values both;
    for (const auto &[name, value] : fixed)
        both[name + "/static"] = value;
    for (const auto &[name, value] : polled)
        both[name + "/dynamic"] = value;
    record_worst(report, "p-error/worst", of_programs(values, "p-error"), "points", true);
    record_worst(report, "split-efficiency/worst/static", fixed, "", false);
    record_worst(report, "split-efficiency/worst/dynamic", polled, "", false);
    record_worst(report, "split-efficiency/worst", both, "", false);
    record_worst(report, "over-hand/worst", of_programs(values, "over-hand"), "", false);
    record_worst(report, "over-hand-cpu/worst", of_programs(values, "over-hand-cpu"), "", false);
    record_scaling(report, values, "weak");
    record_scaling(report, values, "weak-cpu");
    print_table(values);
}

} // namespace

int main(int argc, char **argv)
{
    bool cpu = false;
    return samples::run_program(
        argc, argv, "prs-summary", "Adds to a file with the programs' records what they come to: the worst.",
        [](const samples::Settings &settings, samples::Report &report) {
            if (!settings.check && !settings.json.empty())
                sum_up(settings, report);
        },
        {{"--cpu", nullptr, "as the programs were called; it changes nothing here", {}, nullptr, &cpu}});
}
