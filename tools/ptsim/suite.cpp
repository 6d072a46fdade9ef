// SPDX-License-Identifier: MIT
#include "tools/ptsim/suite.hpp"

#include <algorithm>

namespace ptsim {
namespace {

constexpr Ns kLooks = 500;

} // namespace

Result simulate(const Scenario &scenario, const SchedulerKind &kind, std::uint64_t seed,
                const std::function<void(Ns)> &progress)
{
    const std::unique_ptr<Scheduler> scheduler = kind.make(scenario.machine, seed);
    Engine engine(scenario.machine, *scheduler, scenario.programs);
    if (!scenario.watched.empty())
        engine.watch(scenario.watched, scenario.duration / kLooks);
    if (progress)
        engine.on_progress(progress);
    engine.run(scenario.duration);
    return {measure(scenario, engine, kind), engine.lags()};
}

std::vector<Record> overall(const std::vector<Record> &records)
{
    double over_bound = 0, least_jain = 1;
    bool any_bound = false, any_jain = false;
    for (const Record &record : records) {
        const std::size_t first = record.name.find('/'), last = record.name.rfind('/');
        const SchedulerKind *kind = find_scheduler(record.name.substr(first + 1, last - first - 1));
        if (!kind || !kind->ours)
            continue;
        if (record.name.ends_with("/lag-over-bound")) {
            over_bound = std::max(over_bound, record.value);
            any_bound = true;
        }
        if (record.name.starts_with("equal-") && record.name.ends_with("/jain")) {
            least_jain = std::min(least_jain, record.value);
            any_jain = true;
        }
    }
    std::vector<Record> found;
    if (any_bound)
        found.push_back({"lag/worst-over-bound", over_bound, "ratio", "the bound of the project's policy"});
    if (any_jain)
        found.push_back({"jain/min", least_jain, "ratio", "equal GPU time"});
    return found;
}

} // namespace ptsim
