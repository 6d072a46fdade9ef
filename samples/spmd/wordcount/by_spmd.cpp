// SPDX-License-Identifier: MIT
#include "samples/spmd/common/by_spmd.hpp"

#include "samples/spmd/wordcount/job.hpp"
#include "samples/spmd/wordcount/problem.hpp"

namespace ptsched::samples::wordcount {

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
        auto job = counting(spmd::Input::text(problem_.all_text(), separators()));
        settings_.choose(job, mode_, "count_words");
        const auto result = note(settings_.cluster().run(job));
        counts_.clear();
        for (const auto &[word, count] : result.pairs())
            counts_.emplace_back(word, count);
    }

private:
    Problem &problem_;
    const SpmdSettings &settings_;
    const Mode mode_;
    Counts counts_;
};

} // namespace

spmd::Records separators()
{
    return spmd::Records::separated(" \n\t\r");
}

spmd::Job<spmd::Bytes, std::uint64_t> counting(spmd::Input input)
{
    spmd::Job<spmd::Bytes, std::uint64_t> made;
    made.name = "wordcount";
    made.input = std::move(input);
    made.cpu.map = [](const spmd::Block &block, spmd::Emitter<spmd::Bytes, std::uint64_t> &out) {
        each_word(block.text(), [&](std::string_view word) { out(word, 1); });
    };
    made.cpu.combine = [](std::uint64_t &into, std::uint64_t value) { into += value; };
    return made;
}

std::unique_ptr<SpmdWay> by_spmd(Problem &problem, const SpmdSettings &settings, const Mode &mode)
{
    return std::make_unique<BySpmd>(problem, settings, mode);
}

} // namespace ptsched::samples::wordcount
