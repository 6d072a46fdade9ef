// SPDX-License-Identifier: MIT
/* Blocks that begin with something, and blocks whose size another port says. */
#include "tests/ptask/ptask_test.hpp"

#include <numeric>

namespace test {

namespace {

const auto integer = Template::of<unsigned>(1);

/* Those of @n numbers that are not 0: how many is known when the second task is to run. */
struct Select {
    Select(unsigned n, bool count_on_gpu)
    {
        auto form = Template::of<int>(n), some = Template::variable<int>(n);
        Task &counts = count_on_gpu ? add_gpu_count(n) : add_host_count(n);
        Task &selects =
            graph.cuda("select", {ptask_kernels(), "select_set"},
                       {in("x", form), metadata("records"), sized_by(out("y", some), "records"), constant("n", n)});
        graph.connect(counts["count"], selects["records"]);
        to_count = &graph.input(counts["x"]);
        to_select = &graph.input(selects["x"]);
        selected = &graph.output(selects["y"]);
        graph.run();
    }

    Task &add_gpu_count(unsigned n)
    {
        return graph.cuda("count", {ptask_kernels(), "count_set", Geometry{{1, 1, 1}, {n, 1, 1}}},
                          {in("x", Template::of<int>(n)), zeroed(out("count", integer)), constant("n", n)});
    }

    Task &add_host_count(unsigned n)
    {
        return graph.host("count",
                          [n](const Arguments &ports) {
                              auto *x = static_cast<const int *>(ports[0]);
                              *static_cast<unsigned *>(ports[1]) = n - static_cast<unsigned>(std::count(x, x + n, 0));
                          },
                          {in("x", Template::of<int>(n)), out("count", integer)});
    }

    void push(const std::vector<int> &values)
    {
        DatablockPtr block = block_of(values);
        to_count->push(block);
        to_select->push(block);
    }

    Graph graph;
    Input *to_count, *to_select;
    Output *selected;
};

void selection(bool count_on_gpu)
{
    constexpr unsigned n = 100;
    Select select(n, count_on_gpu);
    std::vector<std::vector<int>> expected;
    for (unsigned i = 0; i < 10; i++) {
        std::vector<int> values(n, 0);
        for (unsigned k = 0; k < i * 10; k++)
            values[(7 * k) % n] = static_cast<int>(k + 1);
        select.push(values);
        std::erase(values, 0);
        expected.push_back(values);
    }
    for (const auto &values : expected)
        CHECK(pulled<int>(*select.selected) == values);
}

/* A bin is as at the beginning for each run. */
void outputs_begin_with_a_content()
{
    constexpr unsigned n = 8;
    Graph graph;
    Task &counts = graph.cuda("count", {ptask_kernels(), "count_set", Geometry{{1, 1, 1}, {n, 1, 1}}},
                              {in("x", Template::of<int>(n)),
                               starting_with(inout("count", integer), block_of<unsigned>({100})), constant("n", n)});
    Input &x = graph.input(counts["x"]);
    Output &count = graph.output(counts["count"]);
    graph.run();
    for (unsigned i = 0; i < n; i++) {
        std::vector<int> values(n, 0);
        std::fill_n(values.begin(), i, 1);
        x.push(block_of(values));
    }
    for (unsigned i = 0; i < n; i++)
        CHECK_EQ(pulled<unsigned>(count).at(0), 100 + i);
}

Task &add_reverse(Graph &graph, Template form)
{
    return graph.callback("reverse",
                          [](Call &call) {
                              auto *x = call.at<const char>(0);
                              std::reverse_copy(x, x + call.bytes(0), call.at<char>(1));
                          },
                          {in("x", form), sized_by(out("y", form), "x")});
}

void as_many_as_came()
{
    for (Template form : {Template::variable<char>(10), Template::opaque()}) {
        Graph graph;
        Task &reverse = add_reverse(graph, form);
        Input &x = graph.input(reverse["x"]);
        Output &y = graph.output(reverse["y"]);
        graph.run();
        for (std::string word : {"a", "graph", "of", "tasks"}) {
            x.push(Datablock::of(word.data(), word.size()));
            std::reverse(word.begin(), word.end());
            auto got = pulled<char>(y);
            CHECK(std::string(got.begin(), got.end()) == word);
        }
        if (form.layout == Layout::variable)
            CHECK(refused([&] { x.push(Datablock::of("too long by 2", 12)); },
                          {"12 bytes", "reverse.x", "at most 10 records of 1"}));
    }
}

/* What a GPU computes is passed by value to a kernel. */
void a_value_from_a_gpu()
{
    constexpr unsigned n = 6;
    Graph graph;
    auto form = Template::of<int>(n);
    Task &counts = graph.cuda("count", {ptask_kernels(), "count_set", Geometry{{1, 1, 1}, {n, 1, 1}}},
                              {in("x", form), zeroed(out("count", integer)), constant("n", n)});
    Task &increments =
        graph.cuda("increment", {ptask_kernels(), "increment"},
                   {inout("x", form), out("where", Template::of<void *>(1)), by_value(in("n", integer))});
    graph.connect(counts["count"], increments["n"]);
    Input &x = graph.input(counts["x"]), &z = graph.input(increments["x"]);
    Output &y = graph.output(increments["x"]);
    graph.output(increments["where"]);
    graph.run();
    x.push(block_of<int>({1, 1, 0, 1, 0, 0}));
    z.push(block_of<int>({7, 7, 7, 7, 7, 7}));
    CHECK(pulled<int>(y) == std::vector<int>({8, 8, 8, 7, 7, 7}));
}

/* What an inout port has when a run begins is the number, wherever that port is among the parameters. */
void sized_by_an_inout_port()
{
    Graph graph;
    Task &task = graph.callback("fill",
                                [](Call &call) {
                                    std::fill_n(call.at<int>(1), call.records(1), 7);
                                    *call.at<unsigned>(0) += 1;
                                },
                                {inout("n", integer), sized_by(out("y", Template::variable<int>(5)), "n")});
    Input &n = graph.input(task["n"]);
    Output &y = graph.output(task["y"]), &more = graph.output(task["n"]);
    graph.run();
    for (unsigned i = 0; i < 5; i++) {
        DatablockPtr number = block_of<unsigned>({i});
        n.push(number);
        CHECK(pulled<int>(y) == std::vector<int>(i, 7));
        CHECK_EQ(pulled<unsigned>(more).at(0), i + 1);
        CHECK_EQ(content<unsigned>(number).at(0), i);
    }
}

/* A kernel reads as many records as the one before has written: their number comes by its side, from a GPU. */
void a_kernel_learns_the_count()
{
    constexpr unsigned n = 100;
    Graph graph;
    auto form = Template::of<int>(n), some = Template::variable<int>(n);
    const Geometry all{{1, 1, 1}, {n, 1, 1}};
    Task &counts = graph.cuda("count", {ptask_kernels(), "count_set", all},
                              {in("x", form), zeroed(out("count", integer)), constant("n", n)});
    Task &first = graph.cuda("first", {ptask_kernels(), "first_numbers", all},
                             {in("x", form), inout("count", integer), sized_by(out("y", some), "count")});
    Task &next = graph.cuda("next", {ptask_kernels(), "successor"}, {inout("x", some), by_value(in("n", integer))});
    Input &x = graph.input(counts["x"]);
    graph.connect(x, first["x"]);
    graph.connect(counts["count"], first["count"]);
    graph.connect(first["y"], next["x"]);
    graph.connect(first["count"], next["n"]);
    Output &y = graph.output(next["x"]);
    graph.run();
    auto records_of = [](unsigned i) { return (37 * i) % n; };
    auto numbers = [&](unsigned i, int from) {
        std::vector<int> values(records_of(i));
        std::iota(values.begin(), values.end(), from);
        return values;
    };
    for (unsigned i = 0; i < 10; i++) {
        std::vector<int> values = numbers(i, 1);
        values.resize(n, 0);
        x.push(block_of(values));
    }
    for (unsigned i = 0; i < 10; i++) {
        DatablockPtr block = y.pull();
        CHECK_EQ(y.port().records(*block), records_of(i));
        CHECK(content<int>(block) == numbers(i, 2));
    }
}

void record_counts()
{
    const auto pairs = Template::variable<std::pair<int, int>>(10);
    CHECK_EQ(pairs.records(), std::size_t{10});
    CHECK_EQ(pairs.records(3 * sizeof(std::pair<int, int>)), std::size_t{3});
    CHECK_EQ(Template::of<double>(4, 3, 2).records(24 * sizeof(double)), std::size_t{24});
    CHECK_EQ(Template::opaque().records(7), std::size_t{7});
}

void too_many_records()
{
    Graph graph;
    auto some = Template::variable<int>(5);
    Task &task = graph.callback("fill", [](Call &) {}, {metadata("n", 8), sized_by(out("y", some), "n")});
    Input &n = graph.input(task["n"]);
    Output &y = graph.output(task["y"]);
    graph.run();
    n.push_value(std::uint64_t{5});
    CHECK_EQ(pulled<int>(y).size(), std::size_t{5});
    n.push_value(std::uint64_t{6});
    CHECK(refused([&] { y.pull(); }, {"fill", "y", "6 records", "at most 5"}));
}

/* Whose bytes are a small number again, modulo 2^64. */
void more_bytes_than_there_can_be()
{
    Graph graph;
    const Template records{{1, 1, 1}, 8, Layout::opaque};
    Task &task = graph.callback("fill", [](Call &) {}, {metadata("n", 8), sized_by(out("y", records), "n")});
    Input &n = graph.input(task["n"]);
    Output &y = graph.output(task["y"]);
    graph.run();
    n.push_value(std::uint64_t{2});
    CHECK_EQ(pulled<std::uint64_t>(y).size(), std::size_t{2});
    n.push_value((std::uint64_t{1} << 61) + 1);
    CHECK(refused([&] { y.pull(); }, {"fill", "output y", "2305843009213693953 records of 8", "more than"}));

    Graph other;
    const std::size_t many = (std::size_t{1} << 32) + 1, half = std::size_t{1} << 32;
    auto add = [&other](const Template &form) {
        return [&other, form] { other.callback("t", [](Call &) {}, {inout("x", form)}); };
    };
    CHECK(refused(add({{many, many, 1}, 4}), {"t.x", "4294967297 x 4294967297 x 1 records of 4", "more than"}));
    CHECK(refused(add({{half, half, 1}, 4}), {"t.x", "4294967296 x 4294967296 x 1 records of 4", "more than"}));
    CHECK(refused(add({{many, 1, 1}, half, Layout::variable}), {"t.x", "at most 4294967297 records", "more than"}));
    CHECK(refused(add({{4, 0, 1}, 4}), {"t.x", "without bytes"}));
    CHECK(refused(add({{4, 1, 1}, 0}), {"t.x", "without bytes"}));
}

void wrong_sizes()
{
    Graph graph;
    auto one = Template::of<int>(1), some = Template::variable<int>(5);
    auto add = [&](const std::vector<PortOptions> &ports) {
        return [&graph, ports] {
            graph.callback(
                "t", [](Call &) {}, ports);
        };
    };
    CHECK(refused(add({in("x", one), out("y", some)}), {"t.y", "sized_by"}));
    CHECK(refused(add({in("x", one), sized_by(out("y", some), "z")}), {"t.y", "z", "no input"}));
    CHECK(refused(add({in("x", one), sized_by(out("y", one), "x")}), {"t.y", "x", "only an output of variable"}));
    CHECK(refused(add({in("x", Template::of<int>(2)), sized_by(out("y", some), "x")}),
                  {"t.y", "t.x", "2 x 1 x 1", "integer"}));
    CHECK(refused(add({metadata("x", 3)}), {"t.x", "3 bytes", "4 or 8"}));
    CHECK(refused(add({starting_with(in("x", one), block_of<int>({1, 2}))}), {"t.x", "1 x 1 x 1", "8 bytes"}));
    CHECK(refused(add({starting_with(in("x", one), Datablock::empty(4))}), {"t.x", "without content"}));
    Template constant = one;
    constant.binding = Binding::constant;
    CHECK(refused(add({out("y", constant)}), {"t.y", "constant", "global"}));
    CHECK(refused(add({by_value(out("y", one))}), {"t.y", "by value"}));
    /* A kernel reads all of its parameter, however short the block is. */
    for (const Template &form : {some, Template::opaque()})
        CHECK(refused(add({inout("x", one), by_value(in("n", form))}),
                      {"t.n", form.describe(), "by value has a fixed form"}));
    Task &fixed = graph.callback("fixed", [](Call &) {}, {in("x", one), out("y", one)});
    Task &varies = graph.callback("varies", [](Call &) {}, {in("x", some)});
    CHECK(refused([&] { graph.connect(fixed["y"], varies["x"]); },
                  {"fixed.y", "varies.x", "1 x 1 x 1 records of 4", "at most 5 records of 4"}));
    Task &square = graph.callback("square", [](Call &) {}, {inout("x", {{4, 4, 1}, 4, Layout::variable})});
    Task &row = graph.callback("row", [](Call &) {}, {inout("x", {{16, 1, 1}, 4, Layout::variable})});
    CHECK(refused([&] { graph.connect(square["x"], row["x"]); },
                  {"square.x gives at most 4 x 4 x 1 records", "row.x takes at most 16 records"}));
}

} // namespace

Cases size_cases()
{
    return {{"a selection whose size the host counts", [] { selection(false); }},
            {"a selection whose size a GPU counts", [] { selection(true); }},
            {"outputs begin with a content", outputs_begin_with_a_content},
            {"as many records as came", as_many_as_came},
            {"a value that a GPU computes", a_value_from_a_gpu},
            {"a size that an inout port says", sized_by_an_inout_port},
            {"a kernel learns how many records there are", a_kernel_learns_the_count},
            {"how many records blocks have", record_counts},
            {"more records than there may be", too_many_records},
            {"more bytes than there can be", more_bytes_than_there_can_be},
            {"what is wrong with a size is said", wrong_sizes}};
}

} // namespace test
