// SPDX-License-Identifier: MIT
#include "tools/ptsim/traces.hpp"

#include "tools/ptsim/random.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ptsim {
namespace {

/* Of the time between the first and the last job that the device has work for, if it is always used. */
constexpr double kLoad = 0.9;
constexpr int kNices[] = {0, 0, 0, 5, 10};

/* Durations are lognormal. Their scale is that of the load: only what they are to each other is the cluster's. */
struct Shape {
    double sigma;     /* of the logarithm of a job's duration */
    double diurnal;   /* how far the arrival rate is from its mean, by day and by night */
    double user_skew; /* exponent of Zipf's law over the users */
};

constexpr std::uint32_t kUsers = 100;

/* Of a Poisson process by the time of the day: where the integral of the rate is @quantile of that of the day. */
double time_of_day(double quantile, double amplitude)
{
    double low = 0, high = 1;
    for (int i = 0; i < 40; i++) {
        const double middle = (low + high) / 2;
        const double passed = middle - amplitude * std::sin(2 * std::numbers::pi * middle) / (2 * std::numbers::pi);
        (passed < quantile ? low : high) = middle;
    }
    return low;
}

class Users {
public:
    Users(std::uint32_t users, double skew)
    {
        double sum = 0;
        for (std::uint32_t user = 1; user <= users; user++)
            sums_.push_back(sum += std::pow(user, -skew));
    }

    std::uint32_t draw(Random &random) const
    {
        const auto found = std::ranges::lower_bound(sums_, random.unit() * sums_.back());
        return static_cast<std::uint32_t>(std::min<std::size_t>(found - sums_.begin(), sums_.size() - 1));
    }

private:
    std::vector<double> sums_;
};

Scenario cluster(const Scale &scale, const Shape &shape)
{
    Scenario scenario;
    Random random(scale.seed);
    const Users users(kUsers, shape.user_skew);
    double work = 0;
    std::vector<double> durations;
    for (std::uint32_t i = 0; i < scale.entities; i++)
        work += durations.emplace_back(random.lognormal(1, shape.sigma));
    const double day = static_cast<double>(scale.day);
    for (double duration : durations) {
        const std::uint32_t user = users.draw(random);
        const double kernel = std::clamp(random.lognormal(10.0 * kMs, 0.7), 1.0 * kMs, 50.0 * kMs);
        const double arrives = day * time_of_day(random.unit(), shape.diurnal);
        scenario.programs.push_back({.group = "job",
                                     .nice = kNices[user % std::size(kNices)],
                                     .user = user,
                                     .kernel_ns = static_cast<Ns>(kernel),
                                     .arrives = static_cast<Ns>(arrives),
                                     .pattern = job(std::max(kMs, static_cast<Ns>(duration * kLoad * day / work)))});
    }
    /* The device is behind when the last ones come. */
    scenario.duration = scale.day + scale.day / 4;
    scenario.jobs = "job";
    return scenario;
}

} // namespace

/*
 * Jeon et al., "Analysis of Large-Scale Multi-Tenant GPU Clusters for DNN Training Workloads", USENIX ATC 2019: run
 * times from minutes to weeks, of which 0.5 % are longer than one; Hu et al. (see below) give their mean as 28,329 s. A
 * lognormal of that mean and that quantile has a sigma of 1.86.
 */
Scenario philly(const Scale &scale)
{
    return cluster(scale, {.sigma = 1.86, .diurnal = 0.3, .user_skew = 1.0});
}

/*
 * Hu et al., "Characterization and Prediction of Deep Learning Workloads in Large-Scale GPU Datacenters", SC 2021: GPU
 * jobs take 206 s in the median and 6,652 s on average, which is a sigma of sqrt(2 ln(6652 / 206)) = 2.64. Submissions
 * fall at night; a few users have most of the GPU time.
 */
Scenario helios(const Scale &scale)
{
    return cluster(scale, {.sigma = 2.64, .diurnal = 0.6, .user_skew = 1.2});
}

/*
 * Weng et al., "MLaaS in the Wild", NSDI 2022: instances run 23 minutes in the median, 10 % more than 4.5 hours, which
 * is a sigma of ln(270 / 23) / 1.28 = 1.92; 5 % of the users have 77 % of the instances; arrivals follow the day.
 */
Scenario pai(const Scale &scale)
{
    return cluster(scale, {.sigma = 1.92, .diurnal = 0.5, .user_skew = 1.6});
}

} // namespace ptsim
