// SPDX-License-Identifier: MIT
#include "tools/ptsim/bound.hpp"

#include "kmod/policy/policy.h"

#include <algorithm>
#include <map>

namespace ptsim {
namespace {

/*
 * As in kmod/policy: the slice in force is so many hand-overs at least, and budgets are looked at in parts of a slice.
 */
constexpr Ns kHandoversPerSlice = 30;
constexpr Ns kLooksPerSlice = 16;

double longest_turn_ns(const Machine &machine, Ns kernel_ns)
{
    const Ns slice = std::max(machine.slice_ns, kHandoversPerSlice * machine.handover_ns);
    /* What has not drained after a slice is taken off. */
    const Ns drain = machine.preemptible ? std::min(kernel_ns, slice) : kernel_ns;
    return static_cast<double>(slice + slice / kLooksPerSlice + drain + machine.handover_ns);
}

} // namespace

std::vector<LagBound> lag_bounds(const Scenario &scenario)
{
    std::vector<LagBound> bounds;
    std::map<std::uint32_t, double, std::greater<>> debts; /* by weight */
    double longest = 0;
    for (const Program &program : scenario.programs) {
        const double turn = longest_turn_ns(scenario.machine, program.kernel_ns);
        bounds.push_back({turn, 0});
        debts[ptsp_nice_to_weight(program.nice)] += turn;
        longest = std::max(longest, turn);
    }
    double sum = 0;
    for (auto &[weight, debt] : debts)
        debt = sum += debt;
    for (std::size_t i = 0; i < bounds.size(); i++)
        bounds[i].behind_ns = longest + debts[ptsp_nice_to_weight(scenario.programs[i].nice)] - bounds[i].ahead_ns;
    return bounds;
}

} // namespace ptsim
