// SPDX-License-Identifier: MIT
/* Pictures of graphs, and of what they did. */
#include "tests/ptask/timeline_test.hpp"
#include <ptsched/ptask/draw.hpp>

namespace test {

namespace {

constexpr unsigned n = 4;
const auto one = Template::of<int>(1), four = Template::of<int>(n);

void a_graph_in_dot()
{
    Graph graph;
    auto nothing = [](const Arguments &) {};
    Task &first = graph.host("first \"a|b\"", nothing, {in("x", one), out("y", one)});
    Task &second =
        graph.cuda("second", {ptask_kernels(), "halve"}, {inout("x", one), zeroed(inout("n", one)), out("again", one)});
    graph.input(first["x"]);
    graph.connect(first["y"], second["x"]);
    graph.loop(second["x"], second["x"], second["again"]);
    graph.output(second["x"]);
    const std::string dot = draw(graph), of = "\"1 x 1 x 1 records of 4 bytes\"";
    CHECK(has(dot, "digraph ptask {\n"));
    CHECK(has(dot, "\"first \\\"a|b\\\"\" [label=\"{{<in_0> x}|first\\ \\\"a\\|b\\\"|{<out_1> y}}\"];"));
    CHECK(has(dot, "\"second\" [label=\"{{<in_0> x|<in_1> n}|second|{<out_0> x|<out_1> n|<out_2> again}}\", "
                   "style=bold];"));
    CHECK(has(dot, "world0 -> \"first \\\"a|b\\\"\":in_0 [label=" + of + "];"));
    CHECK(has(dot, "\"first \\\"a|b\\\"\":out_1 -> \"second\":in_0 [label=" + of + "];"));
    CHECK(has(dot, "\"second\":out_0 -> \"second\":in_0 [label=" + of + ", style=dashed];"));
    CHECK(has(dot, "\"second\":out_0 -> world1 [label=" + of + "];"));
}

void a_timeline()
{
    constexpr std::size_t count = 5;
    Graph graph({.mode = Mode::data_aware, .timeline = true});
    Task &make = graph.host("make", [](const Arguments &) {}, {inout("x", four)});
    Task &change = graph.cuda(
        "change \"it\"", {ptask_kernels(), "increment"},
        {inout("x", four), zeroed(out("where", Template::of<void *>(1))), constant("n", n), condition("if")});
    Task &judge = graph.cuda("judge", {ptask_kernels(), "count_set", Geometry{{1, 1, 1}, {n, 1, 1}}},
                             {in("x", four), zeroed(out("count", Template::of<unsigned>(1))), constant("n", n)});
    Input &x = graph.input(make["x"]), &y = graph.input(judge["x"]);
    graph.connect(make["x"], change["x"]);
    graph.connect(judge["count"], change["if"]);
    Output &out = graph.output(change["x"]);
    graph.output(change["where"]);
    graph.run();
    for (std::size_t i = 0; i < count; i++) {
        x.push(block_of<int>({1, 2, 3, 4}));
        y.push(block_of<int>({1, 0, 0, 0}));
    }
    for (std::size_t i = 0; i < count; i++)
        CHECK(pulled<int>(out) == std::vector<int>({2, 3, 4, 5}));
    graph.stop();

    const Rows rows = rows_of(graph);
    std::size_t on_gpus = 0, from_host = 0, to_host = 0;
    for (const auto &[name, events] : rows) {
        if (name.second.starts_with("queue") && !name.first.starts_with("host"))
            on_gpus += events.size();
        if (name.second == "copies from the host")
            for (const auto &event : events)
                from_host += event.at("args").at("bytes").get<std::size_t>();
        if (name.second == "copies to the host")
            to_host += events.size();
        double before = 0;
        for (const auto &event : events) {
            CHECK(event.at("ph") == "X" && event.at("ts").get<double>() >= 0 && event.at("dur").get<double>() >= 0);
            /* One after the other in a queue. */
            if (name.second.starts_with("queue"))
                CHECK(event.at("ts").get<double>() >= before - 0.001);
            before = event.at("ts").get<double>() + event.at("dur").get<double>();
        }
    }
    CHECK_EQ(on_gpus, 2 * count);
    CHECK_EQ(rows.at({"tasks", "make"}).size(), count);
    CHECK_EQ(rows.at({"tasks", "change \"it\""}).size(), count);
    CHECK_EQ(rows.at({"tasks", "judge"}).size(), count);
    CHECK_EQ(from_host, 2 * count * n * sizeof(int));
    CHECK_EQ(to_host, count);
    Graph silent;
    CHECK(silent.timeline().empty());
}

} // namespace

Cases draw_cases()
{
    return {{"a graph in DOT", a_graph_in_dot}, {"a timeline", a_timeline}};
}

} // namespace test
