/* SPDX-License-Identifier: MIT */
/*
 * Options::check: each task runs by itself, and what it touches of the memory that others have declared, and it has
 * not, is found.
 */
#ifndef PTSCHED_TASKS_CHECKED_CHECKER_HPP
#define PTSCHED_TASKS_CHECKED_CHECKER_HPP

#include "libptsched/base/lock.hpp"
#include "libptsched/tasks/checked/known.hpp"
#include "libptsched/tasks/checked/watch.hpp"

#include <deque>
#include <functional>
#include <optional>
#include <string>

namespace ptsched::tasks {

/* Of one runtime. Thread-safe. */
class Checker {
public:
    /* @settle ends what GPUs do, which is not to happen while a task of the host is watched. */
    explicit Checker(std::function<void()> settle) : settle_(std::move(settle)) {}
    Checker(const Checker &) = delete;
    Checker &operator=(const Checker &) = delete;

    class Pause;
    /* As long as it lives, the calling thread has called the function of @task, and nobody runs another. */
    class Run {
    public:
        /* @checker null: nothing is checked. */
        Run(Checker *checker, const Task &task);
        ~Run();
        Run(const Run &) = delete;
        Run &operator=(const Run &) = delete;

    private:
        friend class Pause;
        void begin() noexcept;
        void end() noexcept;

        Checker *const checker_;
        const Task &task_;
        Run *before_ = nullptr;
        std::optional<Watch> watch_;
    };
    /* As long as it lives, what the calling thread does is not that of the task's function that it has called. */
    class Pause {
    public:
        /* @pauses false: it is the function's all the same. */
        explicit Pause(bool pauses = true);
        ~Pause();
        Pause(const Pause &) = delete;
        Pause &operator=(const Pause &) = delete;

    private:
        Run *const run_;
    };
    /* The same for who serves GPUs; false: a task of the host runs, or another thread serves. */
    class Serving {
    public:
        Serving();
        ~Serving();
        Serving(const Serving &) = delete;
        Serving &operator=(const Serving &) = delete;
        explicit operator bool() const { return may_; }

    private:
        const bool may_;
    };

    /* It is about to be made; its accesses are known. */
    void declare(const Task &task);
    /* It has ended, with all that is inside; or those that nobody has made. */
    void ended_inside(std::uint64_t number);
    void ended_inside(std::uint64_t number, const Range &range);
    /* An array in memory of the host that nobody else may touch by mistake. Throws OutOfMemory. */
    void *allocate(std::size_t bytes);
    void add_managed(void *array, std::size_t bytes);
    /* False if it is not of allocate(): then it is forgotten. */
    bool release(void *memory) noexcept;

    /* A task of a GPU, in managed memory, where all sides find the same; it is alone there. By who serves. */
    void begin_on_gpu(const Task &task) noexcept;
    void end_on_gpu(const Task &task);

    /* What was found since the last call; empty: nothing. */
    std::string take_findings();

private:
    static constexpr std::size_t most_findings = 16, most_of_a_task = 4;

    Watched watched_for(const Task &task);
    void report(const Task &task, const std::vector<Watch::Touch> &touches);
    std::string text(const Task &task, const Watch::Touch &touch) const PTSCHED_REQUIRES(mutex_);
    void add_finding(std::string text) PTSCHED_REQUIRES(mutex_);

    const std::function<void()> settle_;
    Mutex mutex_;
    Known known_ PTSCHED_GUARDED_BY(mutex_);
    bool is_watching_ PTSCHED_GUARDED_BY(mutex_) = false;
    std::vector<void *> released_ PTSCHED_GUARDED_BY(mutex_); /* while a task is watched: to go afterwards */
    std::vector<std::string> findings_ PTSCHED_GUARDED_BY(mutex_);
    std::size_t more_findings_ PTSCHED_GUARDED_BY(mutex_) = 0;
    std::optional<Watch> on_gpu_; /* by who serves */
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_CHECKED_CHECKER_HPP */
