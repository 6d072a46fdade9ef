// SPDX-License-Identifier: MIT
#include "samples/spmd/common/by_spmd.hpp"

#include "samples/spmd/histogram/problem.hpp"

namespace ptsched::samples::histogram {

namespace {

class BySpmd : public SpmdWay {
public:
    BySpmd(Problem &problem, const SpmdSettings &settings, const Mode &mode)
        : SpmdWay(problem.ranks), problem_(problem), settings_(settings), mode_(mode)
    {
    }
    void check_result() override { problem_.check(counts_, "by spmd, " + mode_.name); }

    void compute() override
    {
        const auto result = note(settings_.cluster().run(job()));
        counts_ = {};
        for (const auto &[bin, count] : result.pairs())
            counts_.at(bin) = count;
    }

private:
    spmd::Job<unsigned, std::uint64_t> job() const
    {
        spmd::Job<unsigned, std::uint64_t> made;
        made.name = "histogram";
        made.input = spmd::Input::memory(problem_.all_numbers());
        made.cpu.map = [](const spmd::Block &block, spmd::Emitter<unsigned, std::uint64_t> &out) {
            const auto numbers = block.as<std::uint32_t>();
            Counts counts = {};
            count_numbers(numbers.data(), numbers.size(), counts.data());
            for (unsigned bin = 0; bin < bins; bin++)
                out(bin, counts[bin]);
        };
        made.cpu.combine = [](std::uint64_t &into, std::uint64_t value) { into += value; };
        made.intensity = spmd::model::Intensity{.cpu = 0.25, .gpu = 0.25};
        settings_.choose(made, mode_, "count");
        return made;
    }

    Problem &problem_;
    const SpmdSettings &settings_;
    const Mode mode_;
    Counts counts_ = {};
};

} // namespace

std::unique_ptr<SpmdWay> by_spmd(Problem &problem, const SpmdSettings &settings, const Mode &mode)
{
    return std::make_unique<BySpmd>(problem, settings, mode);
}

} // namespace ptsched::samples::histogram
