// SPDX-License-Identifier: MIT
#include "tests/simulate/simulate_test.hpp"
#include "tools/ptsim/random.hpp"

#include <algorithm>

namespace simulate_test {

using namespace ptsim;

Scenario hogs(const std::vector<int> &nices, Ns kernel_ns, Ns duration)
{
    Scenario scenario;
    for (int nice : nices)
        scenario.programs.push_back({.group = "hog",
                                     .nice = nice,
                                     .user = static_cast<std::uint32_t>(scenario.programs.size()),
                                     .kernel_ns = kernel_ns,
                                     .pattern = hog()});
    scenario.duration = duration;
    scenario.saturated = true;
    return scenario;
}

Scenario random_hogs(std::uint64_t seed, Ns duration)
{
    Random random(seed);
    std::vector<int> nices(2 + random.below(20));
    /* Few nice values, so that there are equals, too. */
    const std::uint64_t values = 1 + random.below(5);
    for (int &nice : nices)
        nice = -20 + static_cast<int>(random.below(values) * (39 / values) + seed % 8);
    Scenario scenario = hogs(nices, 0, duration);
    for (Program &program : scenario.programs)
        program.kernel_ns = static_cast<Ns>(std::clamp(random.lognormal(4.0 * kMs, 1.5), 0.1 * kMs, 60.0 * kMs));
    scenario.machine.preemptible = random.below(2);
    scenario.machine.handover_ns = random.below(1500) * kUs;
    return scenario;
}

} // namespace simulate_test

int main()
{
    std::vector<tap::Case> cases;
    for (const auto &part : {simulate_test::fluid_cases(), simulate_test::policy_cases(),
                             simulate_test::scheduler_cases(), simulate_test::option_cases()})
        cases.insert(cases.end(), part.begin(), part.end());
    return tap::run(cases);
}
