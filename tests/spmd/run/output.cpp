// SPDX-License-Identifier: MIT
/* Where results go, and pairs for which there is no memory; what a run reports. */
#include "tests/spmd/run/cases.hpp"

#include <nlohmann/json.hpp>

using namespace test;

namespace {

std::string as_lines(const Counts &counts)
{
    std::string text;
    for (const auto &[word, count] : counts)
        text += word + "\t" + std::to_string(count) + "\n";
    return text;
}

void a_file_has_all()
{
    const Folder folder;
    const std::string text = made_text(5000), path = folder.path("counts");
    write_file(path, "old");
    for (const auto where : {spmd::Output::Where::root, spmd::Output::Where::everywhere}) {
        auto job = word_count(text);
        job.output = {.where = where, .path = path};
        const auto result = spmd::Cluster(of_ranks(3)).run(job);
        CHECK(read_file(path) == as_lines(counted(text)));
        CHECK(result.pairs().empty());
        CHECK(folder.names() == std::vector<std::string>{"counts"});
    }
}

void each_rank_has_a_file()
{
    const Folder folder;
    const std::string text = made_text(5000);
    auto job = word_count(text);
    job.output = {.where = spmd::Output::Where::each, .path = folder.path("counts")};
    spmd::Cluster(of_ranks(3)).run(job);
    const std::vector<std::string> names = folder.names();
    CHECK(names == std::vector<std::string>({"counts.0-of-3", "counts.1-of-3", "counts.2-of-3"}));
    std::vector<std::string> lines;
    for (const std::string &name : names) {
        const std::string part = read_file(folder.path(name));
        CHECK(!part.empty());
        for (std::size_t at = 0; at < part.size(); at = part.find('\n', at) + 1)
            lines.push_back(part.substr(at, part.find('\n', at) + 1 - at));
    }
    std::sort(lines.begin(), lines.end());
    std::string all;
    for (const std::string &line : lines)
        all += line;
    std::vector<std::string> expected;
    for (const auto &[word, count] : counted(text))
        expected.push_back(word + "\t" + std::to_string(count) + "\n");
    std::sort(expected.begin(), expected.end());
    CHECK(lines == expected);
}

void a_format_is_the_jobs()
{
    const Folder folder;
    const std::string text = "b a b";
    auto job = word_count(text);
    job.output.path = folder.path("counts");
    job.format = [](std::string_view key, std::uint64_t value, std::string &to) {
        to += key;
        to += std::to_string(value) + ";";
    };
    spmd::Cluster(of_ranks(2)).run(job);
    CHECK(read_file(folder.path("counts")) == "a1;b2;");
}

void files_are_read()
{
    const Folder folder;
    const std::string text = made_text(5000), path = folder.path("text");
    write_file(path, text);
    auto job = word_count("");
    job.input = spmd::Input::file(path, spmd::Records::lines());
    CHECK(as_map(spmd::Cluster(of_ranks(3)).run(job).pairs()) == counted(text));
    write_file(folder.path("empty"), "");
    job.input = spmd::Input::file(folder.path("empty"), spmd::Records::lines());
    CHECK(spmd::Cluster(of_ranks(2)).run(job).pairs().empty());
}

/* Nothing fits, so all pairs go through a file, which has no name. */
void pairs_are_spilled()
{
    const Folder folder;
    const std::string text = made_text(20000);
    for (const unsigned ranks : {1, 3}) {
        spmd::Options options = of_ranks(ranks);
        options.memory = 1;
        options.folder = folder.path();
        const auto result = spmd::Cluster(options).run(word_count(text));
        CHECK(as_map(result.pairs()) == counted(text));
        CHECK(result.report.ranks[0].spilled > 0);
        CHECK(folder.names().empty());
    }
}

void a_report_says_who_did_what()
{
    const std::string text = made_text(20000);
    spmd::Options options = of_ranks(3);
    const auto result = spmd::Cluster(options).run(word_count(text));
    const spmd::Report &report = result.report;
    CHECK_EQ(report.ranks.size(), std::size_t{3});
    CHECK_EQ(report.input_bytes, text.size());
    std::uint64_t bytes = 0, results = 0;
    for (const spmd::Report::Rank &rank : report.ranks) {
        bytes += rank.devices.at(0).bytes;
        results += rank.results;
    }
    CHECK(bytes >= text.size());
    CHECK_EQ(results, result.pairs().size());
    CHECK_EQ(report.p, 1.0);
    const auto json = nlohmann::json::parse(report.json());
    CHECK_EQ(json.at("ranks").size(), std::size_t{3});
    CHECK(has(report.text(), "rank 2: map until"));
}

void a_timeline_is_written()
{
    const Folder folder;
    const std::string text = made_text(2000);
    spmd::Options options = of_ranks(2);
    options.timeline = folder.path("timeline");
    spmd::Cluster(options).run(word_count(text));
    CHECK(folder.names() == std::vector<std::string>({"timeline.0", "timeline.1"}));
    const auto json = nlohmann::json::parse(read_file(folder.path("timeline.0")));
    std::size_t stages = 0;
    for (const auto &event : json.at("traceEvents"))
        stages += event.at("name") == "shuffle";
    CHECK_EQ(stages, std::size_t{1});
}

} // namespace

std::vector<tap::Case> test::output_cases()
{
    return {
        {"a file has all", a_file_has_all},
        {"each rank has a file", each_rank_has_a_file},
        {"a format is the job's", a_format_is_the_jobs},
        {"files are read", files_are_read},
        {"pairs are spilled", pairs_are_spilled},
        {"a report says who did what", a_report_says_who_did_what},
        {"a timeline is written", a_timeline_is_written},
    };
}
