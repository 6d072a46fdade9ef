// SPDX-License-Identifier: MIT
/* Time that is divided among users. */
#include "tests/conformance/actor.hpp"
#include "tests/conformance/forked.hpp"
#include "tests/conformance/scheduler.hpp"
#include "tests/conformance/tap.hpp"
#include "tests/conformance/waiting.hpp"

#include <cerrno>
#include <initializer_list>

using namespace scheduler;

namespace {

constexpr uid_t kOne = 65531, kOther = 65532;

void set_share(uid_t uid, std::uint32_t share)
{
    CHECK_EQ(0, request(PTSCHED_CMD_SET_USER, {{PTSCHED_A_UID, uid}, {PTSCHED_A_SHARE, share}}).error);
}

/* Of these users. */
class Users : public Waiting {
public:
    Users(std::initializer_list<uid_t> users)
        : Waiting(users.size(), [&](Actor &actor, std::size_t i) { actor.become(users.begin()[i]); })
    {
    }
    ~Users() { set_share(kOne, PTSCHED_SHARE_DEFAULT); }
};

TEST("time is divided among processes, or among users")
{
    {
        Users waiting({kOne, kOne, kOther});
        waiting.await_ratio(2, 2);
    }
    set({{PTSCHED_A_GROUPING, PTSCHED_GROUPING_USER}});
    Users waiting({kOne, kOne, kOther});
    waiting.await_ratio(2, 1);
}

TEST("a user has its share against others")
{
    set({{PTSCHED_A_GROUPING, PTSCHED_GROUPING_USER}});
    set_share(kOne, 300);
    Users waiting({kOne, kOther});
    CHECK_EQ(300, entity(waiting.actor(0).pid())->at(PTSCHED_A_SHARE));
    CHECK_EQ(PTSCHED_SHARE_DEFAULT, entity(waiting.actor(1).pid())->at(PTSCHED_A_SHARE));
    waiting.await_ratio(1, 3);
}

TEST("a share that is changed counts from then on")
{
    set({{PTSCHED_A_GROUPING, PTSCHED_GROUPING_USER}});
    Users waiting({kOne, kOther});
    set_share(kOne, 10 * PTSCHED_SHARE_DEFAULT);
    waiting.await_ratio(1, 10);
}

TEST("a process is in its user's group from its next turn on")
{
    Users waiting({kOne, kOne, kOther});
    set({{PTSCHED_A_GROUPING, PTSCHED_GROUPING_USER}});
    waiting.await_ratio(2, 2);
}

TEST("accounts of users are shown, to each its own")
{
    set_share(kOne, 300);
    Users waiting({kOne, kOne, kOther});
    Attributes one = *account(PTSCHED_A_UID, kOne);
    CHECK_EQ(300, one[PTSCHED_A_SHARE]);
    CHECK_EQ(2, one[PTSCHED_A_ENTITIES]);
    CHECK_EQ(entity(waiting.actor(0).pid())->at(PTSCHED_A_USER_GPU_NS), one[PTSCHED_A_GPU_NS]);
    CHECK_EQ(1, account(PTSCHED_A_UID, kOther)->at(PTSCHED_A_ENTITIES));
    forked::check_as(kOther, kOther, [] {
        CHECK(account(PTSCHED_A_UID, kOther));
        CHECK(!account(PTSCHED_A_UID, kOne));
    });
    CHECK_EQ(-ENODEV, request(PTSCHED_CMD_GET_ACCOUNT, {{PTSCHED_A_DEVICE_ID, 1000000}}).error);
}

TEST("a share that is none is ERANGE, one of nobody EINVAL")
{
    for (std::uint32_t share : {0, PTSCHED_SHARE_MAX + 1}) {
        Reply reply = request(PTSCHED_CMD_SET_USER, {{PTSCHED_A_UID, kOne}, {PTSCHED_A_SHARE, share}});
        CHECK_EQ(-ERANGE, reply.error);
        CHECK_EQ(PTSCHED_A_SHARE, reply.attribute);
    }
    CHECK_EQ(-ERANGE, request(PTSCHED_CMD_SET_USER, {{PTSCHED_A_UID, UINT32_MAX}, {PTSCHED_A_SHARE, 1}}).error);
    CHECK_EQ(-EINVAL, request(PTSCHED_CMD_SET_USER, {{PTSCHED_A_UID, kOne}}).error);
    CHECK_EQ(-EINVAL, request(PTSCHED_CMD_SET_USER, {{PTSCHED_A_SHARE, 1}}).error);
    Reply reply =
        request(PTSCHED_CMD_SET_USER, {{PTSCHED_A_UID, kOne}, {PTSCHED_A_SHARE, 1}, {PTSCHED_A_DEVICE_ID, 1000000}});
    CHECK_EQ(-ENODEV, reply.error);
    CHECK_EQ(PTSCHED_A_DEVICE_ID, reply.attribute);
}

} // namespace
