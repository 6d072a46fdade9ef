// SPDX-License-Identifier: MIT
#include "samples/spmd/common/by_spmd.hpp"

#include "samples/spmd/gemv/problem.hpp"

namespace ptsched::samples::gemv {

namespace {

using Row = std::uint64_t; /* its number */

class BySpmd : public SpmdWay {
public:
    BySpmd(Problem &problem, const SpmdSettings &settings, const Mode &mode)
        : SpmdWay(problem.ranks), problem_(problem), settings_(settings), mode_(mode), y_(problem.shape.rows)
    {
    }
    void check_result() override { problem_.check(y_, "by spmd, " + mode_.name); }

    void compute() override
    {
        const auto result = note(settings_.cluster().run(job(), problem_.x()));
        if (result.pairs().size() != y_.size())
            throw Error("there are " + std::to_string(result.pairs().size()) + " rows");
        for (const auto &[row, value] : result.pairs())
            y_.at(row) = value;
    }

private:
    spmd::Job<Row, float> job() const
    {
        const std::size_t row_bytes = problem_.shape.columns * sizeof(float);
        spmd::Job<Row, float> made;
        made.name = "gemv";
        made.input = spmd::Input::memory(std::as_bytes(problem_.all_a()), spmd::Records::fixed(row_bytes));
        made.cpu.map = [](const spmd::Block &block, spmd::Emitter<Row, float> &out) {
            const std::span<const float> a = block.as<float>(), x = block.parameters_as<float>();
            for (std::size_t row = 0; row < block.records; row++) {
                float sum = 0;
#pragma omp simd reduction(+ : sum)
                for (std::size_t column = 0; column < x.size(); column++)
                    sum += a[row * x.size() + column] * x[column];
                out(block.first + row, sum);
            }
        };
        made.intensity = spmd::model::Intensity{.cpu = 0.5, .gpu = 0.5, .precision = spmd::model::Precision::fp32};
        settings_.choose(made, mode_, "gemv");
        return made;
    }

    Problem &problem_;
    const SpmdSettings &settings_;
    const Mode mode_;
    std::vector<float> y_;
};

} // namespace

std::unique_ptr<SpmdWay> by_spmd(Problem &problem, const SpmdSettings &settings, const Mode &mode)
{
    return std::make_unique<BySpmd>(problem, settings, mode);
}

} // namespace ptsched::samples::gemv
