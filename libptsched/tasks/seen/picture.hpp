/* SPDX-License-Identifier: MIT */
/* Which task depended on which, as a file for Graphviz: Options::graph. */
#ifndef PTSCHED_TASKS_SEEN_PICTURE_HPP
#define PTSCHED_TASKS_SEEN_PICTURE_HPP

#include "libptsched/base/lock.hpp"
#include "libptsched/tasks/seen/output.hpp"
#include "libptsched/tasks/task.hpp"

namespace ptsched::tasks {

/* It keeps what is added, as far as anybody could look at it, and writes the file when it goes. Thread-safe. */
class Picture {
public:
    /* Throws Error if there can be no such file. */
    explicit Picture(const std::string &path) : output_("Options::graph", path) {}
    /* Logs it if the file cannot be written. */
    ~Picture();
    Picture(const Picture &) = delete;
    Picture &operator=(const Picture &) = delete;

    /* Before it may run. Throws std::bad_alloc. */
    void add(const Task &task);
    /* That @task comes after @on by its access, whether it has to wait or @on has ended already. */
    void add(const Task &task, const Task &on, const Access &access);

private:
    /* Tools take minutes for more. */
    static constexpr std::uint64_t most_tasks = 2000;
    static constexpr std::size_t most_edges = 10000;

    struct Node {
        const char *name; /* null: nothing runs, it stands for a weak access */
        std::uint64_t number, parent;
        bool on_host, on_gpu;
    };
    struct Arrow {
        std::uint64_t from, to;
        Access access;
        bool has_waited;
    };
    static std::string text(const Node &node);
    static std::string text(const Arrow &arrow);
    std::string note() const PTSCHED_REQUIRES(mutex_);

    Output output_;
    SmallMutex mutex_;
    std::vector<Node> nodes_ PTSCHED_GUARDED_BY(mutex_);
    std::vector<Arrow> arrows_ PTSCHED_GUARDED_BY(mutex_);
    std::uint64_t tasks_ PTSCHED_GUARDED_BY(mutex_) = 0, edges_ PTSCHED_GUARDED_BY(mutex_) = 0;
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_SEEN_PICTURE_HPP */
