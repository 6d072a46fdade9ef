// SPDX-License-Identifier: MIT
#include "samples/spmd/common/by_spmd.hpp"

#include <ptsched/spmd/mpi.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace ptsched::samples {

namespace {

const Mode on_gpu{"gpu", spmd::Dynamic{}, false, true}, on_cpu{"cpu", spmd::Dynamic{}, true, false},
    by_model{"static", spmd::Static{}}, dynamic{"dynamic", spmd::Dynamic{}};

/* Shares are tried in steps of a point, so many to each side. */
constexpr int points_around = 8;

spmd::Cluster make_cluster(const Ranks &ranks)
{
    return ranks.count() > 1 ? spmd::mpi::cluster() : spmd::Cluster();
}

NamedWay named(const MakeSpmd &make, const Mode &mode)
{
    return {mode.name, [&make, mode] { return make(mode); }};
}

double milliseconds_of(Way &way)
{
    const auto begin = std::chrono::steady_clock::now();
    way.run();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

/* The CPU's share with which the job is fastest, of those around @middle. */
double best_share(const MakeSpmd &make, double middle, unsigned times)
{
    double best = middle, least = std::numeric_limits<double>::infinity();
    for (int i = -points_around; i <= points_around; i++) {
        const double p = middle + i / 100.0;
        if (p < 0 || p > 1)
            continue;
        const auto way = make({"sweep", spmd::Static{p}});
        std::vector<double> found;
        for (unsigned round = 0; round <= times; round++)
            found.push_back(milliseconds_of(*way));
        found.erase(found.begin()); /* what is made at the first use, is */
        if (const double median = percentile(found, 0.5); median < least) {
            least = median;
            best = p;
        }
    }
    return best;
}

std::vector<double> ratios(const std::vector<double> &of, const std::vector<double> &to)
{
    std::vector<double> all;
    for (std::size_t i = 0; i < of.size(); i++)
        all.push_back(of[i] / to[i]);
    return all;
}

} // namespace

SpmdSettings::SpmdSettings(const Ranks &ranks, std::string device)
    : device_(std::move(device)), cluster_(make_cluster(ranks))
{
}

std::string device_module(const std::string &module)
{
    const std::size_t dot = module.rfind('.');
    return dot == std::string::npos ? module + "-device" : module.substr(0, dot) + "-device" + module.substr(dot);
}

std::vector<NamedWay> spmd_ways(const MakeSpmd &make)
{
    return {named(make, on_gpu), named(make, on_cpu), named(make, by_model), named(make, dynamic),
            named(make, {"half", spmd::Static{0.5}})};
}

void measure_spmd(const Settings &settings, Report &report, const std::string &name, std::vector<NamedWay> by_hand,
                  const MakeSpmd &make)
{
    const std::size_t hands = by_hand.size();
    for (const Mode &mode : {on_gpu, on_cpu, by_model, dynamic})
        by_hand.push_back(named(make, mode));
    const std::vector<std::vector<double>> found = time_ways(settings, by_hand);
    for (std::size_t i = 0; i < by_hand.size(); i++)
        report.record(name + "/" + by_hand[i].name + "_ms", spread_of(found[i]), "ms");
    const auto &gpu = found[hands], &cpu = found[hands + 1], &fixed = found[hands + 2], &polled = found[hands + 3];
    report.record("over-hand/" + name, spread_of(ratios(found[0], polled)), "",
                  "time of " + by_hand[0].name + " / its own");
    std::vector<double> ideal;
    for (std::size_t i = 0; i < gpu.size(); i++)
        ideal.push_back(1 / (1 / gpu[i] + 1 / cpu[i]));
    report.record("split-efficiency/" + name + "/static", spread_of(ratios(ideal, fixed)), "",
                  "best possible time / its own");
    report.record("split-efficiency/" + name + "/dynamic", spread_of(ratios(ideal, polled)), "",
                  "best possible time / its own");
    std::vector<double> alone;
    for (std::size_t i = 0; i < gpu.size(); i++)
        alone.push_back(std::min(gpu[i], cpu[i]));
    report.record("gain/" + name, spread_of(ratios(alone, ideal)), "", "possible by both, over the faster one alone");

    const auto way = make(by_model);
    way->run();
    const double middle = spread_of(ideal).median / spread_of(cpu).median;
    const double best = best_share(make, middle, settings.quick ? 1 : 3),
                 said = way->last().model_p.value_or(way->last().p);
    report.record("p-model/" + name, 100 * said, "%", "the CPU's part, as the model says");
    report.record("p-best/" + name, 100 * best, "%", "the CPU's part, of those that were tried");
    report.record("p-error/" + name, 100 * std::abs(said - best), "points");
}

} // namespace ptsched::samples
