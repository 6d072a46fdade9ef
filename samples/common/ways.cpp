// SPDX-License-Identifier: MIT
#include "samples/common/ways.hpp"

#include <chrono>
#include <cstdio>

namespace ptsched::samples {

namespace {

/* Who only wants a look does not wait for the same again: what takes so long is not longer for its first use. */
constexpr double long_ms = 1000;

/* The median of some times. */
double median_ms(Way &way, unsigned times)
{
    std::vector<double> found;
    for (unsigned i = 0; i < times; i++)
        found.push_back(milliseconds_of(way));
    return percentile(std::move(found), 0.5);
}

} // namespace

double milliseconds_of(Way &way)
{
    using Clock = std::chrono::steady_clock;
    way.restore();
    const auto begin = Clock::now();
    way.run();
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

void check_ways(const std::vector<NamedWay> &ways)
{
    for (const NamedWay &named : ways) {
        const std::unique_ptr<Way> way = named.make();
        for (unsigned i = 0; i < 2; i++) {
            way->restore();
            way->run();
            way->check();
        }
    }
}

std::vector<std::vector<double>> time_ways(const Settings &settings, const std::vector<NamedWay> &ways)
{
    const unsigned times = settings.quick ? 1 : 3;
    std::vector<std::unique_ptr<Way>> made;
    std::vector<std::vector<double>> found(ways.size());
    std::vector<double> first;
    for (const NamedWay &named : ways) {
        made.push_back(named.make());
        first.push_back(milliseconds_of(*made.back())); /* what is made at the first use, is */
        made.back()->check();
    }
    for (unsigned round = 0; round < settings.rounds(); round++)
        for (std::size_t i = 0; i < ways.size(); i++)
            found[i].push_back(settings.quick && first[i] > long_ms ? first[i] : median_ms(*made[i], times));
    for (const auto &way : made)
        way->check();
    return found;
}

void measure_ways(const Settings &settings, Report &report, const std::string &name, const std::vector<NamedWay> &ways)
{
    const std::vector<std::vector<double>> found = time_ways(settings, ways);
    report.record(name + "/" + ways[0].name + "_ms", spread_of(found[0]), "ms");
    for (std::size_t i = 1; i < ways.size(); i++) {
        std::vector<double> ratios;
        for (std::size_t round = 0; round < found[i].size(); round++)
            ratios.push_back(found[0][round] / found[i][round]);
        report.record(name + "/" + ways[i].name + "_ms", spread_of(found[i]), "ms");
        report.record(name + "/" + ways[i].name, spread_of(ratios), "", "time of " + ways[0].name + " / its own");
    }
}

} // namespace ptsched::samples
