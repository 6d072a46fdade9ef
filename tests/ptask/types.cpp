// SPDX-License-Identifier: MIT
/* Types of records: said at both ends they are to agree, and the compiler may know them. */
#include "tests/ptask/ptask_test.hpp"
#include <ptsched/ptask/typed.hpp>

#include <numeric>

namespace test {

namespace {

struct Pixel {
    unsigned char red, green, blue, alpha;
};

template <typename Function, typename... Ports>
concept Fits = requires(Graph &graph, Function function, Ports... ports)
{
    host(graph, "f", function, ports...);
};

void ends_agree()
{
    Graph graph;
    const auto nothing = [](const Arguments &) {};
    const Template bytes{{4, 1, 1}, 4}, words = Template::of<std::uint32_t>(4);
    Task &a = graph.host("a", nothing, {in("x", words), out("y", Template::of<float>(4)), out("z", bytes)});
    Task &b = graph.host("b", nothing, {in("x", Template::of<int>(4)), in("y", Template::of<Pixel>(4))});
    CHECK(refused([&] { graph.connect(a["y"], b["x"]); },
                  {"a.y gives 4 x 1 x 1 records of 4 bytes (float)", "b.x takes 4 x 1 x 1 records of 4 bytes (int)"}));
    CHECK(refused([&] { graph.connect(a["y"], b["y"]); }, {"(float)", "Pixel"}));
    /* Where one end does not say it, the size alone counts. */
    graph.connect(a["z"], b["x"]);
    graph.connect(a["z"], b["y"]);
    Task &c = graph.host("c", nothing, {in("x", Template::of<std::byte>(4)), in("y", words)});
    Input &x = graph.input(a["x"]);
    CHECK(refused([&] { graph.connect(x, c["x"]); }, {"4 bytes", "1 bytes"}));
    graph.connect(x, c["y"]);
}

void values_and_arrays_agree()
{
    Graph graph;
    auto add = [](const Arguments &ports) {
        const float *x = ports[0], *by = ports[1];
        float *y = ports[2];
        *y = *x + *by;
    };
    Task &task =
        graph.host("add", add, {in("x", Template::of<float>(1)), value<float>("by"), out("y", Template::of<float>(1))});
    Input &x = graph.input(task["x"]), &by = graph.input(task["by"]);
    Output &y = graph.output(task["y"]);
    graph.run();
    CHECK(refused([&] { by.push_value(2); }, {"add.by", "float", "not int"}));
    by.push_value(2.0f);
    x.push_value(1.0f);
    CHECK(refused([&] { y.pull<int>(); }, {"add.y", "float", "not int"}));
    CHECK_EQ(y.pull<float>()[0], 3.0f);
    x.push_value(1.0f);
    CHECK_EQ(y.pull<std::byte>().size(), sizeof(float));
    CHECK(refused([&] { graph.input(task["x"]); }, {"already"}));
}

void functions_with_types()
{
    Graph graph;
    auto scale = [](std::span<const float> x, const float &by, std::span<float> y) {
        std::ranges::transform(x, y.begin(), [&](float element) { return by * element; });
    };
    using Reads = ArrayPort<const float>;
    using Writes = ArrayPort<float>;
    static_assert(Fits<decltype(scale), Reads, ValuePort<float>, Writes>);
    static_assert(!Fits<decltype(scale), ArrayPort<const int>, ValuePort<float>, Writes>);
    static_assert(!Fits<decltype(scale), Reads, ValuePort<float>, Reads>);
    static_assert(!Fits<decltype(scale), Reads, Writes>);
    Task &task = host(graph, "scale", scale, in<float>("x", 8), constant_of("by", 3.0f), out<float>("y", 8));
    CHECK(refused([&] { input<int>(graph, task["x"]); }, {"scale.x", "float", "not int"}));
    const InputOf<float> x = input<float>(graph, task["x"]);
    OutputOf<float> y = output<float>(graph, task["y"]);
    graph.run();
    InputOf<float> same = x;
    same.push({1, 2, 3, 4, 5, 6, 7, 8});
    const View<float> tripled = y.pull();
    CHECK(std::ranges::equal(tripled, std::vector<float>{3, 6, 9, 12, 15, 18, 21, 24}));
    CHECK(!y.pull(0ns));
}

/* As long as its block, and the same ports for a kernel. */
void spans_have_the_length_of_blocks()
{
    Graph graph;
    auto sum = [](std::span<const int> x, std::span<int> total) {
        total[0] = std::accumulate(x.begin(), x.end(), static_cast<int>(x.size()) * 100);
    };
    Task &task = host(graph, "sum", sum, in_up_to<int>("x", 10), out<int>("total", 1));
    Task &next = graph.cuda("next", {ptask_kernels(), "successor"}, {inout<int>("x", 1), constant_of("n", 1u)});
    graph.connect(task["total"], next["x"]);
    InputOf<int> x = input<int>(graph, task["x"]);
    OutputOf<int> total = output<int>(graph, next["x"]);
    graph.run();
    x.push({1, 2});
    x.push(std::vector{1, 2, 3});
    CHECK_EQ(total.pull()[0], 204);
    CHECK_EQ(total.pull()[0], 307);
}

} // namespace

Cases type_cases()
{
    return {{"types that both ends say agree", ends_agree},
            {"values and arrays have the type of their port", values_and_arrays_agree},
            {"functions and ports with types", functions_with_types},
            {"spans are as long as blocks", spans_have_the_length_of_blocks}};
}

} // namespace test
