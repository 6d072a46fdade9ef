// SPDX-License-Identifier: MIT
/* What the schedulers are measured against. */
#include "tests/simulate/simulate_test.hpp"
#include "tools/ptsim/bound.hpp"
#include "tools/ptsim/fluid.hpp"

#include <cmath>

namespace simulate_test {
namespace {

using namespace ptsim;

bool near(double a, double b)
{
    return std::abs(a - b) < 1e-6 * std::max(1.0, std::abs(b));
}

/* 2 to 1 until the heavier one has had its 60, which is at 90; then the other has all. */
void test_by_weight()
{
    Fluid fluid(2);
    fluid.add(0, 200, 60);
    fluid.add(1, 100, Fluid::kForever);
    fluid.advance(30);
    CHECK(near(fluid.service_ns(0), 20));
    CHECK(near(fluid.service_ns(1), 10));
    fluid.advance(120);
    CHECK(near(fluid.service_ns(0), 60));
    CHECK(near(fluid.service_ns(1), 60));
}

/* Work that comes while there is some is done after it; a pause is nobody's time. */
void test_more_work()
{
    Fluid fluid(2);
    fluid.advance(10);
    fluid.add(0, 1, 10);
    fluid.add(1, 1, 20);
    fluid.advance(20);
    fluid.add(0, 1, 10);
    fluid.advance(50);
    CHECK(near(fluid.service_ns(0), 20));
    CHECK(near(fluid.service_ns(1), 20));
    fluid.advance(100);
    fluid.add(1, 1, 5);
    fluid.advance(103);
    CHECK(near(fluid.service_ns(0), 20));
    CHECK(near(fluid.service_ns(1), 23));
}

void test_measures()
{
    CHECK(near(jain({1, 1, 1, 1}), 1));
    CHECK(near(jain({4, 0, 0, 0}), 0.25));
    CHECK(near(percentile({5, 1, 4, 2, 3}, 0.5), 3));
    CHECK(near(percentile({5, 1, 4, 2, 3}, 0.99), 5));
    CHECK(near(percentile({}, 0.5), 0));
}

/* The bound counts who is not lighter: the heaviest has the others of its weight in its way only. */
void test_bound()
{
    const Scenario scenario = hogs({0, 0, 5}, 2 * kMs, kSecond);
    const std::vector<LagBound> bounds = lag_bounds(scenario);
    const double turn = bounds[0].ahead_ns;
    CHECK(near(turn, 30e6 + 30e6 / 16 + 2e6 + 0.1e6));
    CHECK(near(bounds[0].behind_ns, 2 * turn));
    CHECK(near(bounds[2].behind_ns, 3 * turn));
}

} // namespace

std::vector<tap::Case> fluid_cases()
{
    return {
        {"the fluid schedule serves by weight", test_by_weight},
        {"the fluid schedule ends, and begins again", test_more_work},
        {"Jain's index and percentiles", test_measures},
        {"the bound on lag", test_bound},
    };
}

} // namespace simulate_test
