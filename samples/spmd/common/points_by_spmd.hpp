/* SPDX-License-Identifier: MIT */
#ifndef SAMPLES_SPMD_COMMON_POINTS_BY_SPMD_HPP
#define SAMPLES_SPMD_COMMON_POINTS_BY_SPMD_HPP

#include "samples/spmd/common/by_spmd.hpp"
#include "samples/spmd/common/points.hpp"

#include <array>

namespace ptsched::samples {

template <typename Method> class PointsBySpmd : public SpmdWay {
public:
    PointsBySpmd(PointsProblem<Method> &problem, const SpmdSettings &settings, const Mode &mode)
        : SpmdWay(problem.ranks), problem_(problem), settings_(settings), mode_(mode),
          loop_(settings.cluster().keep(job()))
    {
    }
    void check_result() override { problem_.check(model_, "by spmd, " + mode_.name); }

    void compute() override
    {
        model_ = problem_.model();
        loop_.renew();
        for (unsigned iteration = 0; iteration < problem_.shape.iterations; iteration++) {
            const auto result = note(loop_.run(model_));
            std::vector<double> sums(sum_floats_of<Method>);
            for (const auto &[group, value] : result.pairs())
                std::copy(value.begin(), value.end(), sums.begin() + group * Method::group_sums);
            Method::next_model(sums.data(), problem_.shape.points, model_.data());
        }
    }

private:
    using Point = std::array<float, Method::dimensions>;
    using Sums = std::array<float, Method::group_sums>;

    spmd::Job<unsigned, Sums> job() const
    {
        const auto *const points = reinterpret_cast<const Point *>(problem_.all_points().data());
        spmd::Job<unsigned, Sums> made;
        made.name = Method::name;
        made.input = spmd::Input::memory(std::span(points, problem_.shape.points));
        made.cpu.map = [](const spmd::Block &block, spmd::Emitter<unsigned, Sums> &out) {
            std::array<float, sum_floats_of<Method>> sums = {};
            for (const Point &point : block.as<Point>())
                Method::add_point(point.data(), block.parameters_as<float>().data(), sums.data());
            for (unsigned group = 0; group < Method::groups; group++) {
                Sums own;
                std::copy_n(sums.begin() + group * Method::group_sums, own.size(), own.begin());
                out(group, own);
            }
        };
        made.cpu.combine = [](Sums &into, const Sums &value) {
            for (std::size_t i = 0; i < into.size(); i++)
                into[i] += value[i];
        };
        made.intensity = spmd::model::Intensity{
            .cpu = Method::flops, .gpu = Method::flops, .precision = spmd::model::Precision::fp32};
        settings_.choose(made, mode_, "add_points");
        return made;
    }

    PointsProblem<Method> &problem_;
    const SpmdSettings &settings_;
    const Mode mode_;
    spmd::Loop<unsigned, Sums> loop_; /* has memory, as by hand; points come anew each time */
    std::vector<float> model_;
};

} // namespace ptsched::samples

#endif /* SAMPLES_SPMD_COMMON_POINTS_BY_SPMD_HPP */
