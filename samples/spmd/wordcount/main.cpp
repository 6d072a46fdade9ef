// SPDX-License-Identifier: MIT
/* A count of words: keys of many lengths, and next to nothing is computed. */
#include "samples/spmd/common/by_spmd.hpp"
#include "samples/spmd/wordcount/problem.hpp"

using namespace ptsched::samples;

int main(int argc, char **argv)
{
    const Ranks ranks(argc, argv);
    unsigned megabytes = 1024;
    std::string file;
    return run_ranks(ranks, argc, argv, "prs-wordcount", "Counts words.",
                     [&](const Settings &settings, Report &report) {
                         const SpmdSettings spmd(ranks, device_module(settings.module));
                         const auto make = [&](wordcount::Problem &problem, const Mode &mode) {
                             return wordcount::by_spmd(problem, spmd, mode);
                         };
                         const auto ways = [&](wordcount::Problem &problem) -> std::vector<NamedWay> {
                             return {{"openmp", [&] { return wordcount::by_openmp(problem); }},
                                     {"sequence", [&] { return wordcount::in_sequence(problem); }}};
                         };
                         check_and_measure_spmd<wordcount::Problem>(
                             ranks, settings, report, "wordcount", wordcount::Shape{5},
                             wordcount::Shape{std::size_t{megabytes} << 4, file}, ways, make);
                     },
                     {{"--megabytes", &megabytes, "of text that is made, of all ranks together, in 2^20 bytes"},
                      {"--text", nullptr, "a file, whose words are counted instead", {}, &file}});
}
