/* SPDX-License-Identifier: MIT */
/* Scenarios under schedulers, one after another. */
#ifndef PTSIM_SUITE_HPP
#define PTSIM_SUITE_HPP

#include "tools/ptsim/engine.hpp"
#include "tools/ptsim/measures.hpp"
#include "tools/ptsim/scenario.hpp"

#include <functional>
#include <string>
#include <vector>

namespace ptsim {

struct Result {
    std::vector<Record> records;
    std::vector<Lag> lags; /* of the programs that the scenario watches */
};

Result simulate(const Scenario &scenario, const SchedulerKind &kind, std::uint64_t seed,
                const std::function<void(Ns)> &progress = {});

/* What the project's policy promises of all programs that always have work, and the least of Jain's indices. */
std::vector<Record> overall(const std::vector<Record> &records);

} // namespace ptsim

#endif
