// SPDX-License-Identifier: MIT
/* What clients that take turns for the same requester know of each other. */
#include "libptsched/device/presence.hpp"

#include "tests/device/cases.hpp"

namespace test {

namespace {

using ptsched::device::Presence;

constexpr std::uint64_t usual = 150000, ended = 1000000000, away = 400000, at_once = 1000;

void one_of_a_requester()
{
    const auto one = Presence::of("0000:01:00.0", 7);
    CHECK(one == Presence::of("0000:01:00.0", 7));
    CHECK(one != Presence::of("0000:02:00.0", 7));
    CHECK(one != Presence::of("0000:01:00.0", 8));
    one->ended(5);
    CHECK_EQ(Presence::of("0000:01:00.0", 7)->last_end(), std::uint64_t{5});
}

/* How long a turn is kept once one of @clients has come back, after @leave of them had left. */
std::uint64_t linger_after(Presence &presence, unsigned clients, unsigned leave, bool called)
{
    for (unsigned i = 0; i < clients; i++)
        presence.has_turn(1, 2, usual);
    presence.ended(ended);
    for (unsigned i = 0; i < leave; i++)
        presence.has_no_turn(called);
    presence.has_turn(ended + away, ended + away + at_once, usual);
    return presence.linger(usual);
}

void the_last_one_leaves()
{
    Presence both, one_of_two, called;
    CHECK(linger_after(both, 2, 2, false) > away);
    CHECK_EQ(linger_after(one_of_two, 2, 1, false), usual);
    CHECK_EQ(linger_after(called, 2, 2, true), usual);
}

void the_latest_end()
{
    Presence presence;
    presence.ended(7);
    presence.ended(5);
    CHECK_EQ(presence.last_end(), std::uint64_t{7});
}

} // namespace

std::vector<tap::Case> presence_cases()
{
    return {{"clients of a requester on a device know each other", one_of_a_requester},
            {"who is back soon after the last of them has left stays longer", the_last_one_leaves},
            {"what has ended last counts", the_latest_end}};
}

} // namespace test
