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

/* Each record is its key's, in another order; values come from all ranks. */
void values_have_their_places()
{
    constexpr std::uint64_t count = 5000;
    std::vector<std::uint64_t> numbers(count);
    for (std::uint64_t i = 0; i < count; i++)
        numbers[i] = (i * 7919 + 3) % count;
    spmd::Job<std::uint64_t, std::uint64_t> job;
    job.input = spmd::Input::memory(std::span<const std::uint64_t>(numbers));
    job.cpu.map = [](const spmd::Block &block, auto &out) {
        for (const std::uint64_t number : block.as<std::uint64_t>())
            out(number, number * number);
    };
    job.partitions = 7;
    for (const unsigned ranks : {1, 3}) {
        std::vector<std::uint64_t> squares(count + 1, 77);
        job.output = {.where = spmd::Output::Where::root,
                      .value_bytes = sizeof(std::uint64_t),
                      .into = std::as_writable_bytes(std::span(squares))};
        const auto result = spmd::Cluster(of_ranks(ranks)).run(job);
        CHECK(result.pairs().empty());
        for (std::uint64_t i = 0; i < count; i++)
            if (squares[i] != i * i)
                CHECK_EQ(squares[i], i * i);
        CHECK_EQ(squares[count], std::uint64_t{77});
        std::uint64_t results = 0;
        for (const spmd::Report::Rank &rank : result.report.ranks)
            results += rank.results;
        CHECK_EQ(results, count);
    }
}

spmd::Job<std::int64_t, spmd::Bytes> job_of_strings(std::span<std::byte> into)
{
    spmd::Job<std::int64_t, spmd::Bytes> job;
    job.input = spmd::Input::text("3 1 2 0", spmd::Records::words());
    job.cpu.map = [](const spmd::Block &block, auto &out) {
        for (const char digit : block.text())
            if (digit != ' ')
                out(digit - '0', std::string(2, digit));
    };
    job.output = {.where = spmd::Output::Where::root, .value_bytes = 2, .into = into};
    return job;
}

void values_without_a_place()
{
    std::string memory(8, '-');
    const auto bytes = std::as_writable_bytes(std::span(memory));
    const auto error_of = [&](const auto &job) { return thrown_by([&] { spmd::Cluster(of_ranks(2)).run(job); }); };
    CHECK(error_of(job_of_strings(bytes)).empty());
    CHECK(memory == "00112233");
    CHECK(has(error_of(job_of_strings(bytes.first(7))), "key 3 has no place: Output::into has 3, from 0 on"));
    auto job = job_of_strings(bytes);
    job.cpu.map = [](const spmd::Block &, auto &out) { out(-1, std::string("--")); };
    CHECK(has(error_of(job), "key -1 has no place"));
    job.cpu.map = [](const spmd::Block &, auto &out) { out(0, std::string("too long")); };
    CHECK(has(error_of(job), "a value has 8 bytes, and Output::value_bytes says that each has 2"));
    job = job_of_strings(bytes);
    job.output.where = spmd::Output::Where::everywhere;
    CHECK(has(error_of(job), "Output::where is to be root"));
    job = job_of_strings(bytes);
    job.output.path = "file";
    CHECK(has(error_of(job), "results go to one of the two"));
    job = job_of_strings(bytes);
    job.cpu.reduce = [](std::int64_t, auto) { return std::string(); };
    CHECK(has(error_of(job), "for maps alone"));
    auto counts = word_count("a b");
    counts.output = job_of_strings(bytes).output;
    CHECK(has(error_of(counts), "keys are integers of 8 bytes"));
    spmd::Job<std::uint64_t, std::uint32_t> narrow;
    narrow.input = job.input;
    narrow.cpu.map = [](const spmd::Block &, auto &) {};
    narrow.output = job_of_strings(bytes).output;
    CHECK(has(error_of(narrow), "which is 2, and its values have 4 bytes"));
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
        {"values have their places", values_have_their_places},
        {"values without a place are an error", values_without_a_place},
        {"a report says who did what", a_report_says_who_did_what},
        {"a timeline is written", a_timeline_is_written},
    };
}
