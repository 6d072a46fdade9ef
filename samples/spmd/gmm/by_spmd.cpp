// SPDX-License-Identifier: MIT
#include "samples/spmd/common/by_spmd.hpp"

#include "samples/spmd/gmm/problem.hpp"

#include <array>

namespace ptsched::samples::gmm {

namespace {

using Point = std::array<float, dimensions>;
using Sums = std::array<float, component_sums>;
using AllSums = std::array<float, sum_floats>;

class BySpmd : public SpmdWay {
public:
    BySpmd(Problem &problem, const SpmdSettings &settings, const Mode &mode)
        : SpmdWay(problem.ranks), problem_(problem), settings_(settings), mode_(mode)
    {
    }
    void check_result() override { problem_.check(model_, "by spmd, " + mode_.name); }

    void compute() override
    {
        model_ = problem_.model();
        auto loop = settings_.cluster().keep(job());
        for (unsigned iteration = 0; iteration < problem_.shape.iterations; iteration++) {
            const auto result = note(loop.run(model_));
            std::vector<double> sums(sum_floats);
            for (const auto &[component, value] : result.pairs())
                std::copy(value.begin(), value.end(), sums.begin() + component * component_sums);
            maximize(sums.data(), problem_.shape.points, model_.data());
        }
    }

private:
    spmd::Job<unsigned, Sums> job() const
    {
        const auto *const points = reinterpret_cast<const Point *>(problem_.all_points().data());
        spmd::Job<unsigned, Sums> made;
        made.name = "gmm";
        made.input = spmd::Input::memory(std::span(points, problem_.shape.points));
        made.cpu.map = [](const spmd::Block &block, spmd::Emitter<unsigned, Sums> &out) {
            AllSums sums = {};
            for (const Point &point : block.as<Point>())
                add_point(point.data(), block.parameters_as<float>().data(), sums.data());
            for (unsigned component = 0; component < components; component++) {
                Sums own;
                std::copy_n(sums.begin() + component * component_sums, own.size(), own.begin());
                out(component, own);
            }
        };
        made.cpu.combine = [](Sums &into, const Sums &value) {
            for (std::size_t i = 0; i < into.size(); i++)
                into[i] += value[i];
        };
        made.intensity = spmd::model::Intensity{.cpu = flops, .gpu = flops, .precision = spmd::model::Precision::fp32};
        settings_.choose(made, mode_, "add_points");
        return made;
    }
    /* For each byte: densities go through the triangle with two, and sums with three, for each element. */
    static constexpr double flops = 5.0 * components * triangle / (4 * dimensions);

    Problem &problem_;
    const SpmdSettings &settings_;
    const Mode mode_;
    std::vector<float> model_;
};

} // namespace

std::unique_ptr<SpmdWay> by_spmd(Problem &problem, const SpmdSettings &settings, const Mode &mode)
{
    return std::make_unique<BySpmd>(problem, settings, mode);
}

} // namespace ptsched::samples::gmm
