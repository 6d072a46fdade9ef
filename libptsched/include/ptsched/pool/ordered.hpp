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

#include <algorithm>
#include <deque>
#include <initializer_list>
#include <tuple>

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
        for (const Id before : after) {
            Entry &first = all_[before];
            if (first.has_ended)
                continue;
            links_.push_back({id, first.next});
            first.next = links_.size() - 1;
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
        while (pushed_ < ready_.size() || out) {
            while (pushed_ < ready_.size()) {
                const std::size_t now =
                    push_alike(std::min<std::size_t>(ready_.size() - pushed_, at_once), Core::Duration::zero());
                if (!now)
                    break;
                out += now;
            }
            /* Others have filled the queue. */
            if (!out)
                out += push_alike(1, Core::for_ever);
            const std::size_t back = pool_.core_->pop(
                output_, 64,
                [this](unsigned kind, const std::byte *task, std::uint64_t number) {
                    take(ready_.at(number - 1 - forgotten_), Pool<Tasks...>::make(kind, task));
                },
                Core::for_ever);
            if (!back)
                throw Error("pool: it was stopped before all tasks had run");
            out -= back;
        }
    }

    /* Forgets all of them: the next one that is added is again the first. Throws Error if some have not run. */
    void clear()
    {
        if (pushed_ != all_.size())
            throw Error("pool: " + std::to_string(all_.size() - pushed_) + " tasks have not run: call run() before");
        forgotten_ += pushed_;
        pushed_ = 0;
        all_.clear();
        links_.clear();
        ready_.clear();
    }

    /* What came back of one that has run. */
    const Any &result(Id id) const { return all_.at(id).task; }

private:
    /* Copied together for a push, which may find room for fewer. */
    static constexpr std::size_t at_once = 256;

    static constexpr std::size_t none = ~std::size_t{0};

    struct Entry {
        Any task;
        Push how;
        std::size_t waits_for = 0;
        std::size_t next = none; /* the last link to those that wait for it */
        bool has_ended = false;
    };
    struct Link {
        Id id;
        std::size_t before; /* the link of the same list, or none */
    };

    /*
     * The next ones that are ready, have one type and go the same way, @count at most: as many as there is room for
     * within @most; how many that were.
     */
    std::size_t push_alike(std::size_t count, Core::Duration most)
    {
        std::size_t now = 0;
        const auto push = [&](const auto &first) {
            using Task = std::decay_t<decltype(first)>;
            const std::vector<Task> &alike = gather<Task>(count);
            now = pool_.core_->push(Pool<Tasks...>::template kind<Task>(), alike.data(), alike.size(),
                                    all_[ready_[pushed_]].how, most);
        };
        if constexpr (sizeof...(Tasks) == 1)
            push(all_[ready_[pushed_]].task);
        else
            std::visit(push, all_[ready_[pushed_]].task);
        pushed_ += now;
        return now;
    }

    template <typename Task> const std::vector<Task> &gather(std::size_t count)
    {
        auto &alike = std::get<std::vector<Task>>(alike_);
        const Push &how = all_[ready_[pushed_]].how;
        alike.clear();
        for (std::size_t i = pushed_; i < ready_.size() && alike.size() < count; i++) {
            const Entry &entry = all_[ready_[i]];
            if (!(entry.how == how))
                break;
            if constexpr (sizeof...(Tasks) == 1) {
                alike.push_back(entry.task);
            } else {
                const Task *task = std::get_if<Task>(&entry.task);
                if (!task)
                    break;
                alike.push_back(*task);
            }
        }
        return alike;
    }

    void take(Id id, Any task)
    {
        Entry &entry = all_[id];
        entry.task = std::move(task);
        entry.has_ended = true;
        const std::size_t first = ready_.size();
        for (std::size_t link = entry.next; link != none; link = links_[link].before)
            if (!--all_[links_[link].id].waits_for)
                ready_.push_back(links_[link].id);
        /* In the order in which they were added. */
        std::reverse(ready_.begin() + static_cast<std::ptrdiff_t>(first), ready_.end());
    }

    Pool<Tasks...> &pool_;
    const unsigned output_;
    std::deque<Entry> all_;
    std::vector<Link> links_;
    std::vector<Id> ready_; /* in the order in which they are pushed, those that were included */
    std::size_t pushed_ = 0;
    std::uint64_t forgotten_ = 0; /* that were pushed before */
    std::tuple<std::vector<Tasks>...> alike_;
};

} // namespace ptsched::pool

#endif /* PTSCHED_POOL_ORDERED_HPP */
