// SPDX-License-Identifier: MIT
/* By OpenMP's tasks. The only file that is compiled with -fopenmp. */
#include "samples/tasks/taskbench/runner.hpp"

namespace ptsched::taskbench {

namespace {

class OpenMp : public HostRunner {
public:
    using HostRunner::HostRunner;
    void run(const Grid &grid, unsigned long iterations) override;

private:
    void add(const Grid &grid, const Cells &cells, unsigned step, unsigned point, unsigned long iterations);
};

template <typename Task> void add_with_many(const Task &task, const Cell *const *in, unsigned count, Cell *to)
{
#pragma omp task firstprivate(task) depend(iterator(unsigned i = 0 : count), in : *in[i]) depend(out : *to)
    task();
}

/* Those with few are written out, which costs less than a list. */
void OpenMp::add(const Grid &grid, const Cells &cells, unsigned step, unsigned point, unsigned long iterations)
{
    const auto task = [this, grid, cells, step, point, iterations] {
        if (!run_on_host(grid, cells, step, point, iterations))
            wrong_.store(true, std::memory_order_relaxed);
    };
    const Cell *reads[gpu_most_reads];
    std::vector<const Cell *> many;
    unsigned count = 0;
    if (most_reads(grid) > std::size(reads))
        many.resize(most_reads(grid));
    const Cell **const in = many.empty() ? reads : many.data();
    Cell *const to = &cells.at(step, point);
    each_read(grid, step, point, [&](unsigned from) { in[count++] = &cells.at(step - 1, from); });
    switch (count) {
    case 0:
#pragma omp task firstprivate(task) depend(out : *to)
        task();
        break;
    case 1:
#pragma omp task firstprivate(task) depend(in : *in[0]) depend(out : *to)
        task();
        break;
    case 2:
#pragma omp task firstprivate(task) depend(in : *in[0], *in[1]) depend(out : *to)
        task();
        break;
    case 3:
#pragma omp task firstprivate(task) depend(in : *in[0], *in[1], *in[2]) depend(out : *to)
        task();
        break;
    default:
        add_with_many(task, in, count, to);
    }
}

void OpenMp::run(const Grid &grid, unsigned long iterations)
{
    cells_.resize(2 * grid.width);
    const Cells cells(cells_.data(), grid.width);
    cells.clear(grid);
#pragma omp parallel num_threads(threads_)
#pragma omp single
    for (unsigned step = 0; step < grid.steps; step++)
        for (unsigned point = 0; point < grid.width_at(step); point++)
            add(grid, cells, step, point, iterations);
}

} // namespace

RunnerPtr openmp(unsigned threads)
{
    return std::make_unique<OpenMp>(threads);
}

} // namespace ptsched::taskbench
