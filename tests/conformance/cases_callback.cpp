// SPDX-License-Identifier: MIT
/* How a holder learns that others want the device. */
#include "tests/conformance/actor.hpp"
#include "tests/conformance/scheduler.hpp"
#include "tests/conformance/tap.hpp"
#include "tests/conformance/thread.hpp"

#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>

using namespace scheduler;

namespace {

constexpr std::uint32_t kInOrder = PTSCHED_STATE_TURN | PTSCHED_STATE_CALLBACK;

bool readable(const Client &client)
{
    pollfd poll_for{.fd = ptsched_poll_fd(client), .events = POLLIN, .revents = 0};
    poll(&poll_for, 1, 0);
    return poll_for.revents & POLLIN;
}

void wait_readable(const Client &client)
{
    pollfd poll_for{.fd = ptsched_poll_fd(client), .events = POLLIN, .revents = 0};
    while (poll(&poll_for, 1, -1) <= 0)
        continue;
    CHECK(poll_for.revents & POLLIN);
}

/* A turn that somebody waits for, and the holder has been told: until it is called back at the end of its slice. */
struct Wanted {
    Wanted()
    {
        CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
        other.join();
        tap::hurry();
        other.start_waiting();
        client.wait_for_bits(PTSCHED_STATE_WANTED | PTSCHED_STATE_CONTENDED);
        client.round_trip();
    }
    void next_event()
    {
        other.kill();
        wait_until([&] { return !(client.state() & PTSCHED_STATE_WANTED); });
    }

    Client client;
    Actor other;
};

/* The broker, if there is one, does nothing meanwhile. */
class BrokerStopped {
public:
    BrokerStopped() { signal(SIGSTOP); }
    ~BrokerStopped() { signal(SIGCONT); }
    BrokerStopped(const BrokerStopped &) = delete;
    BrokerStopped &operator=(const BrokerStopped &) = delete;

private:
    static void signal(int number)
    {
        if (broker_pid() > 0)
            kill(broker_pid(), number);
    }
};

TEST("alone, a holder is told nothing; with a waiter, WANTED and CONTENDED")
{
    Client client;
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
    CHECK_EQ(PTSCHED_STATE_TURN, client.state());
    CHECK(!readable(client));
    Actor other;
    other.join();
    tap::hurry();
    other.start_waiting();
    client.wait_for_bits(PTSCHED_STATE_WANTED | PTSCHED_STATE_CONTENDED);
    wait_readable(client);
    CHECK(client.events() > 0);
    CHECK_EQ(PTSCHED_STATE_TURN, client.state() & kInOrder);
}

TEST("EXACT as long as somebody waits who weighs as much")
{
    Client client;
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
    Actor lighter(5), equal;
    lighter.join();
    equal.join();
    lighter.start_waiting();
    client.wait_for_bits(PTSCHED_STATE_WANTED | PTSCHED_STATE_CONTENDED);
    CHECK_EQ(0, client.state() & PTSCHED_STATE_EXACT);
    std::uint32_t events = client.events();
    equal.start_waiting();
    client.wait_for_bits(PTSCHED_STATE_EXACT);
    CHECK(client.events() > events);
    equal.kill();
    wait_until([&] { return !(client.state() & PTSCHED_STATE_EXACT); });
}

TEST("equals that leave the device idle have the turn beside each other")
{
    Client client;
    Actor equal;
    equal.join();
    CHECK_EQ(0, ptsched_set_mechanism(client, PTSCHED_MECHANISM_PREEMPT));
    CHECK_EQ(0, equal.set_mechanism(PTSCHED_MECHANISM_PREEMPT));
    /*
     * Each shows in turns of its own, for 20 ms at least, that it has no work on the device. A slow machine may need
     * several: what a client tells of a longer time is a pause, and says nothing.
     */
    auto hold = [](pid_t pid, auto acquire, auto release) {
        std::int64_t before = entity(pid)->at(PTSCHED_A_HELD_NS);
        CHECK_EQ(0, acquire());
        wait_until([&] { return entity(pid)->at(PTSCHED_A_HELD_NS) > before + 25 * std::int64_t(kMillisecond); });
        CHECK_EQ(0, release());
    };
    auto acquire = [&] { return ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr); };
    auto release = [&] { return ptsched_release(client, nullptr); };
    std::uint32_t events = 0;
    for (bool beside = false; !beside;) {
        hold(getpid(), acquire, release);
        hold(
            equal.pid(), [&] { return equal.acquire().result; }, [&] { return equal.release(); });
        CHECK_EQ(0, acquire());
        events = client.events();
        beside = equal.try_acquire() == 0;
        if (!beside)
            CHECK_EQ(0, release());
    }
    CHECK(equal.page().state & PTSCHED_STATE_BESIDE);
    CHECK_EQ(PTSCHED_STATE_TURN | PTSCHED_STATE_CONTENDED | PTSCHED_STATE_BESIDE, client.state());
    CHECK(client.events() > events);
    /* As long as both can be served at once. */
    CHECK_EQ(0, equal.set_mechanism(PTSCHED_MECHANISM_GATE));
    CHECK(equal.page().state & PTSCHED_STATE_CALLBACK);
    CHECK_EQ(PTSCHED_STATE_TURN, client.state() & (kInOrder | PTSCHED_STATE_BESIDE));
    CHECK_EQ(0, equal.release());
}

TEST("who tolerates it leaves a lighter one on the device, until it asks otherwise")
{
    Client client;
    Actor lighter(5);
    lighter.join();
    CHECK_EQ(0, lighter.set_mechanism(PTSCHED_MECHANISM_PREEMPT));
    CHECK_EQ(0, lighter.acquire().result);
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, PTSCHED_ACQUIRE_ABOVE, nullptr));
    CHECK_EQ(PTSCHED_STATE_TURN | PTSCHED_STATE_CONTENDED | PTSCHED_STATE_ABOVE, client.state());
    std::uint32_t below = lighter.page().state;
    CHECK_EQ(PTSCHED_STATE_TURN | PTSCHED_STATE_BELOW, below & (kInOrder | PTSCHED_STATE_BELOW));
    /* Its turn comes and goes, and that of the lighter lasts. */
    CHECK_EQ(0, ptsched_release(client, nullptr));
    client.round_trip();
    CHECK_EQ(PTSCHED_STATE_TURN, lighter.page().state & (kInOrder | PTSCHED_STATE_BELOW));
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, PTSCHED_ACQUIRE_ABOVE, nullptr));
    std::uint32_t events = client.events();
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
    CHECK_EQ(PTSCHED_STATE_TURN | PTSCHED_STATE_CONTENDED, client.state());
    CHECK(client.events() > events);
    below = lighter.page().state;
    CHECK_EQ(PTSCHED_STATE_TURN | PTSCHED_STATE_CALLBACK | PTSCHED_STATE_PREEMPT,
             below & (kInOrder | PTSCHED_STATE_PREEMPT | PTSCHED_STATE_BELOW));
    CHECK_EQ(0, lighter.release());
}

TEST("what one client of a process denies, no other allows")
{
    Client first, second;
    Actor lighter(5);
    lighter.join();
    CHECK_EQ(0, lighter.set_mechanism(PTSCHED_MECHANISM_PREEMPT));
    CHECK_EQ(0, ptsched_acquire(first, PTSCHED_NEVER, 0, nullptr));
    CHECK_EQ(0, ptsched_acquire(second, PTSCHED_NEVER, PTSCHED_ACQUIRE_ABOVE, nullptr));
    CHECK_EQ(0, ptsched_release(first, nullptr));
    CHECK_EQ(0, ptsched_release(second, nullptr));
    CHECK_EQ(0, lighter.acquire().result);
    CHECK_EQ(0, ptsched_acquire(first, PTSCHED_NEVER, PTSCHED_ACQUIRE_ABOVE, nullptr));
    CHECK_EQ(0, ptsched_acquire(second, PTSCHED_NEVER, 0, nullptr));
    CHECK(lighter.page().state & PTSCHED_STATE_CALLBACK);
    CHECK_EQ(0, lighter.release());
}

TEST("poll() is readable until the latest event is acknowledged")
{
    Wanted turn;
    Client &client = turn.client;
    std::uint32_t events = client.events();
    CHECK_EQ(0, ptsched_ack(client, events - 1, 0));
    client.round_trip();
    /* No later event has made it so. */
    CHECK_EQ(events, client.events());
    CHECK(readable(client));
    CHECK_EQ(0, ptsched_ack(client, events, 0));
    client.round_trip();
    CHECK(!readable(client));
    turn.next_event();
    wait_readable(client);
}

TEST("once the latest event is acknowledged poll() sleeps, though an older answer was still on its way")
{
    Wanted turn;
    Client &client = turn.client;
    std::uint32_t events = client.events();
    {
        /* So that the broker finds both at once. */
        BrokerStopped stopped;
        CHECK_EQ(0, ptsched_ack(client, events - 1, 0));
        CHECK_EQ(0, ptsched_ack(client, events, 0));
    }
    client.round_trip();
    CHECK_EQ(events, client.events());
    CHECK(!readable(client));
    turn.next_event();
    wait_readable(client);
}

TEST("at the end of the slice an equal waiter has the holder called back")
{
    set({{PTSCHED_A_SLICE_NS, PTSCHED_SLICE_MIN_NS}});
    Client client;
    Actor other;
    other.join();
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
    other.start_waiting();
    client.wait_for_bits(PTSCHED_STATE_CALLBACK);
    /* The turn stays until it is given back. */
    CHECK(client.state() & PTSCHED_STATE_TURN);
    CHECK(!other.finished());
    std::uint32_t events = client.events();
    CHECK_EQ(0, ptsched_ack(client, events, kMillisecond));
    CHECK_EQ(0, ptsched_release(client, nullptr));
    CHECK_EQ(0, client.state() & PTSCHED_STATE_TURN);
    CHECK_EQ(0, other.finish().result);
    CHECK_EQ(1, entity(getpid())->at(PTSCHED_A_CALLBACKS));
}

TEST("a higher weight has the holder called back at once")
{
    Client client;
    CHECK_EQ(0, setpriority(PRIO_PROCESS, 0, 10));
    Actor heavier(-10);
    heavier.join();
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
    CHECK_EQ(0, client.state() & PTSCHED_STATE_CALLBACK);
    /* The slice is a second; the decision is made within the call that waits. */
    heavier.start_waiting();
    CHECK(client.state() & PTSCHED_STATE_CALLBACK);
    CHECK_EQ(0, ptsched_release(client, nullptr));
    CHECK_EQ(0, heavier.finish().result);
}

TEST("who can be preempted is told to, and the heavier is in at once")
{
    Client client;
    CHECK_EQ(0, setpriority(PRIO_PROCESS, 0, 10));
    Actor heavier(-10);
    heavier.join();
    CHECK_EQ(-EINVAL, ptsched_set_mechanism(client, PTSCHED_MECHANISM_PREEMPT + 1));
    CHECK_EQ(0, ptsched_set_mechanism(client, PTSCHED_MECHANISM_PREEMPT));
    CHECK_EQ(PTSCHED_MECHANISM_PREEMPT, entity(getpid())->at(PTSCHED_A_MECHANISM));
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
    CHECK_EQ(PTSCHED_STATE_TURN | PTSCHED_STATE_OUTWEIGHED, client.state());
    std::uint32_t events = client.events();
    CHECK_EQ(0, heavier.acquire().result);
    CHECK(client.state() & PTSCHED_STATE_TURN && client.state() & PTSCHED_STATE_CALLBACK);
    CHECK(client.state() & PTSCHED_STATE_PREEMPT);
    CHECK_EQ(1, entity(getpid())->at(PTSCHED_A_PREEMPTS));
    CHECK_EQ(0, entity(getpid())->at(PTSCHED_A_ESCALATIONS));
    CHECK(client.events() != events);
    CHECK(!(heavier.page().state & (PTSCHED_STATE_SHARED | PTSCHED_STATE_OUTWEIGHED)));
    CHECK_EQ(0, ptsched_release(client, nullptr));
    client.round_trip();
    CHECK_EQ(0, client.state() & (PTSCHED_STATE_CALLBACK | PTSCHED_STATE_PREEMPT));
}

TEST("one client that must drain, and the heavier waits for all of the process")
{
    Client client, other;
    CHECK_EQ(0, setpriority(PRIO_PROCESS, 0, 10));
    Actor heavier(-10);
    heavier.join();
    CHECK_EQ(0, ptsched_set_mechanism(client, PTSCHED_MECHANISM_PREEMPT));
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
    heavier.start_waiting();
    client.wait_for_bits(PTSCHED_STATE_CALLBACK);
    CHECK_EQ(0, client.state() & PTSCHED_STATE_PREEMPT);
    CHECK(!heavier.finished());
    /* It can, too. */
    CHECK_EQ(0, ptsched_set_mechanism(other, PTSCHED_MECHANISM_SLICE));
    CHECK_EQ(0, heavier.finish().result);
    CHECK(client.state() & PTSCHED_STATE_PREEMPT);
}

TEST("OUTWEIGHED as long as somebody heavier is attached")
{
    Client client;
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
    CHECK_EQ(0, setpriority(PRIO_PROCESS, 0, 10));
    {
        Actor equal;
        equal.join();
        client.round_trip();
        CHECK_EQ(0, client.state() & PTSCHED_STATE_OUTWEIGHED);
    }
    CHECK_EQ(0, ptsched_release(client, nullptr));
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
    Actor heavier(-10);
    heavier.join();
    client.wait_for_bits(PTSCHED_STATE_OUTWEIGHED);
    heavier.kill();
    wait_until([&] { return !(client.state() & PTSCHED_STATE_OUTWEIGHED); });
}

TEST("PREADMITTED while a heavier one that has just been here would be let in at once")
{
    set({{PTSCHED_A_GRACE_NS, PTSCHED_GRACE_MAX_NS}});
    CHECK_EQ(0, setpriority(PRIO_PROCESS, 0, 10));
    Actor heavier(-10);
    heavier.join();
    auto preadmitted = [&] { return (heavier.page().state & PTSCHED_STATE_PREADMITTED) != 0; };
    CHECK_EQ(0, heavier.acquire().result);
    tap::hurry();
    CHECK_EQ(0, heavier.release());

    Client client;
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
    CHECK(!preadmitted());
    CHECK_EQ(0, ptsched_set_mechanism(client, PTSCHED_MECHANISM_PREEMPT));
    CHECK(preadmitted());
    CHECK_EQ(0, client.state() & PTSCHED_STATE_PREADMITTED);
    CHECK_EQ(0, ptsched_release(client, nullptr));
    client.round_trip();
    CHECK(!preadmitted());
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
    CHECK(preadmitted());

    CHECK_EQ(0, heavier.acquire().result);
    CHECK(!preadmitted());
    CHECK(client.state() & PTSCHED_STATE_PREEMPT);
}

TEST("the page of who is called back tells from which CPU")
{
    cpu_set_t cpus;
    CHECK_EQ(0, sched_getaffinity(0, sizeof(cpus), &cpus));
    int last = CPU_SETSIZE - 1;
    while (!CPU_ISSET(last, &cpus))
        last--;
    CPU_ZERO(&cpus);
    CPU_SET(last, &cpus);

    Actor called, heavier(-10);
    called.join();
    heavier.join();
    CHECK_EQ(0, called.acquire().result);
    CHECK_EQ(0, sched_setaffinity(heavier.pid(), sizeof(cpus), &cpus));
    heavier.start_acquire();
    wait_until([&] { return called.page().asker_cpu != 0; });
    CHECK_EQ(static_cast<std::uint32_t>(last) + 1, called.page().asker_cpu);
    CHECK_EQ(0, called.release());
    CHECK_EQ(0, heavier.finish().result);

    /* At the end of a slice nobody asks: the other has waited since before it began. */
    set({{PTSCHED_A_SLICE_NS, PTSCHED_SLICE_MIN_NS}});
    wait_for_budget(called.pid());
    Actor equal;
    equal.join();
    called.start_waiting();
    equal.start_waiting();
    CHECK_EQ(0, heavier.release());
    CHECK_EQ(0, called.finish().result);
    wait_until([&] { return (called.page().state & PTSCHED_STATE_CALLBACK) != 0; });
    CHECK_EQ(0, called.page().asker_cpu);
}

TEST("once called back, newcomers of the process wait for its next turn")
{
    Client first, second;
    CHECK_EQ(0, setpriority(PRIO_PROCESS, 0, 10));
    Actor heavier(-10);
    heavier.join();
    struct ptsched_acquire grant;
    CHECK_EQ(0, ptsched_acquire(first, PTSCHED_NEVER, 0, &grant));
    heavier.start_waiting();
    first.wait_for_bits(PTSCHED_STATE_CALLBACK);
    /* Not TURN, but what concerns the process. */
    CHECK_EQ(PTSCHED_STATE_CALLBACK, second.state() & kInOrder);

    AcquiringThread newcomer(second);
    newcomer.wait_until_asleep();
    CHECK(!newcomer.done());
    CHECK_EQ(0, ptsched_release(first, nullptr));
    CHECK_EQ(0, heavier.finish().result);
    wait_for_state(getpid(), PTSCHED_ENTITY_WAITING);
    CHECK(!newcomer.done());
    CHECK_EQ(0, heavier.release());
    CHECK_EQ(0, newcomer.join());
    CHECK(newcomer.grant().turn > grant.turn);
}

TEST("who waits for the end of a turn that is not called back any more joins it")
{
    Client first, second;
    Actor heavier(-10);
    heavier.join();
    CHECK_EQ(0, ptsched_acquire(first, PTSCHED_NEVER, 0, nullptr));
    heavier.start_waiting();
    first.wait_for_bits(PTSCHED_STATE_CALLBACK);
    AcquiringThread newcomer(second);
    newcomer.wait_until_asleep();
    CHECK(!newcomer.done());
    heavier.kill();
    wait_until_gone(heavier.pid());
    CHECK(!newcomer.done());
    set({{PTSCHED_A_POLICY, PTSCHED_POLICY_LITERAL}});
    CHECK_EQ(0, newcomer.join());
    CHECK_EQ(0, ptsched_release(second, nullptr));
    CHECK_EQ(0, ptsched_release(first, nullptr));
}

TEST("once called back, a client or thread that has the turn is not gated again")
{
    Client first, second;
    CHECK_EQ(0, setpriority(PRIO_PROCESS, 0, 10));
    Actor heavier(-10);
    heavier.join();
    struct ptsched_acquire one, again, nested;
    CHECK_EQ(0, ptsched_acquire(first, PTSCHED_NEVER, 0, &one));
    heavier.start_waiting();
    first.wait_for_bits(PTSCHED_STATE_CALLBACK);
    CHECK_EQ(0, ptsched_acquire(first, PTSCHED_NEVER, PTSCHED_ACQUIRE_TRY, &again));
    CHECK_EQ(0, ptsched_acquire(second, PTSCHED_NEVER, PTSCHED_ACQUIRE_TRY, &nested));
    CHECK_EQ(one.turn, again.turn);
    CHECK_EQ(one.turn, nested.turn);
    CHECK_EQ(0, ptsched_release(first, nullptr));
    CHECK(!heavier.finished());
    CHECK_EQ(0, ptsched_release(second, nullptr));
    CHECK_EQ(0, heavier.finish().result);
}

TEST("who tells when its work will have drained has the next let in without waiting for the release")
{
    Client client;
    CHECK_EQ(0, setpriority(PRIO_PROCESS, 0, 10));
    Actor heavier(-10);
    heavier.join();
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
    /* Not called back: it means nothing. */
    CHECK_EQ(0, ptsched_ack(client, client.events(), 1));
    heavier.start_waiting();
    client.wait_for_bits(PTSCHED_STATE_CALLBACK);
    CHECK(!heavier.finished());
    CHECK_EQ(0, ptsched_ack(client, client.events(), 1));
    CHECK_EQ(0, heavier.finish().result);
    /* The turn is not shared, and ends as others do. */
    CHECK_EQ(PTSCHED_STATE_TURN | PTSCHED_STATE_CALLBACK, client.state() & (kInOrder | PTSCHED_STATE_SHARED));
    CHECK_EQ(0, ptsched_release(client, nullptr));
    CHECK_EQ(0, entity(getpid())->at(PTSCHED_A_FORCED));
    CHECK_EQ(0, heavier.release());
}

TEST("one of several clients that hold a turn does not know when it will have drained")
{
    Client first, second;
    CHECK_EQ(0, setpriority(PRIO_PROCESS, 0, 10));
    Actor heavier(-10);
    heavier.join();
    CHECK_EQ(0, ptsched_acquire(first, PTSCHED_NEVER, 0, nullptr));
    CHECK_EQ(0, ptsched_acquire(second, PTSCHED_NEVER, 0, nullptr));
    heavier.start_waiting();
    first.wait_for_bits(PTSCHED_STATE_CALLBACK);
    CHECK_EQ(0, ptsched_ack(first, first.events(), 1));
    first.round_trip();
    CHECK_EQ(PTSCHED_ENTITY_WAITING, entity(heavier.pid())->at(PTSCHED_A_STATE));
    CHECK_EQ(0, ptsched_release(first, nullptr));
    CHECK_EQ(PTSCHED_ENTITY_WAITING, entity(heavier.pid())->at(PTSCHED_A_STATE));
    CHECK_EQ(0, ptsched_release(second, nullptr));
    CHECK_EQ(0, heavier.finish().result);
}

TEST("a called-back turn that does not end is shared by force")
{
    set({{PTSCHED_A_SLICE_NS, PTSCHED_SLICE_MIN_NS}, {PTSCHED_A_DRAIN_NS, PTSCHED_DRAIN_MIN_NS}});
    Client client;
    Actor other;
    other.join();
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
    auto outcome = other.acquire();
    CHECK_EQ(0, outcome.result);
    CHECK(client.state() & PTSCHED_STATE_TURN);
    CHECK(client.state() & PTSCHED_STATE_SHARED);
    CHECK(other.page().state & PTSCHED_STATE_SHARED);
    CHECK_EQ(1, entity(getpid())->at(PTSCHED_A_FORCED));
    CHECK_EQ(0, ptsched_release(client, nullptr));
    client.round_trip();
    CHECK(entity(getpid())->at(PTSCHED_A_OVERRUN_NS) > 0);
    CHECK_EQ(0, other.page().state & PTSCHED_STATE_SHARED);
}

TEST("renice of a waiter changes its place")
{
    Actor holder, first(10), second(5);
    for (Actor *actor : {&holder, &first, &second})
        actor->join();
    CHECK_EQ(0, holder.acquire().result);
    first.start_waiting();
    second.start_waiting();
    CHECK_EQ(0, setpriority(PRIO_PROCESS, static_cast<id_t>(first.pid()), 0));
    CHECK_EQ(0, holder.release());
    CHECK_EQ(0, first.finish().result);
    CHECK(!second.finished());
    CHECK_EQ(ptsched_nice_to_weight(0), first.page().weight);
    CHECK_EQ(0, first.release());
    CHECK_EQ(0, second.finish().result);
}

} // namespace
