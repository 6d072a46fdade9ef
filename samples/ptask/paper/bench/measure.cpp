// SPDX-License-Identifier: MIT
#include "samples/ptask/paper/bench/bench.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>

namespace ptsched::paper {

namespace {

using Clock = std::chrono::steady_clock;
/* What learns from its first runs has learned after the most; where runs are long, there is no time for as many. */
constexpr unsigned least_repetitions = 9, most_repetitions = 200, least_warm_up = 8, most_warm_up = 32;
constexpr double warm_up_share = 0.5; /* of the time, at most */

double seconds_since(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

} // namespace

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    std::size_t middle = values.size() / 2;
    return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double geometric_mean(const std::vector<double> &values)
{
    double sum = 0;
    for (double value : values)
        sum += std::log(value);
    return std::exp(sum / static_cast<double>(values.size()));
}

Scene scene_of(const Options &options)
{
    const unsigned width = options.size ? options.size : 640;
    return {width, std::max(1u, width * 3 / 4)};
}

void say_progress(const std::string &what)
{
    std::fprintf(stderr, "... %s\n", what.c_str());
}

void Checked::check(Executor &executor, const std::string &who)
{
    if (!workload_.expected)
        return;
    unsigned set = executor.last_set();
    auto [expected, is_new] = expected_.try_emplace(set);
    if (is_new)
        expected->second = workload_.expected(set);
    auto problem = difference(workload_, expected->second, executor.results());
    if (!problem.empty())
        throw Error(workload_.name + ", " + who + ": " + problem);
}

std::vector<double> Bench::times(const std::vector<Executor *> &executors, unsigned count, double seconds) const
{
    std::vector<std::vector<double>> times(executors.size());
    std::vector<double> medians;
    const double most = options.seconds(seconds) * static_cast<double>(executors.size());
    const unsigned repetitions = options.iterations ? options.iterations : most_repetitions;
    const auto begin = Clock::now();

    for (unsigned i = 0; times[0].size() < repetitions; i++) {
        const bool counts = i >= most_warm_up || (i >= least_warm_up && seconds_since(begin) > warm_up_share * most);
        for (std::size_t k = 0; k < executors.size(); k++) {
            executors[k]->prepare(count);
            const auto start = Clock::now();
            executors[k]->run(count);
            const double time = seconds_since(start) / count;
            if (counts)
                times[k].push_back(time);
        }
        if (!options.iterations && times[0].size() >= least_repetitions && seconds_since(begin) > most)
            break;
    }
    for (const auto &some : times)
        medians.push_back(median(some));
    return medians;
}

std::vector<double> Bench::times(Checked &checked, const std::vector<Variant> &variants, unsigned count,
                                 double seconds) const
{
    std::vector<std::unique_ptr<Executor>> executors;
    std::vector<Executor *> all;
    std::string who;
    try {
        for (const Variant &variant : variants) {
            who = variant.name;
            executors.push_back(variant.make(gpu, checked.workload(), count));
            all.push_back(executors.back().get());
            if (auto how = all.back()->choice(); !how.empty())
                say_progress(who + ": " + how);
        }
        auto found = times(all, count, seconds);
        for (std::size_t i = 0; i < all.size(); i++) {
            who = variants[i].name;
            checked.check(*all[i], who);
        }
        return found;
    } catch (const Error &error) {
        report.fail(checked.workload().name + ", " + who + ": " + error.what());
        return {};
    }
}

std::optional<double> Bench::time(Checked &checked, const Variant &variant, unsigned count, double seconds) const
{
    const auto found = times(checked, {variant}, count, seconds);
    return found.empty() ? std::nullopt : std::optional(found[0]);
}

std::vector<double> Bench::times_of_variants(Checked &checked, unsigned count, double seconds) const
{
    static constexpr std::size_t handcode = 0, best = 1, modular = 2, modular_threads = 3, ptask = 4;
    const std::vector<std::vector<std::size_t>> together{{handcode}, {best, ptask}, {modular}, {modular_threads}};
    std::vector<double> all(variants().size());

    for (const auto &some : together) {
        std::vector<Variant> those;
        for (std::size_t which : some)
            those.push_back(variants()[which]);
        const auto found = times(checked, those, count, seconds);
        if (found.empty())
            return {};
        for (std::size_t i = 0; i < some.size(); i++)
            all[some[i]] = found[i];
    }
    return all;
}

} // namespace ptsched::paper
