// SPDX-License-Identifier: MIT
#include "samples/spmd/common/by_spmd.hpp"

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
        const auto result = note(settings_.cluster().run(job()));
        counts_.clear();
        for (const auto &[word, count] : result.pairs())
            counts_.emplace_back(word, count);
    }

private:
    spmd::Job<spmd::Bytes, std::uint64_t> job() const
    {
        spmd::Job<spmd::Bytes, std::uint64_t> made;
        made.name = "wordcount";
        made.input = spmd::Input::text(problem_.all_text(), spmd::Records::words());
        made.cpu.map = [](const spmd::Block &block, spmd::Emitter<spmd::Bytes, std::uint64_t> &out) {
            each_word(block.text(), [&](std::string_view word) { out(word, 1); });
        };
        made.cpu.combine = [](std::uint64_t &into, std::uint64_t value) { into += value; };
        settings_.choose(made, mode_, "count_words");
        return made;
    }

    Problem &problem_;
    const SpmdSettings &settings_;
    const Mode mode_;
    Counts counts_;
};

class InSequence : public RankedWay {
public:
    explicit InSequence(Problem &problem) : RankedWay(problem.ranks), problem_(problem) {}
    void check_result() override { problem_.check(counts_, "in sequence"); }
    void compute() override
    {
        if (ranks().is_first())
            counts_ = count_in_sequence(problem_.all_text());
    }

private:
    Problem &problem_;
    Counts counts_;
};

} // namespace

std::unique_ptr<SpmdWay> by_spmd(Problem &problem, const SpmdSettings &settings, const Mode &mode)
{
    return std::make_unique<BySpmd>(problem, settings, mode);
}

std::unique_ptr<Way> in_sequence(Problem &problem)
{
    return std::make_unique<InSequence>(problem);
}

} // namespace ptsched::samples::wordcount
