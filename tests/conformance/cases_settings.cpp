// SPDX-License-Identifier: MIT
/* Policies, settings, statistics and events. */
#include "tests/conformance/actor.hpp"
#include "tests/conformance/scheduler.hpp"
#include "tests/conformance/tap.hpp"

#include <cerrno>
#include <memory>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

using namespace scheduler;

namespace {

/*
 * Makes @actor owe more than @debt_ns: it keeps the turn while @other waits, which
 * has it afterwards. From then on the debt is earned back, in no less time.
 */
void run_into_debt(Actor &actor, Actor &other, std::int64_t debt_ns)
{
    CHECK_EQ(0, actor.acquire().result);
    other.start_waiting();
    wait_until([&] { return entity(actor.pid())->at(PTSCHED_A_BUDGET_NS) < -debt_ns; });
    tap::hurry();
    CHECK_EQ(0, actor.release());
    CHECK_EQ(0, other.finish().result);
}

TEST("policy none lets everybody through, all of them sharing")
{
    set({{PTSCHED_A_POLICY, PTSCHED_POLICY_NONE}});
    Actor one, two, three;
    for (Actor *actor : {&one, &two, &three}) {
        CHECK_EQ(0, actor->open(kDevice));
        auto outcome = actor->acquire(PTSCHED_NEVER, PTSCHED_ACQUIRE_TRY);
        CHECK_EQ(0, outcome.result);
        CHECK_EQ(0, outcome.page.inflight_ns);
    }
    CHECK(one.page().state & PTSCHED_STATE_SHARED);
    CHECK_EQ(0, two.release());
    CHECK_EQ(0, three.release());
    CHECK_EQ(0, one.page().state & PTSCHED_STATE_SHARED);
}

TEST("with many, every budget gates its own")
{
    set({{PTSCHED_A_MANY, 1}});
    Actor one, two;
    one.join();
    two.join();
    CHECK_EQ(0, one.acquire().result);
    CHECK_EQ(0, two.try_acquire());
    CHECK(one.page().state & PTSCHED_STATE_SHARED);
    CHECK(two.page().state & PTSCHED_STATE_TURN);
}

TEST("policy literal takes turns too")
{
    set({{PTSCHED_A_POLICY, PTSCHED_POLICY_LITERAL}});
    Actor one, two;
    one.join();
    two.join();
    CHECK_EQ(0, one.acquire().result);
    CHECK_EQ(-EAGAIN, two.try_acquire());
    CHECK_EQ(0, one.release(1000));
    CHECK_EQ(0, two.acquire().result);
}

TEST("a turn while others wait costs budget; who owes waits unless unused time is given away")
{
    set({{PTSCHED_A_IDLE_SHARING, 0}});
    Actor debtor, other;
    debtor.join();
    other.join();
    run_into_debt(debtor, other, 1000 * static_cast<std::int64_t>(kMillisecond));
    CHECK_EQ(0, other.release());
    /* The device is free, yet: */
    CHECK_EQ(-EAGAIN, debtor.try_acquire());
    debtor.start_waiting();
    CHECK_EQ(0, device().at(PTSCHED_A_IDLE_SHARING));
    CHECK(!debtor.finished());
    set({{PTSCHED_A_IDLE_SHARING, 1}});
    auto outcome = debtor.finish();
    CHECK_EQ(0, outcome.result);
    CHECK(outcome.grant.budget_ns < 0);
    auto seen = *entity(debtor.pid());
    CHECK(seen[PTSCHED_A_OCCUPANCY_NS] > 0 && seen[PTSCHED_A_OCCUPANCY_NS] <= seen[PTSCHED_A_HELD_NS]);
}

TEST("who was given unused time is called back when an eligible one comes")
{
    Actor debtor, other;
    debtor.join();
    other.join();
    run_into_debt(debtor, other, 1000 * static_cast<std::int64_t>(kMillisecond));
    CHECK_EQ(0, other.release());
    CHECK_EQ(0, debtor.acquire().result);
    wait_for_budget(other.pid());
    /* The slice is a second, and neither weighs more. */
    other.start_waiting();
    CHECK(debtor.page().state & PTSCHED_STATE_CALLBACK);
    CHECK_EQ(0, debtor.release());
    CHECK_EQ(0, other.finish().result);
}

TEST("a forked child starts with its parent's debt")
{
    set({{PTSCHED_A_IDLE_SHARING, 0}});
    Actor debtor, other;
    debtor.join();
    other.join();
    run_into_debt(debtor, other, 1000 * static_cast<std::int64_t>(kMillisecond));
    /* The sleeper stands for any child: another acts for it. */
    pid_t child = debtor.fork_sleeper();
    ptsched::UniqueFd pidfd(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
    CHECK_EQ(0, other.release());
    CHECK_EQ(0, other.act_for(PTSCHED_ACT_FOR_PIDFD, pidfd.get()));
    CHECK(entity(child)->at(PTSCHED_A_BUDGET_NS) < 0);
    CHECK_EQ(-EAGAIN, other.try_acquire());
}

TEST("the debt of the dead stays with their user")
{
    set({{PTSCHED_A_IDLE_SHARING, 0}});
    Actor other;
    other.join();
    auto debtor = std::make_unique<Actor>();
    debtor->become(kNobody);
    debtor->join();
    run_into_debt(*debtor, other, 1000 * static_cast<std::int64_t>(kMillisecond));
    pid_t pid = debtor->pid();
    debtor.reset();
    wait_until_gone(pid);
    Actor heir;
    heir.become(kNobody);
    CHECK_EQ(0, heir.open(kDevice));
    CHECK(entity(heir.pid())->at(PTSCHED_A_BUDGET_NS) < 0);
    CHECK_EQ(0, other.release());
    CHECK_EQ(-EAGAIN, heir.try_acquire());
}

TEST("settings are shown as they were set")
{
    Attributes settings{{PTSCHED_A_POLICY, PTSCHED_POLICY_LITERAL},
                        {PTSCHED_A_GROUPING, PTSCHED_GROUPING_CGROUP},
                        {PTSCHED_A_IDLE_SHARING, 0},
                        {PTSCHED_A_MANY, 1},
                        {PTSCHED_A_SLICE_NS, 3000000},
                        {PTSCHED_A_GRACE_NS, 0},
                        {PTSCHED_A_DRAIN_NS, 5000000},
                        {PTSCHED_A_INFLIGHT_NS, 70000},
                        {PTSCHED_A_ALPHA, 250}};
    set(settings);
    Attributes seen = device();
    for (auto [attribute, value] : settings)
        CHECK_EQ(value, seen[attribute]);
    CHECK(seen[PTSCHED_A_SLICE_EFFECTIVE_NS] >= 3000000);
}

TEST("a value out of range is ERANGE, names the attribute, and nothing is set")
{
    const Attributes wrong{{PTSCHED_A_POLICY, PTSCHED_POLICY_NONE + 1},
                           {PTSCHED_A_GROUPING, PTSCHED_GROUPING_CGROUP + 1},
                           {PTSCHED_A_IDLE_SHARING, 2},
                           {PTSCHED_A_MANY, 2},
                           {PTSCHED_A_SLICE_NS, PTSCHED_SLICE_MIN_NS - 1},
                           {PTSCHED_A_GRACE_NS, PTSCHED_GRACE_MAX_NS + 1},
                           {PTSCHED_A_DRAIN_NS, PTSCHED_DRAIN_MAX_NS + 1},
                           {PTSCHED_A_INFLIGHT_NS, PTSCHED_INFLIGHT_MIN_NS - 1},
                           {PTSCHED_A_ALPHA, 0}};
    Attributes before = device();
    for (auto [attribute, value] : wrong) {
        Attributes all{{PTSCHED_A_SLICE_NS, 5000000}, {PTSCHED_A_ALPHA, 500}};
        all[attribute] = value;
        Reply reply = request(PTSCHED_CMD_SET_DEVICE, all);
        CHECK_EQ(-ERANGE, reply.error);
        CHECK_EQ(attribute, reply.attribute);
    }
    Attributes after = device();
    CHECK_EQ(before[PTSCHED_A_SLICE_NS], after[PTSCHED_A_SLICE_NS]);
    CHECK_EQ(before[PTSCHED_A_ALPHA], after[PTSCHED_A_ALPHA]);
}

TEST("an attribute of another command is EINVAL, and named")
{
    const std::pair<int, int> wrong[] = {
        {PTSCHED_CMD_GET_DEVICE, PTSCHED_A_DEVICE_ID}, {PTSCHED_CMD_GET_DEVICE, PTSCHED_A_ALPHA},
        {PTSCHED_CMD_GET_DEVICE, PTSCHED_A_MAX},       {PTSCHED_CMD_GET_ENTITY, PTSCHED_A_ALPHA},
        {PTSCHED_CMD_SET_DEVICE, PTSCHED_A_WEIGHT},    {PTSCHED_CMD_SET_ENTITY, PTSCHED_A_SLICE_NS},
        {PTSCHED_CMD_SET_USER, PTSCHED_A_PID},         {PTSCHED_CMD_SET_CGROUP, PTSCHED_A_UID},
        {PTSCHED_CMD_GET_ACCOUNT, PTSCHED_A_UID}};
    for (auto [command, attribute] : wrong) {
        Reply reply = request(command, {{attribute, 1}});
        CHECK_EQ(-EINVAL, reply.error);
        CHECK_EQ(attribute, reply.attribute);
        CHECK(reply.messages.empty());
    }
}

TEST("settings of an unknown device are ENODEV, of an unknown process ESRCH")
{
    Reply reply = request(PTSCHED_CMD_SET_DEVICE, {{PTSCHED_A_DEVICE_ID, 1000000}, {PTSCHED_A_MANY, 0}});
    CHECK_EQ(-ENODEV, reply.error);
    CHECK_EQ(PTSCHED_A_DEVICE_ID, reply.attribute);
    reply = request(PTSCHED_CMD_SET_ENTITY, {{PTSCHED_A_PID, getpid()}, {PTSCHED_A_WEIGHT, 10}});
    CHECK_EQ(-ESRCH, reply.error);
    CHECK_EQ(PTSCHED_A_PID, reply.attribute);
}

TEST("a weight that is set counts instead of nice, until 0 is set")
{
    Actor actor;
    actor.join();
    CHECK_EQ(0, request(PTSCHED_CMD_SET_ENTITY, {{PTSCHED_A_PID, actor.pid()}, {PTSCHED_A_WEIGHT, 4321}}).error);
    CHECK_EQ(4321, entity(actor.pid())->at(PTSCHED_A_WEIGHT));
    CHECK_EQ(1, entity(actor.pid())->at(PTSCHED_A_WEIGHT_SET));
    auto outcome = actor.acquire();
    CHECK_EQ(4321, outcome.page.weight);
    CHECK_EQ(0, actor.release());
    CHECK_EQ(0, request(PTSCHED_CMD_SET_ENTITY, {{PTSCHED_A_PID, actor.pid()}, {PTSCHED_A_WEIGHT, 0}}).error);
    int nice = getpriority(PRIO_PROCESS, static_cast<id_t>(actor.pid()));
    CHECK_EQ(ptsched_nice_to_weight(nice), entity(actor.pid())->at(PTSCHED_A_WEIGHT));
    CHECK_EQ(nice, entity(actor.pid())->at(PTSCHED_A_NICE));
    CHECK_EQ(-ERANGE,
             request(PTSCHED_CMD_SET_ENTITY, {{PTSCHED_A_PID, actor.pid()}, {PTSCHED_A_WEIGHT, PTSCHED_WEIGHT_MAX + 1}})
                 .error);
}

TEST("without privilege one may look at devices and set nothing")
{
    Actor actor;
    actor.join();
    pid_t child = fork();
    if (child == 0) {
        if (setresuid(kNobody, kNobody, kNobody) < 0)
            _exit(1);
        if (request(PTSCHED_CMD_SET_DEVICE, {{PTSCHED_A_MANY, 0}}).error != -EPERM)
            _exit(2);
        if (request(PTSCHED_CMD_SET_ENTITY, {{PTSCHED_A_PID, actor.pid()}, {PTSCHED_A_WEIGHT, 1}}).error != -EPERM)
            _exit(3);
        if (request(PTSCHED_CMD_SET_USER, {{PTSCHED_A_UID, kNobody}, {PTSCHED_A_SHARE, 200}}).error != -EPERM)
            _exit(5);
        _exit(device().at(PTSCHED_A_ENTITIES) == 1 ? 0 : 4);
    }
    int status;
    waitpid(child, &status, 0);
    CHECK_EQ(0, WEXITSTATUS(status));
}

} // namespace
