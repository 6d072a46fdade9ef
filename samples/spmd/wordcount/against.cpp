// SPDX-License-Identifier: MIT
#include "samples/spmd/wordcount/against.hpp"

#include "samples/spmd/wordcount/command.hpp"
#include "samples/spmd/wordcount/job.hpp"

#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>

namespace ptsched::samples::wordcount {

namespace {

/* Goes with all that is in it. */
class Folder {
public:
    Folder() : path_(std::filesystem::temp_directory_path() / "spmd-wordcount-XXXXXX")
    {
        if (!mkdtemp(path_.data()))
            throw Error("cannot make a folder for files, as " + path_ + " (TMPDIR names another place)");
    }
    ~Folder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;
    std::string file(const char *name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

void write_text(const std::string &path, std::string_view text)
{
    std::ofstream file(path, std::ios::binary);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
    if (!file)
        throw Error("cannot write " + path + ": is there room for " + std::to_string(text.size()) +
                    " bytes? (TMPDIR names another place)");
}

/* A word, what stands between them, and a number. */
std::pair<std::string, std::uint64_t> read_line(const std::string &line, std::size_t number, const std::string &by)
{
    const std::size_t end = line.find_first_of(" \t"), begin = line.find_first_not_of(" \t", end);
    std::uint64_t count = 0;
    if (end != 0 && begin != std::string::npos) {
        const char *const last = line.data() + line.size();
        if (std::from_chars(line.data() + begin, last, count).ptr == last)
            return {line.substr(0, end), count};
    }
    throw Error("line " + std::to_string(number) + " of what " + by + " says is \"" + line.substr(0, 80) +
                "\": a word, a space and how many there are of it are expected");
}

/* In order. */
Counts read_counts(const std::string &path, const std::string &by)
{
    Counts counts;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);)
        counts.push_back(read_line(line, counts.size() + 1, by));
    std::sort(counts.begin(), counts.end());
    return counts;
}

void compare(const Counts &ours, const Counts &theirs, const std::string &by)
{
    const auto [own, other] = std::mismatch(ours.begin(), ours.end(), theirs.begin(), theirs.end());
    if (own == ours.end() && other == theirs.end())
        return;
    const auto text = [](const Counts &all, const auto &at) {
        return at == all.end() ? "no more words" : at->first + " " + std::to_string(at->second);
    };
    throw Error(by + " counts otherwise: first \"" + text(theirs, other) + "\", where spmd says \"" + text(ours, own) +
                "\" (in the order of words)");
}

class Sides {
public:
    Sides(Problem &problem, const SpmdSettings &spmd, const Mode &mode, std::string command, unsigned seconds)
        : spmd_(spmd), mode_(mode), command_(std::move(command)), seconds_(seconds),
          text_(problem.shape.file.empty() ? folder_.file("text") : problem.shape.file)
    {
        if (problem.shape.file.empty())
            write_text(text_, problem.all_text());
    }
    void run_own() const
    {
        auto job = counting(spmd::Input::file(text_, separators()));
        spmd_.choose(job, mode_, "count_words");
        job.output = {.where = spmd::Output::Where::root, .path = own_};
        spmd_.cluster().run(job);
    }
    void run_other() const { run_command(command_, {{"TEXT", text_}}, other_, seconds_); }
    void check(Problem &problem) const
    {
        const Counts ours = read_counts(own_, "spmd");
        problem.check(ours, "by spmd, from a file to a file");
        compare(ours, read_counts(other_, command_), command_);
    }

private:
    const Folder folder_;
    const SpmdSettings &spmd_;
    const Mode mode_;
    const std::string command_;
    const unsigned seconds_;
    const std::string text_, own_ = folder_.file("own"), other_ = folder_.file("other");
};

template <typename Function> double milliseconds_in(const Function &function)
{
    const auto begin = std::chrono::steady_clock::now();
    function();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
}

} // namespace

void measure_against(Problem &problem, const Settings &settings, const SpmdSettings &spmd, Report &report,
                     const std::string &command, unsigned seconds)
{
    if (problem.ranks.count() > 1)
        throw Error("--against is for one rank: without mpirun");
    const Interruptions interruptions;
    const Sides sides(problem, spmd, common_mode(settings), command, seconds);
    sides.run_own();
    sides.run_other();
    sides.check(problem);
    if (settings.check)
        return;
    std::vector<double> own, other;
    for (unsigned round = 0; round < settings.rounds(); round++) {
        own.push_back(milliseconds_in([&] { sides.run_own(); }));
        other.push_back(milliseconds_in([&] { sides.run_other(); }));
    }
    report.record("wordcount/file_ms", spread_of(own), "ms", "from a file to a file");
    report.record("wordcount/against_ms", spread_of(other), "ms", command);
    report.record("wordcount/over-against", spread_of(ratios(other, own)), "", "time of " + command + " / its own");
}

} // namespace ptsched::samples::wordcount
