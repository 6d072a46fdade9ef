// SPDX-License-Identifier: MIT
#include "samples/common/driver.hpp"
#include "samples/tasks/kmeans/problem.hpp"

namespace ptsched::kmeans {

namespace {

using namespace tasks;

class ByTasks : public samples::Way {
public:
    ByTasks(Problem &problem, const std::string &module, Memory memory)
        : problem_(problem), assign_(samples::kernel_of(module, "assign")),
          add_sums_(samples::kernel_of(module, "add_sums")), move_centres_(samples::kernel_of(module, "move_centres")),
          tasks_(samples::options(memory)), samples_(tasks_.array<float>(problem.shape.floats())),
          centres_(tasks_.array<float>(centre_floats)),
          parts_(tasks_.array<float>(std::size_t{problem.shape.blocks} * sum_floats)),
          sums_(tasks_.array<float>(sum_floats))
    {
    }
    void restore() override { problem_.restore(samples_.data(), centres_.data()); }
    void check() override { problem_.check(centres_, "by tasks"); }

    void run() override
    {
        const Shape shape = problem_.shape;
        const auto samples_of = [&](unsigned i) {
            return std::span(&samples_[i * shape.block_floats()], shape.block_floats());
        };
        const auto part = [&](unsigned i) { return std::span(&parts_[std::size_t{i} * sum_floats], sum_floats); };
        /* Two things in the order of a stream: a task for each would cost more. */
        const auto assign = [this, shape](Gpu &gpu, const float *samples, const float *centres, float *sums) {
            samples::driver::check(cuMemsetD32Async(samples::driver::address(sums), 0, sum_floats, gpu.stream()));
            unsigned count = shape.block;
            assign_.run(gpu, {{shape.grid()}, {threads}}, {&samples, &centres, &sums, &count});
        };
        for (unsigned iteration = 0; iteration < shape.iterations; iteration++) {
            for (unsigned i = 0; i < shape.blocks; i++) {
                tasks_.cuda({.name = "assign"}, assign, in(samples_of(i)), in(centres_), out(part(i)));
                tasks_.kernel({.name = "add"}, add_sums_, {{}, {threads}}, in(part(i)), i ? inout(sums_) : out(sums_),
                              unsigned{i == 0});
            }
            tasks_.kernel({.name = "move"}, move_centres_, {{}, {threads}}, in(sums_), inout(centres_));
        }
        tasks_.wait();
    }

private:
    Problem &problem_;
    const Kernel assign_, add_sums_, move_centres_;
    Runtime tasks_;
    const Array<float> samples_, centres_, parts_, sums_;
};

} // namespace

std::unique_ptr<samples::Way> by_tasks(Problem &problem, const std::string &module, Memory memory)
{
    return std::make_unique<ByTasks>(problem, module, memory);
}

} // namespace ptsched::kmeans
