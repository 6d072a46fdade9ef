// SPDX-License-Identifier: MIT
/* Acting for another process: whose weight, whose budget, and who may. */
#include "tests/conformance/actor.hpp"
#include "tests/conformance/scheduler.hpp"
#include "tests/conformance/tap.hpp"
#include "tests/conformance/thread.hpp"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

using namespace scheduler;

namespace {

constexpr uid_t kSomebody = 65533;

ptsched::UniqueFd pidfd(pid_t pid)
{
    ptsched::UniqueFd fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    CHECK(fd.get() >= 0);
    return fd;
}

int act_for_process(Actor &actor, pid_t pid)
{
    return actor.act_for(PTSCHED_ACT_FOR_PIDFD, pidfd(pid).get());
}

int act_for_client(Actor &actor, Actor &requester)
{
    return actor.act_for(PTSCHED_ACT_FOR_CLIENT, requester.handle().get());
}

void set_weight(pid_t pid, std::uint32_t weight)
{
    CHECK_EQ(0, request(PTSCHED_CMD_SET_ENTITY, {{PTSCHED_A_PID, pid}, {PTSCHED_A_WEIGHT, weight}}).error);
}

/* The entity may outlive its clients, while a turn is held for it. */
void wait_until_without_clients(pid_t pid)
{
    wait_until([&] {
        auto left = entity(pid);
        return !left || left->at(PTSCHED_A_CLIENTS) == 0;
    });
}

TEST("acting for a process, turns have its weight and are its own")
{
    Actor actor, requester(7);
    actor.join();
    CHECK_EQ(0, act_for_process(actor, requester.pid()));
    auto outcome = actor.acquire();
    CHECK_EQ(0, outcome.result);
    CHECK_EQ(ptsched_nice_to_weight(getpriority(PRIO_PROCESS, static_cast<id_t>(requester.pid()))),
             outcome.page.weight);
    CHECK_EQ(PTSCHED_ENTITY_HOLDING, entity(requester.pid())->at(PTSCHED_A_STATE));
    CHECK_EQ(PTSCHED_ENTITY_IDLE, entity(actor.pid())->at(PTSCHED_A_STATE));
    CHECK_EQ(0, actor.release(1));
    CHECK_EQ(1, entity(requester.pid())->at(PTSCHED_A_SUBMISSIONS));
    CHECK_EQ(0, entity(actor.pid())->at(PTSCHED_A_SUBMISSIONS));
}

TEST("-1 ends it, and a requester without clients of its own leaves the device")
{
    Actor actor, requester;
    actor.join();
    CHECK_EQ(0, act_for_process(actor, requester.pid()));
    CHECK(entity(requester.pid()).has_value());
    CHECK_EQ(0, actor.act_for(PTSCHED_ACT_FOR_PIDFD, -1));
    CHECK(!entity(requester.pid()).has_value());
    CHECK_EQ(0, actor.acquire().result);
    CHECK_EQ(PTSCHED_ENTITY_HOLDING, entity(actor.pid())->at(PTSCHED_A_STATE));
}

TEST("it is EBUSY while the client holds the turn or waits for it")
{
    Actor actor, requester;
    actor.join();
    CHECK_EQ(0, actor.acquire().result);
    CHECK_EQ(-EBUSY, act_for_process(actor, requester.pid()));
    CHECK_EQ(-EBUSY, actor.act_for(PTSCHED_ACT_FOR_PIDFD, -1));
    CHECK_EQ(0, actor.release());
    CHECK_EQ(0, act_for_process(actor, requester.pid()));
}

TEST("a handed-over client stands for its owner")
{
    Actor actor, requester(3);
    actor.join();
    requester.join();
    CHECK_EQ(0, act_for_client(actor, requester));
    auto outcome = actor.acquire();
    CHECK_EQ(0, outcome.result);
    CHECK_EQ(PTSCHED_ENTITY_HOLDING, entity(requester.pid())->at(PTSCHED_A_STATE));
}

TEST("what is no requester is refused")
{
    Actor actor, elsewhere, gone;
    actor.join();
    CHECK_EQ(0, elsewhere.open(kOtherDevice));
    ptsched::UniqueFd null(open("/dev/null", O_RDONLY | O_CLOEXEC));
    CHECK_EQ(-EINVAL, actor.act_for(PTSCHED_ACT_FOR_PIDFD, null.get()));
    CHECK_EQ(-EINVAL, actor.act_for(PTSCHED_ACT_FOR_CLIENT, null.get()));
    CHECK_EQ(-EINVAL, actor.act_for(PTSCHED_ACT_FOR_CLIENT, pidfd(elsewhere.pid()).get()));
    CHECK_EQ(-EINVAL, actor.act_for(PTSCHED_ACT_FOR_CLIENT + 1, null.get()));
    /* Of another device. */
    CHECK_EQ(-EINVAL, act_for_client(actor, elsewhere));
    auto dead = pidfd(gone.pid());
    gone.kill();
    CHECK_EQ(-ESRCH, actor.act_for(PTSCHED_ACT_FOR_PIDFD, dead.get()));
}

TEST("a number that is no descriptor is EBADF")
{
    RawClient raw;
    CHECK_EQ(0, raw.attach(kDevice));
    struct ptsched_act_for act_for {};
    act_for.size = sizeof(act_for);
    for (int fd : {-2, 1 << 20}) {
        act_for.fd = fd;
        CHECK_EQ(-EBADF, raw.call(PTSCHED_IOC_ACT_FOR, act_for));
    }
}

TEST("a client whose owner closed it is ESRCH")
{
    Actor actor, requester;
    actor.join();
    requester.join();
    auto handle = requester.handle();
    requester.close_client();
    wait_until_gone(requester.pid());
    CHECK_EQ(-ESRCH, actor.act_for(PTSCHED_ACT_FOR_CLIENT, handle.get()));
}

TEST("without privilege: one's own user's processes that weigh no more")
{
    Actor actor(5), heavier(4), lighter(6), other(6);
    for (Actor *mine : {&actor, &heavier, &lighter})
        mine->become(kNobody);
    other.become(kSomebody);
    actor.join();
    CHECK_EQ(-EPERM, act_for_process(actor, heavier.pid()));
    CHECK_EQ(-EPERM, act_for_process(actor, other.pid()));
    CHECK(!entity(heavier.pid()).has_value());
    CHECK_EQ(0, act_for_process(actor, lighter.pid()));
}

TEST("the right to act for a process ends with the client that it handed over")
{
    Actor actor(5), heavier(1);
    actor.join();
    heavier.join();
    CHECK_EQ(0, act_for_client(actor, heavier));
    CHECK_EQ(0, actor.acquire().result);
    std::uint32_t lent = actor.page().weight;
    heavier.close_client();
    wait_until_without_clients(heavier.pid());
    /* The turn is kept. */
    CHECK(actor.page().state & PTSCHED_STATE_TURN);
    CHECK_EQ(0, actor.release());
    CHECK_EQ(0, actor.acquire().result);
    CHECK(actor.page().weight < lent);
    CHECK_EQ(PTSCHED_ENTITY_HOLDING, entity(actor.pid())->at(PTSCHED_A_STATE));
    CHECK_EQ(0, actor.release());

    /* Closed while the other does nothing. */
    heavier.join();
    CHECK_EQ(0, act_for_client(actor, heavier));
    heavier.close_client();
    wait_until_without_clients(heavier.pid());
    CHECK_EQ(0, actor.acquire().result);
    CHECK(actor.page().weight < lent);
}

TEST("without privilege, it is the effective user that counts")
{
    Actor actor(5), mine(6), other(6);
    mine.become(kNobody);
    other.become(kSomebody);
    actor.become(kNobody, kSomebody);
    actor.join();
    CHECK_EQ(-EPERM, act_for_process(actor, mine.pid()));
    CHECK_EQ(0, act_for_process(actor, other.pid()));
}

TEST("without privilege: anybody who handed a client over, be it heavier")
{
    Actor actor(5), heavier(1);
    actor.become(kNobody);
    heavier.become(kSomebody);
    actor.join();
    heavier.join();
    CHECK_EQ(-EPERM, act_for_process(actor, heavier.pid()));
    CHECK_EQ(0, act_for_client(actor, heavier));
    auto outcome = actor.acquire();
    CHECK_EQ(0, outcome.result);
    CHECK_EQ(PTSCHED_ENTITY_HOLDING, entity(heavier.pid())->at(PTSCHED_A_STATE));
}

/* What a child of @of would inherit, by which its client can be named. */
ptsched::UniqueFd inherited(Actor &of)
{
    const char *const name = backend() == PTSCHED_BACKEND_MODULE ? "/dev/ptsched" : "/memfd:ptsched-handle (deleted)";
    auto owner = pidfd(of.pid());
    for (const auto &entry : std::filesystem::directory_iterator("/proc/" + std::to_string(of.pid()) + "/fd")) {
        std::error_code gone;
        if (std::filesystem::read_symlink(entry, gone) == name)
            return ptsched::UniqueFd(
                static_cast<int>(syscall(SYS_pidfd_getfd, owner.get(), std::stoi(entry.path().filename()), 0)));
    }
    return {};
}

TEST("a client that was not handed over gives no right")
{
    Actor actor(5), heavier(1), lighter(6);
    for (Actor *each : {&actor, &heavier, &lighter}) {
        each->become(kNobody);
        each->join();
    }
    auto his = inherited(heavier), its = inherited(lighter);
    CHECK(his && its);
    CHECK_EQ(-EPERM, actor.act_for(PTSCHED_ACT_FOR_CLIENT, his.get()));
    CHECK_EQ(0, actor.act_for(PTSCHED_ACT_FOR_CLIENT, its.get()));
    heavier.handle();
    CHECK_EQ(0, actor.act_for(PTSCHED_ACT_FOR_CLIENT, his.get()));
}

TEST("when the requester is gone, the turn goes on and the next is one's own")
{
    Actor actor, requester, other;
    actor.join();
    requester.join();
    other.join();
    CHECK_EQ(0, act_for_client(actor, requester));
    CHECK_EQ(0, actor.acquire().result);
    other.start_waiting();
    pid_t pid = requester.pid();
    requester.kill();
    wait_until_without_clients(pid);
    CHECK(actor.page().state & PTSCHED_STATE_TURN);
    CHECK(!other.finished());
    CHECK_EQ(0, actor.release());
    CHECK_EQ(0, other.finish().result);
    wait_until_gone(pid);
    CHECK_EQ(0, other.release());
    CHECK_EQ(0, actor.acquire().result);
    CHECK_EQ(PTSCHED_ENTITY_HOLDING, entity(actor.pid())->at(PTSCHED_A_STATE));
}

TEST("when the requester is gone, those who wait for it wait for themselves")
{
    Actor holder, actor, requester;
    for (Actor *one : {&holder, &actor, &requester})
        one->join();
    CHECK_EQ(0, act_for_client(actor, requester));
    CHECK_EQ(0, holder.acquire().result);
    actor.start_acquire();
    wait_for_state(requester.pid(), PTSCHED_ENTITY_WAITING);
    pid_t pid = requester.pid();
    requester.kill();
    wait_until_gone(pid);
    wait_for_state(actor.pid(), PTSCHED_ENTITY_WAITING);
    CHECK_EQ(0, holder.release());
    CHECK_EQ(0, actor.finish().result);
}

TEST("a call that waits for a requester that is gone joins the turn of its own process")
{
    Client holder, proxy;
    Actor requester;
    CHECK_EQ(0, ptsched_act_for(proxy, PTSCHED_ACT_FOR_PIDFD, pidfd(requester.pid()).get()));
    /*
     * So light that it calls nobody back at the end of a slice either: the other has a thousand seconds for a
     * millisecond of its budget.
     */
    set_weight(requester.pid(), 1);
    set_weight(getpid(), PTSCHED_WEIGHT_MAX);
    wait_until([] { return entity(getpid())->at(PTSCHED_A_BUDGET_NS) > static_cast<std::int64_t>(kMillisecond); });
    CHECK_EQ(0, ptsched_acquire(holder, PTSCHED_NEVER, 0, nullptr));
    AcquiringThread waiter(proxy);
    wait_for_state(requester.pid(), PTSCHED_ENTITY_WAITING);
    waiter.wait_until_asleep();
    CHECK(!waiter.done());
    requester.kill();
    CHECK_EQ(0, waiter.join());
    CHECK_EQ(0, ptsched_release(proxy, nullptr));
    CHECK_EQ(0, ptsched_release(holder, nullptr));
}

} // namespace
