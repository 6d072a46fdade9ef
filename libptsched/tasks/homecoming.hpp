/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_TASKS_HOMECOMING_HPP
#define PTSCHED_TASKS_HOMECOMING_HPP

#include "libptsched/tasks/domain.hpp"
#include "libptsched/tasks/gpu/side.hpp"

namespace ptsched::tasks {

/*
 * For who waits for all tasks: what none of them uses any more comes home while the others run, or the bus would be
 * idle until the last has ended. For one thread.
 */
class Homecoming {
public:
    Homecoming(GpuSide &gpu, std::vector<Domain::Last> ranges, const Release &release)
        : gpu_(gpu), ranges_(std::move(ranges)), release_(release)
    {
        std::erase_if(ranges_, [&](Domain::Last &last) {
            const bool is_kept = gpu.is_kept(last.range);
            if (is_kept)
                forget_ended(last, true);
            return is_kept;
        });
    }
    ~Homecoming()
    {
        for (Domain::Last &last : ranges_)
            forget_ended(last, true);
    }
    Homecoming(const Homecoming &) = delete;
    Homecoming &operator=(const Homecoming &) = delete;

    /* Looks at a few, and begins to bring those home that are ready. To be called again and again. Does not block. */
    void go_on()
    {
        constexpr std::size_t at_once = 16;
        for (std::size_t i = 0; i < at_once && !ranges_.empty(); i++) {
            at_ = at_ < ranges_.size() ? at_ : 0;
            Domain::Last &last = ranges_[at_];
            forget_ended(last, false);
            if (!last.users.empty()) {
                at_++;
                continue;
            }
            gpu_.bring_home(&last.range);
            std::swap(last, ranges_.back());
            ranges_.pop_back();
        }
    }

private:
    void forget_ended(Domain::Last &last, bool all)
    {
        while (!last.users.empty() && (all || last.users.back()->ended.is_over())) {
            release_(*last.users.back());
            last.users.pop_back();
        }
    }

    GpuSide &gpu_;
    std::vector<Domain::Last> ranges_;
    const Release &release_;
    std::size_t at_ = 0;
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_HOMECOMING_HPP */
