// SPDX-License-Identifier: MIT
#include "tools/ptsim/measures.hpp"

#include "tools/ptsim/bound.hpp"

#include <algorithm>
#include <cmath>

namespace ptsim {

double jain(const std::vector<double> &values)
{
    double sum = 0, squares = 0;
    for (double value : values) {
        sum += value;
        squares += value * value;
    }
    return squares > 0 ? sum * sum / (static_cast<double>(values.size()) * squares) : 0;
}

double percentile(std::vector<double> values, double fraction)
{
    if (values.empty())
        return 0;
    const auto rank = static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(values.size())));
    const auto place =
        values.begin() + static_cast<std::ptrdiff_t>(std::clamp<std::size_t>(rank, 1, values.size()) - 1);
    std::ranges::nth_element(values, place);
    return *place;
}

double lag_over_bound(const Scenario &scenario, const std::vector<Outcome> &outcomes)
{
    const std::vector<LagBound> bounds = lag_bounds(scenario);
    double worst = 0;
    for (std::size_t i = 0; i < outcomes.size(); i++)
        worst =
            std::max({worst, outcomes[i].ahead_ns / bounds[i].ahead_ns, outcomes[i].behind_ns / bounds[i].behind_ns});
    return worst;
}

double share_error(const std::vector<Task> &tasks, const std::vector<Outcome> &outcomes)
{
    double weight = 0, gpu = 0, worst = 0;
    for (std::size_t i = 0; i < tasks.size(); i++) {
        weight += tasks[i].weight;
        gpu += static_cast<double>(outcomes[i].gpu_ns);
    }
    for (std::size_t i = 0; i < tasks.size(); i++) {
        const double share = static_cast<double>(outcomes[i].gpu_ns) / gpu;
        worst = std::max(worst, std::abs(share / (tasks[i].weight / weight) - 1));
    }
    return worst;
}

Ns gpu_ns_of(const std::string &group, const Scenario &scenario, const std::vector<Outcome> &outcomes)
{
    Ns sum = 0;
    for (std::size_t i = 0; i < outcomes.size(); i++)
        sum += scenario.programs[i].group == group ? outcomes[i].gpu_ns : 0;
    return sum;
}

namespace {

constexpr auto kElapsed = "elapsed time";

class Measure {
public:
    Measure(const Scenario &scenario, const Engine &engine, const SchedulerKind &scheduler)
        : scenario_(scenario), engine_(engine), outcomes_(engine.outcomes()),
          prefix_(scenario.name + "/" + scheduler.name + "/")
    {
    }

    std::vector<Record> all()
    {
        device();
        lags();
        if (scenario_.saturated)
            shares();
        if (!scenario_.share_of.empty())
            share_of_two();
        for (const std::string &group : scenario_.latency_of)
            latencies(group);
        if (scenario_.frame_period)
            missed_frames();
        if (!scenario_.newcomer.empty())
            newcomer();
        if (!scenario_.jobs.empty())
            jobs();
        return std::move(records_);
    }

private:
    void add(const std::string &name, double value, const std::string &unit, const std::string &against = "")
    {
        records_.push_back({prefix_ + name, value, unit, against});
    }

    double seconds() const { return static_cast<double>(engine_.now()) / kSecond; }

    void device()
    {
        const auto elapsed = static_cast<double>(engine_.now());
        add("handovers", static_cast<double>(engine_.handovers()) / seconds(), "1/s");
        add("preemptions", static_cast<double>(engine_.preemptions()) / seconds(), "1/s");
        add("gpu", static_cast<double>(engine_.gpu_ns()) / elapsed, "ratio", kElapsed);
        add("idle", static_cast<double>(engine_.idle_ns()) / elapsed, "ratio", kElapsed);
    }

    void lags()
    {
        const auto slice = static_cast<double>(scenario_.machine.slice_ns);
        double ahead = 0, behind = 0;
        for (const Outcome &outcome : outcomes_) {
            ahead = std::max(ahead, outcome.ahead_ns);
            behind = std::max(behind, outcome.behind_ns);
        }
        add("lag-ahead", ahead / slice, "ratio", "a slice");
        add("lag-behind", behind / slice, "ratio", "a slice");
        if (scenario_.saturated)
            add("lag-over-bound", lag_over_bound(scenario_, outcomes_), "ratio", "the bound of the project's policy");
    }

    void shares()
    {
        std::vector<double> by_weight;
        for (std::size_t i = 0; i < outcomes_.size(); i++)
            by_weight.push_back(static_cast<double>(outcomes_[i].gpu_ns) / engine_.tasks()[i].weight);
        add("jain", jain(by_weight), "ratio", "equal GPU time by weight");
        add("share-error", share_error(engine_.tasks(), outcomes_), "ratio", "the share by weight, the worst program");
    }

    void share_of_two()
    {
        double parts[2];
        for (int i = 0; i < 2; i++)
            parts[i] = static_cast<double>(gpu_ns_of(scenario_.share_of[i], scenario_, outcomes_)) /
                       weight_of(scenario_.share_of[i]);
        add("share", parts[0] / parts[1], "ratio",
            scenario_.share_of[0] + " over " + scenario_.share_of[1] + ", by weight");
    }

    double weight_of(const std::string &group) const
    {
        const auto found = std::ranges::find(scenario_.programs, group, &Program::group);
        return engine_.tasks()[found - scenario_.programs.begin()].weight;
    }

    void latencies(const std::string &group)
    {
        std::vector<double> values;
        for (std::size_t i = 0; i < outcomes_.size(); i++)
            if (scenario_.programs[i].group == group)
                values.insert(values.end(), outcomes_[i].latencies_ns.begin(), outcomes_[i].latencies_ns.end());
        add(group + "/p50_us", percentile(values, 0.5) / kUs, "us");
        add(group + "/p99_us", percentile(values, 0.99) / kUs, "us");
        add(group + "/per_second", static_cast<double>(values.size()) / seconds(), "1/s");
    }

    void missed_frames()
    {
        double in_time = 0;
        for (std::size_t i = 0; i < outcomes_.size(); i++)
            if (scenario_.programs[i].group == "frames")
                for (Ns latency : outcomes_[i].latencies_ns)
                    in_time += latency <= scenario_.frame_period;
        const double due = std::floor(static_cast<double>(engine_.now()) / static_cast<double>(scenario_.frame_period));
        add("frames/missed", std::max(0.0, 1 - in_time / due), "ratio", "of all frames");
    }

    void newcomer()
    {
        const auto found = std::ranges::find(scenario_.programs, scenario_.newcomer, &Program::group);
        const Outcome &outcome = outcomes_[found - scenario_.programs.begin()];
        const Ns until = std::min(outcome.first_served, engine_.now());
        add(scenario_.newcomer + "/first", static_cast<double>(until - outcome.arrived) / kSecond, "s");
    }

    void jobs()
    {
        std::vector<double> slowdowns;
        double unfinished = 0, sum = 0;
        for (std::size_t i = 0; i < outcomes_.size(); i++) {
            const Outcome &outcome = outcomes_[i];
            if (outcome.left == kNever) {
                unfinished++;
                continue;
            }
            slowdowns.push_back(static_cast<double>(outcome.left - outcome.arrived) /
                                static_cast<double>(outcome.work_ns));
            sum += slowdowns.back();
        }
        add("slowdown/mean", sum / std::max<double>(1, static_cast<double>(slowdowns.size())), "ratio",
            "the job alone");
        add("slowdown/p50", percentile(slowdowns, 0.5), "ratio", "the job alone");
        add("slowdown/p99", percentile(slowdowns, 0.99), "ratio", "the job alone");
        add("unfinished", unfinished / static_cast<double>(outcomes_.size()), "ratio", "of all jobs");
    }

    const Scenario &scenario_;
    const Engine &engine_;
    const std::vector<Outcome> &outcomes_;
    const std::string prefix_;
    std::vector<Record> records_;
};

} // namespace

std::vector<Record> measure(const Scenario &scenario, const Engine &engine, const SchedulerKind &scheduler)
{
    return Measure(scenario, engine, scheduler).all();
}

} // namespace ptsim
