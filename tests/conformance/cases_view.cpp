// SPDX-License-Identifier: MIT
/* Who sees which process: in dumps and in events. */
#include "tests/conformance/actor.hpp"
#include "tests/conformance/forked.hpp"
#include "tests/conformance/scheduler.hpp"
#include "tests/conformance/tap.hpp"
#include "tests/conformance/thread.hpp"

#include <cerrno>
#include <cstring>
#include <sched.h>
#include <sys/syscall.h>

using namespace scheduler;
using forked::result_of;

namespace {

using Processes = std::set<pid_t>;

TEST("a process is shown to its user and to root, whoever uses the socket that these have opened")
{
    Actor mine, roots;
    mine.become(kNobody);
    mine.join();
    roots.join();
    CHECK((Viewer(0).processes() == Processes{mine.pid(), roots.pid()}));
    CHECK((Viewer(kNobody).processes() == Processes{mine.pid()}));
    CHECK(Viewer(kNobody - 1).processes().empty());
}

TEST("a process that runs with rights of another user's is not shown to the one who started it")
{
    Actor mine;
    mine.join();
    mine.become(kNobody, 0);
    CHECK(Viewer(kNobody).processes().empty());
    CHECK((Viewer(0).processes() == Processes{mine.pid()}));
}

TEST("the GPU time of a user is that of all processes, and those that have gone still count")
{
    Actor stays, goes;
    stays.join();
    goes.join();
    const auto told = [&] { return entity(stays.pid())->at(PTSCHED_A_USER_GPU_NS); };
    const std::int64_t before = told();
    for (Actor *actor : {&stays, &goes}) {
        CHECK_EQ(0, actor->acquire().result);
        CHECK_EQ(0, actor->release(1000));
    }
    CHECK_EQ(before + 2000, told());
    goes.kill();
    wait_until_gone(goes.pid());
    CHECK_EQ(before + 2000, told());
}

TEST("events tell of processes that the listener may see, and of devices")
{
    Actor mine, roots;
    mine.become(kNobody);
    mine.join();
    roots.join();
    Events seen(kNobody), all;
    for (Actor *actor : {&roots, &mine}) {
        CHECK_EQ(0, actor->acquire().result);
        CHECK_EQ(0, actor->release());
    }
    for (Actor *actor : {&roots, &mine}) {
        for (int event : {PTSCHED_EVENT_GRANT, PTSCHED_EVENT_RELEASE}) {
            for (Events *events : {&seen, &all}) {
                if (events == &seen && actor == &roots)
                    continue;
                Attributes next = events->next();
                CHECK_EQ(event, next.at(PTSCHED_A_EVENT));
                CHECK_EQ(actor->pid(), next.at(PTSCHED_A_PID));
            }
        }
    }
    reset_settings();
    CHECK_EQ(PTSCHED_EVENT_SETTINGS, seen.next().at(PTSCHED_A_EVENT));
}

/* The first process of a pid namespace, which sees itself alone, and itself as number 1. */
int look_from_inside(Actor &outside)
{
    Client client;
    Events events;
    Viewer viewer(0);
    CHECK((viewer.processes() == Processes{1}));
    CHECK_EQ(0, outside.acquire().result);
    CHECK_EQ(0, outside.release());
    CHECK_EQ(0, ptsched_acquire(client, PTSCHED_NEVER, 0, nullptr));
    Attributes next = events.next();
    CHECK_EQ(1, next.at(PTSCHED_A_PID));
    CHECK_EQ(PTSCHED_EVENT_GRANT, next.at(PTSCHED_A_EVENT));
    /* A number means who has it there. */
    CHECK_EQ(-ESRCH, request(PTSCHED_CMD_SET_ENTITY, {{PTSCHED_A_PID, outside.pid()}, {PTSCHED_A_WEIGHT, 1}}).error);
    CHECK_EQ(0, request(PTSCHED_CMD_SET_ENTITY, {{PTSCHED_A_PID, 1}, {PTSCHED_A_WEIGHT, 7}}).error);
    CHECK_EQ(7, entity(1)->at(PTSCHED_A_WEIGHT));
    return 0;
}

/* What a process ends with that could not be put into a namespace. */
constexpr int kNotTried = 77;

TEST("numbers of processes are those of the reader's pid namespace, and others are not shown")
{
    Actor outside;
    outside.join();
    int status = result_of(
        [&] { return unshare(CLONE_NEWPID) < 0 ? kNotTried : result_of([&] { return look_from_inside(outside); }); });
    CHECK((Viewer(0).processes() == Processes{outside.pid()}));
    if (status == kNotTried)
        throw tap::Skipped("no pid namespace can be made here");
    CHECK_EQ(0, status);
}

TEST("capabilities in a user namespace of one's own are none")
{
    Actor roots;
    roots.join();
    int status = result_of([&] {
        if (setresgid(kNobody, kNobody, kNobody) < 0 || setresuid(kNobody, kNobody, kNobody) < 0)
            throw tap::Failure("setresuid");
        if (unshare(CLONE_NEWUSER) < 0)
            return kNotTried;
        ptsched_client *client = nullptr;
        CHECK_EQ(0, ptsched_open(kDevice, PTSCHED_MECHANISM_GATE, backend(), &client));
        ptsched::UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, roots.pid(), 0)));
        CHECK(pidfd);
        CHECK_EQ(-EPERM, ptsched_act_for(client, PTSCHED_ACT_FOR_PIDFD, pidfd.get()));
        return 0;
    });
    if (status == kNotTried)
        throw tap::Skipped("no user namespace can be made here");
    CHECK_EQ(0, status);
}

} // namespace
