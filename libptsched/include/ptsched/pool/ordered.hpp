/* SPDX-License-Identifier: MIT */
/*
 * Tasks that depend on others, on top of a pool: each is pushed when those before it have come back. Nothing else is to
 * push or pop the output that it is given.
 *
 *	Ordered order(pool);
 *	auto a = order.add(factor), b = order.add(solve, {a}), c = order.add(update, {a, b});
 *	order.run();
 *	double sum = std::get<Update>(order.result(c)).sum;
 */
#ifndef PTSCHED_POOL_ORDERED_HPP
#define PTSCHED_POOL_ORDERED_HPP

#include <ptsched/pool.hpp>

#include <deque>
#include <initializer_list>

namespace ptsched::pool {

/* One thread at a time. The pool outlives it. */
template <typename... Tasks> class Ordered {
public:
    using Any = typename Pool<Tasks...>::Any;
    using Id = std::size_t;

    /* Of an output for which nothing has been pushed yet. */
    explicit Ordered(Pool<Tasks...> &pool, unsigned output = 0) : pool_(pool), output_(output) {}
    Ordered(const Ordered &) = delete;
    Ordered &operator=(const Ordered &) = delete;

    /* It is to run after those in @after, which were added before it. Throws Error if one was not. */
    template <typename Task> Id add(const Task &task, std::span<const Id> after = {}, Push how = {})
    {
        const Id id = all_.size();
        for (const Id before : after)
            if (before >= id)
                throw Error("pool: task " + std::to_string(id) + " is to run after task " + std::to_string(before) +
                            ", which was not added before it");
        how.output = output_;
        Entry &entry = all_.emplace_back(Entry{Any(task), how});
        for (const Id before : after)
            if (!all_[before].has_ended) {
                all_[before].next.push_back(id);
                entry.waits_for++;
            }
        if (!entry.waits_for)
            ready_.push_back(id);
        return id;
    }
    template <typename Task> Id add(const Task &task, std::initializer_list<Id> after, const Push &how = {})
    {
        return add(task, std::span<const Id>(after.begin(), after.size()), how);
    }

    /* Blocks until all that were added have come back. Throws what the pool throws, Error if it was stopped. */
    void run()
    {
        std::size_t out = 0;
        while (!ready_.empty() || out) {
            for (; !ready_.empty(); ready_.pop_front(), out++)
                push(ready_.front());
            const std::size_t back = pool_.core_.pop(
                output_, 64,
                [this](unsigned kind, const std::byte *task, std::uint64_t number) {
                    take(pushed_.at(number - 1), Pool<Tasks...>::make(kind, task));
                },
                Core::for_ever);
            if (!back)
                throw Error("pool: it was stopped before all tasks had run");
            out -= back;
        }
    }

    /* What came back of one that has run. */
    const Any &result(Id id) const { return all_.at(id).task; }

private:
    struct Entry {
        Any task;
        Push how;
        std::size_t waits_for = 0;
        std::vector<Id> next = {}; /* that wait for it */
        bool has_ended = false;
    };

    void push(Id id)
    {
        const Entry &entry = all_[id];
        pushed_.push_back(id);
        if constexpr (sizeof...(Tasks) == 1)
            pool_.push(entry.task, entry.how);
        else
            std::visit([&](const auto &task) { pool_.push(task, entry.how); }, entry.task);
    }

    void take(Id id, Any task)
    {
        all_[id].task = std::move(task);
        all_[id].has_ended = true;
        for (const Id next : all_[id].next)
            if (!--all_[next].waits_for)
                ready_.push_back(next);
    }

    Pool<Tasks...> &pool_;
    const unsigned output_;
    std::deque<Entry> all_;
    std::deque<Id> ready_;
    std::vector<Id> pushed_; /* by the order in which they were */
};

} // namespace ptsched::pool

#endif /* PTSCHED_POOL_ORDERED_HPP */
