// SPDX-License-Identifier: MIT
/* Processes that are to have their turns together, on two devices. */
#include "tests/conformance/actor.hpp"
#include "tests/conformance/scheduler.hpp"
#include "tests/conformance/tap.hpp"
#include "tests/conformance/thread.hpp"
#include <ptsched/ptsched.h>

#include <cerrno>
#include <cstring>
#include <vector>

using namespace scheduler;

namespace {

constexpr char kGroup[] = "ranks";

void join(Actor &actor, const char *device, const char *group)
{
    CHECK_EQ(0, actor.open(device));
    CHECK_EQ(0, actor.set_mechanism(PTSCHED_MECHANISM_PREEMPT));
    CHECK_EQ(0, actor.set_group(group));
}

/* Of one weight, one of each on each device: those that have the turn there, and those that wait for it. */
struct Waiting {
    Actor holder, other_holder, first, second;

    explicit Waiting(const char *group_of_second = kGroup, uid_t user_of_second = 0)
    {
        if (user_of_second)
            second.become(user_of_second);
        join(holder, kDevice, nullptr);
        join(other_holder, kOtherDevice, nullptr);
        join(first, kDevice, kGroup);
        join(second, kOtherDevice, group_of_second);
        CHECK_EQ(0, holder.acquire().result);
        CHECK_EQ(0, other_holder.acquire().result);
        first.start_waiting();
        second.start_waiting(kOtherDevice);
    }
    bool second_waits() const
    {
        return entity(second.pid(), kOtherDevice)->at(PTSCHED_A_STATE) == PTSCHED_ENTITY_WAITING;
    }
    void give_first_its_turn()
    {
        CHECK_EQ(0, holder.release());
        CHECK_EQ(0, first.finish().result);
    }
};

struct ptsched_group named(const char *name)
{
    struct ptsched_group group {};
    group.size = sizeof(group);
    strncpy(group.name, name, sizeof(group.name) - 1);
    return group;
}

} // namespace

TEST("when one of a group gets the turn, another has it at once on another device")
{
    Waiting waiting;
    CHECK(waiting.second_waits());
    waiting.give_first_its_turn();
    CHECK_EQ(0, waiting.second.finish().result);
    CHECK(waiting.other_holder.page().state & PTSCHED_STATE_PREEMPT);
}

TEST("who is in another group, in none any more, or another user's waits for its own turn")
{
    for (auto [group, user] : {std::pair<const char *, uid_t>{"other ranks", 0}, {nullptr, 0}, {kGroup, kNobody}}) {
        Waiting waiting(group, user);
        waiting.give_first_its_turn();
        CHECK_EQ(0, waiting.other_holder.page().state & PTSCHED_STATE_CALLBACK);
        CHECK(waiting.second_waits());
    }
}

TEST("who changes its group is in the new one only")
{
    Waiting waiting("other ranks");
    Actor third;
    join(third, kOtherDevice, kGroup);
    CHECK_EQ(0, third.set_group("other ranks"));
    CHECK_EQ(0, third.set_group(kGroup));
    third.start_waiting(kOtherDevice);
    waiting.give_first_its_turn();
    CHECK_EQ(0, third.finish().result);
    CHECK(waiting.second_waits());
}

TEST("a name of a group ends within its field, and nothing follows")
{
    RawClient client;
    auto group = named(kGroup);
    CHECK_EQ(-ENOTCONN, client.call(PTSCHED_IOC_GROUP, group));
    CHECK_EQ(0, client.attach(kDevice));
    CHECK_EQ(0, client.call(PTSCHED_IOC_GROUP, group));
    group.name[sizeof(kGroup)] = 'x';
    CHECK_EQ(-EINVAL, client.call(PTSCHED_IOC_GROUP, group));
    memset(group.name, 'x', sizeof(group.name));
    CHECK_EQ(-EINVAL, client.call(PTSCHED_IOC_GROUP, group));
    group = named(kGroup);
    group.flags = 1;
    CHECK_EQ(-EINVAL, client.call(PTSCHED_IOC_GROUP, group));
    group = named("");
    CHECK_EQ(0, client.call(PTSCHED_IOC_GROUP, group));

    Client another;
    CHECK_EQ(-ENAMETOOLONG, ptsched_set_group(another, std::string(PTSCHED_NAME_LEN, 'x').c_str()));
    CHECK_EQ(0, ptsched_set_group(another, std::string(PTSCHED_NAME_LEN - 1, 'x').c_str()));
}

TEST("a group has so many members, and room again when one has gone")
{
    std::vector<std::unique_ptr<Actor>> members;
    for (unsigned i = 0; i < PTSCHED_GROUP_MAX; i++) {
        members.push_back(std::make_unique<Actor>());
        members.back()->join();
        CHECK_EQ(0, members.back()->set_group(kGroup));
    }
    Actor one_more;
    one_more.join();
    CHECK_EQ(-ENOSPC, one_more.set_group(kGroup));
    const pid_t gone = members.back()->pid();
    members.pop_back();
    wait_until_gone(gone);
    CHECK_EQ(0, one_more.set_group(kGroup));
}
