/* SPDX-License-Identifier: MIT */
/* The scenarios that there are, by their names. */
#ifndef PTSIM_SCENARIO_KINDS_HPP
#define PTSIM_SCENARIO_KINDS_HPP

#include "tools/ptsim/scenario.hpp"

namespace ptsim {

struct ScenarioKind {
    std::string name;
    std::string title;
    Scenario (*make)(const Scale &scale);
    /* Of more programs than this it is not made. */
    std::uint32_t entities = 0;
};

const std::vector<ScenarioKind> &scenario_kinds();
Scenario make_scenario(const ScenarioKind &kind, const Scale &scale);

} // namespace ptsim

#endif
