// SPDX-License-Identifier: MIT
/* How blocks come to CUDA graphs and leave them: fetched, copied, ahead of others, or written where they are read. */
#include "tests/graph_clock.hpp"
#include "tests/host_flag.h"
#include "tests/ptask/ptask_test.hpp"
#include "tests/sanitizers.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

namespace test {

namespace {

namespace device = ptsched::device;

constexpr unsigned n = 64;
const GraphOptions lowered{.lower = Lower::always};
/* Copies are taken to be long, or short, beside what they are of. */
const GraphOptions long_copies{.moving = {.block = std::chrono::seconds(10)}, .lower = Lower::always};
const GraphOptions short_copies{.moving = {.bytes_per_second = 1e15, .block = std::chrono::nanoseconds(1)},
                                .lower = Lower::always};

/* Such that the program copies them itself, as long as they come from the host. */
void sum_of_blocks(unsigned many)
{
    constexpr unsigned sets = 8;
    const auto large = Template::of<float>(many);
    auto filled = [&](float value) { return block_of(std::vector<float>(many, value)); };
    GraphClock clock; /* no set is given up */
    Graph graph(lowered);
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
    CHECK_EQ(sum_of(graph).blocks_uploaded, std::uint64_t{3 * sets});
    /* The same each time: they are copied again once. */
    const std::vector<DatablockPtr> kept = {filled(1), filled(10), filled(100), filled(1000)};
    for (unsigned i = 0; i < sets; i++) {
        push(kept);
        CHECK_EQ(sum.pull()->as<float>()[many - 1], 1111.0f);
    }
    CHECK_EQ(sum_of(graph).blocks_uploaded, std::uint64_t{3 * sets + 8});
    /* What a GPU has, in between. */
    for (float i = 0; i < sets; i++) {
        push({filled(i), kept[1], filled(3 * i), filled(4 * i)});
        CHECK_EQ(sum.pull()->as<float>()[0], 10 + 8 * i);
    }
    CHECK_EQ(three.lowered(), std::uint64_t{3 * sets - 1});
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
    constexpr unsigned sets = 80;
    const auto large = Template::of<float>(many);
    GraphClock clock; /* no set is given up */
    Graph graph(lowered);
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

/* Which a GPU fetches itself, too, whatever its length, and unless it has it. */
void a_single_short_input()
{
    constexpr unsigned sets = 80;
    GraphClock clock; /* no set is given up */
    for (unsigned many : {1u, 1001u, 1u << 14}) {
        const auto form = Template::of<float>(many);
        const std::vector ports = {in("a", form), sticky("b", form), out("c", form), constant("n", many)};
        const auto filled = [many](float value) { return block_of(std::vector<float>(many, value)); };
        Graph graph(lowered);
        Task &one = graph.cuda("one", {kernels(), "vector_add"}, ports);
        Task &two = graph.cuda("two", {kernels(), "vector_add"}, ports);
        Input &a = graph.input(one["a"], sets), &b = graph.input(one["b"]), &again = graph.input(two["b"]);
        graph.connect(one["c"], two["a"]);
        Output &sum = graph.output(two["c"], sets);
        const auto check = [&](float value) {
            const DatablockPtr block = sum.pull();
            CHECK_EQ(block->as<float>()[0], value + 11);
            CHECK_EQ(block->as<float>()[many - 1], value + 11);
        };
        b.push(filled(1));
        again.push(filled(10));
        graph.run();
        for (float i = 0; i < sets; i++)
            a.push(filled(i));
        for (float i = 0; i < sets; i++)
            check(i);
        const DatablockPtr kept = filled(1000);
        for (float i = 0; i < sets; i++) {
            a.push(kept);
            a.push(filled(i));
            check(1000);
            check(i);
        }
        CHECK(two.lowered() > sets);
    }
}

/* a + b + c, in two tasks. */
struct ThreeTerms {
    explicit ThreeTerms(unsigned many, std::size_t capacity = 4, const GraphOptions &options = lowered)
        : many(many), graph(options)
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
        const std::vector<float> content(many, value);
        push_all({block_of(content), block_of(content), block_of(content)});
    }

    void push_all(const std::array<DatablockPtr, 3> &blocks)
    {
        a->push(blocks[0]);
        b->push(blocks[1]);
        c->push(blocks[2]);
    }

    const unsigned many;
    Graph graph;
    Task *one, *two;
    Input *a, *b, *c;
};

/* With blocks that copy engines bring: a + b, which can be pulled, and that + c. */
struct LongSums : private GraphClock, ThreeTerms {
    static constexpr unsigned many = 1 << 18;

    LongSums() : ThreeTerms(many)
    {
        between = &graph.output((*one)["c"]);
        sum = &graph.output((*two)["c"]);
        graph.run();
        /* Until copies from the host are no longer made for a set alone, and it is known where results are to be. */
        for (int i = 0; i < 20 || !two->lowered(); i++) {
            push_all({filled(1), filled(2), filled(4)});
            CHECK(holds(*between, 3) && holds(*sum, 7));
        }
    }

    GraphClock &clock() { return *this; }
    static DatablockPtr filled(float value) { return block_of(std::vector<float>(many, value)); }
    static bool holds(Output &output, float value)
    {
        const DatablockPtr block = output.pull();
        const auto values = block->as<float>();
        return values[0] == value && values[values.size() - 1] == value;
    }

    Output *between, *sum;
};

/* What has come is copied before the rest of the set, in the order in which it is needed, where there is one GPU. */
void a_set_begins_with_what_is_there()
{
    const bool ahead = device::gpus().size() == 1;
    device::Device &gpu = *device::gpus().at(0);
    const auto was_copied = [&](const DatablockPtr &block) { return !block->first_use(gpu).on_host; };
    LongSums sums;
    const std::uint64_t uploaded = sum_of(sums.graph).blocks_uploaded, lowered = sums.two->lowered(),
                        completed = sums.two->completed();
    const DatablockPtr first = sums.filled(10), second = sums.filled(20), third = sums.filled(30);
    const DatablockPtr one = sums.filled(2), two = sums.filled(1), early = sums.filled(40);

    sums.a->push(first);
    const bool first_came = was_copied(first);
    sums.b->push(second);
    const bool second_came = was_copied(second);
    sums.c->push(third);
    CHECK(sums.holds(*sums.between, 30) && sums.holds(*sums.sum, 60));
    /* The last one first: it must wait for the others. */
    sums.c->push(early);
    const bool early_came = was_copied(early);
    sums.b->push(two);
    sums.a->push(one);
    CHECK(sums.holds(*sums.between, 3) && sums.holds(*sums.sum, 43));
    until([&] { return sums.two->completed() >= completed + 2; });
    CHECK_EQ(sums.two->lowered(), lowered + 2);
    CHECK_EQ(first_came, ahead);
    CHECK_EQ(second_came, ahead);
    CHECK(!early_came);
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
    const Ticking ticking(sums.clock(), 5ms);
    CHECK(sums.holds(*sums.between, 3));
    until([&] { return known.expired(); });
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
    GraphClock clock; /* no set is given up */
    Graph graph(lowered);
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
    for (std::size_t set = 0; set < sets; set++) {
        const auto term = [set](std::size_t i) { return static_cast<float>(set * 1000 + i); };
        float expected = term(0);
        for (std::size_t i = 0; i < inputs; i++)
            terms[i]->push(block_of(std::vector<float>(length_of(i), term(i))));
        for (std::size_t i = 1; i < inputs; i++) {
            std::vector<float> result = pulled<float>(*sums[i - 1]);
            CHECK_EQ(result.size(), length_of(i));
            result.resize(n);
            expected += term(i);
            CHECK(result == std::vector<float>(n, expected));
        }
    }
    CHECK(sum->task().lowered() > 0);
}

/* Whether what comes is on the host alone; all of it is to be @value. */
bool is_there_alone(Output &output, float value)
{
    DatablockPtr block = output.pull();
    const bool alone = std::ranges::all_of(device::gpus(), [&](auto *gpu) { return block->missing(*gpu); });
    const auto values = block->as<float>();
    const std::vector<float> wanted(values.size(), value);
    /* To look at one after another, without optimisation, would take most of a test's time. */
    CHECK(std::memcmp(values.data(), wanted.data(), sizeof(float) * values.size()) == 0);
    return alone;
}

/*
 * What is read on the host, and by nobody else, its kernel writes there while there is no other set: at least as long
 * as it is tried which takes longer, which is twice, however long that is.
 */
void results_there_alone()
{
    GraphClock clock; /* no set is given up */
    for (unsigned many : {1u << 16, 1u << 18}) {
        ThreeTerms sums(many, 4, long_copies);
        Output &between = sums.graph.output((*sums.one)["c"]), &sum = sums.graph.output((*sums.two)["c"]);
        unsigned alone = 0;
        sums.graph.run();
        for (float i = 0; alone < 2; i++) {
            sums.push(i);
            /* The other task reads it on the device. */
            CHECK(!is_there_alone(between, 2 * i));
            alone += is_there_alone(sum, 3 * i);
        }
    }
}

/* Where a copy takes next to nothing of a set's time, nothing else is tried. */
void results_of_long_sets()
{
    ThreeTerms sums(1 << 16, 4, short_copies);
    Output &sum = sums.graph.output((*sums.two)["c"]);
    sums.graph.run();
    for (float i = 0; i < 30; i++) {
        sums.push(i);
        CHECK(!is_there_alone(sum, 3 * i));
    }
    CHECK(sums.two->lowered() > 0);
}

/* The same comes out while there are more, as many as keep a device busy, and of those that fill it. */
void results_of_many_sets()
{
    constexpr unsigned most = 40;
    /* From the second one on it repeats; with a sanitizer one of large blocks takes a second. */
#ifdef PTSCHED_TEST_SANITIZED
    constexpr unsigned rounds = 3;
#else
    constexpr unsigned rounds = 10;
#endif
    for (unsigned many : {1u << 10, 1u << 18}) {
        CHECK_EQ(2 * many > device::gpus().at(0)->most_threads().value(), many == 1u << 18);
        ThreeTerms sums(many, most, long_copies);
        Output &sum = sums.graph.output((*sums.two)["c"], most);
        sums.graph.run();
        for (unsigned round = 0; round < rounds; round++)
            for (unsigned sets : {most, 1u}) {
                for (unsigned i = 0; i < sets; i++)
                    sums.push(static_cast<float>(round + i));
                for (unsigned i = 0; i < sets; i++)
                    is_there_alone(sum, static_cast<float>(3 * (round + i)));
            }
    }
}

/* Results of sets in pairs do not wait for those of other tasks that have not ended. */
void results_beside_a_long_task()
{
    constexpr unsigned many = 1 << 18, sets = 12;
    const auto one = Template::of<unsigned>(1);
    ThreeTerms sums(many, sets, long_copies);
    Task &wait =
        sums.graph.cuda("wait", {kernels(), "wait_for_host"}, {constant("flag", HostFlag::address()), inout("x", one)});
    Output &sum = sums.graph.output((*sums.two)["c"], sets), &y = sums.graph.output(wait["x"]);
    Input &x = sums.graph.input(wait["x"]);
    HostFlag flag;
    sums.graph.run();
    /* From the second time on, what the long task writes is expected to be read, too. */
    for (unsigned ended : {0, 1}) {
        flag.lower();
        x.push_value(0u);
        until_executing({&wait});
        for (unsigned round = 0; round < 2; round++) {
            for (unsigned i = 0; i < sets; i++)
                sums.push(static_cast<float>(i));
            for (unsigned i = 0; i < sets; i++)
                is_there_alone(sum, static_cast<float>(3 * i));
        }
        CHECK_EQ(wait.completed(), std::uint64_t{ended});
        CHECK(wait.state() == State::executing);
        flag.raise();
        CHECK_EQ(pulled<unsigned>(y).at(0), HostFlag::raised);
    }
}

/* What goes on to a task on a device is never on the host alone. */
void results_that_go_on()
{
    ThreeTerms sums(1 << 16, 4, long_copies);
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

/*
 * A graph that is to read what a kernel of another one still writes, there or on the host, does other things meanwhile.
 */
void results_for_another_graph()
{
    constexpr unsigned long long ns = 10000000;
    const auto one = Template::of<unsigned>(1);
    GraphClock clock; /* no set is given up */
    Graph slow(long_copies), graph;
    Task &spin = slow.cuda("spin", {kernels(), "spin"}, {inout("x", one), constant("ns", ns), constant("steps", 1u)});
    Task &wait =
        slow.cuda("wait", {kernels(), "wait_for_host"}, {constant("flag", HostFlag::address()), inout("x", one)});
    Task &add =
        slow.cuda("add", {kernels(), "vector_add"}, {in("a", one), in("b", one), out("c", one), constant("n", 1u)});
    Input &x = slow.input(spin["x"]), &b = slow.input(add["b"]);
    slow.connect(spin["x"], wait["x"]);
    slow.connect(wait["x"], add["a"]);
    Output &sum = slow.output(add["c"]);
    /* On the host: who shares the device with another graph is given no CUDA graphs. */
    const auto count = [](const Arguments &ports) { ++*static_cast<int *>(ports[0]); };
    const auto number = Template::of<int>(1);
    Task &reader = graph.host("reader", count, {inout("x", number), condition("if")});
    Task &other = graph.host("other", count, {inout("x", number)});
    Input &flag = graph.input(reader["if"]), &to_reader = graph.input(reader["x"]), &to_other = graph.input(other["x"]);
    Output &of_reader = graph.output(reader["x"]), &of_other = graph.output(other["x"]);
    HostFlag held;
    slow.run();
    graph.run();
    /* Of those that are on the host alone, and others. */
    bool seen[] = {false, false};
    for (unsigned i = 0; !(seen[false] && seen[true]); i++) {
        held.lower();
        x.push_value(0u);
        b.push_value(0u);
        DatablockPtr block = sum.pull();
        const bool is_alone = std::ranges::all_of(device::gpus(), [&](auto *gpu) { return block->missing(*gpu); });
        flag.push(block);
        to_reader.push_value(1);
        to_other.push_value(1);
        CHECK_EQ(pulled<int>(of_other).at(0), 2);
        CHECK_EQ(add.completed(), std::uint64_t{i});
        seen[is_alone] = true;
        held.raise();
        CHECK_EQ(pulled<int>(of_reader).at(0), 2);
        until([&] { return add.completed() > i; });
    }
}

/* One is worth a CUDA graph if it has several blocks to move, short or long. */
void a_task_alone()
{
    GraphClock clock; /* no set is given up */
    for (unsigned many : {n, 1u << 18}) {
        const auto form = Template::of<float>(many);
        Graph graph(lowered);
        Task &add = graph.cuda("add", {kernels(), "vector_add"},
                               {in("a", form), in("b", form), out("c", form), constant("n", many)});
        Task &change = add_increment(graph, "change");
        Input &a = graph.input(add["a"]), &b = graph.input(add["b"]), &x = graph.input(change["x"]);
        Output &sum = graph.output(add["c"]), &changed = graph.output(change["where"]);
        graph.run();
        for (float i = 0; i < 10 || !add.lowered(); i++) {
            a.push(block_of(std::vector<float>(many, i)));
            b.push(block_of(std::vector<float>(many, 10 * i)));
            CHECK_EQ(sum.pull()->as<float>()[many - 1], 11 * i);
            x.push(block_of<int>({1, 2, 3, 4}));
            changed.pull();
        }
        CHECK_EQ(change.lowered(), std::uint64_t{0});
    }
}

/*
 * One that has shown that results had better be copied ends while they are passed on, to so many that it takes longer,
 * and the last of them looks what has ended: what comes may go ahead.
 */
void ends_while_it_is_passed_on()
{
    constexpr unsigned many = 40000;
    constexpr int sets = 14;
    const auto one = Template::of<int>(1), large = Template::of<int>(1 << 18);
    const auto zero = [](const Arguments &ports) { *static_cast<int *>(ports[1]) = 0; };
    const Geometry single;
    GraphClock clock; /* no set is given up */
    Graph graph(long_copies);
    std::vector<Output *> outputs;
    Task &begins = graph.cuda("begins", {ptask_kernels(), "successor", single}, {inout("x", one), constant("n", 1u)});
    Task &slow =
        graph.cuda("slow", {ptask_kernels(), "increment_slowly", single},
                   {inout("x", one), out("where", Template::of<void *>(1)), constant("ns", std::uint64_t{1000000})});
    Task &late = graph.host("late", zero, {in("where", Template::of<void *>(1)), out("y", large)});
    Task &adds = graph.cuda("adds", {ptask_kernels(), "add_ints", single},
                            {in("a", one), in("b", large), out("c", one), constant("n", 1u)});
    Task &twice = graph.cuda("twice", {ptask_kernels(), "add_ints", single},
                             {in("a", one), in("b", one), out("c", one), constant("n", 1u)});
    Input &x = graph.input(begins["x"]), &more = graph.input(twice["b"]);
    graph.connect(begins["x"], slow["x"]);
    for (unsigned i = 0; i < many; i++)
        outputs.push_back(&graph.output(slow["x"]));
    graph.connect(slow["x"], adds["a"]);
    graph.connect(slow["where"], late["where"]);
    graph.connect(late["y"], adds["b"]);
    graph.connect(adds["c"], twice["a"]);
    Output &sum = graph.output(twice["c"]);
    graph.run();
    for (int i = 0; i < sets; i++) {
        more.push_value(10);
        x.push_value(i);
        CHECK_EQ(pulled<int>(sum).at(0), i + 12);
        for (Output *output : outputs)
            output->pull();
    }
    CHECK(slow.lowered() > sets / 2);
}

} // namespace

Cases lower_block_cases()
{
    return {{"CUDA graphs: large blocks", large_blocks},
            {"CUDA graphs: many sets in a row", many_sets_in_a_row},
            {"CUDA graphs: a set begins with what is there", a_set_begins_with_what_is_there},
            {"CUDA graphs: a set begins and is given up", a_set_begins_and_is_given_up},
            {"CUDA graphs: a set begins and an error comes", a_set_begins_and_an_error_comes},
            {"CUDA graphs: a set begins and the graph ends", a_set_begins_and_the_graph_ends},
            {"CUDA graphs: a set begins and is evicted", a_set_begins_and_is_evicted},
            {"CUDA graphs: many short blocks", many_short_blocks},
            {"CUDA graphs: a task alone", a_task_alone},
            {"CUDA graphs: a single short input", a_single_short_input},
            {"CUDA graphs: results that are on the host alone", results_there_alone},
            {"CUDA graphs: results of long sets", results_of_long_sets},
            {"CUDA graphs: results that another graph is to read", results_for_another_graph},
            {"CUDA graphs: results of many sets", results_of_many_sets},
            {"CUDA graphs: results beside a long task", results_beside_a_long_task},
            {"CUDA graphs: results that go on to a device", results_that_go_on},
            {"CUDA graphs: a set that ends while its results are passed on", ends_while_it_is_passed_on}};
}

} // namespace test
