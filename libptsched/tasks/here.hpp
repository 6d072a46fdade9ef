/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_TASKS_HERE_HPP
#define PTSCHED_TASKS_HERE_HPP

#include "libptsched/tasks/impl.hpp"

namespace ptsched::tasks {

/* What the calling thread is to runtimes. */
struct Here {
    CoreImpl *core = nullptr; /* whose worker it is, or whose tasks it runs while it waits */
    Lane *lane = nullptr;
    Task *task = nullptr; /* whose function it has called, and not returned from; of @core, if that is not null */
    bool gives = false;   /* that gives a GPU work */

    static Here &get()
    {
        static thread_local Here here;
        return here;
    }
    Task *task_of(const CoreImpl &of) const { return core == &of ? task : nullptr; }
};

/* As long as one lives, the calling thread runs a task of a runtime; then it is again what it was. */
class Running {
public:
    explicit Running(const Here &what) : before_(Here::get()) { Here::get() = what; }
    ~Running() { Here::get() = before_; }
    Running(const Running &) = delete;
    Running &operator=(const Running &) = delete;

private:
    const Here before_;
};

/* As long as one lives, the task that the calling thread runs, if it does, waits for others, of any runtime. */
class Waiting {
public:
    explicit Waiting(CoreImpl &on);
    ~Waiting();
    Waiting(const Waiting &) = delete;
    Waiting &operator=(const Waiting &) = delete;

private:
    const Task *const task_;
    Lane *const lane_;
    CoreImpl &on_;
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_HERE_HPP */
