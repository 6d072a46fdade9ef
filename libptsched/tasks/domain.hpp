/* SPDX-License-Identifier: MIT */
/*
 * The order of the tasks that one task has made, or of those that nobody has: what each is to wait for, by what was
 * declared before. Each shape of range that was declared has an entry, which knows the tasks that used it last and
 * which other entries have bytes of it. So whoever comes looks at a few entries, however many tasks there are.
 */
#ifndef PTSCHED_TASKS_DOMAIN_HPP
#define PTSCHED_TASKS_DOMAIN_HPP

#include "libptsched/base/lock.hpp"
#include "libptsched/tasks/exclusion.hpp"
#include "libptsched/tasks/partial.hpp"
#include "libptsched/tasks/range_index.hpp"
#include "libptsched/tasks/seen/picture.hpp"
#include "libptsched/tasks/task.hpp"

#include <functional>

namespace ptsched::tasks {

/* Lets go of a task; the last one gives it back. */
using Release = std::function<void(Task &)>;

struct Extras {
    /* For its commutative accesses, in the order of their addresses. */
    std::vector<std::shared_ptr<Exclusion>> exclusions;
    std::size_t excluded = 0; /* how many of those it has */
    /* Its reductions, and by which access. */
    struct Part {
        std::size_t access;
        std::shared_ptr<Partial> partial;
        std::byte *copy = nullptr; /* while it runs */
    };
    std::vector<Part> parts;
    /* For its weak accesses: tasks without a function that end when the access might begin. */
    struct Gate {
        Range range;
        Task *task;
    };
    std::vector<Gate> gates;
};

class Domain {
public:
    /* What it needs of the runtime. */
    struct Host {
        /* A task without a declaration, for the domain's own use; it has one reference more than one that is made. */
        std::function<Task &()> make;
        /* The task has been given all its edges: it may run. */
        std::function<void(Task &, std::uint32_t waits)> made;
        Release release;
        Picture *picture = nullptr; /* null: nobody looks at what depends on what */
    };

    /* Inside @owner, or of nobody if that is null. */
    Domain(Task *owner, Host &host) : owner_(owner), host_(host) {}
    /* All of its tasks have ended. */
    ~Domain();
    Domain(const Domain &) = delete;
    Domain &operator=(const Domain &) = delete;

    /*
     * Gives it edges from all that it is to wait for. Returns how many of these it must wait for, beside where it is to
     * come after something on a GPU. @era: failures of an earlier one do not count.
     */
    std::uint32_t add(Task &task, std::uint32_t era) PTSCHED_REQUIRES(mutex);
    /* So that what is reduced is there when all tasks have ended; or what is reduced in @range. @era: see add(). */
    void close(const Range *range, std::uint32_t era) PTSCHED_REQUIRES(mutex);
    /* A range that GPUs have used, and its last users, of the tasks made so far: see users(). */
    struct Last {
        Range range;
        std::vector<Task *> users;
    };
    std::vector<Last> last_users() PTSCHED_REQUIRES(mutex);
    /* Tasks that use @range and have not ended; the caller releases each. */
    std::vector<Task *> users(const Range &range) PTSCHED_REQUIRES(mutex);

    /* The first failure of one of its tasks that nobody has waited for. Thread-safe. */
    void keep_failure(std::exception_ptr failure);
    std::exception_ptr take_failure();

    SmallMutex mutex;

private:
    /* Tasks that need not wait for each other. */
    struct Group {
        Mode mode = Mode::in;
        std::vector<Task *> tasks;
        bool empty() const { return tasks.empty(); }
    };
    struct Entry {
        explicit Entry(const Range &of) : range(of) {}

        const Range range;
        Group current, before; /* those that used it last, and those that the ones of that group wait for */
        std::vector<Entry *> overlapping;
        std::shared_ptr<Exclusion> exclusion; /* null: never asked for */
        std::shared_ptr<Partial> partial;     /* while the current group's mode is a reduction */
        bool was_on_gpu = false;              /* tasks of GPUs have used it */
    };
    Entry &entry_of(const Range &range);
    Entry &make_entry(const Range &range);
    std::uint32_t add(Task &task, Entry &entry, const Access &access, std::size_t index, std::uint32_t era);
    /* @whose: the task whose access it is; @task is that one, or a gate of it. */
    std::uint32_t add_strong(Task &task, Entry &entry, const Access &access, std::uint32_t era, const Task &whose);
    std::uint32_t depend(Task &task, Group &group, const Access &by, std::uint32_t era, const Task &whose);
    std::uint32_t depend(Task &task, Task &on, std::uint32_t era);
    void join(Task &task, Entry &entry, Mode mode);
    void set_extras(Task &task, Entry &entry, const Access &access, std::size_t index);
    void close(Entry &entry, std::uint32_t era);
    static void take_users(Group &group, std::vector<Task *> &users);
    void drop(Group &group);
    void drop_ended(Group &group);
    bool is_idle(const Entry &entry) const;
    void prune();

    static constexpr std::size_t fewest_to_prune = 4096;

    Task *const owner_;
    Host &host_;
    RangeIndex<Entry> entries_;
    std::size_t prune_at_ = fewest_to_prune;
    bool reduces_ = false;    /* some entry may have a partial */
    bool was_on_gpu_ = false; /* likewise */
    Mutex failure_mutex_;
    std::exception_ptr failure_ PTSCHED_GUARDED_BY(failure_mutex_);
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_DOMAIN_HPP */
