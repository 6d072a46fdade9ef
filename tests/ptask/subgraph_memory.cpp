// SPDX-License-Identifier: MIT
/* Where the values of a subgraph are in its memory. */
#include "libptsched/ptask/api/graph.hpp"
#include "libptsched/ptask/replay/find_subgraphs.hpp"
#include "tests/ptask/ptask_test.hpp"

#include <algorithm>

namespace test {

namespace {

constexpr unsigned n = 64;
const auto form = Template::of<float>(n);

Task &adder(Graph &graph, const std::string &name)
{
    Task &task = graph.cuda(name, {kernels(), "vector_add"},
                            {in("a", form), in("b", form), out("c", form), value("n", sizeof(unsigned))});
    graph.input(task["n"]);
    return task;
}

Subgraph only_subgraph(const Graph &graph)
{
    auto subgraphs = Subgraphs::find(GraphImpl::of(graph).tasks_);
    CHECK_EQ(subgraphs.size(), 1u);
    return std::move(subgraphs.at(0));
}

/* Of what the subgraph has of each value in its memory, inputs aside. */
std::vector<std::size_t> offsets_of_values(const Subgraph &subgraph)
{
    std::vector<std::size_t> offsets;
    for (std::size_t i = 0; i < subgraph.buffers.size(); i++) {
        auto is_it = [i](const SubgraphInput &input) { return input.buffer == i; };
        if (subgraph.buffers[i].has_room && std::none_of(subgraph.inputs.begin(), subgraph.inputs.end(), is_it))
            offsets.push_back(subgraph.buffers[i].offset);
    }
    return offsets;
}

std::size_t different(std::vector<std::size_t> values)
{
    std::sort(values.begin(), values.end());
    return static_cast<std::size_t>(std::unique(values.begin(), values.end()) - values.begin());
}

void chain_needs_room_for_two()
{
    constexpr unsigned length = 8;
    Graph graph;
    Task *last = nullptr;
    for (unsigned i = 0; i < length; i++) {
        Task &task = adder(graph, "add" + std::to_string(i));
        graph.input(task["b"]);
        if (last)
            graph.connect((*last)["c"], task["a"]);
        else
            graph.input(task["a"]);
        last = &task;
    }
    graph.output((*last)["c"]);
    const Subgraph subgraph = only_subgraph(graph);
    const auto offsets = offsets_of_values(subgraph);
    CHECK_EQ(offsets.size(), length - 1u);
    CHECK_EQ(different(offsets), 2u);
    for (std::size_t i = 1; i < offsets.size(); i++)
        CHECK(offsets[i] != offsets[i - 1]);
    CHECK_EQ(subgraph.inside_bytes, (subgraph.inputs.size() + 2) * form.bytes());
}

/* Two that may run at once, and then one that takes both: nobody has ended with what the other gives. */
void side_by_side_keep_their_places()
{
    Graph graph;
    Task &left = adder(graph, "left"), &right = adder(graph, "right"), &both = adder(graph, "both");
    Task &left2 = adder(graph, "left2"), &end = adder(graph, "end");
    for (Task *task : {&left, &right})
        for (const char *port : {"a", "b"})
            graph.input((*task)[port]);
    graph.input(left2["b"]);
    graph.connect(left["c"], left2["a"]);
    graph.connect(left2["c"], both["a"]);
    graph.connect(right["c"], both["b"]);
    graph.connect(both["c"], end["a"]);
    graph.input(end["b"]);
    graph.output(end["c"]);
    const Subgraph subgraph = only_subgraph(graph);
    /* What left, left2 and right give; what both gives may be where left's was, which ended before. */
    CHECK_EQ(offsets_of_values(subgraph).size(), 4u);
    CHECK_EQ(different(offsets_of_values(subgraph)), 3u);
}

/* One that takes a value from the first and from the second waits for the second, which waited for the first. */
void needless_waits_are_dropped()
{
    Graph graph;
    Task &first = adder(graph, "first"), &second = adder(graph, "second"), &third = adder(graph, "third");
    for (const char *port : {"a", "b"})
        graph.input(first[port]);
    graph.input(second["b"]);
    graph.connect(first["c"], second["a"]);
    graph.connect(first["c"], third["a"]);
    graph.connect(second["c"], third["b"]);
    graph.output(third["c"]);
    const Subgraph subgraph = only_subgraph(graph);
    CHECK_EQ(subgraph.steps.size(), 3u);
    CHECK(subgraph.steps[1].after == std::vector<std::size_t>{0});
    CHECK(subgraph.steps[2].after == std::vector<std::size_t>{1});
    /* And the first one's value is still there when the third reads it. */
    CHECK_EQ(different(offsets_of_values(subgraph)), 2u);
}

} // namespace

Cases subgraph_memory_cases()
{
    return {
        {"values of a chain take turns in two places", chain_needs_room_for_two},
        {"values that may be alive at once have places of their own", side_by_side_keep_their_places},
        {"who waits for a later step does not wait for an earlier one, too", needless_waits_are_dropped},
    };
}

} // namespace test
