// SPDX-License-Identifier: MIT
/* For how long an idle program keeps a turn that others want. */
#include "libptsched/base/linger.hpp"
#include "tests/vgpu/tap.h"

namespace {

using ptsched::Linger;

constexpr std::uint64_t usual = 150000, at_once = 300000, later = 20000000;

/* Gives a turn back, comes back after @away ns, and has the next one @wait ns after that. */
void leave(Linger &linger, std::uint64_t away, std::uint64_t wait)
{
    static std::uint64_t now = 1000000000;
    linger.left(now);
    now += away;
    linger.came_back(now, now + wait, usual);
    now += wait;
}

void usual_at_first()
{
    Linger linger;
    CHECK_EQ(linger.ns(usual), usual);
    linger.came_back(5000000, 5000001, usual); /* the first turn of all */
    CHECK_EQ(linger.ns(usual), usual);
}

void who_comes_right_back_stays()
{
    Linger linger;
    leave(linger, 400000, at_once);
    std::uint64_t longer = linger.ns(usual);
    CHECK(longer > 400000);
    leave(linger, 300000, at_once);
    CHECK_EQ(linger.ns(usual), longer);
    leave(linger, 1200000, at_once);
    CHECK(linger.ns(usual) >= 1200000);
    CHECK(linger.ns(usual) <= 8 * usual);
}

void who_stays_away_leaves_sooner()
{
    Linger linger;
    leave(linger, 600000, at_once);
    CHECK(linger.ns(usual) > 600000);
    for (int i = 0; i < 3; i++)
        leave(linger, 30000000, at_once);
    CHECK_EQ(linger.ns(usual), usual);
    for (int i = 0; i < 60; i++)
        leave(linger, 30000000, at_once);
    CHECK(linger.ns(usual) < usual / 2);
    CHECK(linger.ns(usual) > 0);
}

/* As of requests that come by chance: to wait for the few that come soon would cost more than they do. */
void few_who_come_soon_change_nothing()
{
    Linger linger;
    for (int i = 0; i < 64; i++)
        leave(linger, i % 8 ? 10000000 : 600000, at_once);
    CHECK(linger.ns(usual) < usual);
    for (int i = 0; i < 64; i++)
        leave(linger, i % 8 ? 600000 : 10000000, at_once);
    CHECK(linger.ns(usual) > 600000);
}

/* Its equals have their turn meanwhile: to keep it would be at their cost. */
void who_must_wait_gains_nothing()
{
    Linger linger;
    leave(linger, 400000, later);
    CHECK_EQ(linger.ns(usual), usual);
}

} // namespace

int main()
{
    return tap::run({
        {"the usual at first", usual_at_first},
        {"who comes right back is given the time that it was away", who_comes_right_back_stays},
        {"who stays away gives that up again", who_stays_away_leaves_sooner},
        {"a few who come back soon change nothing, many do", few_who_come_soon_change_nothing},
        {"who has to wait for others gains nothing", who_must_wait_gains_nothing},
    });
}
