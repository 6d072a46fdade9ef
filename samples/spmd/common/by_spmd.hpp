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
    SpmdSettings(const Ranks &ranks, const Settings &settings);

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
    const std::string device_; /* a file with the program's device functions */
    mutable spmd::Cluster cluster_;
};

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

/* Ways in which all modes are, or those without a GPU. */
std::vector<NamedWay> spmd_ways(const Settings &settings, const MakeSpmd &make);
/* In which all devices that are to have a part take it as they are idle. */
Mode common_mode(const Settings &settings);
/* Of each element. */
std::vector<double> ratios(const std::vector<double> &of, const std::vector<double> &to);
/* By spmd on the GPU alone, or on the CPU if there is to be none. */
NamedWay alone_way(const Settings &settings, const MakeSpmd &make);
/* Without those of GPUs, if there is to be none. */
std::vector<NamedWay> ways_by_hand(const Settings &settings, std::vector<NamedWay> ways);
/*
 * Records how long the ways by hand and those by spmd take, and what comes of that: over-hand-cpu/@name (beside
 * OpenMP), and, with a GPU, over-hand/@name (beside the first by hand), split-efficiency/@name/static and /dynamic,
 * gain/@name, read-rate/@name, p-model/@name, p-best/@name and p-error/@name, for which it tries CPU's shares around
 * the best that the rates of both alone say. Returns the times.
 */
Times measure_spmd(const Settings &settings, Report &report, const std::string &name, std::vector<NamedWay> by_hand,
                   const MakeSpmd &make);

/*
 * Checks a small problem, by hand and by spmd, and measures a large one, unless a check is all that is asked for; then
 * there are no times. @ways, @make: of a problem.
 */
template <typename Problem, typename Shape, typename Ways, typename Make>
Times check_and_measure_spmd(const Ranks &ranks, const Settings &settings, Report &report, const std::string &name,
                             const Shape &small, const Shape &large, const Ways &ways, const Make &make)
{
    {
        Problem few(ranks, small);
        check_ways(ways_by_hand(settings, ways(few)));
        check_ways(spmd_ways(settings, [&](const Mode &mode) { return make(few, mode); }));
    }
    if (settings.check)
        return {};
    Problem many(ranks, large);
    return measure_spmd(settings, report, name, ways_by_hand(settings, ways(many)),
                        [&](const Mode &mode) { return make(many, mode); });
}

} // namespace ptsched::samples

#endif /* SAMPLES_SPMD_COMMON_BY_SPMD_HPP */
