/* SPDX-License-Identifier: MIT */
/* What the tests of jobs share. */
#ifndef TEST_SPMD_RUN_CASES_HPP
#define TEST_SPMD_RUN_CASES_HPP

#include "libptsched/spmd/run/engine.hpp"
#include "tests/vgpu/tap.h"
#include <ptsched/spmd.hpp>

#include <map>
#include <string>
#include <vector>

namespace test {

namespace spmd = ptsched::spmd;

/* Of each file of this folder. */
std::vector<tap::Case> job_cases();
std::vector<tap::Case> output_cases();
std::vector<tap::Case> failure_cases();
std::vector<tap::Case> device_cases();
std::vector<tap::Case> run_cases();
std::vector<tap::Case> machine_cases();
std::vector<tap::Case> plan_cases();

/* What counts as a GPU here: two cores. */
std::unique_ptr<spmd::Engine> cores_as_gpu(const spmd::Program &program, std::uint64_t memory = 0);

/* Ranks of this process, with two threads each. */
spmd::Options of_ranks(unsigned ranks);

/* A folder that goes with all that is in it. */
class Folder {
public:
    Folder();
    ~Folder();
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;

    std::string path(const std::string &name) const { return path_ + "/" + name; }
    const std::string &path() const { return path_; }
    /* Names of what is in it. */
    std::vector<std::string> names() const;

private:
    std::string path_;
};
std::string read_file(const std::string &path);
void write_file(const std::string &path, const std::string &text);

/* Files can have no more than so many bytes meanwhile: what a full disk looks like to who writes. */
class SmallDisk {
public:
    explicit SmallDisk(unsigned long bytes);
    ~SmallDisk();
    SmallDisk(const SmallDisk &) = delete;
    SmallDisk &operator=(const SmallDisk &) = delete;
};

using Counts = std::map<std::string, std::uint64_t>;

/* A text of @words words, some of them much more often than others; always the same. */
std::string made_text(unsigned words);
Counts counted(const std::string &text);
/* A job that counts them. */
spmd::Job<spmd::Bytes, std::uint64_t> word_count(const std::string &text);
template <typename List> Counts as_map(const List &pairs)
{
    Counts counts;
    for (const auto [key, value] : pairs)
        counts[std::string(key)] = value;
    return counts;
}

/* What a call throws, as text; empty if it throws nothing. */
template <typename Function> std::string thrown_by(Function function)
{
    try {
        function();
    } catch (const std::exception &error) {
        return error.what();
    }
    return {};
}

inline bool has(const std::string &text, const std::string &part)
{
    if (text.find(part) != text.npos)
        return true;
    std::printf("# \"%s\" is not in \"%s\"\n", part.c_str(), text.c_str());
    return false;
}

} // namespace test

#endif /* TEST_SPMD_RUN_CASES_HPP */
