/* SPDX-License-Identifier: MIT */
/* What a simulation has shown, as records of Documentation/results. */
#ifndef PTSIM_MEASURES_HPP
#define PTSIM_MEASURES_HPP

#include "tools/ptsim/engine.hpp"
#include "tools/ptsim/scenario.hpp"

#include <string>
#include <vector>

namespace ptsim {

struct Record {
    std::string name;
    double value;
    std::string unit;
    std::string against;
};

/* Jain's index: 1 if all are equal, 1/n if one has everything. */
double jain(const std::vector<double> &values);

/* @fraction in [0, 1], the nearest rank; 0 for none. */
double percentile(std::vector<double> values, double fraction);

/* The largest of the programs' lags over its bound. */
double lag_over_bound(const Scenario &scenario, const std::vector<Outcome> &outcomes);

/* The largest difference of a program's part of the GPU time from that of its weight, relative to that. */
double share_error(const std::vector<Task> &tasks, const std::vector<Outcome> &outcomes);

/* What the programs of a group had. */
Ns gpu_ns_of(const std::string &group, const Scenario &scenario, const std::vector<Outcome> &outcomes);

/* All that the scenario wants to know; names are SCENARIO/SCHEDULER/FIGURE. */
std::vector<Record> measure(const Scenario &scenario, const Engine &engine, const SchedulerKind &scheduler);

} // namespace ptsim

#endif
