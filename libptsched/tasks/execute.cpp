// SPDX-License-Identifier: MIT
/* A task from when it waits for nothing any more until it has ended. */
#include "libptsched/base/nested.hpp"
#include "libptsched/tasks/here.hpp"
#include <ptsched/device/log.hpp>

#include <algorithm>
#include <sched.h>
#include <utility>

namespace ptsched::tasks {

namespace {

/* Where a task of the host finds what it has declared. */
class Places {
public:
    explicit Places(const Task &task)
    {
        Place *place = few_;
        if (task.access_count > std::size(few_)) {
            many_ = std::make_unique<Place[]>(task.access_count);
            place = many_.get();
        }
        for (std::size_t i = 0; i < task.access_count; i++)
            place[i].address = task.accesses[i].range.begin;
        all_ = place;
    }
    Place *get() { return all_; }

private:
    Place few_[4];
    std::unique_ptr<Place[]> many_;
    Place *all_;
};

} // namespace

/* Not the default one, which would write all. */
Task::Task() {}

Task::~Task()
{
    if (accesses != own_accesses)
        delete[] accesses;
}

std::string describe(const Task &task)
{
    return "task " + std::to_string(task.number) + " (" + task.attributes.name + ")";
}

void CoreImpl::set_accesses(Task &task, std::span<const Access> accesses)
{
    if (accesses.size() > Task::inline_accesses)
        task.accesses = new Access[accesses.size()];
    task.access_count = static_cast<std::uint32_t>(accesses.size());
    std::copy(accesses.begin(), accesses.end(), task.accesses);
}

void CoreImpl::set_function(Task &task, const Function &function, void *from)
{
    const bool fits = function.bytes <= Task::inline_bytes && function.alignment <= alignof(std::max_align_t);
    const std::align_val_t alignment{function.alignment};
    void *closure = fits ? task.own_bytes : ::operator new(function.bytes, alignment);
    try {
        function.move(closure, from);
    } catch (...) {
        if (!fits)
            ::operator delete(closure, alignment);
        throw;
    }
    task.closure = closure;
    task.function = &function;
}

void CoreImpl::drop_function(Task &task) noexcept
{
    if (!task.closure)
        return;
    task.function->destroy(task.closure);
    if (task.closure != task.own_bytes)
        ::operator delete (task.closure, std::align_val_t{task.function->alignment});
    task.closure = nullptr;
}

/* A gate, or one that depends on what has failed. */
bool CoreImpl::has_nothing_to_run(const Task &task) const
{
    return !task.function || task.failed.load(std::memory_order_relaxed);
}

void CoreImpl::ready(Task &task)
{
    if (has_nothing_to_run(task))
        finish(task);
    else if (task.runs_on_gpu && (!task.runs_on_host || gpu_->prefers_gpu(task)))
        ready_on_gpu(task);
    else
        ready_on_host(task);
}

void CoreImpl::ready_on_gpu(Task &task)
{
    if (checker_) {
        Guard lock(alone_mutex_);
        alone_ready_.push_back(&task);
        alone_count_.store(alone_ready_.size(), std::memory_order_release);
    } else {
        gpu_->ready(task);
    }
    /* Who serves comes to it next; either that one sees it, or it is seen here that nobody serves. */
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (serves_.load(std::memory_order_relaxed))
        return;
    if (helper_.any_asleep())
        woken_from_.store(sched_getcpu(), std::memory_order_relaxed);
    helper_.wake();
    crew_.wake_worker();
}

void CoreImpl::ready_on_host(Task &task)
{
    if (!gpu_ || brings_home(task))
        crew_.enqueue(lane(), task, checker_ != nullptr);
}

/* False, too, if what it needs cannot be had: then it has failed. */
bool CoreImpl::brings_home(Task &task)
{
    try {
        return gpu_->bring_home(task);
    } catch (...) {
        is_home(task, std::current_exception());
        return false;
    }
}

/*
 * All of them or none: otherwise two tasks could wait for each other. Not before it runs: one that is ready, and that
 * nobody may run now, would keep an earlier one from running. False if it is to ask again; then it may do so already.
 */
bool CoreImpl::take_exclusions(Task &task)
{
    if (!task.extras)
        return true;
    auto &exclusions = task.extras->exclusions;
    for (;;) {
        std::size_t taken = 0;
        while (taken < exclusions.size() && exclusions[taken]->take())
            taken++;
        task.extras->excluded = taken;
        if (taken == exclusions.size())
            return true;
        give_back_exclusions(task);
        const std::shared_ptr<Exclusion> missing = exclusions[taken];
        if (missing->await(task))
            return false;
    }
}

void CoreImpl::give_back_exclusions(Task &task)
{
    Extras &extras = *task.extras;
    while (extras.excluded) {
        Task *waiting = extras.exclusions[--extras.excluded]->give_back();
        while (waiting) {
            Task *next = std::exchange(waiting->next, nullptr);
            ready_on_host(*waiting);
            waiting = next;
        }
    }
}

void CoreImpl::run(Task &task)
{
    if (!take_exclusions(task))
        return;
    Lane &mine = lane();
    {
        const Running running({this, &mine, &task});
        const Called called(trace_.get(), task);
        /* Where one of two places is chosen, it is known how long it takes there. */
        const auto begun = task.runs_on_gpu ? Clock::now() : Clock::time_point();
        try {
            call(task);
        } catch (...) {
            fail(task, std::current_exception());
        }
        if (task.runs_on_gpu)
            gpu_->ran_on_host(task, Clock::now() - begun);
        /* As this task's own: it does not end before. */
        if (task.inside) {
            Guard lock(task.inside->mutex);
            task.inside->close(nullptr, era_.load(std::memory_order_relaxed));
        }
    }
    lanes_.count(mine, &Lane::ran);
    drop_function(task);
    finish(task);
}

void CoreImpl::call(Task &task)
{
    Places places(task);
    struct Parts {
        Task &task;
        ~Parts()
        {
            if (task.extras)
                for (Extras::Part &part : task.extras->parts)
                    if (part.copy)
                        part.partial->give_back(part.copy);
        }
    } parts{task};
    if (task.extras)
        for (Extras::Part &part : task.extras->parts) {
            part.copy = part.partial->take();
            places.get()[part.access].address = part.copy;
        }
    const Checker::Run checked(checker_.get(), task);
    task.function->on_host(task.closure, {task.declared(), places.get()});
}

void CoreImpl::fail(Task &task, std::exception_ptr cause)
{
    task.failed.store(era_.load(std::memory_order_relaxed), std::memory_order_release);
    (task.parent ? *task.parent->inside : root_)
        .keep_failure(nested<Failure>("tasks: " + describe(task) + " has failed", std::move(cause)));
}

/* What the tasks inside it have failed with, if it has not waited for them, it fails with. */
void CoreImpl::fail_by_those_inside(Task &task)
{
    if (!task.inside)
        return;
    if (std::exception_ptr failure = task.inside->take_failure())
        fail(task, std::move(failure));
}

/* Those that end by that, one after another: without recursion, however many stand in a row. */
void CoreImpl::finish(Task &first)
{
    Task *idle = nullptr;
    Task *task = &first;
    while (task) {
        Task *parent = nullptr;
        if (task->unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            parent = task->parent;
            end(*task, idle);
        }
        task = parent;
        if (!task && idle)
            task = std::exchange(idle, idle->next);
    }
}

void CoreImpl::end(Task &task, Task *&idle)
{
    fail_by_those_inside(task);
    drop_function(task);
    if (task.extras) {
        give_back_exclusions(task);
        for (Extras::Gate &gate : task.extras->gates)
            release(*gate.task);
        task.extras->gates.clear();
    }
    if (checker_ && task.inside)
        checker_->ended_inside(task.number);
    task.inside.reset();
    const std::uint32_t failed = task.failed.load(std::memory_order_relaxed);
    const bool is_outermost = !task.parent, is_gate = !task.function;
    end_waiters(task.given.end_in_order(), failed, idle);
    end_waiters(task.ended.end(), failed, idle);
    release(task);
    Lane &mine = lane();
    if (is_gate)
        lanes_.count(mine, &Lane::gates_ended);
    lanes_.count(mine, is_outermost ? &Lane::ended : &Lane::ended_inside);
    crew_.tell_waiters();
}

/* Those that have nothing to run come to @idle. */
void CoreImpl::end_waiters(Edge *edges, std::uint32_t failed, Task *&idle)
{
    while (edges) {
        Task &to = *edges->to;
        edges = edges->next;
        if (failed)
            to.failed.store(failed, std::memory_order_relaxed);
        if (to.waits.fetch_sub(1, std::memory_order_acq_rel) != 1)
            continue;
        if (has_nothing_to_run(to)) {
            to.next = idle;
            idle = &to;
        } else {
            ready(to);
        }
    }
}

void CoreImpl::given(Task &task)
{
    Task *idle = nullptr;
    Edge *edges = task.given.end_in_order();
    for (Edge *edge = edges; edge; edge = edge->next)
        edge->after = task.position;
    end_waiters(edges, 0, idle);
    while (idle)
        finish(*std::exchange(idle, idle->next));
}

void CoreImpl::ended(Task &task, std::exception_ptr failure)
{
    if (&task == alone_) {
        alone_ = nullptr;
        checker_->end_on_gpu(task);
    }
    if (failure)
        fail(task, std::move(failure));
    finish(task);
}

void CoreImpl::is_home(Task &task, std::exception_ptr failure)
{
    if (!failure)
        return crew_.enqueue(lane(), task, checker_ != nullptr);
    fail(task, std::move(failure));
    finish(task);
}

} // namespace ptsched::tasks
