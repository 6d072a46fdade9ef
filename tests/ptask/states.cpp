// SPDX-License-Identifier: MIT
/* What a task says that it does. */
#include "tests/graph_clock.hpp"
#include "tests/ptask/failure_of.hpp"
#include "tests/ptask/ptask_test.hpp"

#include <semaphore>

namespace test {

namespace {

const auto one = Template::of<int>(1);

void until_in(const Task &task, State state)
{
    until([&] { return task.state() == state; });
}

void waiting_for_inputs()
{
    Graph graph;
    Task &add = graph.host("add",
                           [](const Arguments &p) {
                               *static_cast<int *>(p[2]) =
                                   *static_cast<const int *>(p[0]) + *static_cast<const int *>(p[1]);
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
        until_in(add, State::completed);
    }
    /* A signal is part of a run, too. */
    y.end_stream();
    CHECK(add.state() == State::waiting);
    x.end_stream();
    CHECK(!z.pull());
    until_in(add, State::completed);
}

void waiting_for_room()
{
    Graph graph;
    Task &pass = graph.host("pass", [](const Arguments &) {}, {inout("x", one)});
    Input &x = graph.input(pass["x"]);
    Output &y = graph.output(pass["x"], 1);
    graph.run();
    x.push_value(1);
    until_in(pass, State::completed);
    x.push_value(2);
    until_in(pass, State::waiting);
    CHECK_EQ(pass.completed(), std::uint64_t{1});
    CHECK_EQ(pulled<int>(y).at(0), 1);
    until_in(pass, State::completed);
    CHECK_EQ(pass.completed(), std::uint64_t{2});
}

/*
 * While two tasks keep the queues of the host, others are executing there as long as there is room for them: "first"
 * has more to do than that, and goes before "last".
 */
struct Crowd {
    Crowd()
        : first(graph.host("first", [](const Arguments &) {}, {in("x", one), out("y", one)})),
          last(graph.host("last", [](const Arguments &) {}, {in("x", one), zeroed(sticky("y", one))})),
          x(graph.input(first["x"], many)), last_x(graph.input(last["x"])), plugs(graph, 0, 2)
    {
        first.set_priority(many);
        /* Priorities decide among tasks that channels join. */
        graph.connect(first["y"], last["y"], many);
        graph.run();
        until_executing(plugs.tasks);
        for (int i = 0; i < many; i++)
            x.push_value(i);
        last_x.push_value(0);
    }

    static constexpr int many = 1000;
    /* However long it takes to push all. */
    Graph graph{{.weights = {.waiting = 0}, .host_functions = 2}};
    Task &first, &last;
    Input &x, &last_x;
    Plugs plugs;
};

void queued()
{
    Crowd crowd;
    until_in(crowd.first, State::executing);
    until_in(crowd.last, State::queued);
    crowd.plugs.pull();
    until_in(crowd.first, State::completed);
    CHECK_EQ(crowd.first.completed(), std::uint64_t{Crowd::many});
    until([&] { return crowd.last.completed(); });
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
    until_in(add, State::completed);
    until_in(next, State::completed);
    a.push_value(1);
    until_in(add, State::waiting);
    b.push_value(2);
    CHECK_EQ(pulled<int>(y).at(0), 4);
    until_in(add, State::completed);
}

/* Of a function that takes long, few runs are given to the host ahead, and others do not wait behind them. */
void beside_long_ones()
{
    constexpr int many = 20;
    constexpr std::uint64_t most_ahead = 2;
    GraphClock clock;
    std::counting_semaphore<> begun{0}, may_end{0};
    Graph graph;
    Task &slow = graph.host("slow",
                            [&](const Arguments &) {
                                begun.release();
                                may_end.acquire();
                            },
                            {in("x", one), out("y", one)});
    Task &urgent = graph.host("urgent", [](const Arguments &) {}, {in("x", one), zeroed(sticky("y", one))});
    urgent.set_priority(1000000);
    /* Priorities decide among tasks that channels join. */
    graph.connect(slow["y"], urgent["y"], many + 1);
    Input &x = graph.input(slow["x"], many), &urgent_x = graph.input(urgent["x"]);
    graph.run();
    /* It is known to take long. */
    x.push_value(0);
    begun.acquire();
    clock.advance(5ms);
    may_end.release();
    until([&] { return slow.completed(); });
    for (int i = 0; i < many; i++)
        x.push_value(0);
    until([&] { return sum_of(graph).runs >= 1 + most_ahead; });
    urgent_x.push_value(0);
    until([&] { return urgent.completed(); });
    CHECK_EQ(slow.completed(), std::uint64_t{1});
    CHECK_EQ(sum_of(graph).runs, 1 + most_ahead + 1);
    may_end.release(many);
    CHECK(graph.drain());
    CHECK_EQ(slow.completed(), std::uint64_t{1 + many});
}

/* What had begun when another failed is executing until it has ended. */
void executing_beside_a_failure()
{
    std::promise<void> ends;
    Graph graph;
    Task &slow = graph.host("slow", [&](const Arguments &) { ends.get_future().wait(); }, {in("x", one)});
    Task &bad = graph.host("bad", [](const Arguments &) { throw Error("bad luck"); }, {inout("x", one)});
    graph.input(slow["x"]).push_value(0);
    Input &x = graph.input(bad["x"]);
    Output &y = graph.output(bad["x"]);
    graph.run();
    until_executing({&slow});
    x.push_value(0);
    CHECK(has(failure_of([&] { y.pull(); }), "bad luck"));
    CHECK(slow.state() == State::executing);
    ends.set_value();
    until_in(slow, State::waiting);
    until_in(bad, State::waiting);
}

/* Nothing is chosen any more, however much waits for it. There is no room before it is known who has failed. */
void queued_when_another_fails()
{
    Crowd crowd;
    until_in(crowd.last, State::queued);
    crowd.plugs.fail("bad luck");
    until_in(crowd.last, State::waiting);
    until_in(crowd.first, State::waiting);
    CHECK(!crowd.last.completed());
    CHECK(has(failure_of([&] { crowd.last_x.push_value(0); }), "bad luck"));
}

} // namespace

Cases state_cases()
{
    return {{"waiting for a part of the inputs", waiting_for_inputs},
            {"waiting for room", waiting_for_room},
            {"queued behind others", queued},
            {"queued before functions that take long", beside_long_ones},
            {"what tasks in a CUDA graph do", in_a_cuda_graph},
            {"executing beside a failure", executing_beside_a_failure},
            {"queued when another fails", queued_when_another_fails}};
}

} // namespace test
