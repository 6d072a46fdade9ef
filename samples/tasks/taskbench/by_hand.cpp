// SPDX-License-Identifier: MIT
/* What hand.cu has, as a runner. */
#include "samples/common/hand.hpp"
#include "samples/tasks/taskbench/hand.h"
#include "samples/tasks/taskbench/runner.hpp"

#include <string>

namespace ptsched::taskbench {

namespace {

using samples::check_hand;
using samples::Hand;

/* What one of its forms has made ready is there for the others, too. */
class Library {
public:
    explicit Library(const std::string &file)
        : hand_(file), forms(hand_.find<decltype(taskbench_hand_forms)>("taskbench_hand_forms")),
          name(hand_.find<decltype(taskbench_hand_name)>("taskbench_hand_name")),
          run(hand_.find<decltype(taskbench_hand_run)>("taskbench_hand_run")),
          result(hand_.find<decltype(taskbench_hand_result)>("taskbench_hand_result")),
          open_(hand_.find<decltype(taskbench_hand_open)>("taskbench_hand_open"))
    {
    }

    void open(const Grid &grid, unsigned long iterations)
    {
        if (grid.width == grid_.width && grid.steps == grid_.steps && iterations == iterations_)
            return;
        check_hand(open_(grid.width, grid.steps, iterations));
        grid_ = grid;
        iterations_ = iterations;
    }

private:
    const Hand hand_;
    Grid grid_{};
    unsigned long iterations_ = 0;

public:
    decltype(taskbench_hand_forms) *const forms;
    decltype(taskbench_hand_name) *const name;
    decltype(taskbench_hand_run) *const run;
    decltype(taskbench_hand_result) *const result;

private:
    decltype(taskbench_hand_open) *const open_;
};

class ByHand : public Runner {
public:
    ByHand(std::shared_ptr<Library> library, unsigned form, unsigned width)
        : library_(std::move(library)), form_(form), width_(width), cells_(2 * width)
    {
    }

    unsigned lanes() const override { return width_; }
    void prepare(const Grid &grid, unsigned long iterations) override
    {
        if (grid.pattern != Pattern::stencil || grid.width != width_)
            throw Error("by hand there is a stencil of that width, and nothing else");
        library_->open(grid, iterations);
    }
    void run(const Grid &grid, unsigned long iterations) override
    {
        prepare(grid, iterations);
        check_hand(library_->run(form_));
    }
    void check(const Grid &grid) override
    {
        check_hand(library_->result(cells_.data()));
        Cells(cells_.data(), width_).check(grid);
    }

private:
    const std::shared_ptr<Library> library_;
    const unsigned form_, width_;
    std::vector<Cell> cells_;
};

} // namespace

std::vector<std::pair<std::string, RunnerPtr>> by_hand_on_gpu(const std::string &file, unsigned width)
{
    const auto library = std::make_shared<Library>(file);
    std::vector<std::pair<std::string, RunnerPtr>> all;
    for (unsigned form = 0; form < library->forms(); form++)
        all.emplace_back(library->name(form), std::make_unique<ByHand>(library, form, width));
    return all;
}

} // namespace ptsched::taskbench
