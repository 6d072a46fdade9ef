// SPDX-License-Identifier: MIT
// Parts of graphs that a GPU is given as CUDA graphs: the same comes out, and who does not fit is not kept.
#include "timeline_test.hpp"

#include "draw.hpp"

#include <atomic>
#include <thread>

namespace test {

namespace {

namespace device = ptsched::device;

constexpr unsigned n = 64;
const auto form = Template::of<float>(n);

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
        a->push(block_of(all(value)));
        DatablockPtr both = block_of(all(10));
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
        for (int i = 0; i < 3; i++) {
            push(0);
            check(0);
        }
        CHECK(last->lowered() > 0);
    }

    /* It can be pulled before it is known that what made it has ended. */
    std::uint64_t await_completed(std::uint64_t runs) const
    {
        while (last->completed() < runs)
            std::this_thread::yield();
        return last->completed();
    }

    Graph graph;
    Task *last;
    Input *a, *b, *b2, *c;
    Output *between, *sum;
    std::vector<Input *> counts;
};

/* One block goes to a port that changes it, in a copy, and to one that reads it as it was. */
void changed_and_read()
{
    constexpr unsigned count = 4;
    const auto four = Template::of<int>(count);
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
        CHECK_EQ(sums.last->completed(), uint64_t{28});
        CHECK(sums.last->state() == State::completed);
        if (lower == Lower::never)
            CHECK_EQ(sum_of(sums.graph).lowered, uint64_t{0});
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
    for (int i = 0; i < 20; i++) {
        sums.push(static_cast<float>(i));
        sums.between->pull();
        kept.push_back(sums.sum->pull());
    }
    for (int i = 0; i < 20; i++)
        CHECK(content<float>(kept[static_cast<size_t>(i)]) == all(static_cast<float>(i) + 120));
    CHECK_EQ(sums.last->lowered(), uint64_t{22});
}

void what_is_sticky_changes()
{
    Sums sums(with(Lower::always));
    sums.graph.run();
    sums.settle();
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
    CHECK_EQ(sums.last->lowered(), uint64_t{5});
}

/* By address. */
void a_sticky_block_changes()
{
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
    CHECK_EQ(two.lowered(), uint64_t{9});
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
    CHECK_EQ(sums.last->skipped(), uint64_t{3});
}

/* A task runs on what is there, also if the rest of the set never comes. */
void part_of_a_set()
{
    Sums sums(with(Lower::always), 1);
    sums.graph.run();
    sums.settle();
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
    auto work = [&](const std::vector<void *> &) { go_on.wait(false); };
    Task &other = sums.graph.host("other", work, {in("x", form), out("y", form)});
    Input &x = sums.graph.input(other["x"]);
    Output &y = sums.graph.output(other["y"]);
    sums.graph.run();
    sums.settle();
    x.push(block_of(all(0)));
    sums.a->push(block_of(all(1)));
    sums.b->push(block_of(all(10)));
    CHECK(pulled<float>(*sums.between) == all(11));
    go_on = true;
    go_on.notify_all();
    CHECK(y.pull() != nullptr);
}

void channels_keep_their_capacity()
{
    Sums sums(with(Lower::always), 2);
    sums.graph.run();
    sums.settle();
    const std::uint64_t before = sums.await_completed(3);
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
    CHECK_EQ(sums.last->completed(), uint64_t{count});
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
    Graph graph(with(Lower::always));
    auto one_more = [](const std::vector<void *> &ports) {
        for (unsigned i = 0; i < n; i++)
            static_cast<float *>(ports[1])[i] = static_cast<float *>(ports[0])[i] + 1;
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
    CHECK_EQ(first.lowered(), uint64_t{0});
}

/* Who waits for what a part gives begins it when the host's function has ended, which nobody else tells him. */
void after_a_function_of_the_host()
{
    const auto one = Template::of<unsigned>(1);
    const unsigned long long ns = 300000;
    Graph graph(with(Lower::always));
    Task &first = graph.host("first", [](const std::vector<void *> &ports) { ++*static_cast<unsigned *>(ports[0]); },
                             {inout("x", one)});
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
        CHECK_EQ(pulled<unsigned>(y).size(), size_t{1});
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
        return graph.cuda(name, {ptask_kernels(), "successor"},
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
    /* Of the first nothing is changed until the value has come. */
    int added = 1;
    for (int sets = 0; added == 1 && sets<50; sets += slow.completed()> 0) {
        x.push_value(0);
        added = pulled<int>(y).at(0);
    }
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

/* Such that the program copies them itself, as long as they come from the host. */
void sum_of_blocks(unsigned many)
{
    constexpr unsigned sets = 8;
    const auto large = Template::of<float>(many);
    auto filled = [&](float value) { return block_of(std::vector<float>(many, value)); };
    Graph graph(with(Lower::always));
    std::vector ports = {in("a", large), in("b", large), out("c", large), constant("n", many)};
    Task &one = graph.cuda("one", {kernels(), "vector_add"}, ports);
    Task &two = graph.cuda("two", {kernels(), "vector_add"}, ports);
    Task &three = graph.cuda("three", {kernels(), "vector_add"}, ports);
    Input *inputs[] = {&graph.input(one["a"]), &graph.input(one["b"]), &graph.input(two["b"]),
                       &graph.input(three["b"])};
    graph.connect(one["c"], two["a"]);
    graph.connect(two["c"], three["a"]);
    Output &sum = graph.output(three["c"]);
    auto push = [&](const std::vector<DatablockPtr> &blocks) {
        for (std::size_t i = 0; i < 4; i++)
            inputs[i]->push(blocks[i]);
    };
    graph.run();
    /* New ones each time, the last two the same. */
    for (float i = 0; i < sets; i++) {
        DatablockPtr both = filled(3 * i);
        push({filled(i), filled(2 * i), both, both});
        CHECK_EQ(sum.pull()->as<float>()[many - 1], 9 * i);
    }
    CHECK_EQ(sum_of(graph).blocks_uploaded, uint64_t{3 * sets});
    /* The same each time: they are copied again once. */
    const std::vector<DatablockPtr> kept = {filled(1), filled(10), filled(100), filled(1000)};
    for (unsigned i = 0; i < sets; i++) {
        push(kept);
        CHECK_EQ(sum.pull()->as<float>()[many - 1], 1111.0f);
    }
    CHECK_EQ(sum_of(graph).blocks_uploaded, uint64_t{3 * sets + 8});
    /* What a GPU has, in between. */
    for (float i = 0; i < sets; i++) {
        push({filled(i), kept[1], filled(3 * i), filled(4 * i)});
        CHECK_EQ(sum.pull()->as<float>()[0], 10 + 8 * i);
    }
    CHECK_EQ(three.lowered(), uint64_t{3 * sets - 1});
}

/* Those that a GPU fetches itself, and those that are so long that copy engines do. */
void large_blocks()
{
    sum_of_blocks(1 << 16);
    sum_of_blocks(1 << 18);
}

/* More than there are programs for, which get the next one while they still have one. */
void blocks_in_a_row(unsigned many)
{
    constexpr unsigned sets = 40;
    const auto large = Template::of<float>(many);
    Graph graph(with(Lower::always));
    std::vector ports = {in("a", large), in("b", large), out("c", large), constant("n", many)};
    Task &one = graph.cuda("one", {kernels(), "vector_add"}, ports);
    Task &two = graph.cuda("two", {kernels(), "vector_add"}, ports);
    Input &a = graph.input(one["a"], sets), &b = graph.input(one["b"], sets), &again = graph.input(two["b"], sets);
    graph.connect(one["c"], two["a"]);
    Output &sum = graph.output(two["c"], sets);
    std::vector<DatablockPtr> blocks;
    for (float i = 0; i < sets; i++) {
        std::vector<float> values(many, i);
        for (float last : {i, 2 * i, 4 * i}) {
            values.back() = last;
            blocks.push_back(block_of(values));
        }
    }
    graph.run();
    for (std::size_t i = 0; i < blocks.size(); i += 3) {
        a.push(blocks[i]);
        b.push(blocks[i + 1]);
        again.push(blocks[i + 2]);
    }
    for (float i = 0; i < sets; i++) {
        DatablockPtr block = sum.pull();
        CHECK_EQ(block->as<float>()[0], 3 * i);
        CHECK_EQ(block->as<float>()[many - 1], 7 * i);
    }
    CHECK(two.lowered() > sets / 2);
}

void many_sets_in_a_row()
{
    blocks_in_a_row(1 << 14);
    blocks_in_a_row(1 << 18);
}

/* a + b + c, in two tasks. */
struct ThreeTerms {
    explicit ThreeTerms(unsigned many, std::size_t capacity = 4) : many(many), graph(with(Lower::always))
    {
        const auto form = Template::of<float>(many);
        const std::vector ports = {in("a", form), in("b", form), out("c", form), constant("n", many)};
        one = &graph.cuda("one", {kernels(), "vector_add"}, ports);
        two = &graph.cuda("two", {kernels(), "vector_add"}, ports);
        a = &graph.input((*one)["a"], capacity);
        b = &graph.input((*one)["b"], capacity);
        c = &graph.input((*two)["b"], capacity);
        graph.connect((*one)["c"], (*two)["a"]);
    }

    void push(float value)
    {
        for (Input *term : {a, b, c})
            term->push(block_of(std::vector<float>(many, value)));
    }

    const unsigned many;
    Graph graph;
    Task *one, *two;
    Input *a, *b, *c;
};

/* With blocks that copy engines bring: a + b, which can be pulled, and that + c. */
struct LongSums : ThreeTerms {
    static constexpr unsigned many = 1 << 18;

    LongSums() : ThreeTerms(many)
    {
        between = &graph.output((*one)["c"]);
        sum = &graph.output((*two)["c"]);
        graph.run();
        /* Until copies from the host are no longer made for a set alone, and it is known where results are to be. */
        for (int i = 0; i < 20; i++) {
            push(1);
            CHECK(holds(*between, 2) && holds(*sum, 3));
        }
        CHECK(two->lowered() > 0);
    }

    static DatablockPtr filled(float value) { return block_of(std::vector<float>(many, value)); }
    static bool holds(Output &output, float value)
    {
        const DatablockPtr block = output.pull();
        const auto values = block->as<float>();
        return values.front() == value && values.back() == value;
    }

    Output *between, *sum;
};

/* What has come is copied before the rest of the set, in the order in which it is needed, where there is one GPU. */
void a_set_begins_with_what_is_there()
{
    device::Device &gpu = *device::gpus().at(0);
    const bool ahead = device::gpus().size() == 1;
    const auto was_copied = [&](const DatablockPtr &block) { return !block->first_use_from_host(gpu); };
    LongSums sums;
    const std::uint64_t uploaded = sum_of(sums.graph).blocks_uploaded, lowered = sums.two->lowered();
    const DatablockPtr first = sums.filled(10), second = sums.filled(20), early = sums.filled(40);

    sums.a->push(first);
    CHECK_EQ(was_copied(first), ahead);
    sums.b->push(second);
    CHECK_EQ(was_copied(second), ahead);
    sums.c->push(sums.filled(30));
    CHECK(sums.holds(*sums.between, 30) && sums.holds(*sums.sum, 60));
    /* The last one first: it must wait for the others. */
    sums.c->push(early);
    CHECK(!was_copied(early));
    sums.b->push(sums.filled(1));
    sums.a->push(sums.filled(2));
    CHECK(sums.holds(*sums.between, 3) && sums.holds(*sums.sum, 43));
    CHECK_EQ(sums.two->lowered(), lowered + 2);
    if (ahead)
        CHECK_EQ(sum_of(sums.graph).blocks_uploaded, uploaded + 6);
}

/* Then its tasks do it by themselves, and the blocks are theirs. */
void a_set_begins_and_is_given_up()
{
    LongSums sums;
    std::weak_ptr<Datablock> known;
    {
        DatablockPtr block = sums.filled(1);
        known = block;
        sums.a->push(block);
    }
    sums.b->push(sums.filled(2));
    CHECK(sums.holds(*sums.between, 3));
    while (!known.expired())
        std::this_thread::yield();
    sums.c->push(sums.filled(10));
    CHECK(sums.holds(*sums.sum, 13));
}

void a_set_begins_and_an_error_comes()
{
    LongSums sums;
    sums.a->push(sums.filled(1));
    sums.c->push(sums.filled(1));
    sums.b->send({nullptr, false, text("lost")});
    CHECK(refused([&] { sums.sum->pull(); }, {"lost"}));
}

void a_set_begins_and_the_graph_ends()
{
    LongSums sums;
    sums.a->push(sums.filled(1));
    sums.graph.stop();
}

/* Somebody else needs the memory before the rest comes, and leaves it with other contents. */
void a_set_begins_and_is_evicted()
{
    constexpr std::size_t one = sizeof(float) * LongSums::many;
    device::Device &gpu = *device::gpus().at(0);
    LongSums sums;
    auto queue = gpu.make_queue();
    for (float i = 0; i < 3; i++) {
        sums.a->push(sums.filled(i));
        gpu.limit_memory(16 * one);
        for (std::size_t bytes : {15 * one, 3 * one}) {
            const std::vector<char> other(bytes, 1);
            Datablock::of(other.data(), bytes)->use(gpu, *queue);
            queue->mark()->wait();
        }
        gpu.limit_memory(SIZE_MAX);
        sums.c->push(sums.filled(100));
        sums.b->push(sums.filled(10));
        CHECK(sums.holds(*sums.between, 10 + i) && sums.holds(*sums.sum, 110 + i));
    }
}

/* More than one step of a program moves, of lengths that are no multiples of its words; and long ones among them. */
void many_short_blocks()
{
    constexpr std::size_t inputs = 150, long_one = 70, sets = 8;
    const auto length_of = [](std::size_t i) { return i == long_one ? std::size_t{300000} : 3 * i + n; };
    Graph graph(with(Lower::always));
    std::vector<Input *> terms, counts;
    std::vector<Output *> sums;
    Port *sum = nullptr;

    /* ((a0 + a1) + a2) + ..., of the first numbers of each; all of these sums are results. */
    for (std::size_t i = 1; i < inputs; i++) {
        const auto form = Template::of<float>(length_of(i));
        Task &add = graph.cuda("add" + std::to_string(i), {kernels(), "vector_add"},
                               {in("a", Template::of<float>(length_of(i - 1))), in("b", form), out("c", form),
                                value("n", sizeof(unsigned))});
        if (sum)
            graph.connect(*sum, add["a"]);
        else
            terms.push_back(&graph.input(add["a"]));
        terms.push_back(&graph.input(add["b"]));
        counts.push_back(&graph.input(add["n"]));
        sum = &add["c"];
        sums.push_back(&graph.output(*sum));
    }
    graph.run();
    for (Input *count : counts)
        count->push_value(n);
    /* On a machine that is busy, a set may be taken for one that does not come. */
    for (std::size_t set = 0; set < sets || !sum->task().lowered(); set++) {
        const auto term = [set](std::size_t i) { return static_cast<float>(set * 1000 + i); };
        float expected = term(0);
        for (std::size_t i = 0; i < inputs; i++)
            terms[i]->push(block_of(std::vector<float>(length_of(i), term(i))));
        for (std::size_t i = 1; i < inputs; i++) {
            std::vector<float> result = pulled<float>(*sums[i - 1]);
            CHECK_EQ(result.size(), length_of(i));
            result.resize(n);
            expected += term(i);
            CHECK(result == all(expected));
        }
    }
}

/* Whether what comes is on the host alone; all of it is to be @value. */
bool is_there_alone(Output &output, float value)
{
    DatablockPtr block = output.pull();
    const bool alone = std::ranges::all_of(device::gpus(), [&](auto *gpu) { return block->missing(*gpu); });
    for (float one : block->as<float>())
        CHECK_EQ(one, value);
    return alone;
}

/*
 * What is read on the host, and by nobody else, its kernel writes there while there is no other set: at least as long
 * as it is tried which takes longer.
 */
void results_there_alone()
{
    for (unsigned many : {1u << 16, 1u << 18}) {
        ThreeTerms sums(many);
        Output &between = sums.graph.output((*sums.one)["c"]), &sum = sums.graph.output((*sums.two)["c"]);
        unsigned alone = 0;
        sums.graph.run();
        for (float i = 0; alone < 5; i++) {
            sums.push(i);
            /* The other task reads it on the device. */
            CHECK(!is_there_alone(between, 2 * i));
            alone += is_there_alone(sum, 3 * i);
        }
    }
}

/* The same comes out while there are more. */
void results_of_many_sets()
{
    constexpr unsigned most = 20;
    ThreeTerms sums(1 << 16, most);
    Output &sum = sums.graph.output((*sums.two)["c"], most);
    sums.graph.run();
    for (unsigned round = 0; round < 10; round++) {
        for (unsigned i = 0; i < most; i++)
            sums.push(static_cast<float>(i));
        for (unsigned i = 0; i < most; i++)
            is_there_alone(sum, static_cast<float>(3 * i));
    }
}

/* What goes on to a task on a device is never on the host alone. */
void results_that_go_on()
{
    ThreeTerms sums(1 << 16);
    const auto form = Template::of<float>(sums.many);
    Task &after = sums.graph.cuda("after", {kernels(), "vector_add"},
                                  {sticky("a", form), in("b", form), out("c", form), constant("n", sums.many)});
    sums.graph.connect((*sums.two)["c"], after["a"]);
    Input &other = sums.graph.input(after["b"]);
    Output &sum = sums.graph.output((*sums.two)["c"]), &last = sums.graph.output(after["c"]);
    sums.graph.run();
    for (float i = 0; i < 20; i++) {
        sums.push(i);
        CHECK(!is_there_alone(sum, 3 * i));
        other.push(block_of(std::vector<float>(sums.many, 1)));
        last.pull();
    }
}

/* One is worth a CUDA graph if that spares it copies of short blocks. */
void a_task_alone()
{
    for (unsigned many : {n, 1u << 18}) {
        const auto form = Template::of<float>(many);
        Graph graph(with(Lower::always));
        Task &add = graph.cuda("add", {kernels(), "vector_add"},
                               {in("a", form), in("b", form), out("c", form), constant("n", many)});
        Task &change = add_increment(graph, "change");
        Input &a = graph.input(add["a"]), &b = graph.input(add["b"]), &x = graph.input(change["x"]);
        Output &sum = graph.output(add["c"]), &changed = graph.output(change["where"]);
        graph.run();
        for (float i = 0; i < 10 || (many == n && !add.lowered()); i++) {
            a.push(block_of(std::vector<float>(many, i)));
            b.push(block_of(std::vector<float>(many, 10 * i)));
            CHECK_EQ(sum.pull()->as<float>()[many - 1], 11 * i);
            x.push(block_of<int>({1, 2, 3, 4}));
            changed.pull();
        }
        if (many > n)
            CHECK_EQ(add.lowered(), std::uint64_t{0});
        CHECK_EQ(change.lowered(), std::uint64_t{0});
    }
}

/* Parts that have nothing to do with each other, on all GPUs there are. */
void parts_side_by_side()
{
    constexpr unsigned columns = 4, sets = 60;
    Graph graph({.mode = Mode::fifo, .lower = Lower::always});
    std::vector ports = {in("a", form), in("b", form), out("c", form), constant("n", n)};
    std::vector<Input *> inputs;
    std::vector<Output *> sums;
    for (unsigned i = 0; i < columns; i++) {
        Task &one = graph.cuda("one" + std::to_string(i), {kernels(), "vector_add"}, ports);
        Task &two = graph.cuda("two" + std::to_string(i), {kernels(), "vector_add"}, ports);
        graph.connect(one["c"], two["a"]);
        graph.connect(one["c"], two["b"]);
        inputs.push_back(&graph.input(one["a"]));
        inputs.push_back(&graph.input(one["b"]));
        sums.push_back(&graph.output(two["c"]));
    }
    graph.run();
    auto push = [&](unsigned set) {
        for (unsigned i = 0; i < 2 * columns; i++)
            inputs[i]->push(block_of(all(static_cast<float>(set + i / 2))));
    };
    std::thread feeder([&] {
        for (unsigned set = 0; set < sets; set++)
            push(set);
    });
    for (unsigned set = 0; set < sets; set++)
        for (unsigned i = 0; i < columns; i++)
            CHECK(pulled<float>(*sums[i]) == all(static_cast<float>(4 * (set + i))));
    feeder.join();
    for (const DeviceCounters &one : graph.counters())
        CHECK_EQ(one.lowered > 0, one.runs > 0);
    CHECK(sum_of(graph).lowered >= 2 * columns * (sets - 10));
    if (device::gpus().size() > 1)
        CHECK_EQ(std::ranges::count_if(graph.counters(), [](const auto &one) { return one.lowered > 0; }), 2);
    /* The graph goes while they are given more. */
    for (unsigned set = 0; set < 5; set++)
        push(set);
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
    for (const auto &[name, events] : rows)
        graphs += static_cast<std::size_t>(std::count_if(events.begin(), events.end(), [](const auto &event) {
            return event.at("name").template get<std::string>().find(" and 2 more") != std::string::npos;
        }));
    CHECK_EQ(graphs, size_t{2});
    CHECK_EQ(rows.at({"tasks", "last"}).size(), size_t{3});
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
            {"CUDA graphs: parts side by side, on all GPUs", parts_side_by_side},
            {"CUDA graphs: with functions of the host", with_functions_of_the_host},
            {"CUDA graphs: after a function of the host", after_a_function_of_the_host},
            {"CUDA graphs: a sticky value on its way", a_sticky_value_on_its_way},
            {"CUDA graphs: blocks changed in place", changed_in_place},
            {"CUDA graphs: initial contents", initial_contents},
            {"CUDA graphs: large blocks", large_blocks},
            {"CUDA graphs: many sets in a row", many_sets_in_a_row},
            {"CUDA graphs: a set begins with what is there", a_set_begins_with_what_is_there},
            {"CUDA graphs: a set begins and is given up", a_set_begins_and_is_given_up},
            {"CUDA graphs: a set begins and an error comes", a_set_begins_and_an_error_comes},
            {"CUDA graphs: a set begins and the graph ends", a_set_begins_and_the_graph_ends},
            {"CUDA graphs: a set begins and is evicted", a_set_begins_and_is_evicted},
            {"CUDA graphs: many short blocks", many_short_blocks},
            {"CUDA graphs: a task alone", a_task_alone},
            {"CUDA graphs: results that are on the host alone", results_there_alone},
            {"CUDA graphs: results of many sets", results_of_many_sets},
            {"CUDA graphs: results that go on to a device", results_that_go_on},
            {"CUDA graphs: priorities of tasks", priorities_of_tasks},
            {"CUDA graphs: little memory", little_memory},
            {"CUDA graphs: in a timeline", in_a_timeline}};
}

} // namespace test
