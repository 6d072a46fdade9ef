// SPDX-License-Identifier: MIT
#include "bench.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace ptsched::paper {

namespace {

using Clock = std::chrono::steady_clock;
/* What learns from its first runs has learned by then, however long they take. */
constexpr unsigned least_repetitions = 9, most_repetitions = 200, warm_up = 8;

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

double Bench::time(Executor &executor, unsigned count, double seconds) const
{
    std::vector<double> times;
    auto begin = Clock::now();
    unsigned repetitions = options.iterations ? options.iterations : most_repetitions;

    for (unsigned i = 0; i < warm_up + repetitions; i++) {
        executor.prepare(count);
        auto start = Clock::now();
        executor.run(count);
        double time = seconds_since(start) / count;
        if (i >= warm_up)
            times.push_back(time);
        if (!options.iterations && times.size() >= least_repetitions && seconds_since(begin) > options.seconds(seconds))
            break;
    }
    return median(times);
}

std::optional<double> Bench::time(Checked &checked, const Variant &variant, unsigned count, double seconds) const
{
    try {
        auto executor = variant.make(gpu, checked.workload(), count);
        if (auto how = executor->choice(); !how.empty())
            say_progress(std::string(variant.name) + ": " + how);
        double found = time(*executor, count, seconds);
        checked.check(*executor, variant.name);
        return found;
    } catch (const Error &error) {
        report.fail(checked.workload().name + ", " + variant.name + ": " + error.what());
        return {};
    }
}

} // namespace ptsched::paper
