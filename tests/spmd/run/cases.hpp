/* SPDX-License-Identifier: MIT */
/* What the tests of jobs share. */
#ifndef TEST_SPMD_RUN_CASES_HPP
#define TEST_SPMD_RUN_CASES_HPP

#include "tests/vgpu/tap.h"
#include <ptsched/spmd.hpp>

#include <map>
#include <string>
#include <vector>

namespace test {

namespace spmd = ptsched::spmd;

/* Of each file of this folder. */
std::vector<tap::Case> job_cases();

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
