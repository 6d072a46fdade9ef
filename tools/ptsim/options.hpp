/* SPDX-License-Identifier: MIT */
#ifndef PTSIM_OPTIONS_HPP
#define PTSIM_OPTIONS_HPP

#include "tools/ptsim/scenario_kinds.hpp"
#include "tools/ptsim/scheduler.hpp"

#include <filesystem>
#include <vector>

namespace ptsim {

enum class Action { kSimulate, kList, kHelp, kVersion };

struct Options {
    Action action = Action::kSimulate;
    std::vector<const ScenarioKind *> scenarios;
    std::vector<const SchedulerKind *> schedulers;
    Scale scale;
    std::filesystem::path out; /* empty: print */
};

extern const char kHelp[];

/* Throws std::invalid_argument, whose text says what is wrong and what would be right. */
Options parse_options(int argc, char **argv);

} // namespace ptsim

#endif
