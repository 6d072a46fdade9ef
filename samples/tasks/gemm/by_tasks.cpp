// SPDX-License-Identifier: MIT
#include "samples/tasks/gemm/problem.hpp"

namespace ptsched::gemm {

namespace {

using namespace tasks;
using samples::TiledMatrix;

class ByTasks : public samples::Way {
public:
    ByTasks(Problem &problem, const Multiply &multiply, Memory memory, unsigned gpus)
        : problem_(problem), multiply_(multiply), tasks_(samples::options(memory, gpus)),
          a_(tasks_.array<double>(problem.tiling.elements())), b_(tasks_.array<double>(problem.tiling.elements())),
          c_(tasks_.array<double>(problem.tiling.elements()))
    {
    }
    void restore() override { problem_.restore(a_.data(), b_.data(), c_.data()); }
    void check() override { problem_.check(c_, "by tasks"); }

    void run() override
    {
        const auto [n, count] = problem_.tiling;
        const TiledMatrix a{a_.data(), problem_.tiling}, b{b_.data(), problem_.tiling}, c{c_.data(), problem_.tiling};
        const auto multiply = [this, rows = n](Gpu &gpu, const double *left, const double *right, double *sum) {
            multiply_(gpu.stream(), rows, left, right, sum);
        };
        for (unsigned i = 0; i < count; i++)
            for (unsigned j = 0; j < count; j++)
                for (unsigned k = 0; k < count; k++)
                    tasks_.cuda({.name = "multiply"}, multiply, in(a(i, k)), in(b(k, j)), inout(c(i, j)));
        tasks_.wait();
    }

private:
    Problem &problem_;
    const Multiply &multiply_;
    Runtime tasks_;
    const Array<double> a_, b_, c_;
};

} // namespace

std::unique_ptr<samples::Way> by_tasks(Problem &problem, const Multiply &multiply, Memory memory, unsigned gpus)
{
    return std::make_unique<ByTasks>(problem, multiply, memory, gpus);
}

} // namespace ptsched::gemm
