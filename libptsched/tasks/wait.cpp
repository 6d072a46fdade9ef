// SPDX-License-Identifier: MIT
/* Who waits for tasks. */
#include "libptsched/tasks/here.hpp"
#include "libptsched/tasks/homecoming.hpp"

#include <optional>

namespace ptsched::tasks {

namespace {

unsigned depth_of(const Task *task)
{
    unsigned depth = 0;
    for (; task; task = task->parent)
        depth++;
    return depth;
}

/* Where tasks run one after another. Then it waits for nothing that waits for the end of @other. */
bool begins_before_end(const Task *task, const Task *other)
{
    unsigned depth = depth_of(task), of_other = depth_of(other);
    for (; depth > of_other; depth--)
        task = task->parent;
    if (task == other)
        return true;
    for (; of_other > depth; of_other--)
        other = other->parent;
    while (task->parent != other->parent) {
        task = task->parent;
        other = other->parent;
    }
    return task->number <= other->number;
}

} // namespace

bool CoreImpl::may_run(const Task &task) const
{
    const Task *const waiting = Here::get().task_of(*this);
    /* A sum is made when it is known that one needs it: later than that, and so not in the order of numbers. */
    return !waiting || task.never_waits || begins_before_end(&task, waiting);
}

/* What ended is looked at first: then, if it is as many, there was a time at which there was none. */
bool CoreImpl::all_ended() const
{
    const std::uint64_t ended = lanes_.sum(&Lane::ended);
    return ended == lanes_.sum(&Lane::made);
}

void CoreImpl::check_may_wait() const
{
    if (Here::get().gives)
        throw Error("tasks: " + describe(*Here::get().task) +
                    " gives a GPU work, and cannot wait for tasks meanwhile: those that are "
                    "to come before it are what it declares");
}

/* Others may follow it on the GPU before they have begun. */
void CoreImpl::check_may_add(const Attributes &attributes) const
{
    const Here &here = Here::get();
    if (here.gives && here.task->core == this)
        throw Error("tasks: " + describe(*here.task) + " gives a GPU work, and cannot make tasks, as " +
                    attributes.name + ": a task of the host that declares the same can");
}

bool CoreImpl::wait(Duration most)
{
    check_may_wait();
    const Checker::Pause pause;
    Task *self = Here::get().task_of(*this);
    Domain &domain = domain_inside(self);
    std::optional<Homecoming> homecoming;
    {
        Guard lock(domain.mutex);
        domain.close(nullptr, era_.load(std::memory_order_relaxed));
        if (gpu_ && !self && most != Duration::zero())
            homecoming.emplace(*gpu_, domain.last_users(), host_.release);
    }
    const auto until = time_after(most);
    const Waiting waiting(*this);
    const Timed timed(trace_.get(), "wait", self ? self->number : 0);
    const auto done = [&] {
        if (homecoming)
            homecoming->go_on();
        if (!self)
            return all_ended();
        return self->unfinished.load(std::memory_order_acquire) - self->holds.load(std::memory_order_acquire) == 1;
    };
    if (!work_until(done, until))
        return false;
    if (!self && !fetch(nullptr, until))
        return false;
    if (self)
        for (const Access &access : self->declared())
            if (!fetch(&access.range, until))
                return false;
    if (!self)
        release_late();
    if (checker_)
        checker_->ended_inside(self ? self->number : 0);
    throw_failure(domain);
    return true;
}

bool CoreImpl::wait(const Range &range, Duration most)
{
    check_may_wait();
    check_rows(range, "a wait", "is for");
    const Checker::Pause pause;
    Task *self = Here::get().task_of(*this);
    Domain &domain = domain_inside(self);
    std::vector<Task *> users;
    {
        Guard lock(domain.mutex);
        domain.close(&range, era_.load(std::memory_order_relaxed));
        users = domain.users(range);
    }
    const auto until = time_after(most);
    const Waiting waiting(*this);
    const Timed timed(trace_.get(), "wait for a range", self ? self->number : 0);
    std::size_t ended = 0;
    const bool all = work_until(
        [&] {
            while (ended < users.size() && users[ended]->ended.is_over())
                ended++;
            return ended == users.size();
        },
        until);
    for (Task *user : users)
        release(*user);
    if (!all || !fetch(&range, until))
        return false;
    if (checker_)
        checker_->ended_inside(self ? self->number : 0, range);
    throw_failure(domain);
    return true;
}

/* Null: all that was written on GPUs. */
bool CoreImpl::fetch(const Range *range, Clock::time_point until)
{
    if (!gpu_)
        return true;
    const Counted fetching(fetching_);
    return work_until([&] { return gpu_->bring_home(range); }, until);
}

/* What failed does not count any more: tasks of its ranges that are made from now on run. */
void CoreImpl::throw_failure(Domain &domain)
{
    const std::exception_ptr failure = domain.take_failure();
    if (checker_ && &domain == &root_)
        throw_findings(failure);
    if (!failure)
        return;
    era_.fetch_add(1, std::memory_order_relaxed);
    std::rethrow_exception(failure);
}

/* What was not declared may be why a task has failed. */
void CoreImpl::throw_findings(const std::exception_ptr &failure)
{
    std::string findings = checker_->take_findings();
    if (findings.empty())
        return;
    findings = "tasks: " + findings;
    if (!failure)
        throw Error(findings);
    era_.fetch_add(1, std::memory_order_relaxed);
    try {
        std::rethrow_exception(failure);
    } catch (const std::exception &error) {
        std::throw_with_nested(Error(findings + "\nand, after that: " + error.what()));
    }
}

} // namespace ptsched::tasks
