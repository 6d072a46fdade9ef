// SPDX-License-Identifier: MIT
/* Unfair on purpose: who came first has the device for as long as it has work. */
#include "tools/ptsim/schedulers/all.hpp"

#include <list>

namespace ptsim {
namespace {

class Fifo : public Scheduler {
public:
    void join(const Task &, Ns) override {}
    void leave(const Task &, Ns) override {}
    void wake(const Task &task, Ns) override { queue_.push_back(&task); }
    void sleep(const Task &task, Ns) override { queue_.remove(&task); }
    void ran(const Task &, const Run &, Ns) override {}
    Decision decide(const OnDevice &, Ns) override { return {queue_.empty() ? nullptr : queue_.front()}; }

private:
    std::list<const Task *> queue_;
};

} // namespace

std::unique_ptr<Scheduler> make_fifo(const Machine &, std::uint64_t)
{
    return std::make_unique<Fifo>();
}

} // namespace ptsim
