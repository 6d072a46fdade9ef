// SPDX-License-Identifier: MIT
/* Tasks that are functions which give a stream its work. */
#include "libptsched/cuda/cuda_abi.h"
#include "tests/ptask/ptask_test.hpp"

#include <atomic>

namespace test {

namespace {

namespace device = ptsched::device;

constexpr unsigned n = 64;
const Template numbers = Template::of<int>(n);

void check(CUresult result)
{
    if (result != CUDA_SUCCESS)
        throw Error("CUDA error " + std::to_string(result));
}

CUdeviceptr address(const void *pointer)
{
    return reinterpret_cast<CUdeviceptr>(pointer);
}

/* y: x, but for the first, which is @first. */
StreamFunction copy_with(unsigned first)
{
    return [=](StreamCall &call) {
        const int *x = call.at<const int>(0);
        int *y = call.at<int>(1);
        check(cuMemcpyDtoDAsync_v2(address(y), address(x), call.bytes(0), call.stream()));
        check(cuMemsetD32Async(address(y), first, 1, call.stream()));
    };
}

std::vector<PortOptions> x_to_y()
{
    return {in("x", numbers), out("y", numbers)};
}

/* Between kernels, on whichever GPU, many in flight. */
void between_kernels()
{
    constexpr int sets = 30;
    for (Mode mode : {Mode::data_aware, Mode::first_available}) {
        Graph graph({.mode = mode});
        const std::vector<PortOptions> next = {inout("x", numbers), constant("n", n)};
        Task &before = graph.cuda("before", {ptask_kernels(), "successor"}, next);
        Task &call = graph.cuda_call("call", copy_with(100), x_to_y());
        Task &after = graph.cuda("after", {ptask_kernels(), "successor"}, next);
        graph.connect(before["x"], call["x"]);
        graph.connect(call["y"], after["x"]);
        Input &x = graph.input(before["x"], sets);
        Output &y = graph.output(after["x"], sets);
        graph.run();
        for (int i = 0; i < sets; i++)
            x.push(Datablock::of(std::vector<int>(n, i)));
        for (int i = 0; i < sets; i++) {
            std::vector<int> expected(n, i + 2);
            expected[0] = 101;
            CHECK(pulled<int>(y) == expected);
        }
        graph.stop();
        CHECK_EQ(call.completed(), std::uint64_t{sets});
    }
}

/* In a subgraph that is given to the GPU as CUDA graphs, it stays what it is. */
void beside_cuda_graphs()
{
    Graph graph({.lower = Lower::always, .devices = {"0"}});
    const std::vector<PortOptions> next = {inout("x", numbers), constant("n", n)};
    Task *last = nullptr;
    for (const char *name : {"a", "b", "c", "d"}) {
        Task &task = graph.cuda(name, {ptask_kernels(), "successor"}, next);
        if (last && std::string(name) != "c")
            graph.connect((*last)["x"], task["x"]);
        last = &task;
    }
    const auto task = [&](std::size_t i) -> Task & { return *graph.tasks()[i]; };
    Task &call = graph.cuda_call("call", copy_with(7), x_to_y());
    graph.connect(task(1)["x"], call["x"]);
    graph.connect(call["y"], task(2)["x"]);
    Input &x = graph.input(task(0)["x"]);
    Output &y = graph.output(task(3)["x"]);
    graph.run();
    for (int i = 0; i < 20; i++) {
        x.push(Datablock::of(std::vector<int>(n, i)));
        const std::vector<int> found = pulled<int>(y);
        CHECK(found[0] == 9 && found[1] == i + 4);
    }
    CHECK(task(0).lowered() > 0 && task(3).lowered() > 0);
    CHECK_EQ(call.lowered(), 0u);
}

/* Where it is called, and what it is told. */
void what_a_function_is_told()
{
    for (const std::string gpu : {"0", "1"}) {
        Graph graph({.devices = {gpu}});
        std::atomic<bool> right{false};
        auto function = [&](StreamCall &call) {
            CUdevice current = -1;
            check(cuCtxGetDevice(&current));
            const bool known = call.parameters() == 3 && call.device() == std::stoi(gpu) && current == call.device() &&
                               call.bytes(0) == 8 && call.records(0) == 2 && call.bytes(1) == 8;
            CHECK(refused([&] { call.at<int>(0); }, {"call.x", "only takes"}));
            CHECK(refused([&] { call.at<int>(3); }, {"no parameter 3"}));
            CHECK(refused([&] { call.value<double>(2); }, {"call.by", "8 bytes"}));
            CHECK(refused([&] { call.value<int>(0); }, {"call.x", "in the GPU's memory"}));
            right = known && call.value<int>(2) == 5;
            check(cuMemsetD32Async(address(call.at<int>(1)), static_cast<unsigned>(call.value<int>(2)), call.records(1),
                                   call.stream()));
            /* Another context is no concern of the graph's. */
            check(cuCtxSetCurrent(nullptr));
        };
        const Template some = Template::variable<int>(10);
        Task &task =
            graph.cuda_call("call", function, {in("x", some), sized_by(out("y", some), "x"), constant("by", 5)});
        Input &x = graph.input(task["x"]);
        Output &y = graph.output(task["y"]);
        graph.run();
        for (int i = 0; i < 3; i++) {
            x.push(Datablock::of({1, 2}));
            CHECK(pulled<int>(y) == std::vector({5, 5}));
            CHECK(right);
        }
    }
}

void what_fails()
{
    Graph graph;
    auto function = [&](StreamCall &call) {
        CHECK(refused([&] { graph.stop(); }, {"cannot stop"}));
        check(cuMemsetD32Async(address(call.at<int>(1)), 0, n, call.stream()));
        throw Error("no handle");
    };
    Task &task = graph.cuda_call("call", function, x_to_y());
    CHECK(refused([&] { graph.cuda_call("none", {}, x_to_y()); }, {"none", "empty"}));
    CHECK(refused([&] { task.set_geometry({{0, 1, 1}, {1, 1, 1}}); }, {"call", "without threads"}));
    Input &x = graph.input(task["x"]);
    Output &y = graph.output(task["y"]);
    graph.run();
    x.push(Datablock::of(std::vector<int>(n, 1)));
    CHECK(refused([&] { y.pull(); }, {"task call", "no handle"}));
}

} // namespace

Cases call_cases()
{
    return {{"functions that give a stream work, between kernels", between_kernels},
            {"functions that give a stream work, beside CUDA graphs", beside_cuda_graphs},
            {"what a function for a stream is told", what_a_function_is_told},
            {"a function for a stream that fails", what_fails}};
}

} // namespace test
