// SPDX-License-Identifier: MIT
#include "tools/ptsim/options.hpp"
#include "tools/ptsim/output.hpp"
#include "tools/ptsim/suite.hpp"
#include "tools/standard_streams.hpp"

#include <cstdio>
#include <exception>
#include <iostream>

namespace ptsim {
namespace {

void list()
{
    std::puts("Scenarios:");
    for (const ScenarioKind &kind : scenario_kinds())
        std::printf("  %-18s %s\n", kind.name.c_str(), kind.title.c_str());
    std::puts("Schedulers:");
    for (const SchedulerKind &kind : scheduler_kinds())
        std::printf("  %-18s %s\n", kind.name.c_str(), kind.title.c_str());
}

std::string command_line(int argc, char **argv)
{
    std::string line = "ptsim";
    for (int i = 1; i < argc; i++)
        line += std::string(" ") + argv[i];
    return line;
}

void run(const Options &options, const std::string &command)
{
    const std::filesystem::path data = options.out / "data";
    if (!options.out.empty())
        std::filesystem::create_directories(data);
    std::vector<Record> records;
    Progress progress(options.scenarios.size() * options.schedulers.size());
    for (const ScenarioKind *kind : options.scenarios) {
        const Scenario scenario = make_scenario(*kind, options.scale);
        for (const SchedulerKind *scheduler : options.schedulers) {
            progress.begin(kind->name + " under " + scheduler->name, scenario.duration);
            Result result = simulate(scenario, *scheduler, options.scale.seed, [&](Ns now) { progress.tell(now); });
            progress.end();
            records.insert(records.end(), result.records.begin(), result.records.end());
            if (!options.out.empty() && !result.lags.empty())
                write_lags(data / ("lag-" + kind->name + "-" + scheduler->name + ".dat"), result.lags);
        }
    }
    const std::vector<Record> together = overall(records);
    records.insert(records.begin(), together.begin(), together.end());
    if (options.out.empty())
        print(records);
    else
        write_records(options.out / "simulate.json", records, command);
}

int act(const Options &options, const std::string &command)
{
    switch (options.action) {
    case Action::kHelp:
        std::fputs(kHelp, stdout);
        break;
    case Action::kVersion:
        std::puts("ptsim " PTSCHED_VERSION);
        break;
    case Action::kList:
        list();
        break;
    case Action::kSimulate:
        run(options, command);
        break;
    }
    return 0;
}

} // namespace
} // namespace ptsim

int main(int argc, char **argv)
{
    ptsched::occupy_standard_streams();
    try {
        const int status = ptsim::act(ptsim::parse_options(argc, argv), ptsim::command_line(argc, argv));
        return ptsched::close_standard_output("ptsim", status);
    } catch (const std::invalid_argument &error) {
        std::cerr << "ptsim: " << error.what() << "\n";
        return 2;
    } catch (const std::exception &error) {
        std::cerr << "ptsim: " << error.what() << "\n";
        return 1;
    }
}
