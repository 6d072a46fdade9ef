/* SPDX-License-Identifier: MIT */
/* The main function of what goes over the same points again and again. */
#ifndef SAMPLES_SPMD_COMMON_POINTS_PROGRAM_HPP
#define SAMPLES_SPMD_COMMON_POINTS_PROGRAM_HPP

#include "samples/spmd/common/points.hpp"
#include "samples/spmd/common/weak.hpp"

namespace ptsched::samples {

/* By hand and by spmd. */
template <typename Problem> struct PointsWays {
    std::unique_ptr<Way> (*by_cuda)(Problem &problem, const std::string &module);
    std::unique_ptr<Way> (*by_openmp)(Problem &problem);
    std::unique_ptr<SpmdWay> (*by_spmd)(Problem &problem, const SpmdSettings &settings, const Mode &mode);
};

/* @what: the program does, for --help. @small: for a check; @usual: what options may change. */
template <typename Method>
int run_points_program(int argc, char **argv, const std::string &what, const PointsShape &small,
                       const PointsShape &usual, const PointsWays<PointsProblem<Method>> &by)
{
    using Problem = PointsProblem<Method>;
    const Ranks ranks(argc, argv);
    const std::string name = Method::name;
    auto points = static_cast<unsigned>(usual.points), iterations = usual.iterations;
    bool weak = false;
    return run_ranks(
        ranks, argc, argv, "prs-" + name, what,
        [&](const Settings &settings, Report &report) {
            const auto ways = [&](Problem &problem) -> std::vector<NamedWay> {
                return {{"cuda", [&] { return by.by_cuda(problem, settings.module); }},
                        {"openmp", [&] { return by.by_openmp(problem); }}};
            };
            if (weak) {
                const auto shape_of = [&](std::size_t parts) { return PointsShape{parts * points, iterations}; };
                return measure_weak<Problem>(ranks, settings, report, name, shape_of, ways, by.by_spmd);
            }
            const SpmdSettings spmd(ranks, settings);
            const auto make = [&](Problem &problem, const Mode &mode) { return by.by_spmd(problem, spmd, mode); };
            check_and_measure_spmd<Problem>(ranks, settings, report, name, small, PointsShape{points, iterations}, ways,
                                            make);
        },
        {{"--points", &points, "of all ranks together, or, with --weak, of each"},
         {"--iterations", &iterations, "over all of them"},
         weak_choice(weak)});
}

} // namespace ptsched::samples

#endif /* SAMPLES_SPMD_COMMON_POINTS_PROGRAM_HPP */
