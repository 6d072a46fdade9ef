// SPDX-License-Identifier: MIT
/* By the library, on a GPU. */
#include "samples/tasks/taskbench/library.hpp"
#include <ptsched/device/allocation.hpp>

namespace ptsched::taskbench {

namespace {

/* For errors that kernels find. */
class Flag {
public:
    Flag() : memory_(device::Allocation::pinned(sizeof(unsigned))) { *on_host() = 0; }
    unsigned *on_device() const { return static_cast<unsigned *>(device::host_pointer(memory_.address())); }
    bool take() { return std::exchange(*on_host(), 0) != 0; }

private:
    volatile unsigned *on_host() const { return static_cast<volatile unsigned *>(memory_.host_address()); }

    device::Allocation memory_;
};

class OnGpu : public Runner {
public:
    OnGpu(device::Device &gpu, const std::string &module, unsigned lanes)
        : few_([=](device::Device &one) { return device::cuda_code(one, module, "run_few"); }),
          many_([=](device::Device &one) { return device::cuda_code(one, module, "run_many"); }),
          core_(tasks::Core::make({.devices = {&gpu}, .streams = lanes})), lanes_(lanes)
    {
    }

    unsigned lanes() const override { return lanes_; }
    void run(const Grid &grid, unsigned long iterations) override;
    void check(const Grid &grid) override
    {
        if (wrong_.take())
            throw Error(std::string("a kernel of ") + to_string(grid.pattern) +
                        " has read what another one has written");
        Cells(cells_.data(), grid.width).check(grid);
    }

private:
    struct Task {
        OnGpu *runner;
        unsigned step, point;
        void operator()(const tasks::Call &call) const
        {
            if (call.accesses.size() - 1 <= gpu_few_reads)
                runner->launch<gpu_few_reads>(runner->few_, *this, call);
            else
                runner->launch<gpu_most_reads>(runner->many_, *this, call);
        }
    };
    template <unsigned most> void launch(const tasks::Kernel &kernel, const Task &task, const tasks::Call &call);

    const tasks::Kernel few_, many_;
    Flag wrong_;
    std::vector<Cell> cells_;
    Grid grid_{};
    unsigned long iterations_ = 0;
    const std::unique_ptr<tasks::Core> core_; /* ends before what its tasks use */
    const unsigned lanes_;
};

template <unsigned most> void OnGpu::launch(const tasks::Kernel &kernel, const Task &task, const tasks::Call &call)
{
    GpuTask<most> argument;
    argument.reads = 0;
    each_read(grid_, task.step, task.point, [&](unsigned from) {
        argument.in[argument.reads] = static_cast<const Cell *>(call.places[argument.reads].address);
        argument.in_points[argument.reads] = from;
        argument.reads++;
    });
    argument.out = static_cast<Cell *>(call.places[argument.reads].address);
    argument.step = task.step;
    argument.point = task.point;
    argument.wrong = wrong_.on_device();
    argument.iterations = iterations_;
    kernel.run(tasks::Gpu(call), {{}, {gpu_threads}}, {&argument});
}

void OnGpu::run(const Grid &grid, unsigned long iterations)
{
    if (most_reads(grid) > gpu_most_reads)
        throw Error(std::string(to_string(grid.pattern)) + " has tasks that read " + std::to_string(most_reads(grid)) +
                    " others, and a kernel can have " + std::to_string(gpu_most_reads) + ": make it less wide");
    if (cells_.size() < 2 * grid.width)
        cells_.resize(2 * grid.width);
    grid_ = grid;
    iterations_ = iterations;
    const Cells cells(cells_.data(), grid.width);
    cells.clear(grid);
    add_all(*core_, grid, cells, on_gpu<Task>, [&](unsigned step, unsigned point) { return Task{this, step, point}; });
    core_->wait(tasks::Core::for_ever);
}

} // namespace

RunnerPtr library_on_gpu(device::Device &gpu, const std::string &module, unsigned lanes)
{
    return std::make_unique<OnGpu>(gpu, module, lanes);
}

} // namespace ptsched::taskbench
