/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_TASKS_IMPL_HPP
#define PTSCHED_TASKS_IMPL_HPP

#include "libptsched/tasks/checked/checker.hpp"
#include "libptsched/tasks/crew.hpp"
#include "libptsched/tasks/domain.hpp"
#include "libptsched/tasks/gpu/side.hpp"
#include "libptsched/tasks/seen/trace.hpp"
#include "libptsched/tasks/task_memory.hpp"

#include <thread>

namespace ptsched::tasks {

class CoreImpl final : public Core, GpuListener, Duty {
public:
    explicit CoreImpl(Options options);
    ~CoreImpl() override;

    void add(const Attributes &attributes, const Function &function, void *from,
             std::span<const Access> accesses) override;
    bool wait(Duration most) override;
    bool wait(const Range &range, Duration most) override;
    void *allocate(std::size_t bytes, Memory memory) override;
    void release(void *memory) noexcept override;
    void keep_on_devices(void *memory) override;
    const Options &options() const override { return options_; }
    State state() const override;

    void hold(Task &task);
    void drop(Task &task);

private:
    void given(Task &task) override;
    void ended(Task &task, std::exception_ptr failure) override;
    void release(Task &task) override;
    void is_home(Task &task, std::exception_ptr failure) override;
    void wake() override { crew_.wake_all(); }
    Trace *trace() override { return trace_.get(); }

    void run(Task &task) override;
    bool serve() override;
    bool has_to_serve() const override;
    bool may_run(const Task &task) const override;
    bool has_tasks() const override { return !all_ended(); }
    void check_progress() override;

    void check(const Attributes &attributes, const Function &function, std::span<const Access> accesses) const;
    static void check_rows(const Range &range, const char *who, const char *does);
    static void check_alone(const Attributes &attributes, const Access &reduction, std::span<const Access> accesses);
    void check_may_add(const Attributes &attributes) const;
    Lane &lane();

    Task &make(Task *parent);
    void made(Task &task, std::uint32_t waits);
    void *take_memory(Lane &mine);
    std::unique_lock<SmallMutex> lock_if_shared(Lane &mine) const;
    Domain &domain_inside(Task *parent);

    /* A task that waits for nothing any more goes where it is to run. */
    void ready(Task &task);
    void ready_on_host(Task &task);
    bool brings_home(Task &task);
    void ready_on_gpu(Task &task);
    bool take_exclusions(Task &task);
    void give_back_exclusions(Task &task);
    bool has_nothing_to_run(const Task &task) const;
    /* One thing less of @task's is unfinished. */
    void finish(Task &task);
    void end(Task &task, Task *&idle);
    void end_waiters(Edge *edges, std::uint32_t failed, Task *&idle);

    void call(Task &task);
    void fail(Task &task, std::exception_ptr cause);
    void fail_by_those_inside(Task &task);

    void work();
    void help();
    bool work_until(const Crew::Condition &done, Clock::time_point until);
    bool all_ended() const;
    /* By itself: see check_progress(). */
    bool is_stuck();
    void check_may_wait() const;
    bool fetch(const Range *range, Clock::time_point until);
    void throw_failure(Domain &domain);
    void throw_findings(const std::exception_ptr &failure);
    /* With checks. */
    bool serve_alone();
    void settle();
    static void set_accesses(Task &task, std::span<const Access> accesses);
    static void set_function(Task &task, const Function &function, void *from);
    static void drop_function(Task &task) noexcept;
    std::vector<Task *> users_of_array(const Range &range);
    void release_late() noexcept;
    void free_array(void *memory) noexcept;
    void stop() noexcept;

    const Options options_;
    const std::unique_ptr<Trace> trace_;     /* null: nobody looks at it */
    const std::unique_ptr<Picture> picture_; /* the same */
    const std::unique_ptr<Checker> checker_; /* null: nothing is checked */
    TaskMemory memory_;
    Lanes lanes_;
    Crew crew_;
    Domain::Host host_;
    Domain root_;
    std::atomic<std::uint64_t> numbers_{0};
    std::atomic<std::uint32_t> era_{1};
    std::atomic<std::uint64_t> holds_{0};
    std::atomic<unsigned> fetching_{0}; /* threads that wait for what comes home from GPUs */

    alignas(64) std::atomic<const Lane *> server_{nullptr}; /* who served GPUs last, and when, in cycles */
    std::atomic<std::uint64_t> served_{0};
    std::atomic<bool> serves_{false};
    std::atomic<bool> stops_{false};

    Mutex arrays_mutex_;
    std::unordered_map<void *, std::size_t> arrays_ PTSCHED_GUARDED_BY(arrays_mutex_); /* their bytes */
    /* An array that went before those that use it had ended; they are referred to. */
    struct Late {
        void *memory;
        std::vector<Task *> users;
    };
    std::vector<Late> late_ PTSCHED_GUARDED_BY(arrays_mutex_);

    Mutex progress_mutex_;
    std::uint64_t last_ended_ PTSCHED_GUARDED_BY(progress_mutex_) = 0;
    std::optional<Clock::time_point> stuck_since_ PTSCHED_GUARDED_BY(progress_mutex_);

    /* With checks, one task of a GPU is given at a time. */
    SmallMutex alone_mutex_;
    std::deque<Task *> alone_ready_ PTSCHED_GUARDED_BY(alone_mutex_);
    std::atomic<std::size_t> alone_count_{0};
    Task *alone_ = nullptr; /* by who serves */

    std::unique_ptr<GpuSide> gpu_; /* null: the host alone */
    std::vector<std::thread> threads_;
    Sleepers helper_;                 /* the thread that serves GPUs while all workers are at long functions */
    std::atomic<int> woken_from_{-1}; /* the CPU of who makes tasks while it sleeps */
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_IMPL_HPP */
