// SPDX-License-Identifier: MIT
#include "samples/tasks/saxpy/problem.hpp"

namespace ptsched::saxpy {

namespace {

using namespace tasks;

class ByTasks : public samples::Way {
public:
    ByTasks(Problem &problem, const std::string &module, Memory memory)
        : problem_(problem), saxpy_(samples::kernel_of(module, "saxpy")), tasks_(samples::options(memory)),
          x_(tasks_.array<float>(problem.shape.count)), y_(tasks_.array<float>(problem.shape.count))
    {
    }
    void restore() override { problem_.restore(x_.data(), y_.data()); }
    void check() override { problem_.check(y_, "by tasks"); }

    void run() override
    {
        const auto [count, block] = problem_.shape;
        const auto size = static_cast<unsigned>(block);
        const device::Geometry threads_of_block{{(size + threads - 1) / threads}, {threads}};
        for (std::size_t i = 0; i < count; i += block)
            tasks_.kernel({.name = "saxpy"}, saxpy_, threads_of_block, a, in(&x_[i], block), inout(&y_[i], block),
                          size);
        tasks_.wait();
    }

private:
    Problem &problem_;
    const Kernel saxpy_;
    Runtime tasks_;
    const Array<float> x_, y_;
};

} // namespace

std::unique_ptr<samples::Way> by_tasks(Problem &problem, const std::string &module, Memory memory)
{
    return std::make_unique<ByTasks>(problem, module, memory);
}

} // namespace ptsched::saxpy
