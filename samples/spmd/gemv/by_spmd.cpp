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

    void compute() override { note(settings_.cluster().run(job(), problem_.x())); }

private:
    spmd::Job<Row, float> job()
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
        made.output = {.where = spmd::Output::Where::root,
                       .value_bytes = sizeof(float),
                       .into = std::as_writable_bytes(std::span(y_))};
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
