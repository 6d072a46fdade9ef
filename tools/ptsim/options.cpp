// SPDX-License-Identifier: MIT
#include "tools/ptsim/options.hpp"

#include <algorithm>
#include <charconv>
#include <getopt.h>
#include <stdexcept>
#include <string_view>

namespace ptsim {

const char kHelp[] =
    R"(Usage: ptsim [OPTION]...
Simulates programs on one device under the policy of ptsched and under other schedulers,
and measures how far each is from the fluid schedule.

What:
  --scenario NAME     this one; repeatable (all that --entities allows)
  --scheduler NAME    under this one; repeatable (all but fifo and literal-many)
  --list              print the names of both and end

How:
  --entities N        programs at most, and jobs of a cluster's trace, 2 to 100000 (1000)
  --hours N           length of the day of a cluster's trace, 1 to 240 (24)
  --seed N            of all that is drawn (1)
  --slice-us N        how long a turn lasts while others wait, 100 to 1000000 (30000)
  --handover-us N     how long the device stands still between two programs, 0 to 10000 (100)
  --drain             kernels cannot be taken off the device in any scenario

Output:
  --out FOLDER        write simulate.json and data/ there, instead of printing
  --help, --version
)";

namespace {

enum Option {
    kScenario = 256,
    kScheduler,
    kList,
    kEntities,
    kHours,
    kSeed,
    kSlice,
    kHandover,
    kDrain,
    kOut,
    kHelpOption,
    kVersion,
};

const option kOptions[] = {
    {"scenario", required_argument, nullptr, kScenario},
    {"scheduler", required_argument, nullptr, kScheduler},
    {"list", no_argument, nullptr, kList},
    {"entities", required_argument, nullptr, kEntities},
    {"hours", required_argument, nullptr, kHours},
    {"seed", required_argument, nullptr, kSeed},
    {"slice-us", required_argument, nullptr, kSlice},
    {"handover-us", required_argument, nullptr, kHandover},
    {"drain", no_argument, nullptr, kDrain},
    {"out", required_argument, nullptr, kOut},
    {"help", no_argument, nullptr, kHelpOption},
    {"version", no_argument, nullptr, kVersion},
    {},
};

std::uint64_t number(const char *name, std::uint64_t least, std::uint64_t most)
{
    const std::string_view text = optarg;
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most)
        throw std::invalid_argument("--" + std::string(name) + " is a number from " + std::to_string(least) + " to " +
                                    std::to_string(most) + ", not '" + optarg + "'");
    return value;
}

template <typename Kind> const Kind *named(const char *what, const std::vector<Kind> &kinds)
{
    std::string names;
    for (const Kind &kind : kinds) {
        if (kind.name == optarg)
            return &kind;
        names += (names.empty() ? "" : ", ") + kind.name;
    }
    throw std::invalid_argument("there is no " + std::string(what) + " '" + optarg + "'; there are " + names);
}

void take(Options &options, int option)
{
    Scale &scale = options.scale;
    switch (option) {
    case kScenario:
        options.scenarios.push_back(named("scenario", scenario_kinds()));
        break;
    case kScheduler:
        options.schedulers.push_back(named("scheduler", scheduler_kinds()));
        break;
    case kList:
        options.action = Action::kList;
        break;
    case kEntities:
        scale.entities = static_cast<std::uint32_t>(number("entities", 2, 100000));
        break;
    case kHours:
        scale.day = number("hours", 1, 240) * kHour;
        break;
    case kSeed:
        scale.seed = number("seed", 0, ~std::uint64_t{0});
        break;
    case kSlice:
        scale.machine.slice_ns = number("slice-us", 100, 1000000) * kUs;
        break;
    case kHandover:
        scale.machine.handover_ns = number("handover-us", 0, 10000) * kUs;
        break;
    case kDrain:
        scale.machine.preemptible = false;
        break;
    case kOut:
        options.out = optarg;
        break;
    case kHelpOption:
        options.action = Action::kHelp;
        break;
    case kVersion:
        options.action = Action::kVersion;
        break;
    default:
        throw std::invalid_argument("try ptsim --help");
    }
}

} // namespace

Options parse_options(int argc, char **argv)
{
    Options options;
    int option;
    optind = 1;
    while ((option = getopt_long(argc, argv, "", kOptions, nullptr)) != -1)
        take(options, option);
    if (optind < argc)
        throw std::invalid_argument("what is '" + std::string(argv[optind]) +
                                    "'? All arguments are options; try ptsim --help");
    if (options.scenarios.empty())
        for (const ScenarioKind &kind : scenario_kinds())
            if (kind.entities <= options.scale.entities)
                options.scenarios.push_back(&kind);
    if (options.schedulers.empty())
        for (const SchedulerKind &kind : scheduler_kinds())
            if (kind.compared)
                options.schedulers.push_back(&kind);
    return options;
}

} // namespace ptsim
