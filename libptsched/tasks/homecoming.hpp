/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_TASKS_HOMECOMING_HPP
#define PTSCHED_TASKS_HOMECOMING_HPP

#include "libptsched/tasks/domain.hpp"
#include "libptsched/tasks/gpu/side.hpp"

namespace ptsched::tasks {

/*
 * For who waits for all tasks: what none of them writes any more comes home while the others run, or the bus would be
 * idle until the last has ended. For one thread.
 */
class Homecoming {
public:
    Homecoming(GpuSide &gpu, std::vector<Domain::Last> ranges, const Release &release) : gpu_(gpu), release_(release)
    {
        for (Domain::Last &last : ranges)
            if (gpu.is_kept(last.range))
                forget(last);
            else
                ranges_.push_back({std::move(last)});
    }
    ~Homecoming()
    {
        for (Coming &coming : ranges_)
            forget(coming.last);
    }
    Homecoming(const Homecoming &) = delete;
    Homecoming &operator=(const Homecoming &) = delete;

    /* Looks at a few, and begins to bring those home that are ready. To be called again and again. Does not block. */
    void go_on()
    {
        constexpr std::size_t at_once = 16;
        for (std::size_t i = 0; i < at_once && !ranges_.empty(); i++) {
            at_ = at_ < ranges_.size() ? at_ : 0;
            Coming &coming = ranges_[at_];
            if (!may_come(coming)) {
                at_++;
                continue;
            }
            gpu_.bring_home(&coming.last.range);
            forget(coming.last);
            std::swap(coming, ranges_.back());
            ranges_.pop_back();
        }
    }

private:
    struct Coming {
        Domain::Last last;
        std::size_t given = 0; /* so many users, the first ones, are */
        bool was_asked = false;
        std::optional<Position> writer = {}; /* if it was: see GpuSide::last_writer() */
    };

    /* Who writes it has ended: when all that use it are given, it is known who that is. */
    bool may_come(Coming &coming)
    {
        std::vector<Task *> &users = coming.last.users;
        while (!users.empty() && users.back()->ended.is_over()) {
            release_(*users.back());
            users.pop_back();
        }
        if (users.empty())
            return true;
        while (coming.given < users.size() && users[coming.given]->given.is_over())
            coming.given++;
        if (coming.given < users.size())
            return false;
        if (!std::exchange(coming.was_asked, true))
            coming.writer = gpu_.last_writer(coming.last.range);
        return coming.writer && gpu_.has_ended(*coming.writer);
    }

    void forget(Domain::Last &last)
    {
        for (Task *user : last.users)
            release_(*user);
        last.users.clear();
    }

    GpuSide &gpu_;
    std::vector<Coming> ranges_;
    const Release &release_;
    std::size_t at_ = 0;
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_HOMECOMING_HPP */
