// SPDX-License-Identifier: MIT
/* Tasks that are skipped, cycles and loops. */
#include "tests/ptask/ptask_test.hpp"

#include <numeric>

namespace test {

namespace {

const auto one = Template::of<int>(1);

Task &add_twice(Graph &graph, const std::string &name)
{
    return graph.host(name, [](const Arguments &ports) { *static_cast<int *>(ports[0]) *= 2; },
                      {inout("x", one), condition("if")});
}

/* A loop of at most 3 rounds, unrolled: doubled as often as there are conditions. */
void conditions()
{
    Graph graph;
    std::vector<Input *> conditions;
    std::vector<Task *> tasks;
    for (int i = 0; i < 3; i++) {
        Task &task = *tasks.emplace_back(&add_twice(graph, "twice" + std::to_string(i)));
        conditions.push_back(&graph.input(task["if"]));
        if (i)
            graph.connect((*tasks[static_cast<std::size_t>(i) - 1])["x"], task["x"]);
    }
    Input &x = graph.input((*tasks[0])["x"]);
    Output &y = graph.output((*tasks[2])["x"]);
    graph.run();
    for (unsigned rounds = 0; rounds < 4; rounds++) {
        x.push_value(5);
        for (unsigned i = 0; i < 3; i++)
            conditions[i]->push_value(unsigned{i < rounds});
    }
    for (int rounds = 0; rounds < 4; rounds++)
        CHECK_EQ(pulled<int>(y).at(0), 5 << rounds);
    graph.stop();
    CHECK_EQ(tasks[0]->skipped(), std::uint64_t{1});
    CHECK_EQ(tasks[2]->skipped(), std::uint64_t{3});
    CHECK_EQ(tasks[2]->completed(), std::uint64_t{4});
}

/* What is of no fixed size has no records then. */
void conditions_and_sizes()
{
    Graph graph;
    const auto some = Template::variable<int>(4);
    Task &copy =
        graph.callback("copy", [](Call &call) { std::copy_n(call.at<const char>(0), call.bytes(0), call.at<char>(1)); },
                       {in("x", some), condition("if"), sized_by(out("y", some), "x")});
    Task &sum = graph.callback("sum",
                               [](Call &call) {
                                   const int *x = call.at<const int>(0);
                                   *call.at<int>(1) = std::accumulate(x, x + call.records(0), 0);
                               },
                               {in("x", some), out("sum", one)});
    Input &x = graph.input(copy["x"]), &condition = graph.input(copy["if"]);
    graph.connect(copy["y"], sum["x"]);
    Output &y = graph.output(copy["y"]), &total = graph.output(sum["sum"]);
    graph.run();
    for (unsigned runs : {1, 0, 1}) {
        x.push(block_of(std::vector{1, 2, 3}));
        condition.push_value(runs);
        CHECK_EQ(pulled<int>(y).size(), runs ? 3u : 0u);
        CHECK_EQ(pulled<int>(total).at(0), runs ? 6 : 0);
    }
}

/* The condition is computed on a GPU, and what is skipped runs there. */
void conditions_of_a_gpu()
{
    constexpr unsigned n = 2;
    Graph graph;
    auto form = Template::of<int>(n);
    Task &counts = graph.cuda("count", {ptask_kernels(), "count_set", Geometry{{1, 1, 1}, {n, 1, 1}}},
                              {in("x", form), zeroed(out("count", Template::of<unsigned>(1))), constant("n", n)});
    Task &increments = graph.cuda(
        "increment", {ptask_kernels(), "increment"},
        {inout("x", form), zeroed(out("where", Template::of<void *>(1))), constant("n", n), condition("if")});
    graph.connect(counts["count"], increments["if"]);
    Input &to_count = graph.input(counts["x"]), &to_increment = graph.input(increments["x"]);
    Output &y = graph.output(increments["x"]), &where = graph.output(increments["where"]);
    graph.run();
    for (int i = 0; i < 6; i++) {
        DatablockPtr block = block_of<int>({0, i % 3});
        to_count.push(block);
        to_increment.push(block);
    }
    for (int i = 0; i < 6; i++) {
        bool run = i % 3;
        CHECK(pulled<int>(y) == std::vector<int>({run, i % 3 + run}));
        CHECK_EQ(pulled<void *>(where).at(0) != nullptr, run);
    }
}

/* Sums so far: the first comes with an initial block. */
void a_cycle_with_a_first_block()
{
    Graph graph;
    Task &add = graph.host(
        "add", [](const Arguments &ports) { *static_cast<int *>(ports[1]) += *static_cast<const int *>(ports[0]); },
        {in("x", one), starting_with(inout("sum", one), block_of<int>({100}))});
    graph.connect(add["sum"], add["sum"], 1);
    Input &x = graph.input(add["x"]);
    Output &sum = graph.output(add["sum"]);
    graph.run();
    for (int i = 1; i <= 50; i++) {
        x.push_value(i);
        CHECK_EQ(pulled<int>(sum).at(0), 100 + i * (i + 1) / 2);
    }
}

/* Two tasks that wait for each other, with full channels between them. */
void a_cycle_of_two()
{
    Graph graph;
    auto add = [&](const std::string &name) -> Task & {
        return graph.host(name, [](const Arguments &ports) { ++*static_cast<int *>(ports[0]); },
                          {starting_with(inout("x", one), block_of<int>({0}))});
    };
    Task &a = add("a"), &b = add("b");
    graph.connect(a["x"], b["x"], 1);
    graph.connect(b["x"], a["x"], 1);
    Output &seen = graph.output(b["x"], 1);
    graph.run();
    /* Two blocks that go round, each one greater for each task. */
    for (int i = 0; i < 20; i++)
        CHECK_EQ(pulled<int>(seen).at(0), i % 2 + 1 + i / 2 * 2);
}

int log2_of(int x)
{
    int rounds = 0;
    for (; x > 1; x /= 2)
        rounds++;
    return rounds;
}

/* Each number goes round as often as it must, and they come out in order. */
void a_loop(bool on_gpu)
{
    Graph graph;
    std::vector ports = {inout("x", one), inout("rounds", one), out("again", Template::of<unsigned>(1))};
    Task &halve = on_gpu ? graph.cuda("halve", {ptask_kernels(), "halve"}, ports)
                         : graph.host(
                               "halve",
                               [](const Arguments &parameters) {
                                   int &x = *static_cast<int *>(parameters[0]);
                                   if (x > 1) {
                                       x /= 2;
                                       ++*static_cast<int *>(parameters[1]);
                                   }
                                   *static_cast<unsigned *>(parameters[2]) = x > 1;
                               },
                               ports);
    graph.loop(halve["x"], halve["x"], halve["again"]);
    graph.loop(halve["rounds"], halve["rounds"], halve["again"]);
    Input &x = graph.input(halve["x"]), &zero = graph.input(halve["rounds"]);
    Output &last = graph.output(halve["x"]), &rounds = graph.output(halve["rounds"]);
    graph.run();
    const std::vector<int> numbers = {1, 1000, 2, 17, 1, 64};
    std::uint64_t runs = 0;
    for (int number : numbers) {
        x.push_value(number);
        zero.push_value(0);
    }
    for (int number : numbers) {
        CHECK_EQ(pulled<int>(last).at(0), 1);
        CHECK_EQ(pulled<int>(rounds).at(0), log2_of(number));
        runs += static_cast<std::uint64_t>(std::max(1, log2_of(number)));
    }
    graph.stop();
    CHECK_EQ(halve.completed(), runs);
}

/* Newton's square root: one task improves, the other one says whether it is good enough. */
void a_loop_of_two_tasks()
{
    Graph graph;
    auto number = Template::of<double>(1);
    Task &improve = graph.host("improve",
                               [](const Arguments &ports) {
                                   double &x = *static_cast<double *>(ports[0]),
                                          a = *static_cast<const double *>(ports[1]);
                                   x = (x + a / x) / 2;
                               },
                               {inout("x", number), inout("a", number)});
    Task &judge = graph.host(
        "judge",
        [](const Arguments &ports) {
            double x = *static_cast<const double *>(ports[0]), a = *static_cast<const double *>(ports[1]),
                   bound = *static_cast<const double *>(ports[2]);
            *static_cast<unsigned *>(ports[3]) = x * x - a > bound || a - x * x > bound;
        },
        {inout("x", number), inout("a", number), sticky("bound", number), out("again", Template::of<unsigned>(1))});
    Task &after = graph.host("after", [](const Arguments &) {}, {inout("x", number)});
    graph.connect(improve["x"], judge["x"], 1);
    graph.connect(improve["a"], judge["a"], 1);
    graph.loop(judge["x"], improve["x"], judge["again"]);
    graph.loop(judge["a"], improve["a"], judge["again"]);
    graph.connect(judge["x"], after["x"], 1);
    graph.input(judge["bound"]).push_value(1e-6);
    Input &x = graph.input(improve["x"]), &a = graph.input(improve["a"]);
    Output &root = graph.output(after["x"], 1);
    graph.run();
    for (int i = 1; i <= 10; i++) {
        x.push_value(1.0);
        a.push_value(1.0 * i * i);
    }
    for (int i = 1; i <= 10; i++) {
        double found = pulled<double>(root).at(0);
        CHECK(found > i - 1e-5 && found < i + 1e-5);
    }
}

/* Two tasks that do not know of each other begin each round, and the third one ends it. */
void a_loop_that_begins_twice()
{
    Graph graph;
    auto add = [&](const std::string &name, int step) -> Task & {
        return graph.host(name, [=](const Arguments &ports) { *static_cast<int *>(ports[0]) += step; },
                          {inout("x", one)});
    };
    Task &up = add("up", 3), &down = add("down", -2);
    Task &meet = graph.host("meet",
                            [](const Arguments &ports) {
                                *static_cast<unsigned *>(ports[2]) =
                                    *static_cast<const int *>(ports[0]) < *static_cast<const int *>(ports[1]);
                            },
                            {inout("low", one), inout("high", one), out("again", Template::of<unsigned>(1))});
    graph.connect(up["x"], meet["low"]);
    graph.connect(down["x"], meet["high"]);
    graph.loop(meet["low"], up["x"], meet["again"]);
    graph.loop(meet["high"], down["x"], meet["again"]);
    Input &low = graph.input(up["x"]), &high = graph.input(down["x"]);
    Output &met_low = graph.output(meet["low"]), &met_high = graph.output(meet["high"]);
    graph.run();
    for (int distance : {50, 1, 0}) {
        low.push_value(0);
        high.push_value(distance);
        int rounds = std::max(1, (distance + 4) / 5);
        CHECK_EQ(pulled<int>(met_low).at(0), 3 * rounds);
        CHECK_EQ(pulled<int>(met_high).at(0), distance - 2 * rounds);
    }
}

void wrong_loops()
{
    Graph graph;
    auto nothing = [](const Arguments &) {};
    auto add = [&](const std::string &name, const std::vector<PortOptions> &ports) -> Task & {
        return graph.host(name, nothing, ports);
    };
    Task &a = add("a", {in("x", one), out("y", one), out("again", one)});
    Task &b = add("b", {in("x", one), out("y", one), out("again", one)});
    Task &c = add("c", {in("x", one), in("z", one), sticky("s", one), out("y", one)});
    CHECK(refused([&] { add("d", {condition("if"), out("y", one)}); }, {"d", "y", "skipped", "inout"}));
    CHECK(refused([&] { graph.loop(a["y"], a["x"], b["again"]); }, {"a.y", "a.x", "b.again", "an output of a"}));
    CHECK(refused([&] { graph.loop(a["y"], c["s"], a["again"]); }, {"a.y", "c.s", "begins at an input"}));
    graph.connect(a["y"], b["x"]);
    CHECK(refused([&] { graph.connect(b["y"], a["x"]); }, {"b.y", "a.x", "cycle", "initial", "loop"}));
    graph.loop(b["y"], a["x"], b["again"]);
    CHECK(refused([&] { graph.loop(b["y"], a["x"], b["again"]); }, {"b.y", "a.x", "already"}));
    graph.output(b["y"]);
    graph.connect(a["again"], c["x"]);
    graph.input(c["z"]);
    graph.input(c["s"]);
    graph.output(c["y"]);
    CHECK(refused([&] { graph.run(); }, {"a.x", "no channel", "outside"}));
    graph.input(a["x"]);
    CHECK(refused([&] { graph.run(); }, {"b.y", "a.x", "a.again", "c.x", "each round", "b would do"}));
}

void blocks_that_would_count_rounds()
{
    Graph graph;
    auto nothing = [](const Arguments &) {};
    Task &before = graph.host("before", nothing, {in("x", one), out("y", one), out("z", one)});
    Task &body = graph.host("body", nothing, {in("x", one), in("y", one), out("z", one), out("again", one)});
    graph.input(before["x"]);
    graph.connect(before["y"], body["x"]);
    graph.connect(before["z"], body["y"]);
    graph.loop(body["z"], body["x"], body["again"]);
    graph.output(body["z"]);
    CHECK(refused([&] { graph.run(); }, {"body.z", "body.x", "before.z", "body.y", "sticky"}));
}

} // namespace

Cases loop_cases()
{
    return {{"conditions", conditions},
            {"a condition of a task whose output has no fixed size", conditions_and_sizes},
            {"conditions that a GPU computes", conditions_of_a_gpu},
            {"a cycle with a first block", a_cycle_with_a_first_block},
            {"a cycle of two tasks and two blocks", a_cycle_of_two},
            {"a loop on the host", [] { a_loop(false); }},
            {"a loop on a GPU", [] { a_loop(true); }},
            {"a loop of two tasks", a_loop_of_two_tasks},
            {"a loop that begins at two tasks", a_loop_that_begins_twice},
            {"what is wrong with a loop is said", wrong_loops},
            {"blocks that would count rounds are refused", blocks_that_would_count_rounds}};
}

} // namespace test
