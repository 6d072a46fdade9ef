// SPDX-License-Identifier: MIT
/* Functions of the host: in order, unless they are concurrent, and in threads that all graphs share. */
#include "tests/ptask/child.hpp"
#include "tests/ptask/ptask_test.hpp"
#include <ptsched/device/host_pool.hpp>

#include <fstream>
#include <latch>
#include <thread>

namespace test {

namespace {

namespace device = ptsched::device;

const auto one = Template::of<int>(1);

unsigned processors()
{
    return std::max(2u, std::thread::hardware_concurrency());
}

/* As the kernel counts them. */
int threads_of_this_process()
{
    std::ifstream status("/proc/self/status");
    std::string word;
    int threads = 0;
    while (status >> word)
        if (word == "Threads:")
            status >> threads;
    return threads;
}

/* What a function sees of its calls. */
struct Witness {
    void begin() { most = std::max(most.load(), ++inside); }
    void end() { inside--; }
    std::atomic<unsigned> inside{0}, most{0};
};

/* The first call lasts until the host has been given many others: none of them begins before it has returned. */
void one_at_a_time_and_in_order()
{
    constexpr int many = 30;
    Graph graph;
    Witness calls;
    std::vector<int> seen;
    Task &task = graph.host("task",
                            [&](const Arguments &values) {
                                calls.begin();
                                if (seen.empty())
                                    until([&] { return sum_of(graph).runs >= many; });
                                seen.push_back(*static_cast<int *>(values[0]));
                                calls.end();
                            },
                            {inout("x", one)});
    Input &x = graph.input(task["x"], many);
    Output &y = graph.output(task["x"], many);
    graph.run();
    for (int i = 0; i < many; i++)
        x.push_value(i);
    for (int i = 0; i < many; i++)
        CHECK_EQ(pulled<int>(y).at(0), i);
    CHECK_EQ(calls.most.load(), 1u);
    CHECK_EQ(seen.size(), std::size_t{many});
    CHECK(std::is_sorted(seen.begin(), seen.end()));
}

/* Two calls that wait for each other; what they make comes in the order in which they began. */
void several_at_once()
{
    Graph graph;
    std::latch both(2);
    std::promise<void> second_is_done;
    std::shared_future<void> done(second_is_done.get_future());
    Task &task = graph.host(
        "task",
        [&](const Arguments &values) {
            both.arrive_and_wait();
            if (*static_cast<int *>(values[0]) == 0)
                done.wait();
            else
                second_is_done.set_value();
        },
        {inout("x", one)}, Calls::concurrent);
    Input &x = graph.input(task["x"]);
    Output &y = graph.output(task["x"]);
    graph.run();
    x.push_value(0);
    x.push_value(1);
    CHECK_EQ(pulled<int>(y).at(0), 0);
    CHECK_EQ(pulled<int>(y).at(0), 1);
}

/* More functions than there are processors wait for something that another one brings, in this graph or another. */
void who_waits_starves_nobody()
{
    const unsigned many = 2 * processors() + 3;
    for (bool same_graph : {true, false}) {
        Graph graph, other;
        std::latch brought(1);
        std::vector<Output *> outputs;
        for (unsigned i = 0; i < many; i++) {
            Task &task =
                graph.host("waits" + std::to_string(i), [&](const Arguments &) { brought.wait(); }, {inout("x", one)});
            graph.input(task["x"]).push_value(0);
            outputs.push_back(&graph.output(task["x"]));
        }
        Graph &that = same_graph ? graph : other;
        Task &brings = that.host("brings", [&](const Arguments &) { brought.count_down(); }, {in("x", one)});
        Input &x = that.input(brings["x"]);
        graph.run();
        if (!same_graph)
            other.run();
        x.push_value(0);
        for (Output *output : outputs)
            CHECK(output->pull());
    }
}

/* Nor does a function that waits for what its own graph gives, as one that pulls does. */
void functions_that_pull()
{
    const unsigned many = processors() + 2;
    Graph graph, source;
    Task &pass = source.host("pass", [](const Arguments &) {}, {inout("x", one)});
    Input &x = source.input(pass["x"], many);
    Output &y = source.output(pass["x"]);
    source.run();
    std::vector<Output *> outputs;
    for (unsigned i = 0; i < many; i++) {
        Task &task =
            graph.host("pulls" + std::to_string(i),
                       [&](const Arguments &values) { *static_cast<int *>(values[0]) += y.pull()->as<int>()[0]; },
                       {inout("x", one)});
        graph.input(task["x"]).push_value(0);
        outputs.push_back(&graph.output(task["x"]));
    }
    graph.run();
    for (unsigned i = 0; i < many; i++)
        x.push_value(1);
    for (Output *output : outputs)
        CHECK_EQ(pulled<int>(*output).at(0), 1);
}

/* However many processors there are, and whatever waits. */
void as_many_as_the_graph_wants()
{
    constexpr unsigned many = 8;
    Graph graph({.host_functions = 1});
    Witness calls;
    std::vector<Output *> outputs;
    for (unsigned i = 0; i < many; i++) {
        Task &task = graph.host("task" + std::to_string(i),
                                [&](const Arguments &) {
                                    calls.begin();
                                    until([&] { return sum_of(graph).runs >= many; });
                                    calls.end();
                                },
                                {inout("x", one)});
        graph.input(task["x"]).push_value(0);
        outputs.push_back(&graph.output(task["x"]));
    }
    graph.run();
    for (Output *output : outputs)
        CHECK(output->pull());
    CHECK_EQ(calls.most.load(), 1u);
}

void graphs_share_threads()
{
    constexpr int many = 100;
    const int before = threads_of_this_process();
    std::vector<std::unique_ptr<Graph>> graphs;
    for (int i = 0; i < many; i++) {
        Graph &graph = *graphs.emplace_back(std::make_unique<Graph>());
        Task &task = graph.host("task", [](const Arguments &) {}, {inout("x", one)});
        Input &x = graph.input(task["x"]);
        Output &y = graph.output(task["x"]);
        graph.run();
        x.push_value(1);
        CHECK_EQ(pulled<int>(y).at(0), 1);
    }
    /* Others may end meanwhile, which were needed before. */
    const int more = threads_of_this_process() - before;
    std::printf("# %d graphs have %d threads\n", many, more);
    CHECK(more < 2 * many);
}

/* Nor does one of which the host has many runs: it waits for what another function of its graph brings. */
void many_runs_of_one_that_waits()
{
    const unsigned many = 70 * processors();
    Graph graph;
    std::latch brought(1);
    Task &waits = graph.host("waits", [&](const Arguments &) { brought.wait(); }, {inout("x", one)});
    Task &brings = graph.host("brings", [&](const Arguments &) { brought.count_down(); }, {in("x", one)});
    Input &x = graph.input(waits["x"], many), &b = graph.input(brings["x"]);
    Output &y = graph.output(waits["x"], many);
    for (unsigned i = 0; i < many; i++)
        x.push_value(0);
    graph.run();
    until([&] { return waits.state() == State::executing; });
    b.push_value(0);
    for (unsigned i = 0; i < many; i++)
        CHECK(y.pull());
}

/*
 * Who pulls may run a brief function itself: that one counts, too. While it is at work, the host is given another, of
 * which the queue has to be made.
 */
void who_pulls_counts()
{
    for (unsigned most : {1u, 0u}) {
        Graph graph({.host_functions = most});
        Witness calls;
        std::atomic<std::uint64_t> until_given{0};
        auto body = [&](const Arguments &) {
            calls.begin();
            until([&] { return sum_of(graph).runs >= until_given; });
            calls.end();
        };
        Task &first = graph.host("first", body, {inout("x", one)});
        Input &x = graph.input(first["x"]);
        Output &y = graph.output(first["x"]);
        std::vector<Input *> others;
        for (unsigned i = 0; i < 8; i++)
            others.push_back(&graph.input(graph.host("other" + std::to_string(i), body, {in("x", one)})["x"]));
        graph.run();
        for (Input *other : others) {
            for (unsigned i = 0; i < 8; i++) {
                x.push_value(0);
                CHECK(y.pull());
            }
            CHECK(graph.drain());
            until_given = sum_of(graph).runs + 2;
            std::thread pusher([&] {
                until([&] { return calls.inside != 0; });
                other->push_value(0);
            });
            x.push_value(0);
            CHECK(y.pull());
            pusher.join();
            CHECK(graph.drain());
        }
        CHECK(!most || calls.most <= most);
    }
}

/* What says that its thread waits for others, as a queue of the host does that has it for a marker. */
class Waiting final : public device::Marker {
public:
    bool reached() override
    {
        before = device::HostPool::get().at_once();
        return false;
    }
    void wait() override
    {
        device::HostPool::Blocked blocked;
        meanwhile = device::HostPool::get().at_once();
    }
    unsigned before = 0, meanwhile = 0;
};

bool counts_once()
{
    auto marker = std::make_shared<Waiting>();
    auto queue = device::host().make_queue();
    queue->after(marker);
    queue->finish();
    return marker->meanwhile == marker->before + 1;
}

/* One more does its work meanwhile, and no two. In a child, no other threads come or go. */
void who_waits_counts_once()
{
    check_in_a_child(counts_once);
}

bool runs_a_graph()
{
    Graph graph;
    Task &task = graph.host("task", [](const Arguments &) {}, {in("x", one)});
    Input &x = graph.input(task["x"]);
    graph.run();
    x.push(Datablock::over(&one, sizeof(int), std::make_shared<int>()));
    return graph.drain() && task.completed() == 1;
}

/* Those of its parent are not there, whatever they were at. */
void a_forked_child_has_threads()
{
    for (unsigned round = 0; round < 10; round++) {
        CHECK(runs_a_graph());
        std::this_thread::yield();
        check_in_a_child(runs_a_graph);
    }
}

/* The graph has its own, and fails. */
bool fails_without_threads()
{
    constexpr std::size_t too_large = std::size_t{1} << 47;
    Graph graph;
    Task &task = graph.host("task", [](const Arguments &) {}, {in("x", one)});
    Input &x = graph.input(task["x"]);
    graph.run();
    pthread_attr_t stacks;
    if (pthread_attr_init(&stacks) || pthread_attr_setstacksize(&stacks, too_large) ||
        pthread_setattr_default_np(&stacks))
        return false;
    try {
        x.push_value(1);
        graph.drain();
    } catch (const Failure &failure) {
        return has(failure.what(), "no thread");
    }
    return false;
}

void no_threads_can_be_made()
{
    check_in_a_child(fails_without_threads);
}

} // namespace

Cases host_cases()
{
    return {{"a function is called once at a time and in order", one_at_a_time_and_in_order},
            {"a concurrent one is called several times at once", several_at_once},
            {"functions that wait starve nobody", who_waits_starves_nobody},
            {"nor do those that pull", functions_that_pull},
            {"nor do those that have many runs", many_runs_of_one_that_waits},
            {"a graph has as many functions at work as it wants", as_many_as_the_graph_wants},
            {"those count that others run", who_pulls_counts},
            {"who waits for a queue counts once", who_waits_counts_once, no_threads_in_children},
            {"a forked child has threads of its own", a_forked_child_has_threads, no_threads_in_children},
            {"without threads, a graph fails", no_threads_can_be_made, no_threads_in_children},
            {"graphs share the threads of the host", graphs_share_threads}};
}

} // namespace test
