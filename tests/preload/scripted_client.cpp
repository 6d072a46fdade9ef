// SPDX-License-Identifier: MIT
#include "tests/preload/scripted_client.h"

#include "libptsched/base/lock.hpp"
#include "tests/hand_clock.h"
#include <ptsched/ptsched.h>

#include <cerrno>
#include <condition_variable>
#include <fcntl.h>
#include <set>
#include <sys/socket.h>
#include <unistd.h>

struct ptsched_client {
    ptsched_page page{};
    int fds[2]{-1, -1}; /* what the client polls, and the scheduler's end */
    unsigned acknowledged{0};
    pid_t owner{getpid()};
};

namespace {

struct State {
    ptsched::Mutex lock;
    std::condition_variable changed;
    ptsched_client *newest PTSCHED_GUARDED_BY(lock) = nullptr;
    int refusal PTSCHED_GUARDED_BY(lock) = 0;
    bool at_once PTSCHED_GUARDED_BY(lock) = true;
    bool dead PTSCHED_GUARDED_BY(lock) = false;
    unsigned long grants PTSCHED_GUARDED_BY(lock) = 0;
    unsigned long opens PTSCHED_GUARDED_BY(lock) = 0;
    unsigned long waiting PTSCHED_GUARDED_BY(lock) = 0;
    unsigned long releases PTSCHED_GUARDED_BY(lock) = 0;
    unsigned long reports PTSCHED_GUARDED_BY(lock) = 0;
    unsigned long mechanisms PTSCHED_GUARDED_BY(lock) = 0;
    unsigned long acknowledgements PTSCHED_GUARDED_BY(lock) = 0;
    unsigned mechanism PTSCHED_GUARDED_BY(lock) = PTSCHED_MECHANISM_GATE;
    unsigned long long gpu_ns PTSCHED_GUARDED_BY(lock) = 0;
    unsigned long long submissions PTSCHED_GUARDED_BY(lock) = 0;
};

State &state = *new State;

void call(const ptsched_client &client)
{
    char byte = 1;
    if (send(client.fds[1], &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        return;
}

void set_state(ptsched_client &client, unsigned set, unsigned clear)
{
    unsigned before = client.page.state, after = (before & ~clear) | set;
    constexpr unsigned counted = PTSCHED_STATE_CALLBACK | PTSCHED_STATE_WANTED | PTSCHED_STATE_CONTENDED |
                                 PTSCHED_STATE_EXACT | PTSCHED_STATE_BESIDE;
    __atomic_store_n(&client.page.state, after, __ATOMIC_SEQ_CST);
    if ((before ^ after) & counted) {
        __atomic_fetch_add(&client.page.events, 1, __ATOMIC_SEQ_CST);
        call(client);
    }
}

void add_usage(const ptsched_usage *usage) PTSCHED_REQUIRES(state.lock)
{
    state.gpu_ns += usage->gpu_ns;
    state.submissions += usage->submissions;
}

/*
 * Until @condition is true, and then @body, with the lock held; the clock, where there is one, sees the caller asleep.
 */
template <class Condition, class Body> void when(Condition condition, Body body)
{
    struct Wait {
        Condition &condition;
        bool over;
    } wait{condition, false};
    auto would_wake = [](void *argument) {
        ptsched::Guard own(state.lock);
        auto &asked = *static_cast<Wait *>(argument);
        return asked.over || asked.condition();
    };
    test::AsleepElsewhere asleep(&hand_clock, would_wake, &wait);
    ptsched::Lock guard(state.lock);
    state.changed.wait(guard, condition);
    wait.over = true;
    body();
}

/* As a test does: when everybody else sleeps, too, as far as there is a clock that knows. */
template <class Condition> void await(Condition condition)
{
    auto holds = [](void *argument) {
        ptsched::Guard guard(state.lock);
        return (*static_cast<Condition *>(argument))();
    };
    if (&hand_clock)
        return hand_clock.await(holds, &condition);
    ptsched::Lock guard(state.lock);
    state.changed.wait(guard, condition);
}

} // namespace

extern "C" {

int ptsched_open(const char *, unsigned, enum ptsched_backend, ptsched_client **client)
{
    ptsched::Guard guard(state.lock);
    state.opens++;
    if (state.refusal)
        return -state.refusal;
    auto *made = new ptsched_client;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, made->fds) < 0) {
        delete made;
        return -errno;
    }
    made->page.version = PTSCHED_VERSION_MAJOR;
    made->page.size = sizeof(made->page);
    *client = state.newest = made;
    return 0;
}

void ptsched_close(ptsched_client *client)
{
    if (!client)
        return;
    close(client->fds[0]);
    close(client->fds[1]);
}

int ptsched_acquire(ptsched_client *client, std::uint64_t, unsigned, struct ptsched_acquire *)
{
    {
        ptsched::Guard guard(state.lock);
        if (client->owner != getpid())
            return -EPERM;
        if (client->page.state & PTSCHED_STATE_TURN)
            return 0;
        state.waiting++;
        state.changed.notify_all();
    }
    int result = 0;
    auto may_go_on = [client]() PTSCHED_REQUIRES(state.lock) {
        return state.dead || state.at_once || state.grants || client->page.state & PTSCHED_STATE_TURN;
    };
    when(may_go_on, [client, &result]() PTSCHED_REQUIRES(state.lock) {
        state.waiting--;
        if (state.dead) {
            result = -EPIPE;
        } else if (!(client->page.state & PTSCHED_STATE_TURN)) {
            if (!state.at_once)
                state.grants--;
            client->page.turn++;
            set_state(*client, PTSCHED_STATE_TURN, PTSCHED_STATE_CALLBACK);
        }
        state.changed.notify_all();
    });
    return result;
}

int ptsched_release(ptsched_client *client, const ptsched_usage *usage)
{
    ptsched::Guard guard(state.lock);
    if (state.dead)
        return -EPIPE;
    if (!(client->page.state & PTSCHED_STATE_TURN))
        return -EPERM;
    add_usage(usage);
    state.releases++;
    set_state(*client, 0, PTSCHED_STATE_TURN | PTSCHED_STATE_CALLBACK);
    state.changed.notify_all();
    return 0;
}

int ptsched_report(ptsched_client *, const ptsched_usage *usage)
{
    ptsched::Guard guard(state.lock);
    add_usage(usage);
    state.reports++;
    state.changed.notify_all();
    return state.dead ? -EPIPE : 0;
}

int ptsched_identity(const ptsched_client *, std::uint32_t *device_id, std::uint64_t *)
{
    *device_id = 0;
    return 0;
}

int ptsched_set_mechanism(ptsched_client *, unsigned mechanism)
{
    ptsched::Guard guard(state.lock);
    state.mechanism = mechanism;
    state.mechanisms++;
    state.changed.notify_all();
    return 0;
}

int ptsched_ack(ptsched_client *client, std::uint32_t events, std::uint64_t)
{
    ptsched::Guard guard(state.lock);
    client->acknowledged = events;
    state.acknowledgements++;
    char bytes[64];
    while (events == client->page.events && recv(client->fds[0], bytes, sizeof(bytes), MSG_DONTWAIT) > 0) {
    }
    state.changed.notify_all();
    return state.dead ? -EPIPE : 0;
}

int ptsched_query(ptsched_client *, struct ptsched_query *)
{
    ptsched::Guard guard(state.lock);
    return state.dead ? -EPIPE : 0;
}

int ptsched_poll_fd(const ptsched_client *client)
{
    return client->fds[0];
}

const ptsched_page *ptsched_client_page(const ptsched_client *client)
{
    return &client->page;
}

__attribute__((visibility("default"))) extern const struct scripted_scheduler scripted_scheduler;
const struct scripted_scheduler scripted_scheduler = {
    .refuse =
        [](int error) {
            ptsched::Guard guard(state.lock);
            state.refusal = error;
        },
    .grant_at_once =
        [](int yes) {
            ptsched::Guard guard(state.lock);
            state.at_once = yes;
            state.changed.notify_all();
        },
    .grant =
        [] {
            ptsched::Guard guard(state.lock);
            state.grants++;
            state.changed.notify_all();
        },
    .change =
        [](unsigned set, unsigned clear) {
            ptsched::Guard guard(state.lock);
            set_state(*state.newest, set, clear);
        },
    .take_back = [](unsigned set) -> int {
        unsigned long before;
        {
            ptsched::Guard guard(state.lock);
            if (!state.newest || !(state.newest->page.state & PTSCHED_STATE_TURN))
                return 0;
            before = state.releases;
            set_state(*state.newest, PTSCHED_STATE_CALLBACK | set, 0);
        }
        await([before]() PTSCHED_REQUIRES(state.lock) { return state.releases > before; });
        return 1;
    },
    .call_for_nothing =
        [] {
            unsigned long before;
            {
                ptsched::Guard guard(state.lock);
                before = state.acknowledgements;
                call(*state.newest);
            }
            await([=]() PTSCHED_REQUIRES(state.lock) { return state.acknowledgements > before; });
        },
    .set_inflight_ns =
        [](unsigned long long ns) {
            ptsched::Guard guard(state.lock);
            __atomic_store_n(&state.newest->page.inflight_ns, ns, __ATOMIC_SEQ_CST);
        },
    .state =
        [] {
            ptsched::Guard guard(state.lock);
            return state.newest ? state.newest->page.state : 0u;
        },
    .opens =
        [] {
            ptsched::Guard guard(state.lock);
            return state.opens;
        },
    .waiting =
        [] {
            ptsched::Guard guard(state.lock);
            return state.waiting;
        },
    .releases =
        [] {
            ptsched::Guard guard(state.lock);
            return state.releases;
        },
    .reports =
        [] {
            ptsched::Guard guard(state.lock);
            return state.reports;
        },
    .mechanisms =
        [] {
            ptsched::Guard guard(state.lock);
            return state.mechanisms;
        },
    .mechanism =
        [] {
            ptsched::Guard guard(state.lock);
            return state.mechanism;
        },
    .gpu_ns =
        [] {
            ptsched::Guard guard(state.lock);
            return state.gpu_ns;
        },
    .submissions =
        [] {
            ptsched::Guard guard(state.lock);
            return state.submissions;
        },
    .await_waiting =
        [](unsigned long count) { await([=]() PTSCHED_REQUIRES(state.lock) { return state.waiting >= count; }); },
    .await_releases =
        [](unsigned long count) { await([=]() PTSCHED_REQUIRES(state.lock) { return state.releases >= count; }); },
    .await_reports =
        [](unsigned long count) { await([=]() PTSCHED_REQUIRES(state.lock) { return state.reports >= count; }); },
    .await_mechanisms =
        [](unsigned long count) { await([=]() PTSCHED_REQUIRES(state.lock) { return state.mechanisms >= count; }); },
    .await_submissions =
        [](unsigned long long count) {
            await([=]() PTSCHED_REQUIRES(state.lock) { return state.submissions >= count; });
        },
    .await_acknowledged =
        [] {
            await([]()
                      PTSCHED_REQUIRES(state.lock) { return state.newest->acknowledged == state.newest->page.events; });
        },
    .die =
        [] {
            ptsched::Guard guard(state.lock);
            state.dead = true;
            __atomic_store_n(&state.newest->page.state, PTSCHED_STATE_DEAD, __ATOMIC_SEQ_CST);
            shutdown(state.newest->fds[1], SHUT_RDWR);
            state.changed.notify_all();
        },
};

} /* extern "C" */
