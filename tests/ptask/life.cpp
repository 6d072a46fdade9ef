// SPDX-License-Identifier: MIT
/* What may be done with a graph before it is run, while it runs, when it was stopped, and when it is gone. */
#include "tests/host_flag.h"
#include "tests/ptask/ptask_test.hpp"
#include "tests/threads.h"
#include <ptsched/ptask/server.hpp>

#include <cstdint>
#include <latch>
#include <poll.h>
#include <semaphore>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>

namespace test {

namespace {

namespace device = ptsched::device;

const auto one = Template::of<int>(1);

/* A task with an input and an output. */
struct Simple {
    explicit Simple(
        HostFunction function = [](const Arguments &) {}, std::size_t capacity = 16)
        : task(graph.host("task", std::move(function), {inout("x", one)})), x(graph.input(task["x"], capacity)),
          y(graph.output(task["x"], capacity))
    {
    }
    Graph graph;
    Task &task;
    Input &x;
    Output &y;
};

/* Whichever comes first: either it was run, or it never is; in the end it is stopped. */
void run_and_stop_at_once()
{
    for (unsigned round = 0; round < 200; round++) {
        Simple simple;
        std::latch both(2);
        bool ran = false, was_told = false;
        std::thread runner([&] {
            both.arrive_and_wait();
            try {
                simple.graph.run();
                ran = true;
            } catch (const Error &error) {
                was_told = has(error.what(), "stopped before it was run");
            }
        });
        std::thread stopper([&] {
            both.arrive_and_wait();
            simple.graph.stop();
        });
        runner.join();
        stopper.join();
        CHECK(ran != was_told);
        CHECK(simple.graph.is_stopped());
        CHECK(!simple.x.push_value(1));
        CHECK(!simple.y.pull());
    }
}

/* Nor does it matter how much of it there is by then. */
void built_and_stopped_at_once()
{
    for (unsigned round = 0; round < 20; round++) {
        Simple simple;
        std::latch both(2);
        std::thread stopper([&] {
            both.arrive_and_wait();
            simple.graph.stop();
        });
        both.arrive_and_wait();
        for (unsigned i = 0; i < 64; i++)
            simple.graph.output(simple.task["x"]);
        stopper.join();
        CHECK(refused([&] { simple.graph.run(); }, {"stopped before it was run"}));
    }
}

/* What others ask while it is run is answered. */
void asked_while_it_is_run()
{
    for (unsigned round = 0; round < 50; round++) {
        Simple simple;
        std::latch both(2);
        std::thread asker([&] {
            both.arrive_and_wait();
            for (unsigned i = 0; i < 20; i++) {
                CHECK(simple.graph.counters().size() <= 1);
                CHECK(simple.task.state() == State::waiting);
                CHECK(simple.graph.timeline().empty());
            }
        });
        both.arrive_and_wait();
        simple.graph.run();
        asker.join();
    }
}

void of_two_that_run_it_one_does()
{
    Simple simple;
    std::atomic<unsigned> ran{0}, refusals{0};
    auto run = [&] {
        try {
            simple.graph.run();
            ran++;
        } catch (const Error &error) {
            refusals += has(error.what(), "was run already");
        }
    };
    std::thread other(run);
    run();
    other.join();
    CHECK_EQ(ran.load(), 1u);
    CHECK_EQ(refusals.load(), 1u);
    CHECK(simple.x.push_value(1));
    CHECK_EQ(pulled<int>(simple.y).at(0), 1);
}

void stopped_before()
{
    Simple simple;
    simple.graph.stop();
    CHECK(refused([&] { simple.graph.run(); }, {"stopped before it was run", "another one would do"}));
    CHECK(!simple.x.push_value(1));
    CHECK(!simple.y.pull());
}

void run_again()
{
    Simple simple;
    simple.graph.run();
    CHECK(refused([&] { simple.graph.run(); }, {"was run already"}));
    simple.graph.stop();
    simple.graph.stop();
    CHECK(refused([&] { simple.graph.run(); }, {"was run already"}));
}

/* What was missing can be added. */
void run_in_vain()
{
    Graph graph;
    Task &task = graph.host("task", [](const Arguments &) {}, {inout("x", one)});
    CHECK(refused([&] { graph.run(); }, {"task.x", "no channel"}));
    Input &x = graph.input(task["x"]);
    Output &y = graph.output(task["x"]);
    graph.run();
    x.push_value(5);
    CHECK_EQ(pulled<int>(y).at(0), 5);
}

/* Nobody waits for ever for what would never come; who gives a timeout, or can be told to stop, may wait. */
void before_it_is_run()
{
    Simple simple([](const Arguments &) {}, 2);
    CHECK(refused([&] { simple.y.pull(); }, {"task.x", "not run", "run() comes first"}));
    CHECK(!simple.y.pull(1ms));
    CHECK(simple.x.push_value(1));
    CHECK(simple.x.push_value(2));
    CHECK(refused([&] { simple.x.push_value(3); }, {"task.x", "full with 2", "not run"}));
    CHECK(!simple.x.push(block_of<int>({3}), 1ms));
    std::optional<Item> first;
    std::jthread early([&](const std::stop_token &stop) { first = simple.y.take({}, stop); });
    simple.graph.run();
    early.join();
    CHECK(first && content<int>(first->block).at(0) == 1);
    CHECK_EQ(pulled<int>(simple.y).at(0), 2);
}

/* Whoever is in a call comes out of it; whoever comes later is told. */
void gone_while_somebody_pulls()
{
    for (unsigned round = 0; round < 50; round++) {
        auto simple = std::make_unique<Simple>();
        simple->graph.run();
        Output &y = simple->y;
        std::latch begun(2);
        std::thread puller([&] {
            begun.arrive_and_wait();
            try {
                CHECK(!y.pull());
            } catch (const Error &error) {
                CHECK(has(error.what(), "the graph of this output is gone"));
            }
        });
        begun.arrive_and_wait();
        simple.reset();
        puller.join();
    }
}

void after_it_is_gone()
{
    auto simple = std::make_unique<Simple>();
    Input &x = simple->x;
    Output &y = simple->y;
    simple->graph.run();
    simple.reset();
    CHECK(refused([&] { y.pull(); }, {"the graph of this output is gone"}));
    CHECK(refused([&] { y.take(1ms); }, {"the graph of this output is gone"}));
    CHECK(refused([&] { y.descriptor(); }, {"the graph of this output is gone"}));
    CHECK(refused([&] { x.push_value(1); }, {"the graph of this input is gone"}));
    CHECK(refused([&] { x.port(); }, {"the graph of this input is gone"}));
}

void drained()
{
    constexpr int many = 10;
    std::counting_semaphore<> may_go{0};
    Simple simple([&](const Arguments &) { may_go.acquire(); });
    CHECK(refused([&] { simple.graph.drain(); }, {"not run"}));
    simple.graph.run();
    CHECK(simple.graph.drain());
    for (int i = 0; i < many; i++)
        simple.x.push_value(i);
    CHECK(!simple.graph.drain(0ns));
    may_go.release(many);
    CHECK(simple.graph.drain());
    CHECK_EQ(simple.task.completed(), std::uint64_t{many});
    CHECK_EQ(simple.y.depth().blocks, std::size_t{many});
    for (int i = 0; i < many; i++)
        CHECK_EQ(pulled<int>(simple.y).at(0), i);
}

/* For what lacks room it waits until somebody pulls; what lacks another input has gone as far as it can. */
void drained_into_full_outputs()
{
    Graph graph;
    Task &sum = graph.cuda("sum", {ptask_kernels(), "add_ints"},
                           {in("a", one), in("b", one), out("c", one), constant("n", 1u)});
    Input &a = graph.input(sum["a"]), &b = graph.input(sum["b"]);
    Output &c = graph.output(sum["c"], 1);
    graph.run();
    for (int i = 0; i < 3; i++)
        a.push_value(i);
    CHECK(graph.drain());
    b.push_value(1);
    b.push_value(1);
    CHECK(!graph.drain(1ms));
    std::thread puller([&] { CHECK_EQ(pulled<int>(c).at(0), 1); });
    CHECK(graph.drain());
    puller.join();
    CHECK_EQ(sum.completed(), std::uint64_t{2});
    CHECK_EQ(a.depth().blocks, std::size_t{1});
    CHECK_EQ(pulled<int>(c).at(0), 2);
    a.push_value(3);
    b.push_value(1);
    b.push_value(1);
    CHECK(!graph.drain(1ms));
    graph.stop();
    CHECK(!graph.drain());
}

/* Nor is what GPUs are given as one left out. */
void drained_of_cuda_graphs()
{
    constexpr std::size_t many = 7;
    Graph graph({.lower = Lower::always});
    Task &first = graph.cuda("first", {ptask_kernels(), "successor"}, {inout("x", one), constant("n", 1u)});
    Task &second = graph.cuda("second", {ptask_kernels(), "successor"}, {inout("x", one), constant("n", 1u)});
    graph.connect(first["x"], second["x"]);
    Input &x = graph.input(first["x"]);
    Output &y = graph.output(second["x"]);
    graph.run();
    for (unsigned round = 0; round < 30; round++) {
        for (std::size_t i = 0; i < many; i++)
            x.push_value(1);
        CHECK(graph.drain());
        CHECK_EQ(y.depth().blocks, many);
        CHECK_EQ(second.completed(), (round + 1) * many);
        for (std::size_t i = 0; i < many; i++)
            CHECK_EQ(pulled<int>(y).at(0), 3);
    }
    CHECK(second.lowered());
}

bool is_readable(int fd, int timeout)
{
    pollfd polled = {fd, POLLIN, 0};
    return poll(&polled, 1, timeout) == 1;
}

/* Of what a GPU makes and of what the host does: pulled when it is there, without waiting for it. */
void an_output_is_polled()
{
    Graph graph;
    Task &add = graph.cuda("add", {ptask_kernels(), "successor"}, {inout("x", one), constant("n", 1u)});
    Task &pass = graph.host("pass", [](const Arguments &) {}, {inout("x", one)});
    Input &x = graph.input(add["x"]), &p = graph.input(pass["x"]);
    Output &y = graph.output(add["x"]), &q = graph.output(pass["x"]);
    const int fd = y.descriptor(), other = q.descriptor();
    CHECK(fd > 2 && other > 2 && fd != other);
    CHECK_EQ(y.descriptor(), fd);
    Output &late = graph.output(pass["x"]);
    graph.run();
    CHECK_EQ(y.descriptor(), fd);
    CHECK(refused([&] { late.descriptor(); }, {"pass.x", "before run()"}));
    CHECK(!is_readable(fd, 0) && !is_readable(other, 0));
    for (int i = 0; i < 20; i++) {
        x.push_value(i);
        p.push_value(i);
        CHECK(is_readable(fd, -1));
        CHECK(is_readable(other, -1));
        DatablockPtr block = y.pull(0ns);
        CHECK(block && !block->missing(device::host()));
        CHECK_EQ(content<int>(block).at(0), i + 1);
        CHECK_EQ(content<int>(q.pull(0ns)).at(0), i);
        CHECK_EQ(pulled<int>(late).at(0), i);
        CHECK(!y.pull(0ns) && !is_readable(fd, 0));
    }
    x.push_value(1);
    x.push_value(2);
    CHECK(is_readable(fd, -1));
    CHECK_EQ(content<int>(y.pull(0ns)).at(0), 2);
    CHECK(is_readable(fd, -1));
    CHECK_EQ(content<int>(y.pull(0ns)).at(0), 3);
    graph.stop();
    CHECK(is_readable(fd, 0) && is_readable(other, 0));
    CHECK(!y.pull());
}

/* What comes to the host earlier than what is in front of it does not seem to be that. */
void outputs_of_two_gpus_are_polled()
{
    const std::size_t gpus = device::gpus().size();
    if (gpus < 2)
        return;
    Graph graph({.mode = Mode::fifo});
    auto number = Template::of<unsigned long long>(1);
    Task &add = graph.cuda("add", {ptask_kernels(), "increment_slowly", Geometry()},
                           {inout("x", one), out("where", Template::of<void *>(1)), by_value(in("ns", number))});
    Input &x = graph.input(add["x"]), &ns = graph.input(add["ns"]);
    Output &y = graph.output(add["x"]);
    const int fd = y.descriptor();
    graph.output(add["where"]);
    graph.run();
    for (int i = 0; i < 8; i++) {
        x.push_value(i);
        ns.push_value(i % 2 ? 0ull : 50000000ull);
    }
    for (int i = 0; i < 8; i++) {
        CHECK(is_readable(fd, -1));
        DatablockPtr block = y.pull(0ns);
        device::MarkerPtr arrival = block ? block->arrival_on_host() : nullptr;
        CHECK(block && (!arrival || arrival->reached()));
        CHECK_EQ(content<int>(block).at(0), i + 1);
    }
}

/* What is on its way when the graph is stopped comes, and the end after it. */
void a_graph_stops_while_it_is_polled()
{
    Graph graph;
    HostFlag flag;
    Task &task = graph.cuda("task", {kernels(), "wait_for_host"},
                            {constant("flag", HostFlag::address()), inout("x", Template::of<unsigned>(1))});
    Input &x = graph.input(task["x"]);
    Output &y = graph.output(task["x"]);
    const int fd = y.descriptor();
    graph.run();
    x.push_value(0u);
    until([&] { return y.depth().blocks; });
    std::thread stopper([&] { graph.stop(); });
    until([&] { return graph.is_stopped(); });
    CHECK(!is_readable(fd, 0) && !y.pull(0ns));
    ThreadState puller(gettid());
    std::thread raiser([&] {
        until([&] { return puller.get() == 'S'; });
        flag.raise();
    });
    const DatablockPtr block = y.pull();
    raiser.join();
    stopper.join();
    CHECK(content<unsigned>(block) == std::vector<unsigned>{HostFlag::raised});
    CHECK(is_readable(fd, 0) && !y.pull());
}

/* What a program has closed is not given to it as something else. */
void descriptors_of_a_daemon()
{
    Simple simple;
    const int input = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    CHECK(simple.y.descriptor() > STDERR_FILENO);
    dup2(input, STDIN_FILENO);
    close(input);
}

/* So is the failure of a graph. */
void a_failure_is_polled()
{
    Simple simple([](const Arguments &) { throw std::runtime_error("bad"); });
    const int fd = simple.y.descriptor();
    simple.graph.run();
    simple.x.push_value(1);
    CHECK(is_readable(fd, -1));
    CHECK(refused([&] { simple.y.pull(); }, {"task task", "bad"}));
}

void how_full_channels_are()
{
    std::counting_semaphore<> may_go{0};
    Graph graph;
    Task &first = graph.host("first", [&](const Arguments &) { may_go.acquire(); }, {inout("x", one)});
    Task &second = graph.host("second", [](const Arguments &) {}, {in("a", one), in("b", one), out("c", one)});
    Input &x = graph.input(first["x"], 8);
    graph.connect(first["x"], second["a"], 3);
    Input &b = graph.input(second["b"]);
    Output &c = graph.output(second["c"]);
    CHECK(!first["x"].state().occupied);
    x.push_value(1);
    x.push_value(2);
    CHECK_EQ(x.depth().blocks, std::size_t{2});
    CHECK_EQ(x.depth().capacity, std::size_t{8});
    CHECK(first["x"].state().occupied);
    CHECK_EQ(first["x"].state().blocks, std::size_t{2});
    graph.run();
    for (int i = 3; i <= 5; i++)
        x.push_value(i);
    may_go.release(5);
    until([&] { return second["a"].state().blocks >= 3; });
    CHECK_EQ(second["a"].state().capacity, std::size_t{3});
    CHECK(second["a"].state().occupied && !second["b"].state().occupied && !second["c"].state().occupied);
    CHECK_EQ(c.depth().blocks, std::size_t{0});
    b.push_value(0);
    CHECK(graph.drain());
    CHECK_EQ(c.depth().blocks, std::size_t{1});
}

/* What a run that goes on is to give has its room, and the next one has none. */
void promised_room_is_taken()
{
    std::binary_semaphore begun{0}, may_end{0};
    Graph graph;
    Task &task = graph.host("task",
                            [&](const Arguments &) {
                                begun.release();
                                may_end.acquire();
                            },
                            {in("x", one), out("y", one)});
    Input &x = graph.input(task["x"]);
    Output &y = graph.output(task["y"], 1);
    graph.run();
    CHECK(!task["y"].state().occupied);
    x.push_value(1);
    begun.acquire();
    CHECK(task["y"].state().occupied);
    CHECK_EQ(task["y"].state().blocks, std::size_t{0});
    may_end.release();
    CHECK(y.pull());
    CHECK(!task["y"].state().occupied);
}

/* What comes from outside counts, also while a loop goes on. */
void how_full_a_loop_is()
{
    Graph graph;
    std::atomic<std::size_t> blocks{9}, capacity{9};
    Port *port = nullptr;
    std::counting_semaphore<> may_go{0};
    Task &task = graph.host("task",
                            [&](const Arguments &values) {
                                may_go.acquire();
                                const PortState state = port->state();
                                blocks = state.blocks;
                                capacity = state.capacity;
                                *static_cast<unsigned *>(values[1]) = 0;
                            },
                            {inout("x", one), out("again", Template::of<unsigned>(1))});
    port = &task["x"];
    graph.loop(task["x"], task["x"], task["again"]);
    Input &x = graph.input(task["x"], 5);
    Output &y = graph.output(task["x"]);
    graph.run();
    x.push_value(1);
    x.push_value(2);
    may_go.release();
    CHECK_EQ(pulled<int>(y).at(0), 1);
    CHECK_EQ(blocks.load(), std::size_t{1});
    CHECK_EQ(capacity.load(), std::size_t{5});
    may_go.release();
    CHECK_EQ(pulled<int>(y).at(0), 2);
}

struct OwnError : std::logic_error {
    explicit OwnError(int number) : std::logic_error("own error"), number(number) {}
    int number;
};

int number_nested_in(const std::exception &outer)
{
    try {
        std::rethrow_if_nested(outer);
    } catch (const OwnError &own) {
        return own.number;
    }
    return 0;
}

/* What a function throws, with its type. */
int number_in(const std::function<void()> &call)
{
    try {
        call();
    } catch (const Failure &failure) {
        CHECK(has(failure.what(), "task task") && has(failure.what(), "own error"));
        return number_nested_in(failure);
    }
    return 0;
}

void exceptions_keep_their_type()
{
    Simple simple([](const Arguments &) { throw OwnError(7); });
    simple.graph.run();
    simple.x.push_value(1);
    CHECK_EQ(number_in([&] { simple.y.pull(); }), 7);
    CHECK_EQ(number_in([&] { simple.x.push_value(1); }), 7);
    CHECK_EQ(number_in([&] { simple.graph.drain(); }), 7);
    Simple other([](const Arguments &) { throw 42; });
    other.graph.run();
    other.x.push_value(1);
    try {
        other.y.pull();
        CHECK(false);
    } catch (const Failure &failure) {
        int thrown = 0;
        try {
            std::rethrow_if_nested(failure);
        } catch (int number) {
            thrown = number;
        }
        CHECK_EQ(thrown, 42);
    }
}

/* Also one that has another nested, wherever it was called. */
void exceptions_stay_nested()
{
    auto throws = [] {
        try {
            throw OwnError(7);
        } catch (...) {
            std::throw_with_nested(std::runtime_error("around own error"));
        }
    };
    for (bool on_host : {true, false}) {
        Graph graph;
        Task &task = on_host ? graph.host("task", [=](const Arguments &) { throws(); }, {inout("x", one)})
                             : graph.cuda_call("task", [=](StreamCall &) { throws(); }, {inout("x", one)});
        Input &x = graph.input(task["x"]);
        graph.output(task["x"]);
        graph.run();
        std::string outer;
        int number = 0;
        try {
            x.push_value(1);
            graph.drain();
        } catch (const Failure &failure) {
            try {
                std::rethrow_if_nested(failure);
            } catch (const std::exception &error) {
                outer = error.what();
                number = number_nested_in(error);
            }
        }
        CHECK_EQ(number, 7);
        CHECK(outer == "around own error");
    }
}

void what_is_null_or_empty()
{
    Graph graph;
    auto nothing = [](const Arguments &) {};
    CHECK(refused([&] { graph.host("", nothing, {inout("x", one)}); }, {"no name"}));
    CHECK(refused([&] { graph.host("task", nothing, {inout("x", one), inout("", one)}); }, {"port 1", "no name"}));
    CHECK(refused([&] { graph.host("task", nullptr, {inout("x", one)}); }, {"task", "empty function"}));
    CHECK(refused([&] { graph.callback("task", nullptr, {inout("x", one)}); }, {"task", "empty function"}));
    CHECK(refused([&] { graph.cuda("task", {ptask_kernels(), ""}, {inout("x", one)}); }, {"task", "without a name"}));
    CHECK(refused([] { Datablock::of(nullptr, 4); }, {"4 bytes", "null"}));
    CHECK_EQ(Datablock::of(nullptr, 0)->bytes(), std::size_t{0});
    CHECK(refused([] { Datablock::filled(4, nullptr); }, {"empty function"}));
    const int content = 1;
    CHECK(refused([&] { Datablock::over(&content, 4, nullptr); }, {"no owner"}));
    CHECK(refused([&] { Datablock::over(nullptr, 4, std::make_shared<int>()); }, {"4 bytes", "null"}));
}

/* What a server cannot serve, and where: a socket that somebody has left behind is said to be one. */
void what_cannot_be_served()
{
    Simple simple;
    char folder[] = "/tmp/ptask-life-XXXXXX";
    CHECK(mkdtemp(folder));
    sockaddr_un address = {AF_UNIX, ""};
    const std::string path = std::string(folder) + "/socket";
    path.copy(address.sun_path, sizeof(address.sun_path) - 1);
    const int left = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    CHECK(!bind(left, reinterpret_cast<sockaddr *>(&address), sizeof(address)));
    close(left);
    CHECK(refused([&] { Server(path, {{"x", &simple.x}}, {}); }, {path, "nobody serves any more", "removed"}));
    CHECK(refused([&] { Server(folder, {{"x", &simple.x}}, {}); }, {folder, "no socket"}));
    unlink(path.c_str());
    CHECK(refused([&] { Server(path, {{"x", nullptr}}, {}); }, {"input", "served as x", "null"}));
    CHECK(refused([&] { Server(path, {}, {{"y", nullptr}}); }, {"output", "served as y", "null"}));
    {
        Server server(path, {{"x", &simple.x}}, {});
        CHECK(refused([&] { Server(path, {{"x", &simple.x}}, {}); }, {path, "in use"}));
    }
    rmdir(folder);
}

} // namespace

Cases life_cases()
{
    return {{"a graph is run and stopped at once", run_and_stop_at_once},
            {"a graph is built and stopped at once", built_and_stopped_at_once},
            {"a graph is asked while it is run", asked_while_it_is_run},
            {"of two who run a graph, one does", of_two_that_run_it_one_does},
            {"a graph that was stopped does not run", stopped_before},
            {"a graph is run once", run_again},
            {"a graph that cannot be run yet can be later", run_in_vain},
            {"nobody waits for a graph that is not run", before_it_is_run},
            {"a graph goes while somebody pulls", gone_while_somebody_pulls},
            {"inputs and outputs of a graph that is gone say so", after_it_is_gone},
            {"a graph is drained", drained},
            {"a graph is drained as far as it can be", drained_into_full_outputs},
            {"a graph is drained of CUDA graphs", drained_of_cuda_graphs},
            {"an output can be polled", an_output_is_polled},
            {"outputs of two GPUs can be polled", outputs_of_two_gpus_are_polled},
            {"what is on its way to one is there after a stop", a_graph_stops_while_it_is_polled},
            {"a descriptor is no standard stream", descriptors_of_a_daemon},
            {"a failure can be polled", a_failure_is_polled},
            {"how full channels are", how_full_channels_are},
            {"room that is promised is taken", promised_room_is_taken},
            {"how full they are where a loop begins", how_full_a_loop_is},
            {"what a function throws keeps its type", exceptions_keep_their_type},
            {"and what is nested in it", exceptions_stay_nested},
            {"what is null or has no name is refused", what_is_null_or_empty},
            {"what cannot be served is refused", what_cannot_be_served}};
}

} // namespace test
