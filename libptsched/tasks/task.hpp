/* SPDX-License-Identifier: MIT */
/*
 * A task as the runtime has it, from when it is made until nobody needs to know of it. Whoever makes it, runs it and
 * waits for it may be different threads; the members say whose they are.
 */
#ifndef PTSCHED_TASKS_TASK_HPP
#define PTSCHED_TASKS_TASK_HPP

#include <ptsched/tasks/core.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace ptsched::tasks {

class Domain;
class Stream;
struct Task;

/* Where a task's work is, on a GPU: the n-th of a stream, from 1 on. */
struct Position {
    Stream *stream = nullptr; /* null: nowhere */
    std::uint64_t number = 0;
};

/*
 * That @to waits for the task in whose list it is. It is in the memory of @to, which is not ready before the edge is
 * taken off that list.
 */
struct Edge {
    Task *to = nullptr;
    Edge *next = nullptr;
    Position after{}; /* what @to follows on a GPU, where it need not wait for the end */
};

/* The tasks that wait for one thing, until it happens. Any thread may add, one ends it. */
class Waiters {
public:
    void reset() { head_.store(nullptr, std::memory_order_relaxed); }
    /* False if it has happened: then what happened before is seen. */
    bool add(Edge &edge)
    {
        Edge *head = head_.load(std::memory_order_acquire);
        do {
            if (head == &over)
                return false;
            edge.next = head;
        } while (!head_.compare_exchange_weak(head, &edge, std::memory_order_acq_rel, std::memory_order_acquire));
        return true;
    }
    bool is_over() const { return head_.load(std::memory_order_acquire) == &over; }
    /* It has happened. Returns those that wait, the last one first. */
    Edge *end() { return head_.exchange(&over, std::memory_order_acq_rel); }

private:
    static inline Edge over;

    std::atomic<Edge *> head_{nullptr};
};

struct Task {
    static constexpr std::size_t inline_accesses = 4, inline_edges = 6, inline_bytes = 96;

    /* How many things it still waits for before it may run; the last one to come makes it ready. */
    std::atomic<std::uint32_t> waits{0};
    /* Its function, each of its children, each hold: with the last one it ends. */
    std::atomic<std::uint32_t> unfinished{0};
    /* Who may still look at it: the runtime until it has ended, and each entry of a domain. */
    std::atomic<std::uint32_t> references{0};
    /* Tasks of GPUs alone wait for one another until that has been given to a stream; all others until it has ended. */
    Waiters given, ended;

    Task *parent = nullptr; /* null: of nobody */
    Attributes attributes{};
    bool runs_on_host = false, runs_on_gpu = false;
    std::atomic<bool> failed{false}; /* or depends on one that has: it does not run, and neither do those behind it */
    std::uint64_t number = 0;        /* in the order in which they are made, from 1 on */

    /* What it declared; its own array where there is room. */
    Access *accesses = nullptr;
    std::uint32_t access_count = 0;

    const Function *function = nullptr; /* null: none, it only stands between others */
    void *closure = nullptr;

    /* What it has made; its own alone may add to that. Null: nothing yet. */
    std::unique_ptr<Domain> inside;

    /* Before given is over; of the GPU side. */
    Position position{};

    /* From which others it waits, own_edges and then these. */
    std::unique_ptr<Edge[]> more_edges;
    std::uint32_t edge_count = 0;
    bool runs_on_gpu_alone() const { return runs_on_gpu && !runs_on_host; }

    Task *next = nullptr; /* in whichever list of ready or free ones it is */

    Access own_accesses[inline_accesses];
    Edge own_edges[inline_edges];
    alignas(std::max_align_t) std::byte own_bytes[inline_bytes];
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_TASK_HPP */
