// SPDX-License-Identifier: MIT
// Kernels that trap. No driver goes on after that, so that each is in a process of its own.
#include "../failure_of.hpp"
#include "world_test.hpp"

#include <functional>
#include <map>

namespace test {

namespace {

const auto one = Template::of<int>(1);

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

/* All that may have been it are. */
void beside_others()
{
    Graph graph({.lower = Lower::never});
    Natural natural(graph, {"first", "second"});
    graph.run();
    CHECK_EQ(natural.pass(7), 9);
    CHECK(has(failure_of([&] { natural.pass(-2); }), "second"));
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
}

/* The host's functions of another graph do not need the GPU. */
void other_graphs_go_on()
{
    Graph bad, good;
    Natural natural(bad, {"natural"});
    Task &next =
        good.host("next", [](const std::vector<void *> &ports) { ++*static_cast<int *>(ports[0]); }, {inout("x", one)});
    Input &x = good.input(next["x"]);
    Output &y = good.output(next["x"]);
    bad.run();
    good.run();
    CHECK(!failure_of([&] { natural.pass(-1); }).empty());
    x.push_value(7);
    CHECK_EQ(pulled<int>(y).at(0), 8);
}

const std::map<std::string, void (*)()> roles = {{"alone", alone},
                                                 {"beside others", beside_others},
                                                 {"in a CUDA graph", in_a_cuda_graph},
                                                 {"another graph", other_graphs_go_on}};

} // namespace

Cases fault_cases()
{
    Cases cases;
    for (const auto &[role, function] : roles)
        cases.push_back({"a kernel that traps: " + role, [role = role] {
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
