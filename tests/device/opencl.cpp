// SPDX-License-Identifier: MIT
/* OpenCL C: devices, datablocks and graphs, on whatever device there is (PoCL makes one of the processor). */
#include "tests/device/work.hpp"
#include <ptsched/ptask/graph.hpp>

#include <numeric>
#include <utility>

using namespace ptsched;
using namespace ptsched::ptask;
using test::refused;

namespace {

const std::string source = R"(
__kernel void add(__global const float *a, __global const float *b, __global float *c, uint n)
{
    size_t i = get_global_id(0);
    if (i < n)
        c[i] = a[i] + b[i];
}

__kernel void transpose(__global const int *from, __global int *to, ulong n)
{
    size_t x = get_global_id(0), y = get_global_id(1);
    if (x < n && y < n)
        to[x * n + y] = from[y * n + x];
}

__kernel void where(__global int *out, float4 ignored, short factor)
{
    out[get_global_id(0)] = factor * (int)(get_group_id(0) * 100 + get_local_id(0));
}

__kernel void look_up(__global const int *x, __constant int *table, __global int *y)
{
    size_t i = get_global_id(0);
    y[i] = table[x[i]];
}
)";

device::Device &first()
{
    if (device::opencl_devices().empty())
        throw Error("no device of OpenCL: scripts/setup installs PoCL");
    return *device::opencl_devices()[0];
}

std::unique_ptr<device::Code> code(const std::string &text, const std::string &function)
{
    return device::opencl_code(first(), text, function);
}

void parameters_are_known()
{
    CHECK((code(source, "add")->parameter_sizes() == std::vector<std::size_t>{8, 8, 8, 4}));
    CHECK((code(source, "where")->parameter_sizes() == std::vector<std::size_t>{8, 16, 2}));
}

void what_is_wrong_is_said()
{
    CHECK(refused([] { code("__kernel void f(__global int *x) { *x = undeclared; }", "f"); },
                  {"kernel f", "does not compile", first().name(), "undeclared"}));
    CHECK(refused([] { code(source, "nothing"); }, {"nothing", "CL_INVALID_KERNEL_NAME"}));
    CHECK(refused([] { code("__kernel void f(__local int *x) { *x = 1; }", "f"); },
                  {"parameter 1", "kernel f", "local memory"}));
    CHECK(refused([] { code("typedef struct { int x; } T; __kernel void f(__global int *x, T t) { *x = t.x; }", "f"); },
                  {"parameter 2", "kernel f", "number"}));
    auto add = code(source, "add");
    CHECK(refused([&] { first().make_queue()->run(*add, {}, {}); }, {"add", "4 arguments, not 0"}));
}

void geometry_and_values()
{
    auto queue = first().make_queue();
    auto kernel = code(source, "where");
    auto out = Datablock::empty(8 * sizeof(int));
    auto address = out->produce(first(), *queue);
    float vector[4] = {};
    short factor = 3;
    queue->run(*kernel, {{2, 1, 1}, {4, 1, 1}}, {&address, vector, &factor});
    out->written(queue->mark());
    const int expected[] = {0, 3, 6, 9, 300, 303, 306, 309};
    CHECK(std::equal(std::begin(expected), std::end(expected), out->as<int>().begin()));
}

/* What one queue writes, another reads. */
void queues_wait_for_each_other()
{
    constexpr unsigned n = 10000;
    auto one = first().make_queue(), two = first().make_queue();
    auto add = code(source, "add");
    auto block = test::filled(1, n * sizeof(float));
    std::vector<DatablockPtr> kept;
    for (int i = 0; i < 10; i++) {
        device::Queue &queue = i % 2 ? *one : *two;
        auto sum = Datablock::empty(block->bytes());
        auto from = block->use(first(), queue), to = sum->produce(first(), queue);
        unsigned count = n;
        queue.run(*add, {{(n + 63) / 64, 1, 1}, {64, 1, 1}}, {&from, &from, &to, &count});
        sum->written(queue.mark());
        kept.push_back(std::exchange(block, sum));
    }
    CHECK(test::holds(*block, 1024));
}

void full_memory()
{
    constexpr std::size_t bytes = 4096;
    test::Limit limit(first(), 3 * bytes);
    auto queue = first().make_queue();
    auto add = code(source, "add");
    std::vector<DatablockPtr> blocks{test::filled(1, bytes)};
    for (int i = 0; i < 8; i++) {
        DatablockPtr last = blocks.back(), sum = Datablock::empty(bytes);
        const device::Access::Item items[] = {device::Access::reads(*last), device::Access::writes(*sum)};
        device::Address addresses[2];
        device::Access access(first(), *queue, items, addresses);
        unsigned n = bytes / sizeof(float);
        queue->run(*add, {{n / 64, 1, 1}, {64, 1, 1}}, {&addresses[0], &addresses[0], &addresses[1], &n});
        access.given(queue->mark());
        blocks.push_back(sum);
    }
    for (std::size_t i = 0; i < blocks.size(); i++)
        CHECK(test::holds(*blocks[i], static_cast<float>(1 << i)));
}

/* OpenCL and a function of the host in one graph. */
void a_graph()
{
    constexpr unsigned long n = 48;
    Graph graph;
    auto matrix = Template::of<int>(n, n);
    Task &turn =
        graph.opencl("turn", {source, "transpose"}, {in("from", matrix), out("to", matrix), value("n", sizeof(n))});
    Task &back =
        graph.opencl("back", {source, "transpose"}, {in("from", matrix), out("to", matrix), value("n", sizeof(n))});
    Task &check = graph.host("negate",
                             [](const Arguments &ports) {
                                 const int *x = ports[0];
                                 int *y = ports[1];
                                 for (unsigned i = 0; i < n * n; i++)
                                     y[i] = -x[i];
                             },
                             {in("x", matrix), out("y", matrix)});
    Input &input = graph.input(turn["from"]);
    graph.connect(turn["to"], back["from"]);
    graph.connect(turn["to"], check["x"]);
    Output &same = graph.output(back["to"]), &negated = graph.output(check["y"]);
    graph.input(turn["n"]).push_value(n);
    graph.input(back["n"]).push_value(n);
    graph.run();
    std::vector<int> numbers(n * n), expected(n * n);
    for (int round = 0; round < 20; round++) {
        std::iota(numbers.begin(), numbers.end(), round);
        for (unsigned i = 0; i < n * n; i++)
            expected[i % n * n + i / n] = -numbers[i];
        input.push(Datablock::of(numbers.data(), n * n * sizeof(int)));
        auto first_result = same.pull(), second_result = negated.pull();
        CHECK(std::equal(numbers.begin(), numbers.end(), first_result->as<int>().begin()));
        CHECK(std::equal(expected.begin(), expected.end(), second_result->as<int>().begin()));
    }
}

/* A parameter in constant memory is one like others. */
void constant_memory()
{
    Graph graph;
    auto four = Template::of<int>(4), table = four;
    table.binding = Binding::constant;
    Task &task = graph.opencl("look up", {source, "look_up", Geometry{{1, 1, 1}, {4, 1, 1}}},
                              {in("x", four), sticky("table", table), out("y", four)});
    Input &x = graph.input(task["x"]), &values = graph.input(task["table"]);
    Output &y = graph.output(task["y"]);
    graph.run();
    values.push(Datablock::of(std::span<const int>({5, 6, 7, 8})));
    x.push(Datablock::of(std::span<const int>({3, 2, 1, 0})));
    auto result = y.pull();
    CHECK(std::ranges::equal(result->as<int>(), std::vector<int>({8, 7, 6, 5})));
}

void tasks_that_do_not_fit()
{
    Graph graph;
    auto form = Template::of<float>(4);
    CHECK(refused(
        [&] {
            graph.opencl("sum", {source, "add"}, {in("a", form), out("c", form)});
        },
        {"task sum", "kernel add", "8 8 8 4", "a 8 c 8"}));
    /* Of the right size, and something else. */
    const std::string takes_value = "__kernel void f(ulong x, __global int *y) { *y = x; }";
    const std::string takes_address = "__kernel void f(__constant ulong *x, __global int *y) { *y = *x; }";
    const auto eight = Template::of<unsigned long>(1);
    auto add = [&](const std::string &what, const PortOptions &x) {
        graph.opencl("f", {what, "f"}, {x, out("y", Template::of<int>(1))});
    };
    CHECK(
        refused([&] { add(takes_value, in("x", eight)); }, {"task f", "a value as parameter 1", "port x", "by_value"}));
    CHECK(refused([&] { add(takes_address, by_value(in("x", eight))); },
                  {"task f", "an address as parameter 1", "port x", "global"}));
    add(takes_value, by_value(in("x", eight)));
    CHECK(refused(
        [&] {
            graph.opencl("sum", {"nonsense", "add"}, {in("a", form), out("c", form)});
        },
        {"task sum", "kernel add", "does not compile"}));
    auto copy = [&](const Geometry &geometry) {
        graph.opencl("copy", {takes_address, "f", geometry}, {in("x", eight), out("y", Template::of<int>(1))});
    };
    CHECK(refused([&] { copy({{1, 1, 1}, {1 << 20, 1, 1}}); }, {"task copy", "kernel f", "1048576 x 1 x 1 threads"}));
    CHECK(refused([&] { copy({{1, 1, 1}, {1, 1, 1}, 64}); }, {"task copy", "kernel f", "64 bytes", "as local"}));
    setenv("PTSCHED_NVRTC", "/nonexistent", 1);
    CHECK(refused(
        [&] {
            graph.cuda_source("sum", {source, "add"}, {in("a", form), out("c", form)});
        },
        {"task sum", "NVRTC"}));
    unsetenv("PTSCHED_NVRTC");
}

} // namespace

std::vector<tap::Case> test::opencl_cases()
{
    return {{"OpenCL: the sizes of a kernel's parameters", parameters_are_known},
            {"OpenCL: what is wrong with a kernel is said", what_is_wrong_is_said},
            {"OpenCL: geometry and values", geometry_and_values},
            {"OpenCL: queues wait for each other", queues_wait_for_each_other},
            {"OpenCL: memory that is full", full_memory},
            {"OpenCL: a graph", a_graph},
            {"OpenCL: constant memory", constant_memory},
            {"OpenCL: a task whose ports do not fit its kernel is refused", tasks_that_do_not_fit}};
}
