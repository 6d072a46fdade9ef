// SPDX-License-Identifier: MIT
/* A count of words: keys of many lengths, and next to nothing is computed. */
#include "samples/spmd/common/weak.hpp"
#include "samples/spmd/wordcount/against.hpp"
#include "samples/spmd/wordcount/problem.hpp"

using namespace ptsched::samples;

namespace {

struct Choices {
    unsigned megabytes = 1024, against_seconds = 3600;
    bool weak = false;
    std::string file, against;

    wordcount::Shape shape(std::size_t parts = 1) const { return {parts * megabytes << 4, file}; }
};

void run_weak(const Ranks &ranks, const Settings &settings, Report &report, const Choices &choices)
{
    if (!choices.file.empty())
        throw ptsched::Error("--weak needs text that grows with the ranks: without --text");
    measure_weak<wordcount::Problem>(
        ranks, settings, report, "wordcount", [&](std::size_t parts) { return choices.shape(parts); },
        [](wordcount::Problem &problem) -> std::vector<NamedWay> {
            return {{"openmp", [&] { return wordcount::by_openmp(problem); }}};
        },
        wordcount::by_spmd);
}

void run_all(const Ranks &ranks, const Settings &settings, Report &report, const Choices &choices)
{
    const SpmdSettings spmd(ranks, settings);
    const auto make = [&](wordcount::Problem &problem, const Mode &mode) {
        return wordcount::by_spmd(problem, spmd, mode);
    };
    const auto ways = [&](wordcount::Problem &problem) -> std::vector<NamedWay> {
        return {{"openmp", [&] { return wordcount::by_openmp(problem); }},
                {"one-thread", [&] { return wordcount::by_openmp(problem, 1); }}};
    };
    const Times times = check_and_measure_spmd<wordcount::Problem>(ranks, settings, report, "wordcount",
                                                                   wordcount::Shape{5}, choices.shape(), ways, make);
    if (!times.empty() && ranks.count() == 1)
        report.record("wordcount/over-one-thread",
                      spread_of(ratios(times.at("one-thread"), times.at(common_mode(settings).name))), "",
                      "time of one thread by hand / its own, of " + std::to_string(ranks.threads()));
}

void run_against(const Ranks &ranks, const Settings &settings, Report &report, const Choices &choices)
{
    const SpmdSettings spmd(ranks, settings);
    const bool is_small = settings.check && choices.file.empty();
    wordcount::Problem problem(ranks, is_small ? wordcount::Shape{5} : choices.shape());
    measure_against(problem, settings, spmd, report, choices.against, choices.against_seconds);
}

} // namespace

int main(int argc, char **argv)
{
    const Ranks ranks(argc, argv);
    Choices choices;
    return run_ranks(ranks, argc, argv, "prs-wordcount", "Counts words.",
                     [&](const Settings &settings, Report &report) {
                         const auto run = choices.weak ? run_weak : choices.against.empty() ? run_all : run_against;
                         run(ranks, settings, report, choices);
                     },
                     {{"--megabytes", &choices.megabytes,
                       "of text that is made, of all ranks together or, with --weak, of each, in 2^20 bytes"},
                      {"--text", nullptr, "a file, whose words are counted instead", {}, &choices.file},
                      {"--against",
                       nullptr,
                       "what sh runs to print the words of $TEXT and their numbers: compared with spmd",
                       {},
                       &choices.against},
                      {"--against-seconds", &choices.against_seconds, "that this may take"},
                      weak_choice(choices.weak)});
}
