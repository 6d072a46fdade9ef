// SPDX-License-Identifier: MIT
#include "tests/spmd/run/cases.hpp"

#include <random>

namespace test {
namespace {

constexpr std::string_view blanks = " \t\n\v\f\r";

template <typename Function> void for_each_word(std::string_view text, Function function)
{
    for (std::size_t at = 0; (at = text.find_first_not_of(blanks, at)) != text.npos;) {
        const std::size_t end = std::min(text.find_first_of(blanks, at), text.size());
        function(text.substr(at, end - at));
        at = end;
    }
}

} // namespace

std::string made_text(unsigned words)
{
    std::mt19937 random(1);
    std::string text;
    for (unsigned i = 0; i < words; i++) {
        const unsigned which = random() % (1 + random() % 500);
        text += "word" + std::to_string(which) + (random() % 9 == 0 ? "\n" : " ");
    }
    return text;
}

Counts counted(const std::string &text)
{
    Counts counts;
    for_each_word(text, [&](std::string_view word) { counts[std::string(word)]++; });
    return counts;
}

spmd::Job<spmd::Bytes, std::uint64_t> word_count(const std::string &text)
{
    spmd::Job<spmd::Bytes, std::uint64_t> job;
    job.name = "words";
    job.input = spmd::Input::text(text, spmd::Records::words());
    job.block_bytes = 5000;
    job.cpu.map = [](const spmd::Block &block, auto &out) {
        for_each_word(block.text(), [&](std::string_view word) { out(word, 1); });
    };
    job.cpu.combine = [](std::uint64_t &into, std::uint64_t value) { into += value; };
    return job;
}

} // namespace test
