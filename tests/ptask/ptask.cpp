// SPDX-License-Identifier: MIT
/* Graphs of host functions and kernels, on the virtual GPU. */
#include "tests/graph_clock.hpp"
#include "tests/ptask/c_checks.h"
#include "tests/ptask/ptask_test.hpp"
#include "tests/threads.h"
#include "tests/vgpu/pocl.h"

#include <atomic>
#include <numeric>
#include <thread>

using namespace test;
using namespace std::chrono_literals;
namespace device = ptsched::device;

namespace {

std::vector<PortOptions> binary(std::size_t n)
{
    auto form = Template::of<float>(n);
    return {in("a", form), in("b", form), out("c", form), value("n", sizeof(unsigned))};
}

/* One number from x to y. */
Task &add_copy(Graph &graph)
{
    auto one = Template::of<int>(1);
    return graph.host(
        "copy", [](const Arguments &ports) { *static_cast<int *>(ports[1]) = *static_cast<const int *>(ports[0]); },
        {in("x", one), out("y", one)});
}

void blocks_move_once()
{
    auto gpu = device::gpus().at(0);
    auto queue = gpu->make_queue();
    std::vector<float> values(1000);
    std::iota(values.begin(), values.end(), 0.0f);
    auto block = block_of(values);

    CHECK_EQ(block->missing(device::host()), std::size_t{0});
    CHECK_EQ(block->missing(*gpu), values.size() * sizeof(float));
    auto address = block->use(*gpu, *queue);
    CHECK_EQ(block->missing(*gpu), std::size_t{0});
    CHECK_EQ(block->use(*gpu, *queue), address);
    queue->mark()->wait();
    CHECK(refused([&] { block->produce(*gpu, *queue); }, {"written again"}));
    CHECK(refused([&] { Datablock::empty(4)->read(); }, {"without content"}));
}

void other_gpus_get_copies()
{
    auto first = device::gpus().at(0), second = device::gpus().at(1);
    auto one = first->make_queue(), two = second->make_queue();
    std::vector<float> ones(64, 1.0f);
    auto a = block_of(ones);
    auto sum = Datablock::empty(a->bytes()), again = Datablock::empty(a->bytes());
    auto add = [&](device::Device &gpu, device::Queue &queue, Datablock &from, Datablock &to) {
        auto code = device::cuda_code(gpu, kernels(), "vector_add");
        auto x = from.use(gpu, queue), z = to.produce(gpu, queue);
        unsigned n = 64;
        queue.run(*code, {{1, 1, 1}, {64, 1, 1}}, {&x, &x, &z, &n});
        to.written(queue.mark());
        return code;
    };
    auto code = add(*first, *one, *a, *sum);
    auto other = add(*second, *two, *sum, *again);
    CHECK_EQ(again->as<float>()[63], 4.0f);
    CHECK_EQ(sum->as<float>()[0], 2.0f);
}

/* A x B x C, several in flight. */
void chain_of_products()
{
    constexpr unsigned n = 16, count = 40;
    Graph graph;
    auto matrix = Template::of<float>(n, n);
    std::vector ports = {in("a", matrix), in("b", matrix), out("c", matrix), value("n", sizeof(unsigned))};
    Task &ab = graph.cuda("AxB", {kernels(), "matmul"}, ports);
    Task &abc = graph.cuda("ABxC", {kernels(), "matmul"}, ports);
    Input &a = graph.input(ab["a"]), &b = graph.input(ab["b"]), &c = graph.input(abc["b"]);
    graph.connect(ab["c"], abc["a"]);
    Output &result = graph.output(abc["c"]);
    graph.input(ab["n"]).push_value(n);
    graph.input(abc["n"]).push_value(n);
    graph.run();

    std::thread feeder([&] {
        for (unsigned i = 0; i < count; i++) {
            std::vector<float> scaled(n * n, 0.0f), two(n * n, 2.0f), unit(n * n, 0.0f);
            for (unsigned k = 0; k < n; k++) {
                scaled[k * n + k] = static_cast<float>(i);
                unit[k * n + k] = 1.0f;
            }
            a.push(block_of(scaled));
            b.push(block_of(two));
            c.push(block_of(unit));
        }
    });
    for (unsigned i = 0; i < count; i++)
        CHECK(pulled<float>(result) == std::vector<float>(n * n, 2.0f * static_cast<float>(i)));
    feeder.join();
    graph.stop();
    CHECK_EQ(abc.completed(), std::uint64_t{count});
    CHECK(abc.state() == State::completed);
}

void host_and_gpu()
{
    constexpr unsigned n = 100;
    Graph graph;
    auto form = Template::of<float>(n);
    Task &twice = graph.host("twice",
                             [](const Arguments &ports) {
                                 for (unsigned i = 0; i < n; i++)
                                     static_cast<float *>(ports[1])[i] = 2 * static_cast<const float *>(ports[0])[i];
                             },
                             {in("x", form), out("y", form)});
    Task &add = graph.cuda("add", {kernels(), "vector_add"}, binary(n));
    Task &total = graph.host("total",
                             [](const Arguments &ports) {
                                 auto *x = static_cast<const float *>(ports[0]);
                                 *static_cast<float *>(ports[1]) = std::accumulate(x, x + n, 0.0f);
                             },
                             {in("x", form), out("sum", Template::of<float>(1))});
    Input &x = graph.input(twice["x"]);
    /* One output for both. */
    graph.connect(twice["y"], add["a"]);
    graph.connect(twice["y"], add["b"]);
    graph.connect(add["c"], total["x"]);
    Output &sum = graph.output(total["sum"]);
    graph.input(add["n"]).push_value(n);
    graph.run();
    for (float value = 1; value < 10; value++) {
        x.push(block_of(std::vector<float>(n, value)));
        CHECK_EQ(pulled<float>(sum).at(0), 4 * value * n);
    }
}

void sticky_ports_keep_their_block()
{
    Graph graph;
    auto one = Template::of<int>(1);
    Task &add = graph.host("add",
                           [](const Arguments &ports) {
                               *static_cast<int *>(ports[2]) =
                                   *static_cast<const int *>(ports[0]) + *static_cast<const int *>(ports[1]);
                           },
                           {in("x", one), sticky("y", one), out("z", one)});
    Input &x = graph.input(add["x"]), &y = graph.input(add["y"]);
    Output &z = graph.output(add["z"]);
    graph.run();
    x.push_value(1);
    CHECK(!z.pull(0ns));
    CHECK(add.state() == State::waiting);
    y.push_value(10);
    CHECK_EQ(z.pull()->as<int>()[0], 11);
    x.push_value(2);
    CHECK_EQ(z.pull()->as<int>()[0], 12);
    y.push_value(20);
    x.push_value(3);
    CHECK_EQ(z.pull()->as<int>()[0], 23);
}

void channels_are_bounded()
{
    Graph graph;
    Task &copy = add_copy(graph);
    Input &x = graph.input(copy["x"], 2);
    Output &y = graph.output(copy["y"], 1);
    CHECK(x.push_value(0));
    CHECK(x.push_value(1));
    CHECK(!x.push(Datablock::of("abcd", 4), 0ns));
    graph.run();
    /* One where it leaves, and two before it, as long as nobody pulls. */
    CHECK(x.push_value(2));
    until([&] { return copy.completed() >= 1; });
    CHECK(!x.push(Datablock::of("abcd", 4), 1ms));
    CHECK_EQ(copy.completed(), std::uint64_t{1});
    for (int i = 0; i < 3; i++)
        CHECK_EQ(y.pull()->as<int>()[0], i);
    CHECK(!y.pull(1ms));
}

/*
 * The longest wait for what others do later, the shortest for nothing. The others do it once they are asked to, every
 * second time when who asks sleeps: so it is not there already each time.
 */
void timeouts_at_the_limits()
{
    constexpr auto longest = std::chrono::nanoseconds::max(), shortest = std::chrono::nanoseconds::min();
    constexpr unsigned rounds = 20;
    std::atomic<unsigned> asked{0};
    auto when_asked = [&asked, asks = gettid()](auto work) {
        return std::jthread([&asked, asks, work](const std::stop_token &stop) {
            ThreadState who_asks(asks);
            for (unsigned i = 0; i < rounds; i++) {
                until([&] { return asked != i || stop.stop_requested(); });
                until([&] { return i % 2 || asked != i + 1 || who_asks.get() == 'S' || stop.stop_requested(); });
                work(stop);
            }
        });
    };
    auto all_rounds = [&asked](auto wait) {
        bool all = true;
        while (all && asked < rounds) {
            asked++;
            all = bool(wait());
        }
        return all;
    };
    Graph graph;
    Task &copy = add_copy(graph);
    Input &x = graph.input(copy["x"], 1);
    Output &y = graph.output(copy["y"], 1);
    graph.run();
    CHECK(!y.pull(shortest));
    x.push_value(0);
    until([&] { return copy.completed() >= 1; });
    x.push_value(1);
    CHECK(!x.push(Datablock::of("abcd", 4), shortest));
    bool pushed = false;
    {
        std::jthread pulls = when_asked([&](const std::stop_token &stop) { y.take({}, stop); });
        pushed = all_rounds([&] { return x.push(Datablock::of("abcd", 4), longest); });
    }
    CHECK(pushed);
    if (!pushed)
        return;
    CHECK(y.pull(longest));
    CHECK(y.pull(longest));
    asked = 0;
    std::jthread pushes =
        when_asked([&](const std::stop_token &stop) { x.send({Datablock::of("abcd", 4)}, {}, stop); });
    CHECK(all_rounds([&] { return y.pull(longest); }));
}

/* What is pushed comes to all of them, or to none. */
void an_input_of_several_ports()
{
    Graph graph;
    auto number = Template::of<int>(1);
    auto add = [&](const std::string &name) -> Task & {
        return graph.host(name,
                          [](const Arguments &p) {
                              *static_cast<int *>(p[2]) =
                                  *static_cast<const int *>(p[0]) + *static_cast<const int *>(p[1]);
                          },
                          {in("x", number), in("y", number), out("z", number)});
    };
    Task &one = add("one"), &two = add("two");
    Input &x = graph.input(one["x"], 3), &other = graph.input(two["x"], 3);
    graph.connect(x, one["y"], 2);
    graph.connect(x, two["y"], 3);
    Output &twice = graph.output(one["z"]), &sum = graph.output(two["z"]);
    CHECK(x.push_value(1));
    CHECK(x.push_value(2));
    CHECK(!x.push(Datablock::of("abcd", 4), 1ms));
    graph.run();
    /* There is room where it was full. */
    CHECK(x.push_value(3));
    for (int i : {10, 20, 30})
        CHECK(other.push_value(i));
    for (int i : {1, 2, 3}) {
        CHECK_EQ(twice.pull()->as<int>()[0], 2 * i);
        CHECK_EQ(sum.pull()->as<int>()[0], 11 * i);
    }
    CHECK(!sum.pull(1ms));
}

/* On the host when @reached says so. */
DatablockPtr written_when(std::function<bool()> reached)
{
    struct Point final : device::Marker {
        explicit Point(std::function<bool()> &&says) : says(std::move(says)) {}
        bool reached() override { return says(); }
        void wait() override
        {
            until([&] { return reached(); });
        }
        const std::function<bool()> says;
    };
    DatablockPtr block = block_of(std::vector{7});
    block->written(std::make_shared<Point>(std::move(reached)));
    return block;
}

/* For several ports, of which the run-time reads some. What cannot be fetched comes to none: no task hears of it. */
void what_is_fetched_for_several_ports()
{
    const auto form = Template::of<int>(1);
    std::atomic<bool> late{false}; /* as long as the graph, which may ask for it */
    Graph graph;
    auto add = [&](const std::string &name) -> Task & {
        return graph.host(name, [](const Arguments &) {}, {inout("x", form), condition("if")});
    };
    Task &one = add("one"), &two = add("two");
    Input &x = graph.input(one["if"], 2);
    for (Port *port : {&one["x"], &two["x"], &two["if"]})
        graph.connect(x, *port, 2);
    Output *const outputs[] = {&graph.output(one["x"]), &graph.output(two["x"])};
    graph.run();
    CHECK(refused([&] { x.push(written_when([]() -> bool { throw Error("it is lost"); })); }, {"it is lost"}));
    CHECK(x.push(written_when([&] { return late.load(); })));
    late = true;
    CHECK(x.push_value(8));
    for (int i : {7, 8})
        for (Output *output : outputs)
            CHECK_EQ(pulled<int>(*output).at(0), i);
}

/* Whatever the order: nothing is lost, nothing comes twice. */
void many_threads()
{
    constexpr int threads = 4, each = 200;
    Graph graph;
    Task &copy = add_copy(graph);
    Input &x = graph.input(copy["x"], 3);
    Output &y = graph.output(copy["y"], 3);
    graph.run();
    std::atomic<long> pushed{0}, got{0};
    std::vector<std::thread> workers;
    for (int t = 0; t < threads; t++) {
        workers.emplace_back([&, t] {
            for (int i = 0; i < each; i++) {
                x.push_value(t * each + i);
                pushed += t * each + i;
            }
        });
        workers.emplace_back([&] {
            for (int i = 0; i < each; i++)
                got += y.pull()->as<int>()[0];
        });
    }
    for (std::thread &worker : workers)
        worker.join();
    CHECK_EQ(got.load(), pushed.load());
}

void a_task_that_fails()
{
    Graph bad, good;
    auto one = Template::of<int>(1);
    auto add = [&](Graph &graph) -> Task & {
        return graph.host("picky",
                          [](const Arguments &ports) {
                              if (*static_cast<const int *>(ports[0]) < 0)
                                  throw std::runtime_error("negative");
                              *static_cast<int *>(ports[1]) = *static_cast<const int *>(ports[0]);
                          },
                          {in("x", one), out("y", one)});
    };
    Task &one_task = add(bad), &other_task = add(good);
    Input &x = bad.input(one_task["x"]), &other_x = good.input(other_task["x"]);
    Output &y = bad.output(one_task["y"]), &other_y = good.output(other_task["y"]);
    bad.run();
    good.run();
    x.push_value(-1);
    CHECK(refused([&] { y.pull(); }, {"picky", "negative"}));
    CHECK(refused([&] { x.push_value(1); }, {"picky", "negative"}));
    other_x.push_value(7);
    CHECK_EQ(other_y.pull()->as<int>()[0], 7);
}

void a_geometry_without_threads()
{
    Graph graph;
    auto add = [&](const std::string &name, const std::optional<Geometry> &geometry) -> Task & {
        return graph.cuda(name, {kernels(), "vector_add", geometry}, binary(4));
    };
    CHECK(refused([&] { add("add", Geometry{{0, 1, 1}, {4, 1, 1}}); }, {"add", "0 x 1 x 1 blocks of 4 x 1 x 1"}));
    CHECK(refused([&] { add("add", Geometry{{1, 1, 1}, {4, 1, 0}}); }, {"add", "without threads"}));
    Task &task = add("task", {});
    CHECK(refused([&] { task.set_geometry({{1, 0, 1}, {4, 1, 1}}); }, {"task", "1 x 0 x 1 blocks"}));
}

/* CUDA has 65535 for y and z; with a geometry of its own, a kernel may be for any form. */
void too_many_blocks()
{
    Graph graph;
    auto add = [&](const std::string &name, std::array<std::size_t, 3> dimensions, std::optional<Geometry> geometry) {
        graph.cuda(name, {ptask_kernels(), "successor", geometry},
                   {inout("x", {dimensions, sizeof(int)}), constant("n", 1u)});
    };
    CHECK(refused(
        [&] {
            add("deep", {4, 1, 70000}, {});
        },
        {"deep", "4 x 1 x 70000 records", "1 x 1 x 70000 blocks", "65535 x 65535", "geometry of its own"}));
    CHECK(refused(
        [&] {
            add("tall", {1, 2000000, 1}, {});
        },
        {"tall", "1 x 2000000 x 1 records", "1 x 125000 x 1 blocks", "geometry of its own"}));
    CHECK(refused([&] { add("wide", {std::size_t{1} << 40, 1, 1}, {}); }, {"wide", "2147483647 x"}));
    add("as deep as may be", {4, 1, 65535}, {});
    add("as tall as may be", {1, std::size_t{16} * 65535, 1}, {});
    add("its own", {4, 1, 70000}, Geometry{{1, 1, 1}, {1, 1, 1}});
}

void more_than_a_block_can_have()
{
    Graph graph;
    const Geometry threads{{1, 1, 1}, {4096, 1, 1}}, shared{{1, 1, 1}, {4, 1, 1}, 96 << 10};
    auto add = [&](const std::string &name, const std::optional<Geometry> &geometry) -> Task & {
        return graph.cuda(name, {kernels(), "vector_add", geometry}, binary(4));
    };
    Task &task = add("task", {});
    CHECK(refused([&] { add("add", threads); }, {"task add", "vector_add", "4096 x 1 x 1 threads", "have 1024"}));
    CHECK(refused([&] { task.set_geometry(threads); }, {"task task", "vector_add", "4096 x 1 x 1 threads"}));
    CHECK(refused([&] { add("add", shared); }, {"task add", "vector_add", "98304 bytes", "can have 97280 on"}));
    CHECK(refused([&] { task.set_geometry(shared); }, {"task task", "vector_add", "98304 bytes"}));
}

/* Which CUDA does not give without being asked. */
void much_shared_memory()
{
    Graph graph;
    Task &much = graph.cuda("much", {kernels(), "vector_add", Geometry{{1, 1, 1}, {4, 1, 1}, 64 << 10}}, binary(4));
    Task &less = graph.cuda("less", {kernels(), "vector_add", Geometry{{1, 1, 1}, {4, 1, 1}, 50 << 10}}, binary(4));
    Input &a = graph.input(much["a"]), &b = graph.input(much["b"]), &more = graph.input(less["b"]);
    graph.connect(much["c"], less["a"]);
    Output &c = graph.output(less["c"]);
    graph.input(much["n"]).push_value(4u);
    graph.input(less["n"]).push_value(4u);
    graph.run();
    for (Input *input : {&a, &b, &more})
        input->push(block_of<float>({1, 2, 3, 4}));
    CHECK(pulled<float>(c) == std::vector<float>({3, 6, 9, 12}));
}

/*
 * A plug is at work, and no other function may be, so that all the others are given to the host before the first of
 * them runs.
 */
void priorities()
{
    constexpr int count = 6;
    Graph graph({.host_functions = 1});
    auto one = Template::of<int>(1);
    std::vector<int> order;
    std::vector<Task *> tasks;

    auto add = [&](const std::string &name, HostFunction function, int priority) {
        Task &task = graph.host(name, std::move(function), {in("x", one)});
        task.set_priority(priority);
        graph.input(task["x"]).push_value(0);
        tasks.push_back(&task);
    };
    for (int i = 0; i < count; i++)
        add(
            "task" + std::to_string(i), [&, i](const Arguments &) { order.push_back(i); }, 1000 * i);
    Plugs plug(graph, 1000000, 1);
    graph.run();
    until_executing(tasks);
    plug.pull();
    graph.stop();
    CHECK((order == std::vector<int>{5, 4, 3, 2, 1, 0}));
}

void stop_wakes_everybody()
{
    Graph graph;
    Task &copy = add_copy(graph);
    Input &x = graph.input(copy["x"], 1);
    Output &y = graph.output(copy["y"], 1);
    graph.run();
    std::thread pusher([&] {
        while (x.push_value(1))
            ;
    });
    until([&] { return copy.completed() >= 1; });
    graph.stop();
    pusher.join();
    CHECK(y.pull());
    CHECK(!y.pull());
    CHECK(!x.push_value(2));
}

/* Each returns when what ran has ended. */
void several_stop()
{
    for (int i = 0; i < 100; i++) {
        Graph graph;
        Task &copy = add_copy(graph);
        Input &x = graph.input(copy["x"]);
        graph.output(copy["y"]);
        graph.run();
        CHECK(x.push_value(1));
        std::thread other([&] { graph.stop(); });
        graph.stop();
        other.join();
    }
}

/* It would wait for itself. The graph goes on. */
void a_function_stops_its_graph()
{
    Graph graph, other;
    Task &copy = add_copy(other);
    other.input(copy["x"]);
    other.output(copy["y"]);
    other.run();
    std::atomic<int> told{0};
    Task &task = graph.host("stops",
                            [&](const Arguments &) {
                                told += refused([&] { graph.stop(); }, {"a function", "cannot stop", "another thread"});
                                other.stop();
                            },
                            {inout("x", Template::of<int>(1))});
    Input &x = graph.input(task["x"]);
    Output &y = graph.output(task["x"]);
    graph.run();
    /* First in a queue's thread, then, as it is brief, in this one. */
    for (int i = 0; i < 10; i++) {
        CHECK(x.push_value(i));
        CHECK_EQ(pulled<int>(y).at(0), i);
    }
    CHECK_EQ(told.load(), 10);
    graph.stop();
}

/* Who waits for a function that was brief so far runs it; it may fail or be the last thing there as anywhere. */
void brief_functions()
{
    GraphClock clock;
    Graph graph;
    std::atomic<bool> fails{false};
    Task &task = graph.host("brief",
                            [&](const Arguments &ports) {
                                *static_cast<std::thread::id *>(ports[1]) = std::this_thread::get_id();
                                if (fails)
                                    throw std::runtime_error("now");
                            },
                            {in("x", Template::of<int>(1)), out("where", Template::of<std::thread::id>(1))});
    Input &x = graph.input(task["x"]);
    Output &where = graph.output(task["where"]);
    graph.run();
    auto runs_here = [&] {
        x.push_value(1);
        return pulled<std::thread::id>(where).at(0) == std::this_thread::get_id();
    };
    /* The thread of the host's queue may be as fast, but not each time. */
    until(runs_here);
    CHECK(task.completed() > 3);
    fails = true;
    x.push_value(1);
    CHECK(refused([&] { where.pull(); }, {"brief", "now"}));
}

/* While somebody runs a function of it. */
void a_graph_stops_meanwhile()
{
    for (int i = 0; i < 200; i++) {
        Graph graph;
        Task &copy = add_copy(graph);
        Input &x = graph.input(copy["x"]);
        Output &y = graph.output(copy["y"]);
        graph.run();
        std::thread puller([&] {
            while (x.push_value(1) && y.pull())
                ;
        });
        until([&] { return copy.completed() >= 5 + static_cast<unsigned>(i) % 7; });
        graph.stop();
        puller.join();
        /* One at most is left. */
        y.pull();
        CHECK(!y.pull());
    }
}

void wrong_graphs()
{
    Graph graph, other;
    auto one = Template::of<int>(1), two = Template::of<int>(2);
    auto nothing = [](const Arguments &) {};
    Task &a = graph.host("a", nothing, {in("x", one), out("y", one)});
    Task &b = graph.host("b", nothing, {in("x", two), out("y", one)});
    Task &c = other.host("c", nothing, {in("x", one), out("y", one)});

    CHECK(refused([&] { graph.connect(a["y"], b["x"]); }, {"a.y", "b.x", "1 x 1 x 1", "2 x 1 x 1"}));
    CHECK(refused([&] { graph.connect(a["x"], b["y"]); }, {"a.x", "b.y", "not an output"}));
    CHECK(refused([&] { graph.connect(a["y"], c["x"]); }, {"c.x", "another graph"}));
    CHECK(refused([&] { graph.connect(a["y"], a["x"]); }, {"a.y", "a.x", "cycle"}));
    CHECK(refused([&] { a["z"]; }, {"a", "z", "x y"}));
    CHECK(refused([&] { graph.host("a", nothing, {}); }, {"two tasks", "a"}));
    CHECK(refused([&] { graph.host("d", {}, {}); }, {"d", "empty"}));
    CHECK(refused([&] { graph.host("d", nothing, {in("x", one), in("x", one)}); }, {"d", "two ports", "x"}));
    CHECK(refused([&] { graph.cuda("d", {"/nonexistent", "f"}, {out("y", one)}); }, {"d", "/nonexistent"}));
    CHECK(refused([&] { graph.cuda("d", {kernels(), "nothing"}, {out("y", one)}); }, {"d", "nothing"}));
    CHECK(refused([&] { graph.cuda("d", {kernels(), "spin"}, {in("x", one)}); }, {"d", "geometry"}));
    CHECK(refused([&] { graph.run(); }, {"a.x", "no channel", "output that gives 1 x 1 x 1", "input of the graph"}));
    CHECK(refused([&] { other.input(c["x"], 0); }, {"c.x", "at least one"}));
    Input &x = other.input(c["x"]);
    CHECK(refused([&] { other.input(c["x"]); }, {"c.x", "already"}));
    CHECK(refused([&] { other.connect(x, c["x"]); }, {"c.x", "already"}));
    CHECK(refused([&] { graph.connect(x, a["x"]); }, {"c.x", "a.x", "different graphs"}));
    Input &first = graph.input(a["x"]);
    CHECK(refused([&] { graph.connect(first, b["x"]); }, {"a.x", "b.x", "1 x 1 x 1", "2 x 1 x 1"}));
    CHECK(refused([&] { x.push_value('c'); }, {"port c.x", "records of int", "not char"}));
    CHECK(refused([&] { x.push(nullptr); }, {"neither", "c.x"}));
    CHECK(refused([&] { x.push(Datablock::empty(4)); }, {"without content", "c.x"}));
    other.output(c["y"]);
    other.run();
    CHECK(refused([&] { other.run(); }, {"already"}));
    CHECK(refused([&] { other.host("late", nothing, {}); }, {"late", "after"}));
}

void add(Cases &cases, std::initializer_list<Cases (*)()> more)
{
    for (Cases (*some)() : more)
        for (tap::Case &test : some())
            cases.push_back(std::move(test));
}

} // namespace

/* Under a name with "one-gpu": what is done in another way where there are several. */
int main(int, char **argv)
{
    if (std::string(argv[0]).ends_with("one-gpu")) {
        test::Daemon daemon(1);
        Cases cases;
        add(cases, {lower_cases, lower_block_cases, sharing_cases});
        return tap::run(cases);
    }
    test::Daemon daemon;
    test::PoclCache cache;
    setenv("PTSCHED_NVRTC", (folder() + "/nvrtc.so").c_str(), 1);
    Cases cases = {{"a datablock moves once", blocks_move_once},
                   {"other GPUs get copies of what one has written", other_gpus_get_copies},
                   {"A x B x C, pipelined", chain_of_products},
                   {"host functions and kernels, one output for two inputs", host_and_gpu},
                   {"sticky ports keep their datablock", sticky_ports_keep_their_block},
                   {"channels are bounded", channels_are_bounded},
                   {"timeouts at the limits", timeouts_at_the_limits},
                   {"an input that leads to several ports", an_input_of_several_ports},
                   {"what is fetched for several ports comes to all or none", what_is_fetched_for_several_ports},
                   {"many threads push and pull", many_threads},
                   {"a task that fails stops its graph, by name, and no other", a_task_that_fails},
                   {"more threads or shared memory than a block can have", more_than_a_block_can_have},
                   {"more shared memory than a block has unasked", much_shared_memory},
                   {"a geometry without threads", a_geometry_without_threads},
                   {"more blocks of threads than a GPU takes", too_many_blocks},
                   {"the highest priority is first", priorities},
                   {"stop wakes everybody", stop_wakes_everybody},
                   {"several threads stop a graph", several_stop},
                   {"a function cannot stop its own graph", a_function_stops_its_graph},
                   {"brief functions run where they are waited for", brief_functions},
                   {"a graph stops while who waits runs its functions", a_graph_stops_meanwhile},
                   {"what is wrong with a graph is said with the names of both ends", wrong_graphs},
                   {"a C program", [] { CHECK_EQ(c_checks(kernels().c_str()), 0); }}};
    add(cases, {inout_cases,       size_cases,     loop_cases,    signal_cases,
                state_cases,       mode_cases,     arbiter_cases, subgraph_memory_cases,
                life_cases,        host_cases,     draw_cases,    lower_cases,
                lower_block_cases, constant_cases, kind_cases,    content_cases,
                fitness_cases,     image_cases,    call_cases,    type_cases,
                own_thread_cases,  batch_cases});
    return tap::run(cases);
}
