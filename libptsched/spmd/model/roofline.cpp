// SPDX-License-Identifier: MIT
/* (6), (7), (9) to (11): what one device does. */
#include "libptsched/spmd/model/roofline.hpp"

#include <ptsched/base/error.hpp>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

namespace ptsched::spmd::model {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

/* Of those that are known. */
double through(std::initializer_list<double> bandwidths, Path path)
{
    double slowest = infinite, seconds = 0;
    for (const double bandwidth : bandwidths) {
        if (bandwidth <= 0)
            continue;
        slowest = std::min(slowest, bandwidth);
        seconds += 1 / bandwidth;
    }
    if (path == Path::streamed)
        return slowest;
    return seconds > 0 ? 1 / seconds : infinite;
}

double roof(double peak, double bandwidth, double intensity, const std::string &device)
{
    require_number(intensity, "an arithmetic intensity");
    if (intensity > 0 && peak <= 0)
        throw Error("the peak rate of " + device + " is not known: measure it with ptsched-roofline, or set it");
    return intensity > 0 ? std::min(bandwidth, peak / intensity) : bandwidth;
}

std::string name_of(const Cpu &cpu)
{
    return cpu.name.empty() ? "the CPU" : "the CPU " + cpu.name;
}

std::string name_of(const Gpu &gpu)
{
    return gpu.name.empty() ? "the GPU" : "the GPU " + gpu.name;
}

double known(double rate, const std::string &device)
{
    if (std::isinf(rate))
        throw Error("nothing is known that limits " + device +
                    ": its memory's bandwidth is to be measured with ptsched-roofline, or set");
    return rate;
}

double probed_at(double peak, double bandwidth, const Probe &probe, const std::string &device)
{
    if (!(probe.bytes > 0) || !(probe.seconds > 0))
        throw Error("a probe of " + device + " has to have taken time for some bytes");
    if (peak <= 0)
        throw Error("the peak rate of " + device + " is not known: measure it with ptsched-roofline, or set it");
    return peak / std::min(bandwidth, probe.bytes / probe.seconds);
}

} // namespace

void require_number(double value, const char *what)
{
    if (!(value >= 0) || std::isinf(value))
        throw Error(std::string(what) + " is " + std::to_string(value) + ", and has to be a number from 0 on");
}

double bandwidth(const Cpu &cpu, const Conditions &conditions)
{
    return through({conditions.source, cpu.dram}, conditions.path);
}

double bandwidth(const Machine &machine, const Gpu &gpu, const Conditions &conditions)
{
    const double home = conditions.home > 0 ? gpu.to_host / conditions.home : 0;
    if (conditions.input == Where::gpu)
        return through({gpu.dram, home}, conditions.path);
    return through({conditions.source, machine.cpu.dram, gpu.to_gpu, home}, conditions.path);
}

double ridge(const Cpu &cpu, Precision precision)
{
    return cpu.peak.at(precision) / bandwidth(cpu);
}

double ridge(const Machine &machine, const Gpu &gpu, Precision precision, const Conditions &conditions)
{
    return gpu.peak.at(precision) / bandwidth(machine, gpu, conditions);
}

double rate(const Cpu &cpu, double intensity, Precision precision, const Conditions &conditions)
{
    return roof(cpu.peak.at(precision), bandwidth(cpu, conditions), intensity, name_of(cpu));
}

double rate(const Machine &machine, const Gpu &gpu, double intensity, Precision precision, const Conditions &conditions)
{
    return roof(gpu.peak.at(precision), bandwidth(machine, gpu, conditions), intensity, name_of(gpu));
}

double flops(const Cpu &cpu, double intensity, Precision precision, const Conditions &conditions)
{
    return intensity * known(rate(cpu, intensity, precision, conditions), name_of(cpu));
}

double flops(const Machine &machine, const Gpu &gpu, double intensity, Precision precision,
             const Conditions &conditions)
{
    return intensity * known(rate(machine, gpu, intensity, precision, conditions), name_of(gpu));
}

double probed(const Cpu &cpu, const Probe &probe, Precision precision, const Conditions &conditions)
{
    return probed_at(cpu.peak.at(precision), bandwidth(cpu, conditions), probe, name_of(cpu));
}

double probed(const Machine &machine, const Gpu &gpu, const Probe &probe, Precision precision,
              const Conditions &conditions)
{
    return probed_at(gpu.peak.at(precision), bandwidth(machine, gpu, conditions), probe, name_of(gpu));
}

double overlap(const Machine &machine, const Gpu &gpu, double intensity, Precision precision,
               const Conditions &conditions)
{
    const double transfer = 1 / bandwidth(machine, gpu, conditions);
    const double peak = gpu.peak.at(precision);
    require_number(intensity, "an arithmetic intensity");
    if (intensity > 0 && peak <= 0)
        throw Error("the peak rate of " + name_of(gpu) + " is not known: measure it with ptsched-roofline, or set it");
    const double compute = intensity > 0 ? intensity / peak : 0;
    return transfer + compute > 0 ? transfer / (transfer + compute) : 0;
}

double gain_of_streams(double overlap)
{
    return 1 / std::max(overlap, 1 - overlap);
}

std::optional<double> min_block(const IntensityOf &intensity, double ridge, double most)
{
    if (!(most >= 1) || !(intensity(most) >= ridge))
        return std::nullopt;
    double less = 1, enough = most;
    if (intensity(less) >= ridge)
        return less;
    /* Blocks may differ by orders of magnitude: the middle is that of their logarithms. */
    while (enough - less > 1 && enough / less > 1 + 1e-9) {
        const double middle = std::sqrt(less * enough);
        (intensity(middle) >= ridge ? enough : less) = middle;
    }
    return enough;
}

} // namespace ptsched::spmd::model
