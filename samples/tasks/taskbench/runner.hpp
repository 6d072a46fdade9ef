/* SPDX-License-Identifier: MIT */
/* Who runs grids of tasks: the library, and those that it is compared with. */
#ifndef SAMPLES_TASKBENCH_RUNNER_HPP
#define SAMPLES_TASKBENCH_RUNNER_HPP

#include "samples/tasks/taskbench/cell.h"
#include "samples/tasks/taskbench/pattern.hpp"
#include <ptsched/device/device.hpp>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ptsched::taskbench {

class Runner {
public:
    virtual ~Runner() = default;
    /* How many tasks it can run at once. */
    virtual unsigned lanes() const = 0;
    /* What can be done before a run. */
    virtual void prepare(const Grid &, unsigned long /* iterations */) {}
    /* Runs all and waits for it. Each task does so many iterations. */
    virtual void run(const Grid &grid, unsigned long iterations) = 0;
    /* After a run: throws Error if a task has read what it should not, or has not written. */
    virtual void check(const Grid &grid) = 0;
};
using RunnerPtr = std::unique_ptr<Runner>;

/* By tasks of the library, by so many threads. */
RunnerPtr library_on_host(unsigned threads);
/* By OpenMP's tasks, likewise. */
RunnerPtr openmp(unsigned threads);
/* By tasks of the library; as many streams as lanes. @module: kernels.cu, compiled. */
RunnerPtr library_on_gpu(device::Device &gpu, const std::string &module, unsigned lanes);
/* By streams and events, or CUDA graphs; a stencil of that width alone. @library: hand.cu, compiled. */
std::vector<std::pair<std::string, RunnerPtr>> by_hand_on_gpu(const std::string &library, unsigned width);

/*
 * What tasks write: those of one step into one row, those of the next one into the other. Of the last two steps it is
 * all there at the end.
 */
class Cells {
public:
    /* @cells: two rows of @width. */
    Cells(Cell *cells, unsigned width) : cells_(cells), width_(width) {}
    Cell &at(unsigned step, unsigned point) const { return cells_[step % 2 * width_ + point]; }
    /* Before a run: nobody has written anything. */
    void clear(const Grid &grid) const;
    /* Throws Error if the last steps' tasks have not written theirs. */
    void check(const Grid &grid) const;

private:
    Cell *cells_;
    unsigned width_;
};

/* Of those by threads of the host. */
class HostRunner : public Runner {
public:
    explicit HostRunner(unsigned threads) : threads_(threads) {}
    unsigned lanes() const override { return threads_; }
    void check(const Grid &grid) override
    {
        if (wrong_.exchange(false))
            throw Error(std::string("a task of ") + to_string(grid.pattern) + " has read what another one has written");
        Cells(cells_.data(), grid.width).check(grid);
    }

protected:
    const unsigned threads_;
    std::vector<Cell> cells_;
    std::atomic<bool> wrong_{false}; /* a task has read something wrong */
};

/* What a task of the host does. False if it has read something wrong. */
bool run_on_host(const Grid &grid, const Cells &cells, unsigned step, unsigned point, unsigned long iterations);

} // namespace ptsched::taskbench

#endif /* SAMPLES_TASKBENCH_RUNNER_HPP */
