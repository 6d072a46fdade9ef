// SPDX-License-Identifier: MIT
/* Parts of an input by shares. */
#include "libptsched/spmd/schedule/parts.hpp"

#include "tests/spmd/model/cases.hpp"

#include <functional>

namespace test {
namespace {

using namespace ptsched::spmd::schedule;

/* Whatever the shares are, all of it is somebody's, and nobody has something without a share. */
void test_parts()
{
    holds("parts are all of the input", [] {
        Dice dice;
        const Records records = random_records();
        const Range all{0, records.bytes()};
        std::vector<double> shares(1 + dice.below(6));
        for (double &share : shares)
            share = static_cast<double>(dice.below(4));
        shares[dice.below(shares.size())] = 1;
        const std::vector<Home> parts = parts_by(shares, all, records.border(), dice.below(3) * 16);
        std::vector<Range> ranges;
        for (const Home &part : parts) {
            RC_ASSERT(shares.at(part.who) > 0);
            RC_ASSERT(records.are_whole(part.range));
            ranges.push_back(part.range);
        }
        RC_ASSERT(are_all_of(ranges, all));
        const auto is_before = [](const Home &a, const Home &b) {
            return a.who < b.who && a.range.end == b.range.begin;
        };
        RC_ASSERT(std::adjacent_find(parts.begin(), parts.end(), std::not_fn(is_before)) == parts.end());
    });
}

void test_part_sizes()
{
    const Border any = [](std::uint64_t at) { return at; };
    const auto is = [&](const std::vector<double> &shares, std::uint64_t grid, const std::vector<Home> &wanted) {
        const std::vector<Home> parts = parts_by(shares, {100, 200}, any, grid);
        return std::equal(parts.begin(), parts.end(), wanted.begin(), wanted.end(),
                          [](const Home &a, const Home &b) { return a.who == b.who && a.range == b.range; });
    };
    CHECK(is({1, 0, 3}, 0, {{0, {100, 125}}, {2, {125, 200}}}));
    CHECK(is({0.5, 0.5}, 0, {{0, {100, 150}}, {1, {150, 200}}}));
    CHECK(is({1, 3}, 40, {{0, {100, 120}}, {1, {120, 200}}}));
    CHECK(is({0.001, 1}, 40, {{0, {100, 120}}, {1, {120, 200}}}));
    CHECK(is({0, 1, 0}, 0, {{1, {100, 200}}}));
}

} // namespace

std::vector<tap::Case> part_cases()
{
    return {{"parts of an input are all of it", test_parts},
            {"parts of an input are as large as shares say", test_part_sizes}};
}

} // namespace test
