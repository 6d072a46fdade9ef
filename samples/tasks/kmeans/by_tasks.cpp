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
          move_centres_(samples::kernel_of(module, "move_centres_by_parts")), tasks_(samples::options(memory)),
          samples_(tasks_.array<float>(problem.shape.floats())), centres_(tasks_.array<float>(centre_floats)),
          sums_(tasks_.array<float>(std::size_t{problem.shape.blocks} * sum_floats))
    {
        sums_.keep_on_devices();
    }
    void restore() override { problem_.restore(samples_.data(), centres_.data()); }
    void check() override { problem_.check(centres_, "by tasks"); }

    void run() override
    {
        const Shape shape = problem_.shape;
        const auto samples_of = [&](unsigned i) {
            return std::span(&samples_[i * shape.block_floats()], shape.block_floats());
        };
        const auto sums_of = [this](unsigned i) { return std::span(&sums_[std::size_t{i} * sum_floats], sum_floats); };
        /* Two things in the order of a stream: a task for each would cost more. */
        const auto assign = [this, shape](Gpu &gpu, const float *samples, const float *centres, float *sums) {
            samples::driver::check(cuMemsetD32Async(samples::driver::address(sums), 0, sum_floats, gpu.stream()));
            unsigned count = shape.block;
            assign_.run(gpu, {{shape.grid()}, {threads}}, {&samples, &centres, &sums, &count});
        };
        /* The centres, and the sums of as many blocks as there are. */
        std::vector<Access> moved{inout(centres_)};
        for (unsigned i = 0; i < shape.blocks; i++)
            moved.push_back(in(sums_of(i)));
        const auto move = [=, this](Gpu &gpu) {
            Parts parts{{}, shape.blocks};
            for (unsigned i = 0; i < shape.blocks; i++)
                parts.sums[i] = gpu.at(sums_of(i).data());
            float *centres = gpu.at(centres_.data());
            move_centres_.run(gpu, {{}, {sum_floats}}, {&parts, &centres});
        };
        for (unsigned iteration = 0; iteration < shape.iterations; iteration++) {
            for (unsigned i = 0; i < shape.blocks; i++)
                tasks_.cuda({.name = "assign"}, assign, in(samples_of(i)), in(centres_), out(sums_of(i)));
            tasks_.cuda({.name = "move"}, move, moved);
        }
        tasks_.wait();
    }

private:
    Problem &problem_;
    const Kernel assign_, move_centres_;
    Runtime tasks_;
    const Array<float> samples_, centres_, sums_; /* the last, of each block */
};

} // namespace

std::unique_ptr<samples::Way> by_tasks(Problem &problem, const std::string &module, Memory memory)
{
    return std::make_unique<ByTasks>(problem, module, memory);
}

} // namespace ptsched::kmeans
