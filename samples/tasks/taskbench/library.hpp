/* SPDX-License-Identifier: MIT */
/*
 * Grids as tasks of the library. How many accesses one has is known when it runs, so it goes by the interface below the
 * templates.
 */
#ifndef SAMPLES_TASKBENCH_LIBRARY_HPP
#define SAMPLES_TASKBENCH_LIBRARY_HPP

#include "samples/tasks/taskbench/runner.hpp"
#include <ptsched/tasks.hpp>

#include <atomic>
#include <string>

namespace ptsched::taskbench {

/* What the library is to know of a function object, which is called with what its task is. */
template <typename Task> struct FunctionOf {
    static void move(void *to, void *from) { new (to) Task(*static_cast<Task *>(from)); }
    static void destroy(void *) noexcept {}
    static void call(void *task, const tasks::Call &call) { (*static_cast<const Task *>(task))(call); }
};
template <typename Task>
constexpr tasks::Function on_host{
    sizeof(Task), alignof(Task), FunctionOf<Task>::move, FunctionOf<Task>::destroy, FunctionOf<Task>::call, nullptr};
template <typename Task>
constexpr tasks::Function on_gpu{sizeof(Task), alignof(Task),         FunctionOf<Task>::move, FunctionOf<Task>::destroy,
                                 nullptr,      FunctionOf<Task>::call};

/* One for each task: what it reads, in the order of each_read(), and then what it writes. */
template <typename MakeTask>
void add_all(tasks::Core &core, const Grid &grid, const Cells &cells, const tasks::Function &function,
             const MakeTask &make_task)
{
    const tasks::Attributes attributes{to_string(grid.pattern)};
    std::vector<tasks::Access> accesses;
    for (unsigned step = 0; step < grid.steps; step++)
        for (unsigned point = 0; point < grid.width_at(step); point++) {
            accesses.clear();
            each_read(grid, step, point, [&](unsigned from) {
                accesses.push_back(tasks::in(static_cast<const Cell &>(cells.at(step - 1, from))));
            });
            accesses.push_back(tasks::out(cells.at(step, point)));
            auto task = make_task(step, point);
            core.add(attributes, function, &task, accesses);
        }
}

} // namespace ptsched::taskbench

#endif /* SAMPLES_TASKBENCH_LIBRARY_HPP */
