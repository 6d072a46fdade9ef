/* SPDX-License-Identifier: MIT */
/* What the tests of the model and the schedulers share. */
#ifndef TEST_SPMD_MODEL_CASES_HPP
#define TEST_SPMD_MODEL_CASES_HPP

#include "libptsched/spmd/schedule/range.hpp"
#include "tests/vgpu/tap.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <rapidcheck.h>
#include <string>
#include <vector>

namespace test {

namespace schedule = ptsched::spmd::schedule;

/* Of each file of this folder. */
std::vector<tap::Case> model_cases();
std::vector<tap::Case> block_cases();
std::vector<tap::Case> pool_cases();
std::vector<tap::Case> part_cases();
std::vector<tap::Case> split_cases();
std::vector<tap::Case> master_cases();
std::vector<tap::Case> simulate_cases();

/* What rapidcheck finds is a case that failed. */
template <typename Body> void holds(const std::string &what, Body body)
{
    CHECK(rc::check(what, body));
}

inline bool near(double a, double b, double relative = 1e-9)
{
    return std::abs(a - b) <= relative * std::max(std::abs(a), std::abs(b));
}

/* What is thrown, as text; empty if nothing is. */
template <typename Body> std::string error_of(Body body)
{
    try {
        body();
        return "";
    } catch (const std::exception &error) {
        return error.what();
    }
}

/* For loops: unlike rapidcheck's own numbers, these do not depend on how far a test has come. */
class Dice {
public:
    Dice() : random_(*rc::gen::arbitrary<std::uint64_t>()) {}

    std::uint64_t below(std::uint64_t end) { return random_() % end; }

private:
    std::mt19937_64 random_;
};

/* An input of records with these sizes. */
class Records {
public:
    explicit Records(const std::vector<std::uint64_t> &sizes)
    {
        for (const std::uint64_t size : sizes)
            borders_.push_back(borders_.back() + size);
    }

    std::uint64_t bytes() const { return borders_.back(); }
    std::size_t count() const { return borders_.size() - 1; }
    bool is_border(std::uint64_t at) const { return std::binary_search(borders_.begin(), borders_.end(), at); }
    bool are_whole(const schedule::Range &range) const
    {
        return range.begin < range.end && is_border(range.begin) && is_border(range.end);
    }
    schedule::Border border() const
    {
        return [borders = borders_](std::uint64_t at) {
            const auto found = std::lower_bound(borders.begin(), borders.end(), at);
            return found == borders.end() ? borders.back() : *found;
        };
    }
    /* The pieces that a grid makes of it, by their borders. */
    std::vector<std::uint64_t> grid(std::uint64_t grid) const
    {
        std::vector<std::uint64_t> cuts;
        for (std::uint64_t at = 0; at < bytes() + grid; at += grid)
            cuts.push_back(border()(std::min(at, bytes())));
        cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
        return cuts;
    }

private:
    std::vector<std::uint64_t> borders_{0};
};

/* Mostly small ones, and some that are longer than any block. */
inline Records random_records(int most = 200)
{
    const auto small = rc::gen::inRange<std::uint64_t>(1, 20);
    const auto sizes = *rc::gen::resize(
        most, rc::gen::nonEmpty(rc::gen::container<std::vector<std::uint64_t>>(rc::gen::weightedOneOf<std::uint64_t>(
                  {{20, small}, {1, rc::gen::inRange<std::uint64_t>(20, 500)}}))));
    return Records(sizes);
}

/* Each byte once: sorted, they follow one another. */
inline bool are_all_of(std::vector<schedule::Range> ranges, const schedule::Range &whole)
{
    std::sort(ranges.begin(), ranges.end(), [](auto &a, auto &b) { return a.begin < b.begin; });
    std::uint64_t at = whole.begin;
    for (const schedule::Range &range : ranges) {
        if (range.begin != at)
            return false;
        at = range.end;
    }
    return at == whole.end;
}

} // namespace test

#endif /* TEST_SPMD_MODEL_CASES_HPP */
