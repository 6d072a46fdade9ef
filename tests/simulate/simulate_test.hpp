/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_TESTS_SIMULATE_TEST_HPP
#define PTSCHED_TESTS_SIMULATE_TEST_HPP

#include "tests/vgpu/tap.h"
#include "tools/ptsim/engine.hpp"
#include "tools/ptsim/measures.hpp"
#include "tools/ptsim/suite.hpp"

namespace simulate_test {

/* A scheduler's run of a scenario, whose parts can be looked at. */
struct Run {
    Run(const ptsim::Scenario &its_scenario, const std::string &scheduler, std::uint64_t seed = 1)
        : scenario(its_scenario), impl(ptsim::find_scheduler(scheduler)->make(scenario.machine, seed)),
          engine(scenario.machine, *impl, scenario.programs)
    {
        engine.run(scenario.duration);
    }

    double over_bound() const { return ptsim::lag_over_bound(scenario, engine.outcomes()); }
    double share_error() const { return ptsim::share_error(engine.tasks(), engine.outcomes()); }
    ptsim::Ns gpu_ns(std::uint32_t id) const { return engine.outcomes()[id].gpu_ns; }

    double jain() const
    {
        std::vector<double> values;
        for (const ptsim::Outcome &outcome : engine.outcomes())
            values.push_back(static_cast<double>(outcome.gpu_ns));
        return ptsim::jain(values);
    }

    /* In slices: the furthest that any program was from the fluid schedule. */
    double worst_lag() const
    {
        double worst = 0;
        for (const ptsim::Outcome &outcome : engine.outcomes())
            worst = std::max({worst, outcome.ahead_ns, outcome.behind_ns});
        return worst / static_cast<double>(scenario.machine.slice_ns);
    }

    ptsim::Scenario scenario;
    std::unique_ptr<ptsim::Scheduler> impl;
    ptsim::Engine engine;
};

/* Programs that always have work. */
ptsim::Scenario hogs(const std::vector<int> &nices, ptsim::Ns kernel_ns, ptsim::Ns duration);

/* Of @count programs, drawn with @seed: any nice value, kernels of 0.1 to 60 ms. */
ptsim::Scenario random_hogs(std::uint64_t seed, ptsim::Ns duration);

std::vector<tap::Case> fluid_cases();
std::vector<tap::Case> policy_cases();
std::vector<tap::Case> scheduler_cases();
std::vector<tap::Case> option_cases();

} // namespace simulate_test

#endif
