// SPDX-License-Identifier: MIT
#include "samples/tasks/nbody/problem.hpp"

namespace ptsched::nbody {

namespace {

using namespace tasks;

class ByTasks : public samples::Way {
public:
    ByTasks(Problem &problem, const std::string &module, Memory memory)
        : problem_(problem), attract_(samples::kernel_of(module, "attract")), move_(samples::kernel_of(module, "move")),
          tasks_(samples::options(memory)), bodies_(tasks_.array<Vector>(problem.shape.count)),
          velocities_(tasks_.array<Vector>(problem.shape.count)),
          accelerations_(tasks_.array<Vector>(problem.shape.count))
    {
    }
    void restore() override { problem_.restore(bodies_.data(), velocities_.data()); }
    void check() override { problem_.check(bodies_, "by tasks"); }

    void run() override
    {
        const auto [count, block, steps] = problem_.shape;
        const device::Geometry all{{block / threads}, {threads}};
        for (unsigned step = 0; step < steps; step++) {
            for (unsigned i = 0; i < count; i += block)
                for (unsigned j = 0; j < count; j += block)
                    tasks_.kernel({.name = "attract"}, attract_, all, in(&bodies_[i], block), in(&bodies_[j], block),
                                  block, j ? inout(&accelerations_[i], block) : out(&accelerations_[i], block),
                                  unsigned{j == 0});
            for (unsigned i = 0; i < count; i += block)
                tasks_.kernel({.name = "move"}, move_, all, inout(&bodies_[i], block), inout(&velocities_[i], block),
                              in(&accelerations_[i], block));
        }
        tasks_.wait();
    }

private:
    Problem &problem_;
    const Kernel attract_, move_;
    Runtime tasks_;
    const Array<Vector> bodies_, velocities_, accelerations_;
};

} // namespace

std::unique_ptr<samples::Way> by_tasks(Problem &problem, const std::string &module, Memory memory)
{
    return std::make_unique<ByTasks>(problem, module, memory);
}

} // namespace ptsched::nbody
