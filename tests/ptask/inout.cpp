// SPDX-License-Identifier: MIT
/* Parameters that are read and written: in place where nobody else has the block. */
#include "tests/ptask/ptask_test.hpp"

namespace test {

namespace {

constexpr unsigned n = 4;
const Template four = Template::of<int>(n);

/* Adds 1 to each, and tells where they are. */
Task &add_host_increment(Graph &graph, const std::string &name)
{
    return graph.host(name,
                      [](const Arguments &ports) {
                          auto *x = static_cast<int *>(ports[0]);
                          for (unsigned i = 0; i < n; i++)
                              x[i]++;
                          *static_cast<void **>(ports[1]) = x;
                      },
                      {inout("x", four), out("where", Template::of<void *>(1))});
}

using Add = Task &(Graph &graph, const std::string &name);

struct Chain {
    Chain(Add *first, Add *second)
        : one(first(graph, "one")), two(second(graph, "two")), in(graph.input(one["x"])), out(graph.output(two["x"])),
          where_one(graph.output(one["where"])), where_two(graph.output(two["where"]))
    {
        graph.connect(one["x"], two["x"]);
    }
    bool on_one_device() { return pulled<void *>(where_one) == pulled<void *>(where_two); }

    /* What is on a GPU stays there. */
    Graph graph{{.moving = {.bytes_per_second = 1}}};
    Task &one, &two;
    Input &in;
    Output &out, &where_one, &where_two;
};

void in_place(Add *add)
{
    Chain chain(add, add);
    chain.graph.run();
    for (int i = 0; i < 20; i++) {
        chain.in.push(block_of<int>({i, 2, 3, 4}));
        CHECK(pulled<int>(chain.out) == std::vector<int>({i + 2, 4, 5, 6}));
        CHECK(chain.on_one_device());
    }
}

/* All at once: runs are in flight when the next ones get their blocks. */
void in_place_pipelined()
{
    Chain chain(add_increment, add_increment);
    chain.graph.run();
    for (int i = 0; i < 10; i++)
        chain.in.push(block_of<int>({i, 0, 0, 0}));
    for (int i = 0; i < 10; i++)
        CHECK_EQ(pulled<int>(chain.out).at(0), i + 2);
    for (int i = 0; i < 10; i++)
        CHECK(chain.on_one_device());
}

void what_the_program_keeps_stays(Add *add)
{
    Chain chain(add, add);
    chain.graph.run();
    DatablockPtr mine = block_of<int>({1, 2, 3, 4});
    for (int i = 0; i < 3; i++) {
        chain.in.push(mine);
        CHECK(pulled<int>(chain.out) == std::vector<int>({3, 4, 5, 6}));
        CHECK(content<int>(mine) == std::vector<int>({1, 2, 3, 4}));
    }
}

/* The one after it changes what the first gave to the program, too. */
void what_others_read_stays(Add *add)
{
    Chain chain(add, add);
    Output &between = chain.graph.output(chain.one["x"]);
    chain.graph.run();
    for (int i = 0; i < 10; i++)
        chain.in.push(block_of<int>({i, 0, 0, 0}));
    for (int i = 0; i < 10; i++) {
        CHECK_EQ(pulled<int>(between).at(0), i + 1);
        CHECK_EQ(pulled<int>(chain.out).at(0), i + 2);
    }
}

void between_devices()
{
    Chain down(add_increment, add_host_increment), up(add_host_increment, add_increment);
    for (Chain *chain : {&down, &up}) {
        chain->graph.run();
        for (int i = 0; i < 10; i++)
            chain->in.push(block_of<int>({i, 0, 0, 7}));
        for (int i = 0; i < 10; i++)
            CHECK(pulled<int>(chain->out) == std::vector<int>({i + 2, 2, 2, 9}));
    }
}

/* The same block for two ports: what one writes, the other does not see. */
void twice_the_same_block()
{
    Graph graph;
    Task &task = graph.host("add",
                            [](const Arguments &ports) {
                                auto *x = static_cast<int *>(ports[0]);
                                const int *y = ports[1];
                                *x += 10;
                                *x += *y;
                            },
                            {inout("x", Template::of<int>(1)), in("y", Template::of<int>(1))});
    Input &x = graph.input(task["x"]), &y = graph.input(task["y"]);
    Output &sum = graph.output(task["x"]);
    graph.run();
    DatablockPtr block = block_of<int>({1});
    x.push(block);
    y.push(std::move(block));
    CHECK_EQ(pulled<int>(sum).at(0), 12);
}

void wrong_inouts()
{
    Graph graph;
    auto nothing = [](const Arguments &) {};
    Task &a = graph.host("a", nothing, {inout("x", four)});
    Task &b = graph.host("b", nothing, {inout("x", Template::of<int>(2))});
    CHECK(refused([&] { graph.connect(a["x"], b["x"]); }, {"a.x", "b.x", "4 x 1 x 1", "2 x 1 x 1"}));
    CHECK(refused([&] { graph.connect(a["x"], a["x"]); }, {"a.x", "cycle", "initial"}));
    CHECK(refused([&] { graph.run(); }, {"a.x", "no channel", "initial block"}));
}

} // namespace

Cases inout_cases()
{
    return {{"host functions write in place", [] { in_place(add_host_increment); }},
            {"kernels write in place", [] { in_place(add_increment); }},
            {"kernels write in place what is still being written", in_place_pipelined},
            {"what the program keeps stays, host", [] { what_the_program_keeps_stays(add_host_increment); }},
            {"what the program keeps stays, GPU", [] { what_the_program_keeps_stays(add_increment); }},
            {"what others read stays, host", [] { what_others_read_stays(add_host_increment); }},
            {"what others read stays, GPU", [] { what_others_read_stays(add_increment); }},
            {"blocks are changed on both sides", between_devices},
            {"one block at two ports", twice_the_same_block},
            {"what is wrong with an in/out port is said", wrong_inouts}};
}

} // namespace test
