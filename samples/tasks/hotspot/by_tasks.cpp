// SPDX-License-Identifier: MIT
#include "samples/tasks/hotspot/problem.hpp"

namespace ptsched::hotspot {

namespace {

using namespace tasks;

class ByTasks : public samples::Way {
public:
    ByTasks(Problem &problem, const std::string &module, Memory memory)
        : problem_(problem), heat_band_(samples::kernel_of(module, "heat_band")),
          tasks_(samples::options(memory)), temperature_{tasks_.array<float>(problem.shape.cells()),
                                                         tasks_.array<float>(problem.shape.cells())},
          power_(tasks_.array<float>(problem.shape.cells()))
    {
        /* Only tasks use the second one then. */
        if (problem.shape.steps % 2 == 0)
            temperature_[1].keep_on_devices();
    }
    void restore() override { problem_.restore(temperature_[0].data(), power_.data()); }
    void check() override { problem_.check(temperature_[problem_.shape.steps % 2], "by tasks"); }

    void run() override
    {
        const auto [side, bands, steps] = problem_.shape;
        const std::size_t cells = problem_.shape.band_cells();
        const unsigned rows = problem_.shape.rows();
        const device::Geometry all{{(side + threads_x - 1) / threads_x, (rows + threads_y - 1) / threads_y},
                                   {threads_x, threads_y}};
        const auto of = [&](const Array<float> &array, unsigned band) {
            return std::span(&array[band * cells], cells);
        };
        for (unsigned step = 0; step < steps; step++) {
            const Array<float> &old = temperature_[step % 2], &made = temperature_[(step + 1) % 2];
            for (unsigned band = 0; band < bands; band++) {
                const unsigned above = band ? band - 1 : band, below = band + 1 < bands ? band + 1 : band;
                tasks_.kernel({.name = "heat"}, heat_band_, all, problem_.chip, in(of(old, above)), in(of(old, band)),
                              in(of(old, below)), in(of(power_, band)), out(of(made, band)), rows, side,
                              unsigned{above == band}, unsigned{below == band});
            }
        }
        tasks_.wait();
    }

private:
    Problem &problem_;
    const Kernel heat_band_;
    Runtime tasks_;
    const Array<float> temperature_[2], power_;
};

} // namespace

std::unique_ptr<samples::Way> by_tasks(Problem &problem, const std::string &module, Memory memory)
{
    return std::make_unique<ByTasks>(problem, module, memory);
}

} // namespace ptsched::hotspot
