// SPDX-License-Identifier: MIT
#include "samples/tasks/heat/problem.hpp"

namespace ptsched::heat {

namespace {

using namespace tasks;

Options options_with(Memory memory)
{
    Options made = samples::options(memory);
    made.streams = streams;
    return made;
}

class ByTasks : public samples::Way {
public:
    ByTasks(Problem &problem, const std::string &module, Memory memory)
        : problem_(problem), relax_(samples::kernel_of(module, "relax")), tasks_(options_with(memory)),
          plate_(tasks_.array<double>(problem.shape.cells()))
    {
    }
    void restore() override { problem_.restore(plate_.data()); }
    void check() override { problem_.check(plate_, "by tasks"); }

    void run() override
    {
        const Shape &shape = problem_.shape;
        const std::size_t cells = shape.tile_cells();
        const int count = static_cast<int>(shape.tiles);
        const auto tile = [&](int row, int column) {
            return std::span(&plate_[shape.place(row, column) * cells], cells);
        };
        for (unsigned sweep = 0; sweep < shape.sweeps; sweep++)
            for (int row = 0; row < count; row++)
                for (int column = 0; column < count; column++)
                    tasks_.kernel({.name = "relax"}, relax_, {{}, {shape.n}}, inout(tile(row, column)),
                                  in(tile(row - 1, column)), in(tile(row, column - 1)), in(tile(row, column + 1)),
                                  in(tile(row + 1, column)), shape.n);
        tasks_.wait();
    }

private:
    Problem &problem_;
    const Kernel relax_;
    Runtime tasks_;
    const Array<double> plate_;
};

} // namespace

std::unique_ptr<samples::Way> by_tasks(Problem &problem, const std::string &module, Memory memory)
{
    return std::make_unique<ByTasks>(problem, module, memory);
}

} // namespace ptsched::heat
