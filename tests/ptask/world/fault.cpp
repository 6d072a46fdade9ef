// SPDX-License-Identifier: MIT
/* What tasks that fail leave behind. No driver goes on after a kernel that traps: each is in a process of its own. */
#include "libptsched/cuda/cuda_abi.h"
#include "tests/host_flag.h"
#include "tests/ptask/failure_of.hpp"
#include "tests/ptask/world/world_test.hpp"
#include "tests/threads.h"

#include <functional>
#include <map>
#include <sys/mman.h>
#include <thread>

namespace test {

namespace {

const auto one = Template::of<int>(1);

/* The program's memory in blocks, to see when nobody has these any more. */
struct Lent {
    DatablockPtr block() const { return Datablock::over(number.get(), sizeof(int), number); }
    bool is_back() const { return number.use_count() == 1; }
    std::shared_ptr<int> number = std::make_shared<int>(7);
};

/* Of the GPU, for which the library then keeps none. */
std::size_t memory_in_use()
{
    CUcontext context{};
    std::size_t available = 0, total = 0;
    ptsched::device::gpus().front()->limit_memory(SIZE_MAX);
    CHECK_EQ(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    CHECK_EQ(cuCtxPushCurrent_v2(context), CUDA_SUCCESS);
    CHECK_EQ(cuMemGetInfo_v2(&available, &total), CUDA_SUCCESS);
    CHECK_EQ(cuCtxPopCurrent_v2(&context), CUDA_SUCCESS);
    CHECK_EQ(cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
    return total - available;
}

/* A line of tasks, of which a negative number stops the last. */
struct Natural {
    Natural(Graph &graph, const std::vector<std::string> &names)
    {
        Task *before = nullptr;
        for (const std::string &name : names) {
            const bool last = &name == &names.back();
            std::vector ports = {inout("x", one)};
            if (!last)
                ports.push_back(constant("n", 1u));
            Task &task =
                graph.cuda(name, {ptask_kernels(), last ? "successor_of_natural" : "successor", Geometry{}}, ports);
            if (before)
                graph.connect((*before)["x"], task["x"]);
            else
                x = &graph.input(task["x"]);
            before = &task;
        }
        y = &graph.output((*before)["x"]);
        task = before;
    }

    int pass(int number) const
    {
        x->push_value(number);
        return pulled<int>(*y).at(0);
    }

    Input *x = nullptr;
    Output *y = nullptr;
    Task *task = nullptr;
};

/* Alone on its GPU, it is named; nothing is left to wait for. */
void alone()
{
    Graph graph({.lower = Lower::never});
    Natural natural(graph, {"natural"});
    graph.run();
    CHECK_EQ(natural.pass(7), 8);
    CHECK(has(failure_of([&] { natural.pass(-1); }), "task natural: "));
    CHECK(has(failure_of([&] { natural.x->push_value(1); }), "CUDA_ERROR_LAUNCH_FAILED"));
    graph.stop();
}

/* The driver keeps the GPU's memory, and the GPU from the process; all else is free, and what is on the host stays. */
void afterwards()
{
    const Lent lent;
    DatablockPtr read;
    {
        Graph graph({.lower = Lower::never});
        Natural natural(graph, {"natural"});
        graph.run();
        natural.x->push(lent.block());
        read = natural.y->pull();
        CHECK_EQ(content<int>(read).at(0), 8);
        CHECK(!failure_of([&] {
                   natural.x->push_value(-1);
                   natural.x->push(lent.block());
               }).empty());
    }
    CHECK(lent.is_back());
    CHECK_EQ(content<int>(read).at(0), 8);
    Graph graph;
    CHECK(refused(
        [&] {
            Natural natural(graph, {"natural"});
            graph.run();
            natural.pass(7);
        },
        {"CUDA_ERROR_LAUNCH_FAILED"}));
}

/* Who has heard of it can take back the memory that something was to be read into. */
void read_in_vain()
{
    constexpr std::size_t many = 1 << 16, bytes = many * sizeof(int);
    const auto form = Template::of<int>(many);
    Graph graph({.lower = Lower::never});
    /* Before it, what keeps it from failing before somebody has its block. */
    Task &wait = graph.cuda("wait", {kernels(), "wait_for_host", Geometry{}},
                            {constant("flag", HostFlag::address()), inout("x", form)});
    Task &natural =
        graph.cuda("natural", {ptask_kernels(), "successor_of_natural", Geometry{{256}, {256}}}, {inout("x", form)});
    Input &x = graph.input(wait["x"]);
    graph.connect(wait["x"], natural["x"]);
    Output &y = graph.output(natural["x"]);
    HostFlag flag;
    graph.run();
    x.push(block_of(std::vector<int>(many, -1)));
    DatablockPtr block = y.pull();
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    /* When it is being read. */
    std::thread fails([&, reader = ThreadState(gettid())]() mutable {
        until([&] { return reader.get() == 'S'; });
        flag.raise();
    });
    CHECK(refused([&] { block->read_into(memory); }, {"CUDA_ERROR_LAUNCH_FAILED"}));
    fails.join();
    CHECK_EQ(munmap(memory, bytes), 0);
    CHECK(!failure_of([&] { y.pull(); }).empty());
}

/* Its graph goes; what the program has of it is still on the GPU. */
DatablockPtr left_by_a_failure(const DatablockPtr &pushed)
{
    Graph graph;
    Task &next = graph.cuda("next", {ptask_kernels(), "successor"}, {inout("x", one), constant("n", 1u)});
    Task &picky = graph.host("picky",
                             [](const Arguments &ports) {
                                 if (*static_cast<const int *>(ports[0]) > 8)
                                     throw std::runtime_error("too many");
                             },
                             {in("x", one)});
    graph.connect(next["x"], picky["x"]);
    Input &x = graph.input(next["x"]);
    Output &y = graph.output(next["x"]);
    graph.run();
    x.push(pushed);
    DatablockPtr left = y.pull();
    CHECK(has(failure_of([&] { x.push_value(8); }), "task picky: too many"));
    return left;
}

void a_host_function()
{
    const Lent lent;
    /* What the first graph takes stays with the library. */
    left_by_a_failure(lent.block());
    const std::size_t before = memory_in_use();
    DatablockPtr left = left_by_a_failure(lent.block());
    CHECK(lent.is_back());
    CHECK(memory_in_use() > before);
    CHECK_EQ(content<int>(left).at(0), 8);
    left.reset();
    CHECK_EQ(memory_in_use(), before);
}

/* All that may have been it are. */
void beside_others()
{
    Graph graph({.lower = Lower::never});
    Natural natural(graph, {"first", "second"});
    graph.run();
    CHECK_EQ(natural.pass(7), 9);
    CHECK(has(failure_of([&] { natural.pass(-2); }), "second"));
    until_over(*natural.task);
}

void in_a_cuda_graph()
{
    Graph graph({.lower = Lower::always});
    Natural natural(graph, {"first", "second"});
    graph.run();
    do
        CHECK_EQ(natural.pass(7), 9);
    while (!natural.task->lowered());
    CHECK(has(failure_of([&] { natural.pass(-2); }), "one of the tasks first, second: "));
    until_over(*natural.task);
}

/* The host's functions of another graph do not need the GPU. */
void other_graphs_go_on()
{
    Graph bad, good;
    Natural natural(bad, {"natural"});
    Task &next = good.host("next", [](const Arguments &ports) { ++*static_cast<int *>(ports[0]); }, {inout("x", one)});
    Input &x = good.input(next["x"]);
    Output &y = good.output(next["x"]);
    bad.run();
    good.run();
    CHECK(!failure_of([&] { natural.pass(-1); }).empty());
    x.push_value(7);
    CHECK_EQ(pulled<int>(y).at(0), 8);
}

const std::map<std::string, void (*)()> roles = {{"a kernel alone", alone},
                                                 {"a kernel beside others", beside_others},
                                                 {"a kernel in a CUDA graph", in_a_cuda_graph},
                                                 {"a kernel beside another graph", other_graphs_go_on},
                                                 {"what a kernel leaves", afterwards},
                                                 {"what a kernel was to write", read_in_vain},
                                                 {"what a host function leaves", a_host_function}};

} // namespace

Cases fault_cases()
{
    Cases cases;
    for (const auto &[role, function] : roles)
        cases.push_back({"a failure: " + role, [role = role] {
                             Child child(fork());
                             if (!child)
                                 begin_anew({role});
                             CHECK_EQ(child.end(), 0);
                         }});
    return cases;
}

int fault_role(const std::string &role)
{
    /* Of several, one that is not at fault would say the same, since they have one driver. */
    Daemon daemon(1);
    return play(role, [&] { roles.at(role)(); });
}

} // namespace test
