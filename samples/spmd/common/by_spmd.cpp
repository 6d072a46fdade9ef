// SPDX-License-Identifier: MIT
#include "samples/spmd/common/by_spmd.hpp"

#include <ptsched/spmd/mpi.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace ptsched::samples {

namespace {

const Mode on_gpu{"gpu", spmd::Dynamic{}, false, true}, on_cpu{"cpu", spmd::Dynamic{}, true, false},
    by_model{"static", spmd::Static{}}, dynamic{"dynamic", spmd::Dynamic{}};

constexpr double much_longer = 1.2, as_fast = 1.02;

/* Ranks of which is said how many threads they have, have a GPU each, too. */
spmd::Cluster make_cluster(const Ranks &ranks, const Settings &settings)
{
    spmd::Options options;
    options.use_gpus = !settings.cpu;
    options.threads = ranks.said_threads();
    if (ranks.said_threads() > 0 && options.use_gpus && !device::gpus().empty())
        options.gpus = {static_cast<unsigned>(static_cast<std::size_t>(ranks.rank_here()) % device::gpus().size())};
    return ranks.count() > 1 ? spmd::mpi::cluster(options) : spmd::Cluster(options);
}

/* "NAME-device.fatbin" of "NAME.fatbin", and the same of others. */
std::string device_module(const std::string &module)
{
    const std::size_t dot = module.rfind('.');
    return dot == std::string::npos ? module + "-device" : module.substr(0, dot) + "-device" + module.substr(dot);
}

std::vector<Mode> measured_modes(const Settings &settings)
{
    if (settings.cpu)
        return {on_cpu};
    return {on_gpu, on_cpu, by_model, dynamic};
}

NamedWay named(const MakeSpmd &make, const Mode &mode)
{
    return {mode.name, [make, mode] { return make(mode); }};
}

/* Of runs with that share of the CPU's, of which short ones differ by more than what is looked for. */
double median_with_share(const Settings &settings, const MakeSpmd &make, double p)
{
    const std::size_t least = settings.quick ? 1 : 3;
    const double enough_ms = settings.quick ? 0 : 300;
    const auto way = make({"sweep", spmd::Static{p}});
    milliseconds_of(*way); /* what is made at the first use, is */
    std::vector<double> found;
    for (double all = 0; found.size() < least || all < enough_ms; all += found.back())
        found.push_back(milliseconds_of(*way));
    return percentile(found, 0.5);
}

/*
 * The CPU's share with which the job is fastest: from @middle in steps of a point, to each side as long as it does not
 * take much longer than the best. Where memory is the limit, many are as fast: it is the middle of those that are about
 * so.
 */
double best_share(const Settings &settings, const MakeSpmd &make, double middle)
{
    std::map<double, double> found{{middle, median_with_share(settings, make, middle)}};
    double least = found.begin()->second;
    for (const int side : {-1, 1})
        for (int i = 1;; i++) {
            const double p = std::clamp(middle + side * i / 100.0, 0.0, 1.0);
            const double median = found[p] = median_with_share(settings, make, p);
            least = std::min(least, median);
            if (median > much_longer * least || !(p > 0 && p < 1))
                break;
        }
    for (const auto &[p, median] : found)
        if (settings.report)
            std::printf("CPU's part %.4f: %.3f ms\n", p, median);
    std::erase_if(found, [&](const auto &one) { return one.second > as_fast * least; });
    return (found.begin()->first + found.rbegin()->first) / 2;
}

/* By their names. */
Times time_named(const Settings &settings, Report &report, const std::string &name, const std::vector<NamedWay> &ways)
{
    Times times;
    const std::vector<std::vector<double>> found = time_ways(settings, ways);
    for (std::size_t i = 0; i < ways.size(); i++) {
        report.record(name + "/" + ways[i].name + "_ms", spread_of(found[i]), "ms");
        times[ways[i].name] = found[i];
    }
    return times;
}

/* Of both devices alone, if nothing is lost. */
std::vector<double> ideal_times(const Times &times)
{
    std::vector<double> ideal;
    for (std::size_t i = 0; i < times.at("gpu").size(); i++)
        ideal.push_back(1 / (1 / times.at("gpu")[i] + 1 / times.at("cpu")[i]));
    return ideal;
}

/* Of some more runs with a GPU: an iteration's is that of the last one. */
void print_reports(const Settings &settings, const MakeSpmd &make)
{
    constexpr unsigned runs = 3;
    for (const Mode &mode : measured_modes(settings)) {
        if (!mode.on_gpu)
            continue;
        const auto way = make(mode);
        for (unsigned i = 0; i < runs; i++) {
            const double took = milliseconds_of(*way);
            std::printf("%s: %.3f ms: %s\n", mode.name.c_str(), took, way->last().json().c_str());
        }
    }
}

void record_split(Report &report, const std::string &name, const Times &times)
{
    const std::vector<double> ideal = ideal_times(times);
    for (const Mode &mode : {by_model, dynamic})
        report.record("split-efficiency/" + name + "/" + mode.name, spread_of(ratios(ideal, times.at(mode.name))), "",
                      "best possible time / its own");
    std::vector<double> alone;
    for (std::size_t i = 0; i < ideal.size(); i++)
        alone.push_back(std::min(times.at("gpu")[i], times.at("cpu")[i]));
    report.record("gain/" + name, spread_of(ratios(alone, ideal)), "", "possible by both, over the faster one alone");
}

void record_share(const Settings &settings, Report &report, const std::string &name, const Times &times,
                  const MakeSpmd &make)
{
    const auto way = make(by_model);
    way->run();
    std::vector<double> rates;
    for (const double ms : times.at("dynamic"))
        rates.push_back(static_cast<double>(way->last().input_bytes) / ms / 1e6);
    report.record("read-rate/" + name, spread_of(rates), "GB/s", "of input, once for each run, by both");
    const double middle = spread_of(ideal_times(times)).median / spread_of(times.at("cpu")).median;
    const double best = best_share(settings, make, middle), said = way->last().model_p.value_or(way->last().p);
    report.record("p-model/" + name, 100 * said, "%", "the CPU's part, as the model says");
    report.record("p-best/" + name, 100 * best, "%",
                  "the CPU's part, of those that were tried: the middle of what is as fast as the best");
    report.record("p-error/" + name, 100 * std::abs(said - best), "points");
}

} // namespace

SpmdSettings::SpmdSettings(const Ranks &ranks, const Settings &settings)
    : device_(device_module(settings.module)), cluster_(make_cluster(ranks, settings))
{
}

std::vector<double> ratios(const std::vector<double> &of, const std::vector<double> &to)
{
    std::vector<double> all;
    for (std::size_t i = 0; i < of.size(); i++)
        all.push_back(of[i] / to[i]);
    return all;
}

Mode common_mode(const Settings &settings)
{
    return settings.cpu ? on_cpu : dynamic;
}

NamedWay alone_way(const Settings &settings, const MakeSpmd &make)
{
    return named(make, settings.cpu ? on_cpu : on_gpu);
}

std::vector<NamedWay> spmd_ways(const Settings &settings, const MakeSpmd &make)
{
    if (settings.cpu)
        return {named(make, on_cpu)};
    return {named(make, on_gpu), named(make, on_cpu), named(make, by_model), named(make, dynamic),
            named(make, {"half", spmd::Static{0.5}})};
}

std::vector<NamedWay> ways_by_hand(const Settings &settings, std::vector<NamedWay> ways)
{
    if (settings.cpu)
        std::erase_if(ways, [](const NamedWay &way) { return way.name == "cuda"; });
    return ways;
}

Times measure_spmd(const Settings &settings, Report &report, const std::string &name, std::vector<NamedWay> by_hand,
                   const MakeSpmd &make)
{
    const std::string first = by_hand[0].name;
    for (const Mode &mode : measured_modes(settings))
        by_hand.push_back(named(make, mode));
    const Times times = time_named(settings, report, name, by_hand);
    if (settings.report)
        print_reports(settings, make);
    report.record("over-hand-cpu/" + name, spread_of(ratios(times.at("openmp"), times.at("cpu"))), "",
                  "time of openmp / its own");
    if (settings.cpu)
        return times;
    report.record("over-hand/" + name, spread_of(ratios(times.at(first), times.at("dynamic"))), "",
                  "time of " + first + " / its own");
    record_split(report, name, times);
    record_share(settings, report, name, times, make);
    return times;
}

} // namespace ptsched::samples
