// SPDX-License-Identifier: MIT
// Time that is divided among users.
#include "actor.hpp"
#include "scheduler.hpp"
#include "tap.hpp"

#include <cerrno>
#include <initializer_list>
#include <vector>

using namespace scheduler;

namespace {

constexpr uid_t kOne = 65531, kOther = 65532;

void set_share(uid_t uid, uint32_t share)
{
    CHECK_EQ(0, request(PTSCHED_CMD_SET_USER, {{PTSCHED_A_UID, uid}, {PTSCHED_A_SHARE, share}}).error);
}

// Somebody has the turn, and others wait for it, whose budgets grow meanwhile.
class Waiting {
public:
    explicit Waiting(std::initializer_list<uid_t> users) : actors_(users.size())
    {
        holder_.join();
        CHECK_EQ(0, holder_.acquire().result);
        for (size_t i = 0; i < actors_.size(); i++) {
            actors_[i].become(users.begin()[i]);
            actors_[i].join();
            actors_[i].start_waiting();
        }
        begun_ = budgets();
    }
    ~Waiting() { set_share(kOne, PTSCHED_SHARE_DEFAULT); }
    Waiting(const Waiting &) = delete;
    Waiting &operator=(const Waiting &) = delete;

    const Actor &actor(size_t which) const { return actors_[which]; }
    // Until what the first @n have earned is so many times what the last one has. They are not looked at in one
    // instant, which matters the less, the longer it takes.
    void await_ratio(size_t n, double wanted) const
    {
        wait_until([&] {
            std::vector<int64_t> now = budgets();
            int64_t first = 0, last = now.back() - begun_.back();
            for (size_t i = 0; i < n; i++)
                first += now[i] - begun_[i];
            double ratio = static_cast<double>(first) / static_cast<double>(last);
            return last > 5 * static_cast<int64_t>(kMillisecond) && ratio > wanted * 0.9 && ratio < wanted * 1.1;
        });
    }

private:
    std::vector<int64_t> budgets() const
    {
        std::vector<int64_t> found;
        for (const Actor &actor : actors_)
            found.push_back(entity(actor.pid())->at(PTSCHED_A_BUDGET_NS));
        return found;
    }

    Actor holder_;
    std::vector<Actor> actors_;
    std::vector<int64_t> begun_;
};

TEST("time is divided among processes, or among users")
{
    {
        Waiting waiting({kOne, kOne, kOther});
        waiting.await_ratio(2, 2);
    }
    set({{PTSCHED_A_GROUPING, PTSCHED_GROUPING_USER}});
    Waiting waiting({kOne, kOne, kOther});
    waiting.await_ratio(2, 1);
}

TEST("a user has its share against others")
{
    set({{PTSCHED_A_GROUPING, PTSCHED_GROUPING_USER}});
    set_share(kOne, 300);
    Waiting waiting({kOne, kOther});
    CHECK_EQ(300, entity(waiting.actor(0).pid())->at(PTSCHED_A_SHARE));
    CHECK_EQ(PTSCHED_SHARE_DEFAULT, entity(waiting.actor(1).pid())->at(PTSCHED_A_SHARE));
    waiting.await_ratio(1, 3);
}

TEST("a share that is changed counts from then on")
{
    set({{PTSCHED_A_GROUPING, PTSCHED_GROUPING_USER}});
    Waiting waiting({kOne, kOther});
    set_share(kOne, 10 * PTSCHED_SHARE_DEFAULT);
    waiting.await_ratio(1, 10);
}

TEST("a process is in its user's group from its next turn on")
{
    Waiting waiting({kOne, kOne, kOther});
    set({{PTSCHED_A_GROUPING, PTSCHED_GROUPING_USER}});
    waiting.await_ratio(2, 2);
}

TEST("a share that is none is ERANGE, one of nobody EINVAL")
{
    for (uint32_t share : {0, PTSCHED_SHARE_MAX + 1}) {
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
