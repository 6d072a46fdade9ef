// SPDX-License-Identifier: MIT
/* Ports that are bound to constant memory: variables of a CUDA kernel's module, addresses elsewhere. */
#include "libptsched/cuda/cuda_abi.h"
#include "tests/ptask/ptask_test.hpp"

namespace test {

namespace {

constexpr unsigned n = 4;
const Template four = Template::of<int>(n);

PortOptions in_constant_memory(PortOptions port)
{
    port.form.binding = Binding::constant;
    return port;
}

/* y = table[x] + offset */
Task &add_look_up(Graph &graph, const std::string &name, PortOptions table, PortOptions offset)
{
    return graph.cuda(
        name, {ptask_kernels(), "look_up", Geometry{{1, 1, 1}, {n, 1, 1}}},
        {in("x", four), out("y", four), constant("n", n), in_constant_memory(table), in_constant_memory(offset)});
}

PortOptions offset_of(int value)
{
    return starting_with(sticky("offset", Template::of<int>(1)), block_of<int>({value}));
}

/* Each task has variables of its own, though the kernel is one. */
void two_tasks_of_one_kernel()
{
    Graph graph;
    Task &one = add_look_up(graph, "one", sticky("table", four), offset_of(0));
    Task &two = add_look_up(graph, "two", sticky("table", four), offset_of(100));
    Input &x = graph.input(one["x"]), &first = graph.input(one["table"]), &second = graph.input(two["table"]);
    Output &y = graph.output(two["y"]);
    graph.connect(one["y"], two["x"]);
    graph.run();
    first.push(block_of<int>({3, 2, 1, 0}));
    second.push(block_of<int>({10, 11, 12, 13}));
    for (int i = 0; i < 10; i++) {
        x.push(block_of<int>({i, i + 1, i + 2, i + 3}));
        std::vector<int> expected;
        for (int k = i; k < i + 4; k++)
            expected.push_back(113 - k % 4);
        CHECK(pulled<int>(y) == expected);
    }
}

/* Many runs are under way at once, each with its own content of the same variable. */
void another_for_each_run()
{
    constexpr int runs = 200;
    Graph graph;
    Task &task = add_look_up(graph, "task", in("table", four), offset_of(1));
    Input &x = graph.input(task["x"], runs), &table = graph.input(task["table"], runs);
    Output &y = graph.output(task["y"], runs);
    graph.run();
    for (int i = 0; i < runs; i++) {
        table.push(block_of<int>({i, 2 * i, 3 * i, 4 * i}));
        x.push(block_of<int>({3, 2, 1, 0}));
    }
    for (int i = 0; i < runs; i++)
        CHECK(pulled<int>(y) == std::vector<int>({4 * i + 1, 3 * i + 1, 2 * i + 1, i + 1}));
}

/* What came in as a constant is changed in place by the next task, and comes again. */
void changed_elsewhere_meanwhile()
{
    Graph graph;
    Task &increment = add_increment(graph, "increment");
    Task &task = add_look_up(graph, "task", in("table", four), offset_of(0));
    Input &numbers = graph.input(increment["x"]), &x = graph.input(task["x"]);
    Output &y = graph.output(task["y"]), &where = graph.output(increment["where"]);
    graph.connect(increment["x"], task["table"]);
    graph.run();
    DatablockPtr content = block_of<int>({0, 1, 2, 3});
    for (int i = 0; i < 3; i++) {
        numbers.push(content);
        x.push(block_of<int>({0, 1, 2, 3}));
        CHECK(pulled<int>(y) == std::vector<int>({1, 2, 3, 4}));
        where.pull();
    }
}

void on_the_host()
{
    Graph graph;
    Task &task = graph.host("task",
                            [](const Arguments &ports) {
                                for (unsigned i = 0; i < n; i++)
                                    static_cast<int *>(ports[1])[i] = static_cast<const int *>(ports[0])[i] * 2;
                            },
                            {in_constant_memory(in("x", four)), out("y", four)});
    Input &x = graph.input(task["x"]);
    Output &y = graph.output(task["y"]);
    graph.run();
    x.push(block_of<int>({1, 2, 3, 4}));
    CHECK(pulled<int>(y) == std::vector<int>({2, 4, 6, 8}));
}

void wrong_constants()
{
    Graph graph;
    auto add = [&graph](PortOptions table) {
        return [&graph, table] { add_look_up(graph, "t", table, offset_of(0)); };
    };
    CHECK(refused(add(in("tables", four)), {"t.tables", "look_up", "no variable tables"}));
    CHECK(
        refused(add(in("table", Template::of<int>(5))), {"t.table", "look_up", "16 bytes", "5 x 1 x 1 records of 4"}));
    CHECK(refused(add(in("table", Template::opaque())), {"t.table", "16 bytes", "any number"}));
    CHECK(refused(add(out("table", four)), {"t.table", "constant", "global"}));
    /* A variable is no parameter. */
    CHECK(refused(
        [&] {
            graph.cuda("t", {ptask_kernels(), "look_up"},
                       {in("x", four), out("y", four), in_constant_memory(in("n", four))});
        },
        {"look_up", "no variable n"}));
}

/* Their addresses may be another block's afterwards. */
void variables_go_with_their_module()
{
    ptsched::device::Device &gpu = *ptsched::device::gpus().at(0);
    auto code = ptsched::device::cuda_code(gpu, ptask_kernels(), "look_up", ptsched::device::Module::own);
    const auto table = code->variable("table");
    CHECK_EQ(table.value().bytes, sizeof(int[4]));
    unsigned type = 0;
    auto is_known = [&] {
        return cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, table->address) == CUDA_SUCCESS;
    };
    CHECK(is_known());
    code.reset();
    CHECK(!is_known());
}

} // namespace

Cases constant_cases()
{
    return {{"constant memory: two tasks of one kernel", two_tasks_of_one_kernel},
            {"constant memory: another content for each run", another_for_each_run},
            {"constant memory: its block is changed elsewhere meanwhile", changed_elsewhere_meanwhile},
            {"constant memory: of a host function", on_the_host},
            {"constant memory: variables go with their module", variables_go_with_their_module},
            {"constant memory: what is wrong is said", wrong_constants}};
}

} // namespace test
