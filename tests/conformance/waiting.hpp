/* SPDX-License-Identifier: MIT */
/* How time is divided, as seen from who waits: the others' budgets grow meanwhile. */
#ifndef PTSCHED_TEST_WAITING_HPP
#define PTSCHED_TEST_WAITING_HPP

#include "tests/conformance/actor.hpp"
#include "tests/conformance/scheduler.hpp"
#include "tests/conformance/tap.hpp"

#include <vector>

/* Somebody has the turn, and others wait for it. */
class Waiting {
public:
    /* @prepare is called with each before it attaches, and its place among them. */
    template <typename Prepare> Waiting(std::size_t n, Prepare prepare) : actors_(n)
    {
        holder_.join();
        CHECK_EQ(0, holder_.acquire().result);
        for (std::size_t i = 0; i < n; i++) {
            prepare(actors_[i], i);
            actors_[i].join();
            actors_[i].start_waiting();
        }
        begun_ = budgets();
    }
    Waiting(const Waiting &) = delete;
    Waiting &operator=(const Waiting &) = delete;

    const Actor &actor(std::size_t which) const { return actors_[which]; }
    /*
     * Until what the first @n have earned is so many times what the last one has. They are not looked at in one
     * instant, which matters the less, the longer it takes.
     */
    void await_ratio(std::size_t n, double wanted) const
    {
        scheduler::wait_until([&] {
            std::vector<std::int64_t> now = budgets();
            std::int64_t first = 0, last = now.back() - begun_.back();
            for (std::size_t i = 0; i < n; i++)
                first += now[i] - begun_[i];
            double ratio = static_cast<double>(first) / static_cast<double>(last);
            return last > 5 * static_cast<std::int64_t>(scheduler::kMillisecond) && ratio > wanted * 0.9 &&
                   ratio < wanted * 1.1;
        });
    }

private:
    std::vector<std::int64_t> budgets() const
    {
        std::vector<std::int64_t> found;
        for (const Actor &actor : actors_)
            found.push_back(scheduler::entity(actor.pid())->at(PTSCHED_A_BUDGET_NS));
        return found;
    }

    Actor holder_;
    std::vector<Actor> actors_;
    std::vector<std::int64_t> begun_;
};

#endif
