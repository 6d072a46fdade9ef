// SPDX-License-Identifier: MIT
/* Several short sets of a subgraph that a GPU is given at once: which wait for others, and until when. */
#include "libptsched/ptask/replay/batch.hpp"
#include "tests/graph_clock.hpp"
#include "tests/ptask/ptask_test.hpp"

namespace test {

namespace {

namespace device = ptsched::device;

constexpr unsigned n = 64, ahead = Batch::results_ahead;
const auto form = Template::of<float>(n);
constexpr auto given_up_after = 5ms;

std::vector<float> all(float value)
{
    return std::vector<float>(n, value);
}

/* (a + s) + b where s is sticky, on one GPU, whose results are not read before the end. */
struct Row {
    GraphClock clock; /* stands still: no set is too long, and none is given because it has waited for long */
    Graph graph{{.lower = Lower::always, .devices = {"0"}}};
    std::vector<DatablockPtr> blocks;
    DatablockPtr other = block_of(all(100));
    Task *last;
    Input *a, *b, *s;
    Output *c;
    std::vector<DatablockPtr> results;
    std::vector<float> expected;
    float kept = 1000;

    Row()
    {
        for (float i = 0; i < 5; i++)
            blocks.push_back(block_of(all(i)));
        Task &first = graph.cuda("first", {kernels(), "vector_add"},
                                 {in("a", form), sticky("s", form), out("c", form), constant("n", n)});
        last = &graph.cuda("last", {kernels(), "vector_add"},
                           {in("a", form), in("b", form), out("c", form), constant("n", n)});
        a = &graph.input(first["a"]);
        b = &graph.input((*last)["b"]);
        s = &graph.input(first["s"]);
        graph.connect(first["c"], (*last)["a"]);
        c = &graph.output((*last)["c"]);
        s->push(block_of(all(kept)));
        graph.run();
        for (unsigned i = 0; i < 6 * blocks.size() || !last->lowered(); i++) {
            push();
            pull();
            results.back()->wait();
        }
    }

    void push()
    {
        const std::size_t which = expected.size() % blocks.size();
        a->push(blocks[which]);
        b->push(other);
        expected.push_back(static_cast<float>(which) + kept + 100);
    }
    void push(unsigned sets)
    {
        while (sets--)
            push();
    }
    void pull() { results.push_back(c->pull()); }
    void check()
    {
        while (results.size() < expected.size())
            pull();
        for (std::size_t i = 0; i < expected.size(); i++)
            CHECK(content<float>(results[i]) == all(expected[i]));
    }
    void await(std::uint64_t sets) const
    {
        until([&] { return last->lowered() == sets; });
    }
    /* As many results as let the next set wait, which comes then. How many have ended. */
    std::uint64_t have_one_wait()
    {
        const std::uint64_t before = last->lowered() + ahead;
        push(ahead);
        await(before);
        push();
        until_over(*last);
        CHECK(last->state() == State::queued);
        CHECK_EQ(last->lowered(), before);
        return before;
    }
};

void some_at_once()
{
    Row row;
    for (int round = 0; round < 3; round++) {
        const std::uint64_t before = row.have_one_wait();
        row.push(Batch::sets - 1);
        row.await(before + Batch::sets);
        while (row.results.size() < row.expected.size())
            row.pull();
    }
    row.check();
    row.graph.stop();
    CHECK_EQ(sum_of(row.graph).lowered, 2 * row.last->lowered());
}

/* With results that the host reads, each set is for itself again. */
void somebody_reads()
{
    Row row;
    const std::uint64_t before = row.have_one_wait();
    row.push(Batch::sets - 1);
    row.check();
    row.await(before + Batch::sets);
    row.push(ahead + 1);
    row.await(before + Batch::sets + ahead + 1);
    row.check();
}

void until_results_are_taken()
{
    Row row;
    const std::uint64_t before = row.have_one_wait();
    row.pull();
    row.await(before + 1);
    row.check();
}

void until_somebody_waits()
{
    Row row;
    const std::uint64_t before = row.have_one_wait();
    for (std::size_t i = row.a->depth().blocks; i < Graph::default_capacity; i++)
        row.a->push(row.blocks[0]);
    row.a->push(row.blocks[0]);
    row.await(before + 1);
}

void until_the_graph_ends()
{
    {
        Row row;
        const std::uint64_t before = row.have_one_wait();
        CHECK(row.graph.drain());
        row.await(before + 1);
        row.check();
    }
    Row row;
    row.have_one_wait();
    row.graph.stop();
    row.check();
}

void until_time_has_passed()
{
    Row row;
    const std::uint64_t before = row.have_one_wait();
    row.clock.advance_until(given_up_after, [&] { return row.last->lowered() == before + 1; });
    row.check();
}

/* It is not for those that were complete before. */
void until_a_sticky_block_comes()
{
    Row row;
    const std::uint64_t before = row.have_one_wait();
    row.push();
    row.s->push(block_of(all(row.kept = 2000)));
    row.await(before + 2);
    row.push();
    row.check();
}

void until_a_signal_comes()
{
    Row row;
    const std::uint64_t before = row.have_one_wait();
    row.a->send({row.blocks[1], true});
    row.b->push(row.other);
    row.await(before + 1);
    while (row.results.size() < row.expected.size())
        row.pull();
    const std::optional<Item> item = row.c->take();
    CHECK(item && item->end_of_stream && content<float>(item->block) == all(1 + row.kept + 100));
    row.check();
}

/* Each set has a copy of its own to change. */
void changed_blocks()
{
    GraphClock clock;
    Graph graph({.lower = Lower::always, .devices = {"0"}});
    Task &first = add_increment(graph, "first"), &last = add_increment(graph, "last");
    Input &x = graph.input(first["x"]);
    graph.connect(first["x"], last["x"]);
    Output *outputs[] = {&graph.output(last["x"]), &graph.output(first["where"]), &graph.output(last["where"])};
    std::vector<DatablockPtr> blocks, results;
    unsigned pushed = 0;
    for (int i = 0; i < 5; i++)
        blocks.push_back(block_of<int>({i, 10, 20, 30}));
    graph.run();
    auto push = [&](unsigned sets) {
        for (; sets; sets--)
            x.push(blocks[pushed++ % blocks.size()]);
    };
    auto pull = [&] {
        results.push_back(outputs[0]->pull());
        outputs[1]->pull();
        outputs[2]->pull();
    };
    while (pushed < 6 * blocks.size() || !last.lowered()) {
        push(1);
        pull();
        results.back()->wait();
    }
    const std::uint64_t before = last.lowered();
    push(ahead);
    until([&] { return last.lowered() == before + ahead; });
    push(1);
    until_over(last);
    CHECK(last.state() == State::queued);
    push(Batch::sets - 1);
    until([&] { return last.lowered() == before + ahead + Batch::sets; });
    while (results.size() < pushed)
        pull();
    for (unsigned i = 0; i < pushed; i++)
        CHECK(content<int>(results[i]) == std::vector<int>({static_cast<int>(i % blocks.size()) + 2, 12, 22, 32}));
}

/* There is enough for single sets, which do without it. */
void little_memory()
{
    device::Device &gpu = *device::gpus().at(0);
    {
        Row row;
        row.blocks.resize(1);
        gpu.limit_memory(8 * n * sizeof(float));
        for (int round = 0; round < 2; round++) {
            const std::uint64_t before = row.last->lowered();
            row.push(ahead + Batch::sets);
            row.await(before + ahead + Batch::sets);
            while (row.results.size() < row.expected.size())
                row.pull();
        }
        row.check();
    }
    gpu.limit_memory(SIZE_MAX);
}

} // namespace

Cases batch_cases()
{
    return {{"CUDA graphs: several sets at once", some_at_once},
            {"CUDA graphs: several sets at once, until somebody reads", somebody_reads},
            {"CUDA graphs: a set waits until results are taken", until_results_are_taken},
            {"CUDA graphs: a set waits until somebody waits", until_somebody_waits},
            {"CUDA graphs: a set waits until the graph ends", until_the_graph_ends},
            {"CUDA graphs: a set waits until time has passed", until_time_has_passed},
            {"CUDA graphs: a set waits until a sticky block comes", until_a_sticky_block_comes},
            {"CUDA graphs: a set waits until a signal comes", until_a_signal_comes},
            {"CUDA graphs: several sets at once change blocks", changed_blocks},
            {"CUDA graphs: too little memory for several sets at once", little_memory}};
}

} // namespace test
