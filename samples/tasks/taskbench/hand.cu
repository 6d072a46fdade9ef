// SPDX-License-Identifier: MIT
/*
 * As one would write it for this stencil alone: a stream for each point, which waits for the events of its neighbours'
 * last steps and of nothing else, since those that read a cell are those that the next one to write it waits for. And
 * the same captured, as a graph of all steps.
 */
#include "samples/common/check.hpp"
#include "samples/common/try_to.hpp"
#include "samples/tasks/taskbench/hand.h"
#include "samples/tasks/taskbench/kernels.cuh"

#include <algorithm>
#include <cstddef>
#include <cuda_runtime.h>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

using Task = GpuTask<gpu_few_reads>;

__global__ void run_few(Task task)
{
    run_task(task);
}

using ptsched::samples::check;

/* Events of a point, for the steps with even and with odd numbers. */
class Lane {
public:
    Lane() : Lane(nullptr)
    {
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        for (cudaEvent_t &event : done)
            check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    }
    ~Lane()
    {
        for (cudaEvent_t event : done)
            cudaEventDestroy(event);
        cudaStreamDestroy(stream);
    }
    Lane(const Lane &) = delete;
    Lane &operator=(const Lane &) = delete;

    cudaStream_t stream = nullptr;
    cudaEvent_t done[2] = {};

private:
    /* Empty: what is made after that is destroyed if the rest fails. */
    explicit Lane(std::nullptr_t) {}
};

class Stencil {
public:
    Stencil(unsigned width, unsigned steps, unsigned long iterations) : Stencil(nullptr, width, steps, iterations)
    {
        check(cudaMalloc(&cells_, 2 * width * sizeof(Cell)));
        check(cudaHostAlloc(&wrong_, sizeof(unsigned), cudaHostAllocMapped));
        *wrong_ = 0;
        capture();
    }
    ~Stencil()
    {
        if (graph_)
            cudaGraphExecDestroy(graph_);
        cudaFree(cells_);
        cudaFreeHost(wrong_);
    }
    Stencil(const Stencil &) = delete;
    Stencil &operator=(const Stencil &) = delete;

    void run_on_streams()
    {
        give_all();
        wait();
    }
    void run_graph()
    {
        check(cudaGraphLaunch(graph_, lanes_[0].stream));
        wait();
    }
    void result(void *cells)
    {
        check(cudaMemcpy(cells, cells_, 2 * width_ * sizeof(Cell), cudaMemcpyDeviceToHost));
        if (*wrong_)
            throw std::runtime_error("a kernel has read what another one has written");
    }

private:
    Stencil(std::nullptr_t, unsigned width, unsigned steps, unsigned long iterations)
        : width_(width), steps_(steps), iterations_(iterations), lanes_(width)
    {
    }
    Cell *cell(unsigned step, unsigned point) { return cells_ + step % 2 * width_ + point; }
    void wait()
    {
        for (Lane &lane : lanes_)
            check(cudaStreamSynchronize(lane.stream));
    }
    void give_all();
    void give_task(unsigned step, unsigned point);
    void capture();

    const unsigned width_, steps_;
    const unsigned long iterations_;
    std::vector<Lane> lanes_;
    Cell *cells_ = nullptr;
    unsigned *wrong_ = nullptr;
    cudaGraphExec_t graph_ = nullptr;
};

void Stencil::give_task(unsigned step, unsigned point)
{
    Task task{};
    task.out = cell(step, point);
    task.step = step;
    task.point = point;
    task.wrong = wrong_;
    task.iterations = iterations_;
    if (step > 0)
        for (unsigned from = point - std::min(point, 1u); from <= std::min(point + 1, width_ - 1); from++) {
            task.in[task.reads] = cell(step - 1, from);
            task.in_points[task.reads] = from;
            task.reads++;
        }
    run_few<<<1, gpu_threads, 0, lanes_[point].stream>>>(task);
}

void Stencil::give_all()
{
    for (unsigned step = 0; step < steps_; step++)
        for (unsigned point = 0; point < width_; point++) {
            Lane &lane = lanes_[point];
            if (step > 0 && point > 0)
                check(cudaStreamWaitEvent(lane.stream, lanes_[point - 1].done[(step - 1) % 2]));
            if (step > 0 && point + 1 < width_)
                check(cudaStreamWaitEvent(lane.stream, lanes_[point + 1].done[(step - 1) % 2]));
            give_task(step, point);
            check(cudaEventRecord(lane.done[step % 2], lane.stream));
        }
    check(cudaGetLastError());
}

void Stencil::capture()
{
    cudaGraph_t graph;
    cudaStream_t const stream = lanes_[0].stream;
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    check(cudaEventRecord(lanes_[0].done[1], stream));
    for (unsigned point = 1; point < width_; point++)
        check(cudaStreamWaitEvent(lanes_[point].stream, lanes_[0].done[1]));
    give_all();
    for (unsigned point = 1; point < width_; point++)
        check(cudaStreamWaitEvent(stream, lanes_[point].done[(steps_ - 1) % 2]));
    check(cudaStreamEndCapture(stream, &graph));
    check(cudaGraphInstantiate(&graph_, graph, 0));
    check(cudaGraphDestroy(graph));
}

std::unique_ptr<Stencil> stencil;

struct {
    const char *name;
    void (Stencil::*run)();
} const forms[] = {{"streams", &Stencil::run_on_streams}, {"cuda-graph", &Stencil::run_graph}};

} // namespace

unsigned taskbench_hand_forms()
{
    return std::size(forms);
}

const char *taskbench_hand_name(unsigned form)
{
    return forms[form].name;
}

const char *taskbench_hand_open(unsigned width, unsigned steps, unsigned long iterations)
{
    return ptsched::samples::try_to([&] {
        stencil.reset();
        stencil = std::make_unique<Stencil>(width, steps, iterations);
    });
}

const char *taskbench_hand_run(unsigned form)
{
    return ptsched::samples::try_to([&] { (stencil.get()->*forms[form].run)(); });
}

const char *taskbench_hand_result(void *cells)
{
    return ptsched::samples::try_to([&] { stencil->result(cells); });
}
