// SPDX-License-Identifier: MIT
/* By the library, on the host's threads. */
#include "samples/tasks/taskbench/library.hpp"

namespace ptsched::taskbench {

namespace {

class OnHost : public HostRunner {
public:
    explicit OnHost(unsigned threads)
        : HostRunner(threads), core_(tasks::Core::make({.workers = threads, .devices = {}}))
    {
    }

    void run(const Grid &grid, unsigned long iterations) override;

private:
    struct Task {
        OnHost *runner;
        unsigned step, point;
        void operator()(const tasks::Call &) const
        {
            if (!run_on_host(runner->grid_, runner->cells(), step, point, runner->iterations_))
                runner->wrong_ = true;
        }
    };
    Cells cells() { return {cells_.data(), grid_.width}; }

    Grid grid_{};
    unsigned long iterations_ = 0;
    const std::unique_ptr<tasks::Core> core_; /* ends before what its tasks use */
};

void OnHost::run(const Grid &grid, unsigned long iterations)
{
    cells_.resize(2 * grid.width);
    grid_ = grid;
    iterations_ = iterations;
    cells().clear(grid);
    add_all(*core_, grid, cells(), on_host<Task>, [&](unsigned step, unsigned point) {
        return Task{this, step, point};
    });
    core_->wait(tasks::Core::for_ever);
}

} // namespace

RunnerPtr library_on_host(unsigned threads)
{
    return std::make_unique<OnHost>(threads);
}

} // namespace ptsched::taskbench
