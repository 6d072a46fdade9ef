// SPDX-License-Identifier: MIT
// What a task says that it does.
#include "failure_of.hpp"
#include "ptask_test.hpp"

namespace test {

namespace {

const auto one = Template::of<int>(1);

/* Whether it says so before long: what has ended may not be known at once. */
bool comes_to(const Task &task, State state)
{
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (task.state() != state && std::chrono::steady_clock::now() < end)
        std::this_thread::yield();
    return task.state() == state;
}

void waiting_for_inputs()
{
    Graph graph;
    Task &add = graph.host("add",
                           [](const std::vector<void *> &p) {
                               *static_cast<int *>(p[2]) = *static_cast<int *>(p[0]) + *static_cast<int *>(p[1]);
                           },
                           {in("x", one), in("y", one), out("z", one)});
    Input &x = graph.input(add["x"]), &y = graph.input(add["y"]);
    Output &z = graph.output(add["z"]);
    CHECK(add.state() == State::waiting);
    graph.run();
    for (int i = 0; i < 3; i++) {
        x.push_value(i);
        CHECK(add.state() == State::waiting);
        y.push_value(i);
        CHECK_EQ(pulled<int>(z).at(0), 2 * i);
        CHECK(comes_to(add, State::completed));
    }
    /* A signal is part of a run, too. */
    y.end_stream();
    CHECK(add.state() == State::waiting);
    x.end_stream();
    CHECK(!z.pull());
    CHECK(comes_to(add, State::completed));
}

void waiting_for_room()
{
    Graph graph;
    Task &pass = graph.host("pass", [](const std::vector<void *> &) {}, {inout("x", one)});
    Input &x = graph.input(pass["x"]);
    Output &y = graph.output(pass["x"], 1);
    graph.run();
    x.push_value(1);
    CHECK(comes_to(pass, State::completed));
    x.push_value(2);
    CHECK(comes_to(pass, State::waiting));
    CHECK_EQ(pass.completed(), uint64_t{1});
    CHECK_EQ(pulled<int>(y).at(0), 1);
    CHECK(comes_to(pass, State::completed));
    CHECK_EQ(pass.completed(), uint64_t{2});
}

/* While two tasks keep the queues of the host, others are executing there as long as there is room for them. */
void queued()
{
    constexpr int many = 1000;
    Graph graph;
    auto nothing = [](const std::vector<void *> &) {};
    Task &first = graph.host("first", nothing, {in("x", one), out("y", one)});
    Task &last = graph.host("last", nothing, {in("x", one), zeroed(sticky("y", one))});
    first.set_priority(many);
    /* Priorities decide among tasks that channels join. */
    graph.connect(first["y"], last["y"], many);
    Input &x = graph.input(first["x"], many), &last_x = graph.input(last["x"]);
    Plugs plugs(graph, 0);
    graph.run();
    until_executing(plugs.tasks);
    for (int i = 0; i < many; i++)
        x.push_value(i);
    last_x.push_value(0);
    CHECK(comes_to(first, State::executing));
    CHECK(comes_to(last, State::queued));
    plugs.pull();
    CHECK(comes_to(first, State::completed));
    CHECK_EQ(first.completed(), uint64_t{many});
    while (!last.completed())
        std::this_thread::yield();
}

void in_a_cuda_graph()
{
    Graph graph({.lower = Lower::always});
    Task &add = graph.cuda("add", {ptask_kernels(), "add_ints"},
                           {in("a", one), in("b", one), out("c", one), constant("n", 1u)});
    Task &next = graph.cuda("next", {ptask_kernels(), "successor"}, {inout("x", one), constant("n", 1u)});
    graph.connect(add["c"], next["x"]);
    Input &a = graph.input(add["a"]), &b = graph.input(add["b"]);
    Output &y = graph.output(next["x"]);
    graph.run();
    do {
        a.push_value(1);
        b.push_value(2);
        CHECK_EQ(pulled<int>(y).at(0), 4);
    } while (!next.lowered());
    CHECK(comes_to(add, State::completed));
    CHECK(comes_to(next, State::completed));
    a.push_value(1);
    CHECK(comes_to(add, State::waiting));
    b.push_value(2);
    CHECK_EQ(pulled<int>(y).at(0), 4);
    CHECK(comes_to(add, State::completed));
}

/* What had begun when another failed is executing until it has ended. */
void executing_beside_a_failure()
{
    std::promise<void> ends;
    Graph graph;
    Task &slow = graph.host("slow", [&](const std::vector<void *> &) { ends.get_future().wait(); }, {in("x", one)});
    Task &bad = graph.host("bad", [](const std::vector<void *> &) { throw Error("bad luck"); }, {inout("x", one)});
    graph.input(slow["x"]).push_value(0);
    Input &x = graph.input(bad["x"]);
    Output &y = graph.output(bad["x"]);
    graph.run();
    until_executing({&slow});
    x.push_value(0);
    CHECK(has(failure_of([&] { y.pull(); }), "bad luck"));
    CHECK(slow.state() == State::executing);
    ends.set_value();
    CHECK(comes_to(slow, State::waiting));
    CHECK(comes_to(bad, State::waiting));
}

/* Nothing is chosen any more, however much waits for it. */
void queued_when_another_fails()
{
    constexpr int many = 1000;
    Graph graph;
    Task &first = graph.host("first",
                             [](const std::vector<void *> &p) {
                                 if (*static_cast<int *>(p[0]))
                                     throw Error("bad luck");
                             },
                             {in("x", one), out("y", one)});
    Task &last = graph.host("last", [](const std::vector<void *> &) {}, {in("x", one), zeroed(sticky("y", one))});
    first.set_priority(many);
    graph.connect(first["y"], last["y"], many);
    Input &x = graph.input(first["x"], many), &last_x = graph.input(last["x"]);
    Plugs plugs(graph, 0);
    graph.run();
    until_executing(plugs.tasks);
    for (int i = 0; i < many; i++)
        x.push_value(i);
    last_x.push_value(0);
    CHECK(comes_to(last, State::queued));
    plugs.pull();
    CHECK(comes_to(last, State::waiting));
    CHECK(comes_to(first, State::waiting));
    CHECK(!last.completed());
    CHECK(has(failure_of([&] { last_x.push_value(0); }), "bad luck"));
}

} // namespace

Cases state_cases()
{
    return {{"waiting for a part of the inputs", waiting_for_inputs},
            {"waiting for room", waiting_for_room},
            {"queued behind others", queued},
            {"what tasks in a CUDA graph do", in_a_cuda_graph},
            {"executing beside a failure", executing_beside_a_failure},
            {"queued when another fails", queued_when_another_fails}};
}

} // namespace test
