/* SPDX-License-Identifier: MIT */
/* How often each word is in a text. It is made of lines, in blocks that each rank makes its part of; or a file's. */
#ifndef SAMPLES_SPMD_WORDCOUNT_PROBLEM_HPP
#define SAMPLES_SPMD_WORDCOUNT_PROBLEM_HPP

#include "samples/spmd/common/forward.hpp"
#include "samples/spmd/common/input.hpp"
#include "samples/spmd/common/ranks.hpp"

#include <string_view>

namespace ptsched::samples::wordcount {

/* Of text that is made: words of a vocabulary, of which some are much more frequent than others. */
constexpr std::size_t block_bytes = std::size_t{1} << 16;

struct Shape {
    std::size_t blocks;
    std::string file = {}; /* whose text it is, in place of blocks that are made */
};

inline bool is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Calls @function(word) for each. */
template <typename Function> void each_word(std::string_view text, const Function &function)
{
    const char *at = text.data(), *const end = at + text.size();
    while (at < end) {
        while (at < end && is_space(*at))
            at++;
        const char *const begin = at;
        while (at < end && !is_space(*at))
            at++;
        if (at > begin)
            function(std::string_view(begin, static_cast<std::size_t>(at - begin)));
    }
}

/* The words in order, and how many there are of each. */
using Counts = std::vector<std::pair<std::string, std::uint64_t>>;

/* In sequence, by one thread. */
Counts count_in_sequence(std::string_view text);

class Problem {
public:
    Problem(const Ranks &ranks, const Shape &shape);
    const Ranks &ranks;
    const Shape shape;
    /* Of this rank: whole lines. */
    std::string_view text() const { return all_text().substr(share_.first, share_.count); }
    std::string_view all_text() const { return {text_.data(), bytes_}; } /* of all ranks */
    /* Throws Error if they are others than those of the reference or, where there is none, the first that came. */
    void check(const Counts &counts, const std::string &by);

private:
    void make();
    void read();

    const Share share_; /* in bytes */
    const std::size_t bytes_;
    const Elements<char> text_;
    Counts expected_;
};

/* @threads: of each rank; 0: as the ranks have. */
std::unique_ptr<Way> by_openmp(Problem &problem, unsigned threads = 0);
std::unique_ptr<SpmdWay> by_spmd(Problem &problem, const SpmdSettings &settings, const Mode &mode);

} // namespace ptsched::samples::wordcount

#endif /* SAMPLES_SPMD_WORDCOUNT_PROBLEM_HPP */
