// SPDX-License-Identifier: MIT
#include "samples/tasks/cholesky/problem.hpp"

namespace ptsched::cholesky {

namespace {

using namespace tasks;
using samples::TiledMatrix;

class ByTasks : public samples::Way {
public:
    ByTasks(Problem &problem, const Steps &steps, Memory memory, unsigned gpus)
        : problem_(problem), steps_(steps), tasks_(samples::options(memory, gpus)),
          matrix_(tasks_.array<double>(problem.tiling.elements()))
    {
    }
    void restore() override { problem_.restore(matrix_.data()); }
    void check() override { problem_.check(matrix_, "by tasks"); }

    void run() override
    {
        const auto [n, count] = problem_.tiling;
        const TiledMatrix a{matrix_.data(), problem_.tiling};
        const auto factor = [this, rows = n](Gpu &gpu, double *own) { steps_.factor(gpu.stream(), rows, own); };
        const auto solve = [this, rows = n](Gpu &gpu, const double *l, double *own) {
            steps_.solve(gpu.stream(), rows, l, own);
        };
        const auto update = [this, rows = n](Gpu &gpu, const double *left, const double *right, double *own) {
            steps_.update(gpu.stream(), rows, left, right, own);
        };
        for (unsigned k = 0; k < count; k++) {
            tasks_.cuda({.name = "factor", .priority = 3}, factor, inout(a(k, k)));
            for (unsigned i = k + 1; i < count; i++)
                tasks_.cuda({.name = "solve", .priority = 2}, solve, in(a(k, k)), inout(a(i, k)));
            for (unsigned i = k + 1; i < count; i++)
                for (unsigned j = k + 1; j <= i; j++)
                    tasks_.cuda({.name = "update", .priority = j == k + 1}, update, in(a(i, k)), in(a(j, k)),
                                inout(a(i, j)));
        }
        tasks_.wait();
    }

private:
    Problem &problem_;
    const Steps &steps_;
    Runtime tasks_;
    const Array<double> matrix_;
};

} // namespace

std::unique_ptr<samples::Way> by_tasks(Problem &problem, const Steps &steps, Memory memory, unsigned gpus)
{
    return std::make_unique<ByTasks>(problem, steps, memory, gpus);
}

} // namespace ptsched::cholesky
