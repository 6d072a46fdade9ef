// SPDX-License-Identifier: MIT
/* Parts of graphs that a GPU is given as CUDA graphs: the same comes out, and who does not fit is not kept. */
#include "libptsched/ptask/replay/replayer.hpp"
#include "tests/graph_clock.hpp"
#include "tests/host_flag.h"
#include "tests/ptask/timeline_test.hpp"
#include <ptsched/ptask/draw.hpp>

#include <algorithm>
#include <atomic>
#include <thread>

namespace test {

namespace {

namespace device = ptsched::device;

constexpr unsigned n = 64;
const auto form = Template::of<float>(n);

/* As often as time has gone on by that much, it is looked for a set of which a part does not come. */
constexpr auto given_up_after = 5ms;

GraphOptions with(Lower lower)
{
    return {.lower = lower};
}

std::vector<float> all(float value)
{
    return std::vector<float>(n, value);
}

/* (a + b) + (b + c): two tasks side by side, one after them, and what the first gives goes to the program, too. */
struct Sums {
    /* Stands still: a set of which a part has not come is given up when the test has it go on. */
    GraphClock clock;

    explicit Sums(const GraphOptions &options, std::size_t capacity = 8) : graph(options)
    {
        auto add = [&](const std::string &name) -> Task & {
            return graph.cuda(name, {kernels(), "vector_add"},
                              {in("a", form), in("b", form), out("c", form), value("n", sizeof(unsigned))});
        };
        Task &left = add("left"), &right = add("right");
        last = &add("last");
        a = &graph.input(left["a"], capacity);
        b = &graph.input(left["b"], capacity);
        b2 = &graph.input(right["a"], capacity);
        c = &graph.input(right["b"], capacity);
        graph.connect(left["c"], (*last)["a"]);
        graph.connect(right["c"], (*last)["b"]);
        between = &graph.output(left["c"], capacity);
        sum = &graph.output((*last)["c"], capacity);
        for (Task *task : {&left, &right, last})
            counts.push_back(&graph.input((*task)["n"]));
        for (Input *count : counts)
            count->push_value(n);
    }

    void push(float value)
    {
        DatablockPtr both = block_of(all(10));
        a->push(block_of(all(value)));
        b->push(both);
        b2->push(both);
        c->push(block_of(all(100)));
    }

    void check(float value)
    {
        CHECK(pulled<float>(*between) == all(value + 10));
        CHECK(pulled<float>(*sum) == all(value + 120));
    }

    /* Until a set of blocks has gone to the GPU as one. */
    void settle()
    {
        const std::uint64_t before = last->lowered();
        do {
            push(0);
            check(0);
            sets++;
        } while (last->lowered() == before);
    }

    /* It can be pulled before it is known that what made it has ended. */
    std::uint64_t await_completed(std::uint64_t runs) const
    {
        until([&] { return last->completed() >= runs; });
        return last->completed();
    }

    Graph graph;
    Task *last;
    Input *a, *b, *b2, *c;
    Output *between, *sum;
    std::vector<Input *> counts;
    std::uint64_t sets = 0; /* that it took to settle */
};

/* One block goes to a port that changes it, in a copy, and to one that reads it as it was. */
void changed_and_read()
{
    constexpr unsigned count = 4;
    const auto four = Template::of<int>(count);
    GraphClock clock; /* no set is given up */
    for (Lower lower : {Lower::never, Lower::always}) {
        Graph graph(with(lower));
        Task &change = add_increment(graph, "change");
        Task &add = graph.cuda("add", {ptask_kernels(), "add_ints", Geometry{{1, 1, 1}, {count, 1, 1}}},
                               {in("a", four), in("b", four), out("c", four), constant("n", count)});
        Input &changed = graph.input(change["x"]), &read = graph.input(add["a"]);
        graph.connect(change["x"], add["b"]);
        Output &sum = graph.output(add["c"]), &where = graph.output(change["where"]);
        graph.run();
        for (int i = 0; i < 10; i++) {
            DatablockPtr block = block_of<int>({i, 1, 2, 3});
            changed.push(block);
            read.push(block);
            CHECK(pulled<int>(sum) == std::vector<int>({2 * i + 1, 3, 5, 7}));
            where.pull();
        }
        CHECK_EQ(sum_of(graph).lowered > 0, lower == Lower::always);
    }
}

void the_same_comes_out()
{
    for (Lower lower : {Lower::never, Lower::automatic, Lower::always}) {
        Sums sums(with(lower));
        sums.graph.run();
        for (float value = 0; value < 20; value++) {
            sums.push(value);
            sums.check(value);
        }
        for (int i = 0; i < 8; i++)
            sums.push(static_cast<float>(i));
        for (int i = 0; i < 8; i++)
            sums.check(static_cast<float>(i));
        sums.graph.stop();
        CHECK_EQ(sums.last->completed(), std::uint64_t{28});
        CHECK(sums.last->state() == State::completed);
        if (lower == Lower::never)
            CHECK_EQ(sum_of(sums.graph).lowered, std::uint64_t{0});
        if (lower == Lower::always) {
            CHECK(sum_of(sums.graph).lowered >= 3 * 26);
            CHECK_EQ(sums.last->lowered() * 3, sum_of(sums.graph).lowered);
            CHECK(has(draw(sums.graph), "\"last\" [label=\"{{<in_0> a|<in_1> b|<in_3> n}|last|{<out_2> c}}\", "
                                        "style=bold, color=blue];"));
        }
    }
}

/* A block that was pulled does not change when there are more, whatever becomes of them. */
void what_was_pulled_stays()
{
    Sums sums(with(Lower::always));
    std::vector<DatablockPtr> kept;
    sums.graph.run();
    sums.settle();
    const std::uint64_t before = sums.last->lowered();
    for (int i = 0; i < 20; i++) {
        sums.push(static_cast<float>(i));
        sums.between->pull();
        kept.push_back(sums.sum->pull());
    }
    for (int i = 0; i < 20; i++)
        CHECK(content<float>(kept[static_cast<std::size_t>(i)]) == all(static_cast<float>(i) + 120));
    CHECK_EQ(sums.last->lowered(), before + 20);
}

void what_is_sticky_changes()
{
    Sums sums(with(Lower::always));
    sums.graph.run();
    sums.settle();
    const std::uint64_t before = sums.last->lowered();
    sums.push(1);
    sums.check(1);
    /* Beyond it the block has what was there before: 11, if at all. */
    sums.counts[0]->push_value(n / 2);
    sums.push(2);
    std::vector<float> half = pulled<float>(*sums.between);
    CHECK(std::all_of(half.begin(), half.begin() + n / 2, [](float value) { return value == 12.0f; }));
    CHECK(std::none_of(half.begin() + n / 2, half.end(), [](float value) { return value == 12.0f; }));
    sums.sum->pull();
    sums.counts[0]->push_value(n);
    sums.push(3);
    sums.check(3);
    sums.graph.stop();
    CHECK_EQ(sums.last->lowered(), before + 3);
}

/* By address. */
void a_sticky_block_changes()
{
    GraphClock clock; /* no set is given up */
    Graph graph(with(Lower::always));
    std::vector ports = {in("a", form), sticky("b", form), out("c", form), constant("n", n)};
    Task &one = graph.cuda("one", {kernels(), "vector_add"}, ports);
    Task &two = graph.cuda("two", {kernels(), "vector_add"}, ports);
    Input &a = graph.input(one["a"]), &b = graph.input(one["b"]);
    graph.input(two["b"]).push(block_of(all(1000)));
    graph.connect(one["c"], two["a"]);
    Output &c = graph.output(two["c"]);
    graph.run();
    for (float value : {1.0f, 1.0f, 2.0f, 3.0f, 3.0f}) {
        b.push(block_of(all(100 * value)));
        for (float i = 0; i < 2; i++) {
            a.push(block_of(all(i)));
            CHECK(pulled<float>(c) == all(i + 100 * value + 1000));
        }
    }
    CHECK_EQ(two.lowered(), std::uint64_t{9});
}

void signals_pass()
{
    Sums sums(with(Lower::always));
    sums.graph.run();
    for (int round = 0; round < 3; round++) {
        sums.settle();
        /* In between, and with what is before and after it on its way. */
        sums.push(1);
        sums.a->send({nullptr, false, text("lost")});
        sums.b->push(block_of(all(1)));
        sums.b2->push(block_of(all(1)));
        sums.c->end_stream();
        sums.push(2);
        sums.check(1);
        CHECK(refused([&] { sums.between->pull(); }, {"lost"}));
        std::optional<Item> end = sums.sum->take();
        CHECK(end && end->end_of_stream && end->error && *end->error == "lost" && !end->block);
        sums.check(2);
    }
    CHECK_EQ(sums.last->skipped(), std::uint64_t{3});
}

/* A task runs on what is there, also if the rest of the set never comes. */
void part_of_a_set()
{
    Sums sums(with(Lower::always), 1);
    sums.graph.run();
    sums.settle();
    const Ticking ticking(sums.clock, given_up_after);
    for (int i = 0; i < 3; i++) {
        sums.a->push(block_of(all(static_cast<float>(i))));
        sums.b->push(block_of(all(10)));
        CHECK(pulled<float>(*sums.between) == all(static_cast<float>(i) + 10));
    }
    for (int i = 0; i < 3; i++) {
        sums.b2->push(block_of(all(10)));
        sums.c->push(block_of(all(100)));
        CHECK(pulled<float>(*sums.sum) == all(static_cast<float>(i) + 120));
    }
}

/* The same while something else of the graph runs, for however long that takes. */
void part_of_a_set_in_company()
{
    Sums sums(with(Lower::always), 1);
    std::atomic<bool> go_on{false};
    auto work = [&](const Arguments &) { go_on.wait(false); };
    Task &other = sums.graph.host("other", work, {in("x", form), out("y", form)});
    Input &x = sums.graph.input(other["x"]);
    Output &y = sums.graph.output(other["y"]);
    sums.graph.run();
    sums.settle();
    x.push(block_of(all(0)));
    sums.a->push(block_of(all(1)));
    sums.b->push(block_of(all(10)));
    {
        const Ticking ticking(sums.clock, given_up_after);
        CHECK(pulled<float>(*sums.between) == all(11));
    }
    go_on = true;
    go_on.notify_all();
    CHECK(y.pull() != nullptr);
}

void channels_keep_their_capacity()
{
    Sums sums(with(Lower::always), 2);
    sums.graph.run();
    sums.settle();
    const std::uint64_t before = sums.await_completed(sums.sets);
    for (int i = 0; i < 4; i++)
        sums.push(static_cast<float>(i));
    /* Two where they leave, and two before it, as long as nobody pulls; a task may begin with what is not complete. */
    CHECK_EQ(sums.await_completed(before + 2), before + 2);
    for (int i = 0; i < 4; i++)
        sums.check(static_cast<float>(i));
    CHECK(!sums.sum->pull(0ns));
    CHECK_EQ(sums.await_completed(before + 4), before + 4);
}

void threads_push_and_pull()
{
    constexpr int count = 300;
    Sums sums(with(Lower::always), 3);
    sums.graph.run();
    auto feed = [&](Input &input, bool numbered, float value) {
        return std::thread([&input, numbered, value] {
            for (int i = 0; i < count; i++)
                input.push(block_of(all(numbered ? static_cast<float>(i) : value)));
        });
    };
    std::thread threads[] = {feed(*sums.a, true, 0), feed(*sums.b, false, 10), feed(*sums.b2, false, 10),
                             feed(*sums.c, false, 100), std::thread([&] {
                                 for (int i = 0; i < count; i++)
                                     CHECK(pulled<float>(*sums.between) == all(static_cast<float>(i) + 10));
                             })};
    for (int i = 0; i < count; i++)
        CHECK(pulled<float>(*sums.sum) == all(static_cast<float>(i) + 120));
    for (std::thread &thread : threads)
        thread.join();
    sums.graph.stop();
    CHECK_EQ(sums.last->completed(), std::uint64_t{count});
}

void a_graph_goes_with_work_in_flight()
{
    std::vector<DatablockPtr> kept;
    for (int round = 0; round < 10; round++) {
        Sums sums(with(Lower::always));
        sums.graph.run();
        sums.settle();
        for (int i = 0; i < 8; i++)
            sums.push(static_cast<float>(i));
        if (round % 2)
            kept.push_back(sums.sum->pull());
    }
    for (const DatablockPtr &block : kept)
        CHECK(content<float>(block) == all(120));
}

/* Before and after what runs on the host. */
void with_functions_of_the_host()
{
    GraphClock clock; /* no set is given up */
    Graph graph(with(Lower::always));
    auto one_more = [](const Arguments &ports) {
        for (unsigned i = 0; i < n; i++)
            static_cast<float *>(ports[1])[i] = static_cast<const float *>(ports[0])[i] + 1;
    };
    std::vector ports = {in("a", form), in("b", form), out("c", form), constant("n", n)};
    std::vector on_host = {in("x", form), out("y", form)};
    Task &first = graph.host("first", one_more, on_host), &middle = graph.host("middle", one_more, on_host);
    Task &end = graph.host("end", one_more, on_host);
    std::vector<Task *> adds;
    for (const char *name : {"one", "two", "three", "four"})
        adds.push_back(&graph.cuda(name, {kernels(), "vector_add"}, ports));
    Input &x = graph.input(first["x"]);
    /* Two and four read what the host did meanwhile: they are not with one and three, which give it to them. */
    graph.connect(first["y"], (*adds[0])["a"]);
    graph.connect(first["y"], (*adds[0])["b"]);
    graph.connect((*adds[0])["c"], (*adds[1])["a"]);
    graph.connect((*adds[0])["c"], (*adds[1])["b"]);
    graph.connect((*adds[1])["c"], middle["x"]);
    graph.connect(middle["y"], (*adds[2])["a"]);
    graph.connect((*adds[1])["c"], (*adds[2])["b"]);
    graph.connect((*adds[2])["c"], (*adds[3])["a"]);
    graph.connect((*adds[2])["c"], (*adds[3])["b"]);
    graph.connect((*adds[3])["c"], end["x"]);
    Output &y = graph.output(end["y"]);
    graph.run();
    for (float value = 0; value < 20; value++) {
        x.push(block_of(all(value)));
        CHECK(pulled<float>(y) == all(2 * (8 * (value + 1) + 1) + 1));
    }
    CHECK(adds[0]->lowered() > 0 && adds[3]->lowered() > 0);
    CHECK_EQ(first.lowered(), std::uint64_t{0});
}

/* Who waits for what a subgraph gives begins it when the host's function has ended, which nobody else tells him. */
void after_a_function_of_the_host()
{
    const auto one = Template::of<unsigned>(1);
    const unsigned long long ns = 300000;
    Graph graph(with(Lower::always));
    Task &first =
        graph.host("first", [](const Arguments &ports) { ++*static_cast<unsigned *>(ports[0]); }, {inout("x", one)});
    std::vector ports = {inout("out", one), constant("ns", ns), constant("steps", 1u)};
    Task &second = graph.cuda("second", {kernels(), "spin"}, ports);
    Task &third = graph.cuda("third", {kernels(), "spin"}, ports);
    Input &x = graph.input(first["x"]);
    graph.connect(first["x"], second["out"]);
    graph.connect(second["out"], third["out"]);
    Output &y = graph.output(third["out"]);
    graph.run();
    for (unsigned i = 0; i < 200; i++) {
        x.push_value(i);
        CHECK_EQ(pulled<unsigned>(y).size(), std::size_t{1});
    }
    CHECK(third.lowered() > 0);
}

/* It comes to the host for the run-time to read while its tasks begin to run together. */
void a_sticky_value_on_its_way()
{
    const auto one = Template::of<unsigned>(1);
    const unsigned long long ns = 30000000;
    Graph graph(with(Lower::always));
    Task &slow =
        graph.cuda("slow", {kernels(), "spin"}, {inout("out", one), constant("ns", ns), constant("steps", 1u)});
    auto add = [&](const std::string &name, unsigned count) -> Task & {
        return graph.cuda(name, {ptask_kernels(), "successor", Geometry{}},
                          {inout("x", Template::of<int>(1)),
                           starting_with(value("n", sizeof(unsigned)), block_of<unsigned>({count}))});
    };
    Task &first = add("first", 0), &second = add("second", 1);
    Input &start = graph.input(slow["out"]), &x = graph.input(first["x"]);
    graph.connect(slow["out"], first["n"]);
    graph.connect(first["x"], second["x"]);
    Output &y = graph.output(second["x"]);
    graph.run();
    start.push_value(0u);
    const auto pass = [&] {
        x.push_value(0);
        return pulled<int>(y).at(0);
    };
    /* Of the first nothing is changed until the value has come. */
    int added = 1;
    until([&] { return (added = pass()) != 1; });
    CHECK_EQ(added, 2);
    CHECK(second.lowered() > 0);
}

/* In place as far as nobody else reads it; blocks that the program keeps stay as they are. */
void changed_in_place()
{
    for (bool in_between : {false, true}) {
        Graph graph(with(Lower::always));
        Task &one = add_increment(graph, "one"), &two = add_increment(graph, "two");
        Input &x = graph.input(one["x"]);
        graph.connect(one["x"], two["x"]);
        Output &last = graph.output(two["x"]);
        Output *between = in_between ? &graph.output(one["x"]) : nullptr;
        Output &where_one = graph.output(one["where"]), &where_two = graph.output(two["where"]);
        graph.run();
        DatablockPtr mine = block_of<int>({1, 2, 3, 4});
        for (int i = 0; i < 10; i++) {
            x.push(i % 2 ? mine : block_of<int>({1, 2, 3, 4}));
            CHECK(pulled<int>(last) == std::vector<int>({3, 4, 5, 6}));
            CHECK(content<int>(mine) == std::vector<int>({1, 2, 3, 4}));
            if (between)
                CHECK(pulled<int>(*between) == std::vector<int>({2, 3, 4, 5}));
            CHECK_EQ(pulled<void *>(where_one) == pulled<void *>(where_two), !in_between);
        }
        CHECK(two.lowered() > 0);
    }
}

void initial_contents()
{
    Graph graph(with(Lower::always));
    std::vector ports = {in("x", Template::of<int>(4)), zeroed(out("count", Template::of<unsigned>(1))),
                         constant("n", 4u)};
    Task &set = graph.cuda("set", {ptask_kernels(), "count_set", Geometry{{1, 1, 1}, {4, 1, 1}}}, ports);
    Task &more = graph.cuda("more", {ptask_kernels(), "successor", Geometry{{1, 1, 1}, {1, 1, 1}}},
                            {inout("x", Template::of<unsigned>(1)), constant("n", 1u)});
    Input &x = graph.input(set["x"]);
    graph.connect(set["count"], more["x"]);
    Output &count = graph.output(more["x"]);
    graph.run();
    for (unsigned i = 0; i < 10; i++) {
        x.push(block_of<int>({1, 0, i % 2 ? 1 : 0, 1}));
        CHECK_EQ(pulled<unsigned>(count).at(0), 3 + i % 2);
    }
    CHECK(more.lowered() > 0);
}

/* Parts that have nothing to do with each other, and a task that is at it until the test has it end. */
struct Columns {
    Columns()
        : wait(graph.cuda("wait", {kernels(), "wait_for_host"},
                          {constant("flag", HostFlag::address()), inout("x", Template::of<unsigned>(1))})),
          x(graph.input(wait["x"])), y(graph.output(wait["x"]))
    {
        const std::vector ports = {in("a", form), in("b", form), out("c", form), constant("n", n)};
        for (unsigned i = 0; i < count; i++) {
            Task &one = graph.cuda("one" + std::to_string(i), {kernels(), "vector_add"}, ports);
            Task &two = graph.cuda("two" + std::to_string(i), {kernels(), "vector_add"}, ports);
            graph.connect(one["c"], two["a"]);
            graph.connect(one["c"], two["b"]);
            inputs.push_back(&graph.input(one["a"]));
            inputs.push_back(&graph.input(one["b"]));
            sums.push_back(&graph.output(two["c"]));
        }
        graph.run();
    }
    void push(unsigned set)
    {
        for (unsigned i = 0; i < 2 * count; i++)
            inputs[i]->push(block_of(all(static_cast<float>(set + i / 2))));
    }
    void check(unsigned set)
    {
        for (unsigned i = 0; i < count; i++)
            CHECK(pulled<float>(*sums[i]) == all(static_cast<float>(4 * (set + i))));
    }
    bool on_all_gpus() const
    {
        return std::ranges::all_of(graph.counters(), [](const auto &one) { return one.lowered > 0; });
    }

    static constexpr unsigned count = 4;
    GraphClock clock; /* no set is given up */
    HostFlag flag;
    Graph graph{{.mode = Mode::fifo, .lower = Lower::always}};
    Task &wait;
    Input &x;
    Output &y;
    std::vector<Input *> inputs;
    std::vector<Output *> sums;
};

/* On all GPUs there are: while one is busy, the next one has less to do. */
void subgraphs_side_by_side()
{
    constexpr unsigned sets = 60;
    Columns columns;
    std::thread feeder([&] {
        for (unsigned set = 0; set < sets; set++)
            columns.push(set);
    });
    for (unsigned set = 0; set < sets; set++)
        columns.check(set);
    feeder.join();
    CHECK(sum_of(columns.graph).lowered >= 2 * Columns::count * (sets - 10));
    CHECK(columns.graph.drain());
    columns.x.push_value(0u);
    until_executing({&columns.wait});
    until([&] {
        columns.push(sets);
        columns.check(sets);
        return columns.on_all_gpus();
    });
    columns.flag.raise();
    CHECK_EQ(pulled<unsigned>(columns.y).at(0), HostFlag::raised);
    /* The graph goes while they are given more. */
    for (unsigned set = 0; set < 5; set++)
        columns.push(set);
}

/* Short ones are one thing to give, and long ones leave others their turn. */
void room_for_sets()
{
    struct {
        std::size_t tasks;
        double seconds;
        bool others_first;
        std::size_t runs;
    } const cases[] = {{6, 0, false, 1},        {6, 60e-6, false, 1}, {6, 200e-6, false, 3}, {6, 1, false, 6},
                       {1000, 1e-3, false, 15}, {1000, 1, false, 32}, {6, 60e-6, true, 6},   {1000, 60e-6, true, 32}};
    for (const auto &one : cases)
        CHECK_EQ(Replayer::runs_of(one.tasks, one.seconds, one.others_first), one.runs);
}

/* However many there are, a place has no more than four of them while none has ended. */
void long_sets()
{
    constexpr std::size_t tasks = 40, sets = 12, most_on_a_device = 4;
    const auto one = Template::of<unsigned>(1);
    GraphClock clock;
    HostFlag flag;
    Graph graph(with(Lower::always));
    Task *last = &graph.cuda("slow", {kernels(), "wait_for_host", Geometry{}},
                             {constant("flag", HostFlag::address()), inout("x", one)});
    Input &x = graph.input((*last)["x"], sets);
    for (std::size_t i = 1; i < tasks; i++) {
        Task &next = graph.cuda("next" + std::to_string(i), {ptask_kernels(), "successor"},
                                {inout("x", one), constant("n", 1u)});
        graph.connect((*last)["x"], next["x"]);
        last = &next;
    }
    Output &y = graph.output((*last)["x"], sets);
    graph.run();
    for (std::uint64_t given = tasks; !last->lowered(); given += tasks) {
        flag.lower();
        x.push_value(0u);
        until([&] { return sum_of(graph).runs == given; });
        clock.advance(200ms);
        flag.raise();
        y.pull()->read();
        until([&] { return last->completed() * tasks == given; });
    }
    const std::uint64_t before = sum_of(graph).lowered / tasks;
    const std::size_t room = most_on_a_device * graph.counters().size();
    auto given = [&] { return sum_of(graph).lowered / tasks - before; };
    flag.lower();
    for (std::size_t i = 0; i < sets; i++)
        x.push_value(0u);
    until([&] { return given() >= room; });
    CHECK_EQ(given(), room);
    flag.raise();
    for (std::size_t i = 0; i < sets; i++)
        CHECK(y.pull() != nullptr);
    CHECK_EQ(given(), sets);
}

/* Who wants a task before others does not want them in one go. */
void priorities_of_tasks()
{
    Sums sums(with(Lower::always));
    sums.graph.run();
    sums.settle();
    std::uint64_t before = sums.last->lowered();
    sums.last->set_priority(3);
    for (float value = 0; value < 5; value++) {
        sums.push(value);
        sums.check(value);
    }
    CHECK_EQ(sums.last->lowered(), before);
    sums.last->set_priority(0);
    sums.settle();
    CHECK(sums.last->lowered() > before);
}

/* One at a time fits. */
void little_memory()
{
    device::Device &gpu = *device::gpus().at(0);
    {
        Sums sums(with(Lower::always));
        gpu.limit_memory(8 * n * sizeof(float));
        sums.graph.run();
        for (float value = 0; value < 20; value++) {
            sums.push(value);
            sums.check(value);
        }
    }
    gpu.limit_memory(SIZE_MAX);
}

void in_a_timeline()
{
    Sums sums({.timeline = true, .lower = Lower::always});
    sums.graph.run();
    sums.settle();
    sums.graph.stop();
    const Rows rows = rows_of(sums.graph);
    std::size_t graphs = 0;
    std::uint64_t uploaded = 0;
    for (const auto &[names, events] : rows)
        for (const auto &event : events) {
            const bool is_of_set = event.at("name").get<std::string>().find(" and 2 more") != std::string::npos;
            graphs += is_of_set && names.second.starts_with("CUDA graph ");
            if (names.second == "copies from the host")
                uploaded += event.at("args").at("bytes").get<std::uint64_t>();
        }
    CHECK_EQ(graphs, sums.last->lowered());
    CHECK_EQ(rows.at({"tasks", "last"}).size(), sums.sets);
    CHECK_EQ(uploaded, sum_of(sums.graph).bytes_uploaded);
}

} // namespace

Cases lower_cases()
{
    return {{"CUDA graphs: a block that is changed and read", changed_and_read},
            {"CUDA graphs: the same comes out", the_same_comes_out},
            {"CUDA graphs: what was pulled stays", what_was_pulled_stays},
            {"CUDA graphs: what is sticky changes", what_is_sticky_changes},
            {"CUDA graphs: a sticky block changes", a_sticky_block_changes},
            {"CUDA graphs: signals pass", signals_pass},
            {"CUDA graphs: a part of a set", part_of_a_set},
            {"CUDA graphs: a part of a set while something else runs", part_of_a_set_in_company},
            {"CUDA graphs: channels keep their capacity", channels_keep_their_capacity},
            {"CUDA graphs: threads push and pull", threads_push_and_pull},
            {"CUDA graphs: a graph goes with work in flight", a_graph_goes_with_work_in_flight},
            {"CUDA graphs: subgraphs side by side, on all GPUs", subgraphs_side_by_side},
            {"CUDA graphs: how much room a set takes", room_for_sets},
            {"CUDA graphs: long sets wait", long_sets},
            {"CUDA graphs: with functions of the host", with_functions_of_the_host},
            {"CUDA graphs: after a function of the host", after_a_function_of_the_host},
            {"CUDA graphs: a sticky value on its way", a_sticky_value_on_its_way},
            {"CUDA graphs: blocks changed in place", changed_in_place},
            {"CUDA graphs: initial contents", initial_contents},
            {"CUDA graphs: priorities of tasks", priorities_of_tasks},
            {"CUDA graphs: little memory", little_memory},
            {"CUDA graphs: in a timeline", in_a_timeline}};
}

} // namespace test
