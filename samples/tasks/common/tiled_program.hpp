/* SPDX-License-Identifier: MIT */
#ifndef SAMPLES_TASKS_COMMON_TILED_PROGRAM_HPP
#define SAMPLES_TASKS_COMMON_TILED_PROGRAM_HPP

#include "samples/common/driver.hpp"
#include "samples/tasks/common/modes.hpp"
#include "samples/tasks/common/tiles.hpp"

namespace ptsched::samples {

/* A program whose problem is a matrix, or some, by tiles: by hand and by tasks, these on one GPU or on several. */
template <typename Problem, typename Steps> struct TiledProgram {
    std::string name, what;
    Tiling small;
    unsigned rows, tile; /* when nothing is said */
    std::unique_ptr<Way> (*by_hand)(Problem &problem, const Steps &steps);
    std::unique_ptr<Way> (*by_tasks)(Problem &problem, const Steps &steps, tasks::Memory memory, unsigned gpus);
    Modes modes{};
    unsigned gpus = 1;

    /* The main function: its records' names begin with @name. */
    int main(int argc, char **argv)
    {
        return run_program(
            argc, argv, "tasks-" + name, what, [this](const auto &settings, auto &report) { run(settings, report); },
            {{"--rows", &rows, "of a matrix, and columns"},
             {"--tile", &tile, "rows of a tile, and columns"},
             {"--gpus", &gpus, "if there are several, tasks with copies on so many are compared with those on one"},
             modes.choice()});
    }

private:
    void run(const Settings &settings, Report &report) const
    {
        if (!tile || rows % tile)
            throw Error("--rows must be a multiple of --tile");
        const driver::Context context;
        const Steps steps(settings);
        Problem few(small);
        check_ways(ways(few, steps));
        if (device::gpus().size() > 1)
            check_ways(ways_on(few, steps, 2));
        if (settings.check)
            return;
        Problem problem({tile, rows / tile});
        measure_ways(settings, report, name, gpus > 1 ? ways_on(problem, steps, gpus) : ways(problem, steps));
    }
    std::vector<NamedWay> ways(Problem &problem, const Steps &steps) const
    {
        return modes.ways([&] { return by_hand(problem, steps); },
                          [&](tasks::Memory memory) { return by_tasks(problem, steps, memory, 1); });
    }
    /* By tasks with copies alone. */
    std::vector<NamedWay> ways_on(Problem &problem, const Steps &steps, unsigned some) const
    {
        const auto on = [&](unsigned count) {
            return [this, &problem, &steps, count] { return by_tasks(problem, steps, tasks::Memory::copied, count); };
        };
        return {{"gpus1", on(1)}, {"gpus" + std::to_string(some), on(some)}};
    }
};

} // namespace ptsched::samples

#endif /* SAMPLES_TASKS_COMMON_TILED_PROGRAM_HPP */
