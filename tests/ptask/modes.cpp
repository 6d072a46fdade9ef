// SPDX-License-Identifier: MIT
/* Which task comes first, where it runs, and what is counted. */
#include "libptsched/ptask/devices/graph_devices.hpp"
#include "libptsched/ptask/devices/ready.hpp"
#include "libptsched/ptask/replay/comparison.hpp"
#include "libptsched/ptask/replay/double_buffering.hpp"
#include "tests/graph_clock.hpp"
#include "tests/host_flag.h"
#include "tests/ptask/ptask_test.hpp"

#include <cmath>
#include <thread>

namespace test {

namespace {

namespace device = ptsched::device;
using ptsched::Clock;

constexpr unsigned n = 8;
const auto matrix = Template::of<float>(n, n);

/* ((A x B) x B) x ... */
struct Products {
    Products(const GraphOptions &options, unsigned depth) : graph(options)
    {
        std::vector ports = {in("a", matrix), in("b", matrix), out("c", matrix), constant("n", n)};
        Task *before = nullptr;
        for (unsigned i = 0; i < depth; i++) {
            Task &task = graph.cuda("product" + std::to_string(i), {kernels(), "matmul"}, ports);
            if (before)
                graph.connect((*before)["c"], task["a"]);
            else
                a = &graph.input(task["a"]);
            b.push_back(&graph.input(task["b"]));
            before = &task;
        }
        product = &graph.output((*before)["c"]);
        graph.run();
    }

    void push(float first)
    {
        std::vector<float> scaled(n * n, 0), doubles(n * n, 0);
        for (unsigned i = 0; i < n; i++) {
            scaled[i * n + i] = first;
            doubles[i * n + i] = 2;
        }
        a->push(block_of(scaled));
        for (Input *input : b)
            input->push(block_of(doubles));
    }

    Graph graph;
    Input *a;
    std::vector<Input *> b;
    Output *product;
};

void all_modes_compute_the_same()
{
    for (Mode mode : {Mode::first_available, Mode::fifo, Mode::priority, Mode::data_aware}) {
        Products products({mode}, 3);
        for (int i = 0; i < 15; i++)
            products.push(static_cast<float>(i));
        for (int i = 0; i < 15; i++)
            CHECK_EQ(pulled<float>(*products.product).at(0), 8 * static_cast<float>(i));
        CHECK_EQ(products.graph.counters().size(), std::size_t{2});
        CHECK_EQ(sum_of(products.graph).runs, std::uint64_t{45});
    }
}

/* One after the other, to the devices in turn: what the first writes is moved. */
void first_available_moves_blocks()
{
    Products products({Mode::first_available}, 2);
    products.push(1);
    CHECK_EQ(pulled<float>(*products.product).at(0), 4.0f);
    for (const DeviceCounters &one : products.graph.counters())
        CHECK_EQ(one.runs, std::uint64_t{1});
    const DeviceCounters sum = sum_of(products.graph);
    CHECK_EQ(sum.blocks_uploaded, std::uint64_t{3});
    CHECK_EQ(sum.bytes_uploaded, std::uint64_t{3 * n * n * sizeof(float)});
    CHECK_EQ(sum.blocks_migrated, std::uint64_t{1});
    CHECK_EQ(sum.bytes_migrated, std::uint64_t{n * n * sizeof(float)});
}

void data_aware_follows_the_data()
{
    Products products({Mode::data_aware, {}, {.bytes_per_second = 1}}, 4);
    for (int i = 0; i < 15; i++)
        products.push(1);
    for (int i = 0; i < 15; i++)
        CHECK_EQ(pulled<float>(*products.product).at(0), 16.0f);
    CHECK_EQ(sum_of(products.graph).blocks_migrated, std::uint64_t{0});
    CHECK_EQ(sum_of(products.graph).blocks_uploaded, std::uint64_t{15 * 5});
}

/* As long as nobody knows how long their kernels take. */
void what_is_new_goes_to_all_devices()
{
    constexpr unsigned columns = 8;
    const auto one = Template::of<unsigned>(1);
    Graph graph({Mode::data_aware});
    std::vector<Input *> inputs;
    HostFlag flag;

    for (unsigned i = 0; i < columns; i++) {
        Task &task = graph.cuda("long" + std::to_string(i), {kernels(), "wait_for_host"},
                                {constant("flag", HostFlag::address()), inout("x", one)});
        inputs.push_back(&graph.input(task["x"]));
        graph.output(task["x"]);
    }
    graph.run();
    for (Input *input : inputs)
        input->push_value(0u);
    until([&] { return sum_of(graph).runs >= columns; });
    for (const DeviceCounters &counters : graph.counters())
        CHECK_EQ(counters.runs, std::uint64_t{columns / 2});
}

/* What work takes of a device's time is the same, however much else the device has. */
void a_devices_time_is_shared()
{
    const Clock::time_point began = Clock::now();
    GraphDevice place{device::gpus().at(0), {}, 1};
    const double first = place.shared_until(began, 1), second = place.shared_until(began + 2s, 1);
    CHECK_EQ(second - first, 2.0);
    CHECK_EQ(place.shared_until(began + 6s, -1) - second, 2.0);
    CHECK_EQ(place.shared_until(began + 7s, -1) - second, 3.0);
    /* Nobody is there. */
    CHECK_EQ(place.shared_until(began + 9s, 1) - second, 3.0);
}

/* On the host it has a processor, from when that has begun with it. */
void a_thread_counts_what_it_works()
{
    GraphClock clock;
    std::unique_ptr<device::Queue> queue = device::host().make_queue();
    const auto work = device::host_code([&](const std::vector<void *> &) { clock.advance(2s); });
    CHECK_EQ(*queue->worked(), 0.0);
    for (double times : {1, 2}) {
        clock.advance(1s);
        queue->run(*work, {}, {});
        queue->mark()->wait();
        CHECK_EQ(*queue->worked(), 2 * times);
    }
    CHECK(!device::gpus().at(0)->make_queue()->worked());
}

/* Five times each, in turns, if they are short; then always what has taken clearly less. */
void two_ways_are_tried()
{
    for (double takes : {0.5, 0.99, 2.0}) {
        Comparison trial;
        for (unsigned i = 0; i < 10; i++) {
            CHECK(!trial.is_over());
            CHECK_EQ(trial.other(), i % 2 == 1);
            /* All but one of each take longer for another reason. */
            trial.add(trial.other(), 1e-6 * (i < 8 ? 100 + i : trial.other() ? takes : 1));
        }
        CHECK(trial.is_over());
        CHECK_EQ(trial.other(), takes == 0.5);
        trial.add(true, 0);
        CHECK_EQ(trial.other(), takes == 0.5);
    }
    /* Of the one way, nobody knows it. */
    for (bool unknown : {false, true}) {
        Comparison trial;
        for (unsigned i = 0; i < 10; i++)
            trial.add(trial.other(), trial.other() == unknown ? HUGE_VAL : 1e-6);
        CHECK(trial.is_over() && !trial.other());
    }
    /* What takes long is over after two times each, unless the other way is the shorter one. */
    for (double takes : {0.5, 1.0}) {
        Comparison trial;
        for (unsigned i = 0; i < 4; i++) {
            CHECK(!trial.is_over());
            trial.add(trial.other(), trial.other() ? takes : 1);
        }
        CHECK_EQ(trial.is_over(), takes == 1);
    }
}

/* Once there have always been several, as long as it is not always one, and they do not get short. */
void long_sets_go_in_pairs()
{
    constexpr double enough = DoubleBuffering::least_seconds;
    for (double seconds : {0.9 * enough, enough}) {
        DoubleBuffering pairs;
        for (unsigned i = 0; i < 2 * DoubleBuffering::enough; i++) {
            CHECK_EQ(pairs.is_on(), seconds == enough && i >= DoubleBuffering::enough);
            pairs.comes(false, seconds);
        }
        /* Bursts, and then single ones. */
        for (unsigned i = 0; i < 2 * DoubleBuffering::enough_alone; i++) {
            pairs.comes(i % 4, seconds);
            CHECK_EQ(pairs.is_on(), seconds == enough);
        }
        for (unsigned i = 0; i < 2 * DoubleBuffering::enough_alone; i++) {
            CHECK(!pairs.is_on() || i < DoubleBuffering::enough_alone);
            pairs.comes(true, seconds);
        }
        CHECK(!pairs.is_on());
        /* Neither is it always one, nor always several. */
        for (unsigned i = 0; i < 4 * DoubleBuffering::enough; i++) {
            pairs.comes(i % 2, seconds);
            CHECK(!pairs.is_on());
        }
    }
    DoubleBuffering pairs;
    for (unsigned i = 0; i < DoubleBuffering::enough; i++)
        pairs.comes(false, enough);
    pairs.comes(false, 0.6 * enough);
    CHECK(pairs.is_on());
    pairs.comes(false, 0.4 * enough);
    CHECK(!pairs.is_on());
}

struct Queue {
    explicit Queue(Mode mode, const PriorityWeights &weights = {}) : ready(mode, weights)
    {
        auto nothing = [](const Arguments &) {};
        for (const char *name : {"a", "b", "c"})
            tasks.push_back(&graph.host(name, nothing, {in("x", Template::of<int>(1))}));
    }
    void add(unsigned task, double priority, double run, Clock::duration at)
    {
        ready.add(impl(*tasks[task]), priority, run, began + at);
    }
    std::string pop(Clock::duration at) { return ready.pop(began + at).name(); }
    std::string pop_all(Clock::duration at)
    {
        std::string names;
        while (!ready.empty())
            names += pop(at);
        return names;
    }

    Graph graph;
    std::vector<Task *> tasks;
    Ready ready;
    Clock::time_point began = Clock::now() + 1h;
};

void order_of_coming()
{
    for (Mode mode : {Mode::first_available, Mode::fifo}) {
        Queue queue(mode);
        queue.add(2, 1, 1e-3, 1ms);
        queue.add(0, 9, 1e-6, 2ms);
        queue.add(1, 5, 1e-3, 3ms);
        CHECK(queue.pop_all(4ms) == "cab");
    }
}

void order_of_priority()
{
    for (Mode mode : {Mode::priority, Mode::data_aware}) {
        Queue queue(mode);
        queue.add(0, 1, 1, 0ms);
        queue.add(1, 9, 1, 0ms);
        queue.add(2, 5, 1, 0ms);
        CHECK(queue.pop_all(0ms) == "bca");
    }
}

/* The same static priority: what runs shorter than the average is first, what runs longer is last. */
void short_runs_are_first()
{
    Queue queue(Mode::priority);
    queue.ready.ran(1e-3);
    queue.add(0, 0, 5e-3, 0ms);
    queue.add(1, 0, 1e-3, 0ms);
    queue.add(2, 0, 1e-4, 0ms);
    CHECK(queue.pop_all(0ms) == "cba");
}

/* Who waits for more average waits than the others are higher is first. */
void who_waits_long_is_first()
{
    Queue queue(Mode::priority);
    queue.add(2, 0, 1, 0ms);
    CHECK(queue.pop(1ms) == "c");
    /* The average is 1 ms now. */
    queue.add(0, 0, 1, 1ms);
    queue.add(1, 3, 1, 6ms);
    CHECK(queue.pop_all(6ms) == "ab");
    queue.add(0, 0, 1, 7ms);
    queue.add(1, 3, 1, 8ms);
    CHECK(queue.pop_all(8ms) == "ba");
}

/*
 * A plug is at work, and no other function may be, so that the others are given to the host in the order in which they
 * were chosen.
 */
void proxy_priorities()
{
    Graph graph({.mode = Mode::priority, .proxy_priority = 7, .host_functions = 1});
    auto one = Template::of<int>(1);
    std::string order;
    std::vector<Task *> tasks;
    auto add = [&](const std::string &name, HostFunction function, int proxy) {
        Task &task = *tasks.emplace_back(&graph.host(name, std::move(function), {in("x", one)}));
        graph.input(task["x"]).push_value(0);
        if (proxy)
            task.set_proxy_priority(proxy);
    };
    auto note = [&](char who) { return [&, who](const Arguments &) { order += who; }; };
    add("graph's", note('1'), 0);
    add("high", note('2'), 1000);
    Plugs plug(graph, 1000000, 1);
    graph.run();
    until_executing(tasks);
    plug.pull();
    graph.stop();
    CHECK(order == "21");
}

/* With one GPU of three times the clock; runs are counted when they are given to a device, and none ends before. */
void the_strong_get_more()
{
    constexpr unsigned runs = 64;
    if (device::gpus().size() != 2)
        return;
    setenv("PTSCHED_VGPU_CLOCKS", "1000000,3000000", 1);
    for (Mode mode : {Mode::priority, Mode::fifo}) {
        Graph graph({.mode = mode});
        HostFlag flag;
        Task &task = graph.cuda("task", {kernels(), "wait_for_host"},
                                {constant("flag", HostFlag::address()), inout("x", Template::of<unsigned>(1))});
        Input &x = graph.input(task["x"], runs);
        graph.output(task["x"], runs);
        for (unsigned i = 0; i < runs; i++)
            x.push_value(0u);
        graph.run();
        std::uint64_t given[2] = {0, 0};
        while (given[0] + given[1] < runs) {
            std::this_thread::yield();
            for (std::size_t i = 0; i < 2; i++)
                given[i] = graph.counters().at(i).runs;
        }
        std::printf("# %lu and %lu\n", given[0], given[1]);
        if (mode == Mode::priority)
            CHECK(given[1] > 2 * given[0]);
        else
            CHECK(given[1] < 2 * given[0]);
        flag.raise();
        graph.stop();
    }
    unsetenv("PTSCHED_VGPU_CLOCKS");
}

} // namespace

Cases mode_cases()
{
    return {{"all modes compute the same", all_modes_compute_the_same},
            {"first-available moves blocks, and they are counted", first_available_moves_blocks},
            {"data-aware follows the data", data_aware_follows_the_data},
            {"what is new goes to all devices", what_is_new_goes_to_all_devices},
            {"a device's time is shared", a_devices_time_is_shared},
            {"a thread counts what it works", a_thread_counts_what_it_works},
            {"two ways are tried", two_ways_are_tried},
            {"sets that fill a device go in pairs", long_sets_go_in_pairs},
            {"first-available and fifo take tasks as they come", order_of_coming},
            {"priority and data-aware take the highest first", order_of_priority},
            {"short runs are first", short_runs_are_first},
            {"who waits long is first", who_waits_long_is_first},
            {"the priority of who asked counts", proxy_priorities},
            {"in mode priority, stronger devices get more", the_strong_get_more}};
}

} // namespace test
