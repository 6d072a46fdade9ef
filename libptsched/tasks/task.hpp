/* SPDX-License-Identifier: MIT */
/*
 * A task as the runtime has it, from when it is made until nobody needs to know of it. Whoever makes it, runs it and
 * waits for it may be different threads; the members say whose they are.
 */
#ifndef PTSCHED_TASKS_TASK_HPP
#define PTSCHED_TASKS_TASK_HPP

#include <ptsched/tasks/core.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ptsched::tasks {

class CoreImpl;
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
    /* The one that was added last, or null; as long as nobody ends it. */
    const Edge *first() const
    {
        const Edge *head = head_.load(std::memory_order_acquire);
        return head == &over ? nullptr : head;
    }
    /* It has happened. Returns those that wait, the last one first; none if it had happened before. */
    Edge *end()
    {
        Edge *head = head_.exchange(&over, std::memory_order_acq_rel);
        return head == &over ? nullptr : head;
    }
    /* The same, in the order in which they were added. */
    Edge *end_in_order()
    {
        Edge *first = nullptr;
        for (Edge *edge = end(); edge;) {
            Edge *const next = std::exchange(edge->next, first);
            first = std::exchange(edge, next);
        }
        return first;
    }

private:
    static inline Edge over;

    std::atomic<Edge *> head_{nullptr};
};

/* What only some tasks have: see domain.hpp. */
struct Extras;

struct Task {
    static constexpr std::size_t inline_accesses = 3, inline_edges = 4, inline_bytes = 80, edges_at_once = 16;
    /* Bytes that are written when a task with a few accesses is made. */
    static constexpr std::size_t written_first = 448;
    /* While it is being made, it waits for that, too. */
    static constexpr std::uint32_t being_made = 1U << 30;

    /* How many things it still waits for before it may run; the last one to come makes it ready. */
    std::atomic<std::uint32_t> waits{being_made};
    /* Its function, each of its children, each hold, which are counted besides: with the last one it ends. */
    std::atomic<std::uint32_t> unfinished{1}, holds{0};
    /* Who may still look at it: the runtime until it has ended, and each group of a domain's entry. */
    std::atomic<std::uint32_t> references{1};
    /* Not 0: it has failed, or depends on one that has, in that era of the runtime; then it does not run. */
    std::atomic<std::uint32_t> failed{0};
    /* Tasks of GPUs alone wait for one another until that has been given to a stream; all others until it has ended. */
    Waiters given, ended;

    bool runs_on_host = false, runs_on_gpu = false;
    bool never_waits = false; /* its function calls nobody's */
    std::uint32_t access_count = 0, edge_count = 0;
    /* Of the first accesses, which ones a task of a GPU reads that no other is to write before; a bit for each. */
    std::uint32_t settled = 0;
    /* What it declared; its own array where there is room. */
    Access *accesses = own_accesses;
    const Function *function = nullptr; /* null: none, it only stands between others */
    void *closure = nullptr;
    CoreImpl *core = nullptr;
    Task *parent = nullptr; /* null: of nobody */
    Attributes attributes{};
    std::uint64_t number = 0; /* in the order in which they are made, from 1 on */
    /* Before given is over; of the GPU side. */
    Position position{};
    Task *next = nullptr; /* in whichever list of free or waiting ones it is */
    /* What it has made. Null: nothing yet. */
    std::unique_ptr<Domain> inside;
    std::unique_ptr<Extras> extras;
    std::vector<std::unique_ptr<Edge[]>> more_edges;

    /* As far as they are used, they are written: the memory was another processor's a moment ago. */
    union {
        Access own_accesses[inline_accesses];
    };
    union {
        Edge own_edges[inline_edges];
    };
    alignas(std::max_align_t) std::byte own_bytes[inline_bytes];

    Task();
    ~Task();
    Task(const Task &) = delete;
    Task &operator=(const Task &) = delete;

    /* For each of edge_count. */
    Edge &edge(std::size_t i)
    {
        if (i < inline_edges)
            return own_edges[i];
        i -= inline_edges;
        return more_edges[i / edges_at_once][i % edges_at_once];
    }
    Edge &add_edge()
    {
        const std::size_t beyond = edge_count - inline_edges;
        if (edge_count >= inline_edges && beyond == more_edges.size() * edges_at_once)
            more_edges.push_back(std::make_unique<Edge[]>(edges_at_once));
        return edge(edge_count++);
    }
    bool runs_on_gpu_alone() const { return runs_on_gpu && !runs_on_host; }
    /* A task, or memory for one, which is used soon and was another processor's a moment ago. */
    enum class Use { read, write };
    template <Use use> static void prefetch(const void *task)
    {
        constexpr std::size_t line = 64;
        for (std::size_t at = 0; at < written_first; at += line)
            __builtin_prefetch(static_cast<const std::byte *>(task) + at, use == Use::write);
    }
    std::span<const Access> declared() const { return {accesses, access_count}; }
};

/* Calls @act(access) for those that are settled. */
template <typename Act> void for_each_settled(const Task &task, Act act)
{
    for (std::uint32_t bits = task.settled; bits; bits &= bits - 1)
        act(task.accesses[std::countr_zero(bits)]);
}

/* As errors name it: "task 12 (potrf)". */
std::string describe(const Task &task);

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_TASK_HPP */
