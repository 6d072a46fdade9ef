// SPDX-License-Identifier: MIT
/* Which devices run a task: those that can, and of them those that the graph's options name. */
#include "tests/ptask/ptask_test.hpp"

namespace test {

namespace {

namespace device = ptsched::device;

constexpr Geometry one_block{{1, 1, 1}, {4, 1, 1}};

std::vector<PortOptions> ports()
{
    return {inout("x", Template::of<int>(4)), constant("n", 4u)};
}

/* "successor", for those GPUs that are not in the list. */
DeviceKernel kernel_not_for(std::vector<device::Device *> unfit)
{
    auto make = [unfit = std::move(unfit)](device::Device &gpu) {
        if (std::find(unfit.begin(), unfit.end(), &gpu) != unfit.end())
            throw Error("no image for this GPU");
        return device::cuda_code(gpu, ptask_kernels(), "successor");
    };
    return {device::gpus(), make, "successor", {}, one_block};
}

/* Some sets, in a mode that would use all GPUs in turn. */
void expect_successors(Graph &graph, Task &task)
{
    Input &x = graph.input(task["x"]);
    Output &y = graph.output(task["x"]);
    graph.run();
    for (int i = 0; i < 8; i++) {
        x.push(Datablock::of({i, 1, 2, 3}));
        CHECK(pulled<int>(y) == std::vector({i + 1, 2, 3, 4}));
    }
    graph.stop();
    CHECK_EQ(sum_of(graph).runs, 8u);
}

void one_that_cannot()
{
    device::Device *first = device::gpus().at(0), *second = device::gpus().at(1);
    for (device::Device *unfit : {first, second}) {
        Graph graph({.mode = Mode::first_available});
        Task &task = graph.kernel("next", kernel_not_for({unfit}), ports());
        CHECK(task.devices() == std::vector({unfit == first ? second : first}));
        CHECK_EQ(task.left_out().size(), std::size_t{1});
        CHECK(has(task.left_out()[0], unfit->name() + ": no image for this GPU"));
        expect_successors(graph, task);
        CHECK_EQ(graph.counters().size(), std::size_t{1});
    }
}

void none_that_can()
{
    Graph graph;
    CHECK(refused([&] { graph.kernel("next", kernel_not_for(device::gpus()), ports()); },
                  {"task next", "no image for this GPU"}));
    CHECK(graph.kernel("next", kernel_not_for({}), ports()).left_out().empty());
}

void those_that_are_named()
{
    const std::string address = device::gpus().at(1)->bus_address();
    std::string upper = address;
    std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
    for (const std::vector<std::string> &names :
         {std::vector<std::string>{"1"}, {address}, {upper}, {"1", address, "opencl:9"}}) {
        Graph graph({.mode = Mode::first_available, .devices = names});
        Task &task = graph.cuda("next", {ptask_kernels(), "successor", one_block}, ports());
        CHECK(task.devices() == std::vector({device::gpus()[1]}));
        expect_successors(graph, task);
    }
    Graph all({.devices = {"1", "0"}});
    CHECK(all.cuda("next", {ptask_kernels(), "successor", one_block}, ports()).devices() == device::gpus());
}

void names_of_none()
{
    const auto added_with = [](const std::vector<std::string> &names) {
        Graph graph({.devices = names});
        graph.cuda("next", {ptask_kernels(), "successor", one_block}, ports());
    };
    CHECK(refused([&] { added_with({"7"}); }, {"task next", "name device 7", "there are 0 or", "1 or"}));
    CHECK(refused([&] { added_with({"0", ""}); }, {"task next", "name device ,"}));
    CHECK(refused([&] { added_with({"opencl:0"}); }, {"task next", "name other devices", "none of 0 or"}));
}

} // namespace

Cases fitness_cases()
{
    return {{"a kernel that one GPU cannot have runs on the other", one_that_cannot},
            {"a kernel that no GPU can have is refused", none_that_can},
            {"a graph uses the devices that its options name", those_that_are_named},
            {"names of no device are refused", names_of_none}};
}

} // namespace test
