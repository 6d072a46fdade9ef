// SPDX-License-Identifier: MIT
/* (1) to (5) and (8): who gets which part. */
#include "libptsched/spmd/model/roofline.hpp"
#include <ptsched/base/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ptsched::spmd::model {

namespace {

double sum(const std::vector<double> &values)
{
    return std::accumulate(values.begin(), values.end(), 0.0);
}

/* Parts in the ratio of what each does while the others are at work. */
void divide(Share &share, double cpu, const std::vector<double> &gpus)
{
    const double all = cpu + sum(gpus);
    share.cpu = cpu / all;
    share.gpus.clear();
    for (const double gpu : gpus)
        share.gpus.push_back(gpu / all);
    share.rate = all;
}

/*
 * What the CPU reads and what goes to GPUs passes one memory. Where that is too much, who moves fewer bytes for a byte
 * of input goes first. If both are alike, any division is as fast, and the usual one is kept.
 */
void share_memory(Share &share, double dram, double host_traffic)
{
    const double gpus = sum(share.gpu_rates);
    if (dram <= 0 || host_traffic <= 0 || gpus <= 0 || share.cpu_rate + host_traffic * gpus <= dram)
        return;
    double cpu = share.cpu_rate, left = gpus;
    if (host_traffic < 1) {
        left = std::min(gpus, dram / host_traffic);
        cpu = std::min(cpu, dram - host_traffic * left);
    } else if (host_traffic > 1) {
        left = (dram - cpu) / host_traffic;
    } else {
        share.rate = dram;
        return;
    }
    std::vector<double> slowed = share.gpu_rates;
    for (double &gpu : slowed)
        gpu *= left / gpus;
    divide(share, cpu, slowed);
}

} // namespace

Share share_of_rates(double cpu_rate, std::vector<double> gpu_rates)
{
    require_number(cpu_rate, "the rate of the CPU");
    for (const double rate : gpu_rates)
        require_number(rate, "the rate of a GPU");
    Share share;
    share.cpu_rate = cpu_rate;
    share.gpu_rates = std::move(gpu_rates);
    if (!(cpu_rate + sum(share.gpu_rates) > 0))
        throw Error("no device does anything: at least one needs a rate above 0");
    divide(share, cpu_rate, share.gpu_rates);
    return share;
}

Share share(const Machine &machine, const Intensity &intensity, const Conditions &conditions)
{
    double cpu = 0;
    std::vector<double> gpus(machine.gpus.size(), 0.0);
    if (!intensity.cpu && (!intensity.gpu || gpus.empty()))
        throw Error(intensity.gpu ? "the job has functions for GPUs only, and there is none"
                                  : "the job has an intensity neither for the CPU nor for GPUs: it needs one of them");
    if (intensity.cpu)
        cpu = rate(machine.cpu, *intensity.cpu, intensity.precision, conditions);
    for (std::size_t i = 0; i < gpus.size() && intensity.gpu; i++)
        gpus[i] = rate(machine, machine.gpus[i], *intensity.gpu, intensity.precision, conditions);
    if (std::isinf(cpu + sum(gpus)))
        throw Error("a device's memory and peak are not known, and so its part is not: measure them with "
                    "ptsched-roofline, or set them");

    Share share = share_of_rates(cpu, std::move(gpus));
    if (conditions.input == Where::host)
        share_memory(share, machine.cpu.dram, conditions.host_traffic);
    if (conditions.source > 0)
        share.rate = std::min(share.rate, conditions.source);
    if (conditions.sent > 0 && machine.network > 0)
        share.rate = std::min(share.rate, machine.network / conditions.sent);
    return share;
}

Share worthwhile(const Cpu &cpu, Share share, double bytes, double least)
{
    const double gpus = sum(share.gpu_rates);
    if (!(share.cpu > 0 && share.cpu_rate > 0 && gpus > 0))
        return share;
    const double without = bytes / gpus, saved = without - share.seconds(bytes);
    const double block = least / (share.cpu_rate / std::max(cpu.cores, 1u));
    if (saved >= cpu.latency && block <= without)
        return share;
    divide(share, 0, share.gpu_rates);
    return share;
}

double seconds(const Share &share, double p, double bytes)
{
    const auto part = [](double bytes, double rate) {
        if (!(bytes > 0))
            return 0.0;
        return rate > 0 ? bytes / rate : std::numeric_limits<double>::infinity();
    };
    double longest = part(p * bytes, share.cpu_rate);
    const double gpus = sum(share.gpus), rates = sum(share.gpu_rates);
    for (std::size_t i = 0; i < share.gpu_rates.size(); i++) {
        double of_rest = 1.0 / static_cast<double>(share.gpu_rates.size());
        if (gpus > 0)
            of_rest = share.gpus[i] / gpus;
        else if (rates > 0)
            of_rest = share.gpu_rates[i] / rates;
        longest = std::max(longest, part((1 - p) * of_rest * bytes, share.gpu_rates[i]));
    }
    return share.gpu_rates.empty() && p < 1 ? std::numeric_limits<double>::infinity() : longest;
}

} // namespace ptsched::spmd::model
