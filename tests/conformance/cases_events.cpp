// SPDX-License-Identifier: MIT
/* What events tell, and when. */
#include "tests/conformance/actor.hpp"
#include "tests/conformance/scheduler.hpp"
#include "tests/conformance/tap.hpp"

#include <cerrno>
#include <set>
#include <sys/syscall.h>
#include <unistd.h>

using namespace scheduler;

namespace {

/* The next event of a process. */
Attributes next_of(Events &events, pid_t pid)
{
    Attributes event;
    do {
        event = events.next();
    } while (event[PTSCHED_A_PID] != pid);
    return event;
}

/* The same, which must be @expected. */
Attributes next_of(Events &events, pid_t pid, int expected)
{
    Attributes event = next_of(events, pid);
    CHECK_EQ(expected, event[PTSCHED_A_EVENT]);
    return event;
}

TEST("events tell of attach, grant, call-back, release and exit, in this order")
{
    Events events;
    Actor actor(10), heavier;
    actor.join();
    heavier.join();
    auto outcome = actor.acquire();
    heavier.start_waiting();
    CHECK_EQ(0, actor.release());
    pid_t pid = actor.pid();
    actor.kill();
    std::int64_t last = 0;
    for (int expected : {PTSCHED_EVENT_ATTACH, PTSCHED_EVENT_GRANT, PTSCHED_EVENT_CALLBACK, PTSCHED_EVENT_RELEASE,
                         PTSCHED_EVENT_EXIT}) {
        Attributes event = next_of(events, pid, expected);
        CHECK(event[PTSCHED_A_TIME_NS] >= last);
        last = event[PTSCHED_A_TIME_NS];
        if (expected == PTSCHED_EVENT_GRANT)
            CHECK_EQ(outcome.grant.turn, event[PTSCHED_A_TURN]);
    }
}

TEST("whom one may not act for does not come to the device by that")
{
    Events events;
    Actor actor(5), heavier(4);
    actor.become(kNobody);
    heavier.become(kNobody);
    actor.join();
    ptsched::UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, heavier.pid(), 0)));
    CHECK_EQ(-EPERM, actor.act_for(PTSCHED_ACT_FOR_PIDFD, pidfd.get()));
    heavier.join();
    /* It comes once, and has not gone before. */
    next_of(events, heavier.pid(), PTSCHED_EVENT_ATTACH);
    CHECK_EQ(0, heavier.acquire().result);
    next_of(events, heavier.pid(), PTSCHED_EVENT_GRANT);
}

TEST("a change of settings is an event without a process")
{
    Events events;
    set({{PTSCHED_A_MANY, 0}});
    Attributes event = events.next();
    CHECK_EQ(PTSCHED_EVENT_SETTINGS, event[PTSCHED_A_EVENT]);
    CHECK_EQ(0, event.count(PTSCHED_A_PID));
}

TEST("events tell of a wait, of its end without the turn and of its end with it; their times are the counters'")
{
    Actor holder, actor;
    holder.join();
    actor.join();
    actor.handle_signal(false);
    CHECK_EQ(0, holder.acquire().result);
    Events events;
    actor.start_waiting();
    actor.interrupt();
    CHECK_EQ(-EINTR, actor.finish().result);
    actor.start_waiting();
    CHECK_EQ(0, holder.release());
    CHECK_EQ(0, actor.finish().result);
    CHECK_EQ(0, actor.release());
    std::int64_t waited = 0, held = 0;
    for (int end : {PTSCHED_EVENT_CANCEL, PTSCHED_EVENT_GRANT}) {
        waited -= next_of(events, actor.pid(), PTSCHED_EVENT_WAIT)[PTSCHED_A_TIME_NS];
        held = next_of(events, actor.pid(), end)[PTSCHED_A_TIME_NS];
        waited += held;
    }
    held = next_of(events, actor.pid(), PTSCHED_EVENT_RELEASE)[PTSCHED_A_TIME_NS] - held;
    auto counters = entity(actor.pid());
    CHECK_EQ(counters->at(PTSCHED_A_WAIT_NS), waited);
    CHECK_EQ(counters->at(PTSCHED_A_HELD_NS), held);
}

TEST("the end of a process is told before that of its turn, and the end of its wait as well")
{
    Actor holder, waiter;
    holder.join();
    waiter.join();
    CHECK_EQ(0, holder.acquire().result);
    waiter.start_waiting();
    pid_t pids[] = {waiter.pid(), holder.pid()};
    Events events;
    waiter.kill();
    holder.kill();
    /* The module's callers give up before they end; who asks the broker cannot. */
    std::multiset<std::int64_t> told;
    for (int i = 0; i < 2; i++)
        told.insert(next_of(events, pids[0])[PTSCHED_A_EVENT]);
    CHECK((told == std::multiset<std::int64_t>{PTSCHED_EVENT_EXIT, PTSCHED_EVENT_CANCEL}));
    CHECK_EQ(PTSCHED_EVENT_EXIT, next_of(events, pids[1])[PTSCHED_A_EVENT]);
    CHECK_EQ(PTSCHED_EVENT_RELEASE, next_of(events, pids[1])[PTSCHED_A_EVENT]);
}

} // namespace
