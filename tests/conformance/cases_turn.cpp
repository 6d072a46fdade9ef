// SPDX-License-Identifier: MIT
/* The turn: who has it, who waits, and how waiting ends. */
#include "tests/conformance/actor.hpp"
#include "tests/conformance/scheduler.hpp"
#include "tests/conformance/tap.hpp"
#include "tests/conformance/thread.hpp"

#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/resource.h>

using namespace scheduler;

namespace {

bool holds(const struct ptsched_page &page)
{
    return page.state & PTSCHED_STATE_TURN;
}

void keep_busy_us(std::uint64_t us)
{
    std::uint64_t until = ptsched::monotonic_ns() + us * 1000;
    while (ptsched::monotonic_ns() < until)
        continue;
}

TEST("a turn is granted, shown on the page, numbered, and given back")
{
    Actor actor;
    actor.join();
    struct ptsched_page page = actor.page();
    CHECK_EQ(PTSCHED_VERSION_MAJOR, page.version);
    CHECK_EQ(sizeof(page), page.size);
    CHECK_EQ(0, page.state);

    auto first = actor.acquire();
    CHECK_EQ(0, first.result);
    CHECK_EQ(sizeof(first.grant), first.grant.size);
    CHECK_EQ(PTSCHED_STATE_TURN, first.page.state);
    CHECK_EQ(first.grant.turn, first.page.turn);
    CHECK_EQ(first.grant.budget_ns, first.page.budget_ns);
    CHECK_EQ(2 * kMillisecond, first.page.inflight_ns);
    CHECK_EQ(ptsched_nice_to_weight(getpriority(PRIO_PROCESS, 0)), first.page.weight);
    CHECK(first.page.granted_ns != 0 && first.page.granted_ns <= ptsched::monotonic_ns());
    CHECK_EQ(PTSCHED_ENTITY_HOLDING, entity(actor.pid())->at(PTSCHED_A_STATE));

    CHECK_EQ(0, actor.release());
    CHECK_EQ(0, actor.page().state);
    auto second = actor.acquire();
    CHECK(second.grant.turn > first.grant.turn);
    CHECK(second.page.granted_ns > first.page.granted_ns);
}

TEST("release and report without the turn are EPERM")
{
    Client client;
    ptsched_usage usage{};
    CHECK_EQ(-EPERM, ptsched_release(client, &usage));
    CHECK_EQ(-EPERM, ptsched_report(client, &usage));
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
    CHECK_EQ(0, ptsched_report(client, &usage));
    CHECK_EQ(0, ptsched_release(client, &usage));
    CHECK_EQ(-EPERM, ptsched_release(client, &usage));

    RawClient raw;
    CHECK_EQ(0, raw.attach(kDevice));
    struct ptsched_release release {};
    release.size = sizeof(release);
    CHECK_EQ(-EPERM, raw.call(PTSCHED_IOC_RELEASE, release));
    struct ptsched_report report {};
    report.size = sizeof(report);
    CHECK_EQ(-EPERM, raw.call(PTSCHED_IOC_REPORT, report));
}

TEST("what is reported is counted, GPU time up to the turn's length")
{
    Client client;
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
    ptsched_usage usage{};
    usage.gpu_ns = ~0ULL;
    usage.submissions = 3;
    CHECK_EQ(0, ptsched_report(client, &usage));
    CHECK_EQ(0, ptsched_release(client, &usage));
    client.round_trip();
    auto seen = *entity(getpid());
    CHECK_EQ(6, seen[PTSCHED_A_SUBMISSIONS]);
    CHECK(seen[PTSCHED_A_GPU_NS] > 0 && seen[PTSCHED_A_GPU_NS] <= seen[PTSCHED_A_HELD_NS]);
    CHECK_EQ(1, seen[PTSCHED_A_TURNS]);
}

TEST("one process has the turn; TRY of another is EAGAIN and leaves nothing behind")
{
    Actor holder, other;
    holder.join();
    other.join();
    CHECK_EQ(0, holder.acquire().result);
    CHECK_EQ(-EAGAIN, other.try_acquire());
    CHECK_EQ(PTSCHED_ENTITY_IDLE, entity(other.pid())->at(PTSCHED_A_STATE));
    CHECK(!holds(other.page()));
    CHECK_EQ(0, holder.release());
    CHECK_EQ(0, other.try_acquire());
    CHECK(holds(other.page()));
}

TEST("devices have turns of their own")
{
    Actor one, two;
    one.join();
    CHECK_EQ(0, two.open(kOtherDevice));
    CHECK_EQ(0, one.acquire().result);
    CHECK_EQ(0, two.try_acquire());
}

TEST("past its deadline a call is ETIMEDOUT and no turn is held")
{
    Actor holder, other;
    holder.join();
    other.join();
    CHECK_EQ(0, holder.acquire().result);
    CHECK_EQ(-ETIMEDOUT, other.acquire(0).result);
    CHECK_EQ(-ETIMEDOUT, other.acquire(ptsched::monotonic_ns() + 5 * kMillisecond).result);
    CHECK_EQ(PTSCHED_ENTITY_IDLE, entity(other.pid())->at(PTSCHED_A_STATE));
    CHECK_EQ(0, holder.release());
    CHECK(!holds(other.page()));
    CHECK_EQ(-EPERM, other.release());
    /* A turn that is free is granted, however late. */
    CHECK_EQ(0, other.acquire(0).result);
}

TEST("a call waits until the turn is free, and says how long")
{
    Actor holder, other;
    holder.join();
    other.join();
    CHECK_EQ(0, holder.acquire().result);
    other.start_waiting();
    CHECK(!other.finished());
    std::uint64_t waiting_since = ptsched::monotonic_ns();
    pause_briefly();
    std::uint64_t released = ptsched::monotonic_ns();
    CHECK_EQ(0, holder.release());
    auto outcome = other.finish();
    CHECK_EQ(0, outcome.result);
    CHECK(holds(outcome.page));
    CHECK(outcome.grant.waited_ns >= released - waiting_since);
    CHECK(!holds(holder.page()));
}

TEST("a client that holds the turn acquires at once; one release ends it")
{
    Client client;
    struct ptsched_acquire first, second;
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, &first));
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, &second));
    CHECK_EQ(first.turn, second.turn);
    CHECK_EQ(0, ptsched_release(client, nullptr));
    CHECK_EQ(0, client.state());
    CHECK_EQ(-EPERM, ptsched_release(client, nullptr));
}

TEST("another client of the process joins the turn, which lasts until the last release")
{
    Client first, second;
    struct ptsched_acquire one, two;
    Actor other;
    other.join();
    CHECK_EQ(0, ptsched_acquire(first, PTSCHED_NEVER, 0, &one));
    CHECK_EQ(0, second.state() & PTSCHED_STATE_TURN);
    CHECK_EQ(0, ptsched_acquire(second, PTSCHED_NEVER, PTSCHED_ACQUIRE_TRY, &two));
    CHECK_EQ(one.turn, two.turn);
    CHECK(second.state() & PTSCHED_STATE_TURN);
    other.start_waiting();
    CHECK_EQ(0, ptsched_release(first, nullptr));
    CHECK_EQ(0, first.state() & PTSCHED_STATE_TURN);
    CHECK(second.state() & PTSCHED_STATE_TURN);
    CHECK_EQ(PTSCHED_ENTITY_WAITING, entity(other.pid())->at(PTSCHED_A_STATE));
    CHECK_EQ(0, ptsched_release(second, nullptr));
    CHECK_EQ(0, other.finish().result);
}

TEST("all waiting threads and clients of a process are granted together")
{
    Actor holder;
    holder.join();
    CHECK_EQ(0, holder.acquire().result);
    Client first, second;
    AcquiringThread one(first), two(first), three(second);
    wait_for_state(getpid(), PTSCHED_ENTITY_WAITING);
    for (AcquiringThread *thread : {&one, &two, &three})
        thread->wait_until_asleep();
    CHECK_EQ(0, holder.release());
    CHECK_EQ(0, one.join());
    CHECK_EQ(0, two.join());
    CHECK_EQ(0, three.join());
    CHECK_EQ(one.grant().turn, three.grant().turn);
}

TEST("who tries in vain, or waits until a time that is over, disturbs nobody")
{
    Client client;
    Actor other, heavier(-10);
    other.join();
    heavier.join();
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
    std::uint32_t events = client.events();
    for (Actor *actor : {&other, &heavier}) {
        CHECK_EQ(-EAGAIN, actor->try_acquire());
        CHECK_EQ(-ETIMEDOUT, actor->acquire(1).result);
        CHECK_EQ(0, entity(actor->pid())->at(PTSCHED_A_ACTIVE));
    }
    client.round_trip();
    CHECK_EQ(events, client.events());
    CHECK_EQ(PTSCHED_STATE_TURN, client.state() & ~PTSCHED_STATE_OUTWEIGHED);
    CHECK_EQ(0, ptsched_release(client, nullptr));
    CHECK_EQ(0, other.try_acquire());
}

/* One that waits for so short a time that it goes in vain. */
void ask_in_vain(Actor &actor, std::uint64_t shortly_ns = 300000)
{
    CHECK_EQ(-ETIMEDOUT, actor.acquire(ptsched::monotonic_ns() + shortly_ns).result);
}

TEST("who asks in vain over and over wakes the holder's poller no more often than once in a while")
{
    /* Who has given up is not taken for present, so that each round begins and ends like the first. */
    set({{PTSCHED_A_GRACE_NS, 0}});
    Client client;
    Actor other;
    other.join();
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
    /* On a slow machine the time is over before it waits, and who does not wait is not seen. */
    std::uint64_t shortly_ns = 300000;
    for (std::uint32_t none = client.events(); client.events() == none; shortly_ns *= 2) {
        ask_in_vain(other, shortly_ns);
        client.round_trip();
    }
    /* All of them together are less than a slice, after which one would have the turn. */
    const int rounds = static_cast<int>(300 * kMillisecond / shortly_ns);
    std::uint32_t before = client.events();
    std::uint64_t since = ptsched::monotonic_ns();
    for (int i = 0; i < rounds; i++)
        ask_in_vain(other, shortly_ns);
    client.round_trip();
    std::uint64_t pauses = (ptsched::monotonic_ns() - since) / PTSCHED_EVENTS_PAUSE_NS + 1;
    std::uint32_t events = client.events() - before;
    printf("# %u events of %d rounds in %llu pauses\n", events, rounds, static_cast<unsigned long long>(pauses));
    CHECK(events > 0);
    CHECK(events <= PTSCHED_EVENTS_AT_ONCE + pauses);
}

TEST("who asks after others have done so in vain is told of, and in the next turn at once")
{
    Client client;
    Actor other;
    other.join();
    for (int turn = 0; turn < 2; turn++) {
        CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
        client.round_trip();
        std::uint32_t before = client.events();
        other.start_waiting();
        client.wait_for_bits(PTSCHED_STATE_WANTED);
        wait_until([&] { return client.events() != before; });
        CHECK_EQ(0, ptsched_release(client, nullptr));
        CHECK_EQ(0, other.finish().result);
        CHECK_EQ(0, other.release());
        CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
        for (int i = 0; i < 2 * PTSCHED_EVENTS_AT_ONCE; i++)
            ask_in_vain(other);
        client.round_trip();
        CHECK_EQ(0, ptsched_ack(client, client.events(), 0));
        other.start_waiting();
        pollfd readable{.fd = ptsched_poll_fd(client), .events = POLLIN, .revents = 0};
        CHECK_EQ(1, poll(&readable, 1, -1));
        CHECK(client.state() & PTSCHED_STATE_WANTED);
        CHECK_EQ(0, ptsched_release(client, nullptr));
        CHECK_EQ(0, other.finish().result);
        CHECK_EQ(0, other.release());
    }
}

TEST("a signal without SA_RESTART gives EINTR, and the call waits no longer")
{
    Actor holder, other;
    holder.join();
    other.join();
    other.handle_signal(false);
    CHECK_EQ(0, holder.acquire().result);
    other.start_waiting();
    other.interrupt();
    CHECK_EQ(-EINTR, other.finish().result);
    CHECK_EQ(PTSCHED_ENTITY_IDLE, entity(other.pid())->at(PTSCHED_A_STATE));
    CHECK_EQ(0, holder.release());
    CHECK(!holds(other.page()));
    CHECK_EQ(-EPERM, other.release());
}

TEST("a signal with SA_RESTART does not end the call")
{
    Actor holder, other;
    holder.join();
    other.join();
    other.handle_signal(true);
    CHECK_EQ(0, holder.acquire().result);
    other.start_waiting();
    for (int i = 0; i < 10; i++) {
        kill(other.pid(), SIGUSR1);
        wait_for_state(other.pid(), PTSCHED_ENTITY_WAITING);
    }
    CHECK(!other.finished());
    CHECK_EQ(0, holder.release());
    CHECK_EQ(0, other.finish().result);
}

TEST("a grant beats a signal: EINTR and the turn never come together")
{
    Actor holder, other;
    holder.join();
    other.join();
    other.handle_signal(false);
    int interrupted = 0, granted = 0;
    for (int i = 0; i < 200; i++) {
        CHECK_EQ(0, holder.acquire().result);
        other.start_waiting();
        /* Either order, and both at once from two processors. */
        if (i % 2)
            kill(other.pid(), SIGUSR1);
        CHECK_EQ(0, holder.release());
        if (i % 2 == 0)
            kill(other.pid(), SIGUSR1);
        int result = other.finish().result;
        CHECK(result == 0 || result == -EINTR);
        result ? interrupted++ : granted++;
        CHECK_EQ(result ? -EPERM : 0, other.release());
    }
    printf("# %d interrupted, %d granted\n", interrupted, granted);
}

TEST("a turn that comes with time wakes its waiter, however soon it comes")
{
    constexpr int enough = 3000, longest_us = 60;
    /* A debt is earned back while the other counts as present. */
    set({{PTSCHED_A_GRACE_NS, PTSCHED_GRACE_MAX_NS}, {PTSCHED_A_SLICE_NS, PTSCHED_SLICE_MIN_NS}});
    Actor other;
    other.join();
    Client client;
    int waited = 0;
    for (int i = 0; waited < enough; i++) {
        if (i % 200 == 0) {
            CHECK_EQ(0, other.acquire().result);
            CHECK_EQ(0, other.release());
        }
        struct ptsched_acquire grant;
        CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, &grant));
        waited += grant.waited_ns > 0;
        keep_busy_us(longest_us);
        ptsched_usage all{};
        all.gpu_ns = UINT64_MAX;
        CHECK_EQ(0, ptsched_release(client, &all));
        /* The rest of the wait may end before the thread sleeps, after, or in between. */
        keep_busy_us(static_cast<std::uint64_t>(i * 7 % longest_us));
    }
}

/* As C has threads: std::thread cannot be cancelled. */
struct CancelledThread {
    ptsched_client *client;
    std::atomic<pid_t> tid{0};
    std::atomic<int> result{1};

    static void *run(void *argument)
    {
        auto *self = static_cast<CancelledThread *>(argument);
        self->tid = gettid();
        self->result = ptsched_acquire(self->client, PTSCHED_NEVER, 0, nullptr);
        for (;;)
            pthread_testcancel();
    }
};

TEST("a thread that is cancelled as it waits for its turn gets it, and others go on waiting for theirs")
{
    Actor holder;
    holder.join();
    CHECK_EQ(0, holder.acquire().result);
    Client client;
    CancelledThread cancelled{client};
    pthread_t thread;
    CHECK_EQ(0, pthread_create(&thread, nullptr, CancelledThread::run, &cancelled));
    wait_until([&] { return cancelled.tid != 0; });
    wait_until_asleep(cancelled.tid);
    AcquiringThread other(client);
    other.wait_until_asleep();
    pthread_cancel(thread);
    CHECK_EQ(0, holder.release());
    void *status = nullptr;
    pthread_join(thread, &status);
    CHECK(status == PTHREAD_CANCELED);
    CHECK_EQ(0, cancelled.result.load());
    CHECK_EQ(0, other.join());
    CHECK_EQ(0, ptsched_release(client, nullptr));
}

TEST("several threads of a client wait; a signal ends the wait of its own only")
{
    Actor holder;
    holder.join();
    CHECK_EQ(0, holder.acquire().result);
    Client client;
    AcquiringThread one(client), two(client), three(client);
    for (AcquiringThread *thread : {&one, &two, &three})
        thread->wait_until_asleep();
    two.interrupt();
    CHECK_EQ(-EINTR, two.join());
    CHECK(!one.done() && !three.done());
    one.interrupt();
    CHECK_EQ(-EINTR, one.join());
    CHECK_EQ(PTSCHED_ENTITY_WAITING, entity(getpid())->at(PTSCHED_A_STATE));
    CHECK_EQ(0, holder.release());
    CHECK_EQ(0, three.join());
}

} // namespace
