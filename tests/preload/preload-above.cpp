// SPDX-License-Identifier: MIT
/* Of what turns a program learns that lighter ones may stay on the device during the next. */
#include "libptsched/preload/turn/above.hpp"
#include "tests/vgpu/tap.h"

namespace {

using ptsched::preload::Above;

constexpr std::uint64_t ms = 1000000;

struct Program {
    Above above;
    std::uint64_t now{1000 * ms}, submissions{0};

    /* A turn of its own, or above others if it would ask for that: one submission, or one more after a wait. */
    bool turn(std::uint64_t gpu_ns, std::uint64_t span_ns, bool pauses = false)
    {
        const bool asks = above.is_good_now(now);
        submissions++;
        above.settled(submissions);
        submissions += pauses;
        now += span_ns;
        above.turn_ended({.gpu_ns = gpu_ns, .span_ns = span_ns, .submissions = submissions, .above = asks}, now);
        now += 20 * ms;
        return asks;
    }
    void learn()
    {
        while (!turn(5 * ms, 5 * ms)) {
        }
    }
};

void asks_once_turns_are_one_piece()
{
    Program program;
    CHECK(!program.turn(5 * ms, 5 * ms));
    int turns = 1;
    while (!program.turn(5 * ms, 5 * ms))
        turns++;
    CHECK(turns > 1);
    CHECK(turns < 8);
    CHECK(program.turn(5 * ms, 6 * ms));
}

void never_for_others()
{
    Program brief, idle, pausing, endless;
    for (int i = 0; i < 100; i++) {
        CHECK(!brief.turn(ms / 10, ms / 10));
        CHECK(!idle.turn(2 * ms, 10 * ms));
        CHECK(!pausing.turn(5 * ms, 5 * ms, true));
        CHECK(!endless.turn(50 * ms, 50 * ms));
    }
}

/* The agent gives a turn back as soon as its work has ended, which the thread that waits for it may see later. */
void who_hears_of_the_end_late_has_not_paused()
{
    Program program;
    program.learn();
    for (int i = 0; i < 10; i++) {
        program.above.settled(program.submissions);
        CHECK(!program.above.is_settled());
        CHECK(program.turn(5 * ms, 5 * ms));
    }
}

void not_right_after_another()
{
    Program program;
    program.learn();
    CHECK(program.above.is_good_now(program.now));
    program.above.turn_ended({.gpu_ns = 5 * ms, .span_ns = 5 * ms, .submissions = 0, .above = true}, program.now);
    CHECK(!program.above.is_good_now(program.now + ms / 2));
    CHECK(program.above.is_good_now(program.now + 2 * ms));
}

/* Until the next time that it asks, once it failed. */
int rest_after_failure(Program &program)
{
    int turns = 0;
    CHECK(program.turn(5 * ms, 5 * ms, true));
    while (!program.turn(5 * ms, 5 * ms))
        turns++;
    return turns;
}

void rests_after_a_failure()
{
    Program program;
    program.learn();
    int first = rest_after_failure(program), second = rest_after_failure(program);
    CHECK(first > 4);
    CHECK(second >= 2 * first - 1);
    /* It was by chance: the next one counts as the first. */
    for (int i = 0; i < 10 * second; i++)
        CHECK(program.turn(5 * ms, 5 * ms));
    CHECK(rest_after_failure(program) < second);
}

void a_busy_span_that_is_not_its_own_fails()
{
    Program program;
    program.learn();
    CHECK(program.turn(5 * ms, 20 * ms));
    CHECK(!program.turn(5 * ms, 5 * ms));
}

} // namespace

int main()
{
    return tap::run({{"it asks once turns are one piece of work each", asks_once_turns_are_one_piece},
                     {"short turns, long ones, idle ones and such with pauses: never", never_for_others},
                     {"who hears of the end of its work late has not paused", who_hears_of_the_end_late_has_not_paused},
                     {"not for a turn that comes right after another", not_right_after_another},
                     {"after a failure it rests, longer after the next", rests_after_a_failure},
                     {"a turn in which others had the device was a failure", a_busy_span_that_is_not_its_own_fails}});
}
