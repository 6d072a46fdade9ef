// SPDX-License-Identifier: MIT
#include "samples/spmd/common/by_spmd.hpp"

#include "samples/spmd/cmeans/problem.hpp"

#include <array>

namespace ptsched::samples::cmeans {

namespace {

using Point = std::array<float, dimensions>;
using Sums = std::array<float, dimensions + 1>;
using AllSums = std::array<float, sum_floats>;

class BySpmd : public SpmdWay {
public:
    BySpmd(Problem &problem, const SpmdSettings &settings, const Mode &mode)
        : SpmdWay(problem.ranks), problem_(problem), settings_(settings), mode_(mode)
    {
    }
    void check_result() override { problem_.check(centres_, "by spmd, " + mode_.name); }

    void compute() override
    {
        centres_ = problem_.centres();
        auto loop = settings_.cluster().keep(job());
        for (unsigned iteration = 0; iteration < problem_.shape.iterations; iteration++) {
            const auto result = note(loop.run(centres_));
            std::vector<double> sums(sum_floats);
            for (const auto &[cluster, value] : result.pairs())
                std::copy(value.begin(), value.end(), sums.begin() + cluster * (dimensions + 1));
            move_centres(sums.data(), centres_.data());
        }
    }

private:
    spmd::Job<unsigned, Sums> job() const
    {
        const auto *const points = reinterpret_cast<const Point *>(problem_.all_points().data());
        spmd::Job<unsigned, Sums> made;
        made.name = "cmeans";
        made.input = spmd::Input::memory(std::span(points, problem_.shape.points));
        made.cpu.map = [](const spmd::Block &block, spmd::Emitter<unsigned, Sums> &out) {
            AllSums sums = {};
            for (const Point &point : block.as<Point>())
                add_point(point.data(), block.parameters_as<float>().data(), sums.data());
            for (unsigned cluster = 0; cluster < clusters; cluster++) {
                Sums own;
                std::copy_n(sums.begin() + cluster * (dimensions + 1), own.size(), own.begin());
                out(cluster, own);
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
    /* For each byte: a distance has three, and a sum two, for each cluster and number of four bytes. */
    static constexpr double flops = 5.0 * clusters / 4;

    Problem &problem_;
    const SpmdSettings &settings_;
    const Mode mode_;
    std::vector<float> centres_;
};

} // namespace

std::unique_ptr<SpmdWay> by_spmd(Problem &problem, const SpmdSettings &settings, const Mode &mode)
{
    return std::make_unique<BySpmd>(problem, settings, mode);
}

} // namespace ptsched::samples::cmeans
