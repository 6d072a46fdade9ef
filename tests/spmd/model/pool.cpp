// SPDX-License-Identifier: MIT
/* Input that is cut at the borders of records. */
#include "libptsched/spmd/schedule/pool.hpp"

#include "tests/spmd/model/cases.hpp"

#include <stdexcept>

namespace test {
namespace {

using namespace ptsched::spmd::schedule;
using From = Pool::From;

void test_cut()
{
    const Records records({10, 10, 10, 100, 10, 10});
    Pool pool(records.border(), 0);
    pool.add({0, 150});
    CHECK(pool.take(Pool::everybody, 15, From::front) == (Range{0, 20}));
    CHECK(pool.take(Pool::everybody, 15, From::back) == (Range{140, 150}));
    /* The record before is longer than what is asked for, and not divided. */
    CHECK(pool.take(Pool::everybody, 5, From::back) == (Range{130, 140}));
    CHECK(pool.take(Pool::everybody, 5, From::back) == (Range{30, 130}));
    CHECK_EQ(pool.bytes(), std::uint64_t{10});
    CHECK(pool.take(Pool::everybody, 5, From::back) == (Range{20, 30}));
    CHECK(!pool.take(Pool::everybody, 5, From::back));
    /* A rest that is small goes with it. */
    pool.add({0, 30});
    CHECK(pool.take(Pool::everybody, 20, From::front) == (Range{0, 20}));
    pool.add({0, 20});
    CHECK(pool.take(Pool::everybody, 25, From::front) == (Range{0, 30}));
}

void test_once()
{
    holds("each record is taken once, and whole", [] {
        const Records records = random_records();
        const std::uint64_t grid = *rc::gen::element<std::uint64_t>(0, 1, 7, 50, 1000);
        Pool pool(records.border(), grid);
        pool.add({0, records.bytes()});
        std::vector<Range> taken;
        Dice dice;
        while (pool.bytes()) {
            const auto from = dice.below(2) ? From::front : From::back;
            const auto most = dice.below(2) ? ~std::uint64_t{0} : 30;
            const auto range = pool.take(Pool::everybody, dice.below(100), from, most);
            RC_ASSERT(range && records.are_whole(*range));
            if (!dice.below(8)) {
                pool.add(*range);
                continue;
            }
            taken.push_back(*range);
            /* Larger than it may be only if it is one record, or one piece of the grid. */
            const std::uint64_t piece = grid ? (range->begin / grid + 1) * grid : range->begin + 1;
            RC_ASSERT(range->size() <= most || records.border()(std::min(piece, records.bytes())) >= range->end);
        }
        RC_ASSERT(are_all_of(taken, {0, records.bytes()}));
    });
}

void test_grid()
{
    holds("who takes from which end does not change the pieces of a grid", [] {
        const Records records = random_records();
        const std::uint64_t grid = *rc::gen::inRange<std::uint64_t>(1, 100);
        Pool pool(records.border(), grid);
        pool.add({0, records.bytes()});
        std::vector<std::uint64_t> cuts{records.bytes()};
        Dice dice;
        while (pool.bytes())
            cuts.push_back(pool.take(Pool::everybody, 1, dice.below(2) ? From::front : From::back)->begin);
        std::sort(cuts.begin(), cuts.end());
        RC_ASSERT(cuts == records.grid(grid));
    });
}

void test_homes()
{
    const Records records({10, 10, 10, 10, 10, 10});
    Pool pool(records.border(), 0);
    pool.add({0, 60}, {{2, {30, 40}}, {1, {10, 20}}, {1, {20, 30}}, {3, {55, 70}}});
    CHECK_EQ(pool.bytes_of(1), std::uint64_t{20});
    CHECK_EQ(pool.bytes_of(3), std::uint64_t{0});
    CHECK_EQ(pool.bytes_of(Pool::everybody), std::uint64_t{30});
    /* One's own are as they were. */
    CHECK(pool.take(1, 100, From::front) == (Range{10, 20}));
    pool.disown(1);
    CHECK(pool.take(Pool::everybody, 100, From::front) == (Range{0, 10}));
    CHECK(pool.take(Pool::everybody, 100, From::front) == (Range{20, 30}));
    CHECK(pool.take(Pool::everybody, 100, From::front) == (Range{40, 60}));
    CHECK_EQ(pool.bytes(), pool.bytes_of(2));
}

void test_throwing_border()
{
    bool broken = false;
    Pool pool(
        [&](std::uint64_t at) {
            if (broken)
                throw std::runtime_error("the file has become shorter");
            return at;
        },
        0);
    pool.add({0, 100});
    broken = true;
    CHECK(error_of([&] { pool.take(Pool::everybody, 10, From::front); }) == "the file has become shorter");
    CHECK_EQ(pool.bytes(), std::uint64_t{100});
    broken = false;
    CHECK(pool.take(Pool::everybody, 10, From::front) == (Range{0, 10}));
}

} // namespace

std::vector<tap::Case> pool_cases()
{
    return {
        {"input is cut at records", test_cut},
        {"input is taken once", test_once},
        {"pieces of a grid", test_grid},
        {"whose a part is", test_homes},
        {"a border that throws", test_throwing_border},
    };
}

} // namespace test
