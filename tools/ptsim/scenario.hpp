/* SPDX-License-Identifier: MIT */
/* What is simulated: a device and its programs, and what of them is measured. */
#ifndef PTSIM_SCENARIO_HPP
#define PTSIM_SCENARIO_HPP

#include "tools/ptsim/program.hpp"
#include "tools/ptsim/scheduler.hpp"

#include <string>
#include <vector>

namespace ptsim {

struct Scenario {
    std::string name;
    std::string title;
    Machine machine;
    std::vector<Program> programs;
    Ns duration = 0;

    /* All have work all the time: the bound on lag holds, and shares are those of the weights. */
    bool saturated = false;
    /* In groups: the percentiles of their latencies. */
    std::vector<std::string> latency_of;
    /* Frames of this period that are late or left out are missed. */
    Ns frame_period = 0;
    /* A group of one that comes later: how long it waits for the device. */
    std::string newcomer;
    /* Two groups that have work all the time: the ratio of what they get over that of their weights. */
    std::vector<std::string> share_of;
    /* Jobs: how many times as long as their work they take. */
    std::string jobs;
    /* Whose lag is drawn. */
    std::vector<std::uint32_t> watched;
};

struct Scale {
    std::uint32_t entities = 1000;
    std::uint64_t seed = 1;
    Ns day = 24 * kHour; /* of a cluster's trace */
    Machine machine;
};

} // namespace ptsim

#endif
