/* SPDX-License-Identifier: MIT */
/* The programs by libptsched-spmd: on the CPU, on the GPU, or on both, whose shares are found out in several ways. */
#ifndef SAMPLES_SPMD_COMMON_BY_SPMD_HPP
#define SAMPLES_SPMD_COMMON_BY_SPMD_HPP

#include "samples/spmd/common/ranks.hpp"
#include <ptsched/spmd.hpp>

#include <optional>
#include <string>

namespace ptsched::samples {

/* Who has a part, and how it is found out. */
struct Mode {
    std::string name;
    spmd::Split split = spmd::Dynamic{};
    bool on_cpu = true, on_gpu = true;
};

/* What all runs of a program have in common. */
class SpmdSettings {
public:
    /* @device: a file with the program's device functions. */
    SpmdSettings(const Ranks &ranks, std::string device);

    spmd::Cluster &cluster() const { return cluster_; }
    /* A job's functions that the mode has. */
    template <typename Key, typename Value>
    void choose(spmd::Job<Key, Value> &job, const Mode &mode, const std::string &kernel) const
    {
        job.split = mode.split;
        if (!mode.on_cpu)
            job.cpu.map = nullptr;
        if (mode.on_gpu && !kernel.empty())
            job.gpu.kernels = {device_, kernel};
    }

private:
    const std::string device_;
    mutable spmd::Cluster cluster_;
};

/* "NAME-device.fatbin" of "NAME.fatbin", and the same of others. */
std::string device_module(const std::string &module);

/* Also says what the last run was like. */
class SpmdWay : public RankedWay {
public:
    using RankedWay::RankedWay;
    const spmd::Report &last() const { return last_; }

protected:
    /* Of which it is the last run. */
    template <typename Key, typename Value> spmd::Result<Key, Value> note(spmd::Result<Key, Value> result)
    {
        last_ = result.report;
        return result;
    }

private:
    spmd::Report last_;
};

using MakeSpmd = std::function<std::unique_ptr<SpmdWay>(const Mode &)>;

/* Ways in which all modes are. */
std::vector<NamedWay> spmd_ways(const MakeSpmd &make);
/*
 * Records how long the ways by hand and those by spmd take, and what comes of that: over-hand/@name (beside the first
 * by hand), split-efficiency/@name/static and /dynamic, gain/@name, p-model/@name, p-best/@name and p-error/@name, for
 * which it tries CPU's shares around the best that the rates of both alone say.
 */
void measure_spmd(const Settings &settings, Report &report, const std::string &name, std::vector<NamedWay> by_hand,
                  const MakeSpmd &make);

/* Checks a small problem, by hand and by spmd, and measures a large one. @ways, @make: of a problem. */
template <typename Problem, typename Shape, typename Ways, typename Make>
void check_and_measure_spmd(const Ranks &ranks, const Settings &settings, Report &report, const std::string &name,
                            const Shape &small, const Shape &large, const Ways &ways, const Make &make)
{
    {
        Problem few(ranks, small);
        check_ways(ways(few));
        check_ways(spmd_ways([&](const Mode &mode) { return make(few, mode); }));
    }
    if (settings.check)
        return;
    Problem many(ranks, large);
    measure_spmd(settings, report, name, ways(many), [&](const Mode &mode) { return make(many, mode); });
}

} // namespace ptsched::samples

#endif /* SAMPLES_SPMD_COMMON_BY_SPMD_HPP */
