/* SPDX-License-Identifier: MIT */
/*
 * Weak scaling: ranks with a GPU and a part of the cores each, or with a thread, and with as many times the input of
 * one as there are ranks. While one is alone with its part, the others sleep. What the same comes to by hand is what
 * the host allows.
 */
#ifndef SAMPLES_SPMD_COMMON_WEAK_HPP
#define SAMPLES_SPMD_COMMON_WEAK_HPP

#include "samples/spmd/common/by_spmd.hpp"

#include <optional>

namespace ptsched::samples {

inline Choice weak_choice(bool &weak)
{
    return {
        "--weak", nullptr, "measures how time grows with ranks and input alike, of a GPU each or, with --cpu, a thread",
        {},       nullptr, &weak};
}

/*
 * Records the time of @alone, of the first rank, over that of @together, of all of them: weak-cpu/RANKS/@name of
 * the way cpu, weak/RANKS/@name of gpu, and the same with /hand of openmp and cuda. Others than the first rank have
 * none alone. Throws Error if there is but one rank.
 */
void time_weak(const Ranks &all, const Settings &settings, Report &report, const std::string &name,
               const std::vector<NamedWay> &alone, const std::vector<NamedWay> &together);
/*
 * @shape_of: of the problem of so many ranks (std::size_t). @by_hand: ways of a problem, of which openmp or cuda
 * counts. @by_spmd: the way of a problem and a mode.
 */
template <typename Problem, typename ShapeOf, typename ByHand, typename BySpmd>
void measure_weak(const Ranks &ranks, const Settings &settings, Report &report, const std::string &name,
                  const ShapeOf &shape_of, const ByHand &by_hand, const BySpmd &by_spmd)
{
    const auto ways_of = [&](Problem &problem, const SpmdSettings &spmd) {
        std::vector<NamedWay> ways{alone_way(settings, [&](const Mode &mode) { return by_spmd(problem, spmd, mode); })};
        for (NamedWay &way : by_hand(problem))
            if (way.name == (settings.cpu ? "openmp" : "cuda"))
                ways.push_back(std::move(way));
        return ways;
    };
    const unsigned threads = settings.cpu ? 1 : ranks.threads();
    const Ranks one = Ranks::alone(ranks, threads), all = Ranks::with_threads(ranks, threads);
    const SpmdSettings settings_of_one(one, settings), settings_of_all(all, settings);
    std::optional<Problem> part;
    if (ranks.is_first())
        part.emplace(one, shape_of(1));
    Problem whole(all, shape_of(static_cast<std::size_t>(ranks.count())));
    time_weak(all, settings, report, name, part ? ways_of(*part, settings_of_one) : std::vector<NamedWay>(),
              ways_of(whole, settings_of_all));
}

} // namespace ptsched::samples

#endif /* SAMPLES_SPMD_COMMON_WEAK_HPP */
