// SPDX-License-Identifier: MIT
/*
 * Lottery scheduling (Waldspurger and Weihl, OSDI 1994): each quantum goes to a ticket that is drawn; a task has as
 * many as its weight. Who uses a fraction f of its quantum, then has 1/f times as many until it wins again
 * (compensation tickets), or those who sleep often would have less than their share. Who overruns its quantum, since
 * kernels cannot be taken off, has fewer by the same rule.
 */
#include "tools/ptsim/random.hpp"
#include "tools/ptsim/schedulers/all.hpp"
#include "tools/ptsim/schedulers/quantum.hpp"

#include <algorithm>
#include <bit>

namespace ptsim {
namespace {

/* Sums of tickets by id, so that a winner is found in logarithmic time (a Fenwick tree). */
class Tickets {
public:
    void set(std::uint32_t id, std::uint64_t tickets)
    {
        if (id >= tickets_.size())
            grow(id);
        const std::uint64_t change = tickets - tickets_[id]; /* modulo 2^64 */
        tickets_[id] = tickets;
        for (std::size_t i = id + 1; i < sums_.size(); i += i & -i)
            sums_[i] += change;
    }

    std::uint64_t all() const { return sums_.empty() ? 0 : sums_.back(); }

    /* The id that holds ticket @number. */
    std::uint32_t holder(std::uint64_t number) const
    {
        std::size_t at = 0;
        for (std::size_t step = tickets_.size(); step; step /= 2)
            if (at + step < sums_.size() && sums_[at + step] <= number) {
                at += step;
                number -= sums_[at];
            }
        return static_cast<std::uint32_t>(at);
    }

private:
    /* To a power of two, whose last sum is that of all. */
    void grow(std::uint32_t id)
    {
        std::vector<std::uint64_t> old = std::move(tickets_);
        const std::size_t size = std::bit_ceil(std::max<std::size_t>(id + 1, 64));
        tickets_.assign(size, 0);
        sums_.assign(size + 1, 0);
        for (std::uint32_t i = 0; i < old.size(); i++)
            if (old[i])
                set(i, old[i]);
    }

    std::vector<std::uint64_t> tickets_;
    std::vector<std::uint64_t> sums_;
};

class Lottery : public QuantumScheduler {
public:
    Lottery(const Machine &machine, std::uint64_t seed) : QuantumScheduler(machine), random_(seed) {}

    void join(const Task &task, Ns) override
    {
        if (task.id >= tasks_.size()) {
            tasks_.resize(task.id + 1);
            factor_.resize(task.id + 1);
        }
        tasks_[task.id] = &task;
        factor_[task.id] = 1;
    }

private:
    /* Parts of a ticket, for compensation. */
    static constexpr double kParts = 1024;

    void insert(const Task &task, bool) override
    {
        const double parts = task.weight * kParts * factor_[task.id];
        tickets_.set(task.id, std::max<std::uint64_t>(1, static_cast<std::uint64_t>(parts)));
    }

    void remove(const Task &task) override { tickets_.set(task.id, 0); }

    const Task *extract() override
    {
        if (!tickets_.all())
            return nullptr;
        const Task *winner = tasks_[tickets_.holder(random_.below(tickets_.all()))];
        remove(*winner);
        return winner;
    }

    void stopped(const Task &task, Ns used_ns) override
    {
        const double fraction = static_cast<double>(used_ns) / static_cast<double>(machine_.slice_ns);
        factor_[task.id] = 1 / std::max(fraction, 1e-3);
    }

    Random random_;
    Tickets tickets_;
    std::vector<const Task *> tasks_;
    std::vector<double> factor_;
};

} // namespace

std::unique_ptr<Scheduler> make_lottery(const Machine &machine, std::uint64_t seed)
{
    return std::make_unique<Lottery>(machine, seed);
}

} // namespace ptsim
