// SPDX-License-Identifier: MIT
/* What of the time between two events the device spent on the program's work. */
#include "libptsched/preload/meter/event_times.hpp"
#include "tests/vgpu/tap.h"

#include <cmath>

namespace {

using ptsched::preload::EventClock;
using ptsched::preload::IntervalUnion;
using ptsched::preload::Periods;

constexpr std::uint64_t ms = 1000000;

bool near(double one, double other)
{
    return std::abs(one - other) < 1e-6;
}

void what_overlaps_counts_once()
{
    IntervalUnion busy;
    CHECK(near(busy.add(0, 10), 10));
    CHECK(near(busy.add(5, 15), 5));
    CHECK(near(busy.add(20, 30), 10));
    CHECK(near(busy.add(12, 25), 5));
    CHECK(near(busy.add(0, 30), 0));
    CHECK(near(busy.add(7, 7), 0));
    busy.shift(-10);
    CHECK(near(busy.add(-10, 25), 5));
}

void periods_add_up()
{
    Periods periods;
    CHECK_EQ(periods.until(5), 0u);
    periods.begin(10);
    CHECK_EQ(periods.until(10), 0u);
    CHECK_EQ(periods.until(14), 4u);
    periods.end(20);
    periods.begin(30);
    periods.end(35);
    CHECK_EQ(periods.until(9), 0u);
    CHECK_EQ(periods.until(15), 5u);
    CHECK_EQ(periods.until(25), 10u);
    CHECK_EQ(periods.until(32), 12u);
    CHECK_EQ(periods.until(1000), 15u);
}

/* However many there are: for what began before all of them, and after those that became one. */
void many_periods_are_all_counted()
{
    Periods periods;
    constexpr std::uint64_t count = 5000;
    for (std::uint64_t i = 1; i <= count; i++) {
        periods.begin(10 * i);
        periods.end(10 * i + 4);
    }
    CHECK_EQ(periods.until(10), 0u);
    CHECK_EQ(periods.until(10 * count + 9), 4 * count);
    CHECK_EQ(periods.until(10 * (count - 100) + 2), 4 * (count - 101) + 2);
}

void an_event_was_not_seen_before_it_came()
{
    EventClock clock;
    /* Seen 3 ms late. */
    clock.saw(0, 10, 100 * ms, 113 * ms);
    CHECK_EQ(clock.host_ns(0), 103 * ms);
    /* At once: the base was earlier than it seemed. */
    clock.saw(10, 20, 105 * ms, 120 * ms);
    CHECK_EQ(clock.host_ns(0), 100 * ms);
    CHECK_EQ(clock.host_ns(20), 120 * ms);
    /* Late again: that one is believed no more than the last one. */
    clock.saw(20, 30, 105 * ms, 140 * ms);
    CHECK(clock.host_ns(0) >= 100 * ms && clock.host_ns(0) < 100 * ms + ms / 100);
}

void it_did_not_begin_before_it_was_submitted()
{
    EventClock clock;
    clock.saw(0, 10, 100 * ms, 110 * ms);
    clock.saw(20, 30, 125 * ms, 140 * ms);
    CHECK_EQ(clock.host_ns(0), 105 * ms);
}

void clocks_may_drift()
{
    EventClock clock;
    /* The host's is faster by 1 in 10,000. */
    for (std::uint64_t i = 0; i < 100000; i++) {
        double begin = static_cast<double>(i), end = begin + 0.5;
        std::uint64_t seen = (i + 100) * ms + ms / 2 + i * ms / 10000;
        clock.saw(begin, end, seen - 20 * ms, seen);
    }
    std::uint64_t last = 100099 * ms + 10 * ms, told = clock.host_ns(99999);
    CHECK(told > last - ms / 10 && told < last + ms / 10);
}

void another_base_changes_nothing()
{
    EventClock clock;
    clock.saw(0, 10, 100 * ms, 110 * ms);
    clock.rebase(10);
    CHECK_EQ(clock.host_ns(5), 115 * ms);
    clock.clear();
    clock.saw(0, 10, 1000 * ms, 1010 * ms);
    CHECK_EQ(clock.host_ns(0), 1000 * ms);
}

} // namespace

int main()
{
    return tap::run({
        {"what overlaps counts once", what_overlaps_counts_once},
        {"periods add up", periods_add_up},
        {"many periods are all counted", many_periods_are_all_counted},
        {"an event was not seen before it came", an_event_was_not_seen_before_it_came},
        {"work did not begin before it was submitted", it_did_not_begin_before_it_was_submitted},
        {"clocks may drift", clocks_may_drift},
        {"another base changes nothing", another_base_changes_nothing},
    });
}
