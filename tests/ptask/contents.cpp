// SPDX-License-Identifier: MIT
/*
 * What goes into blocks and comes out of them: whatever is an array, views that keep a block, and inputs that stay as
 * they are.
 */
#include "tests/ptask/ptask_test.hpp"

#include <array>
#include <concepts>

namespace test {

namespace {

/* The example at the head of graph.hpp, as it stands there. */
void example_of_the_header()
{
    constexpr unsigned n = 4;
    const std::string module = kernels();
#include "example_of_the_header.inc"
    CHECK_EQ(product.size(), std::size_t{n * n});
    CHECK(std::ranges::all_of(product, [](float x) { return x == n * n; }));
}

const Template four = Template::of<int>(4);

/* y = x, of four integers. */
struct Copies {
    Copies() { graph.run(); }

    Graph graph;
    Task &task = graph.host("copy",
                            [](const Arguments &ports) {
                                const int *x = ports[0];
                                int *y = ports[1];
                                std::copy_n(x, 4, y);
                            },
                            {in("x", four), out("y", four)});
    Input &x = graph.input(task["x"]);
    Output &y = graph.output(task["y"]);
};

void what_people_have()
{
    std::vector<int> vector = {1, 2, 3, 4};
    const std::array<int, 4> array = {1, 2, 3, 4};
    const int plain[] = {1, 2, 3, 4};
    for (const DatablockPtr &block :
         {Datablock::of(vector), Datablock::of(std::span(vector)), Datablock::of(std::span<const int>(vector)),
          Datablock::of(array), Datablock::of(plain), Datablock::of({1, 2, 3, 4}), Datablock::of(vector.data(), 16),
          Datablock::of(Datablock::of(vector)->as<int>())})
        CHECK(content<int>(block) == vector);
    CHECK_EQ(Datablock::of(std::string("four"))->bytes(), std::size_t{4});
    CHECK_EQ(Datablock::of(std::vector<int>())->bytes(), std::size_t{0});
}

/* What a temporary view shows is gone with it: it becomes no span that could be used later. */
static_assert(!std::convertible_to<View<int>, std::span<const int>>);
static_assert(!std::constructible_from<std::span<const int>, View<int>>);
static_assert(std::convertible_to<const View<int> &, std::span<const int>>);
static_assert(std::same_as<decltype(std::declval<View<int>>()[0]), int>);

/* A block's memory is used again as soon as nobody has it. */
void views_keep_their_block()
{
    Copies copies;
    copies.x.push(Datablock::of({1, 2, 3, 4}));
    const View<int> first = copies.y.pull<int>();
    const int *const shown = first.data();
    for (int i = 0; i < 10; i++) {
        copies.x.push(Datablock::of({5, 6, 7, 8}));
        CHECK(copies.y.pull<int>().size() == 4);
    }
    CHECK(shown == first.data() && std::ranges::equal(first, std::vector{1, 2, 3, 4}));
    CHECK(!copies.y.pull<int>(0ns));
    CHECK(refused([] { Datablock::of({1, 2, 3})->as<double>(); }, {"12 bytes", "elements of 8"}));
}

/* A function that asks for more than it may have fails, and what the program keeps is as it was. */
template <typename Function> void stays(Function function)
{
    Graph graph;
    Task &task = graph.callback("greedy", function, {in("x", four), sticky("kept", four), out("y", four)});
    Input &x = graph.input(task["x"]);
    Input &kept = graph.input(task["kept"]);
    Output &y = graph.output(task["y"]);
    graph.run();
    const DatablockPtr first = Datablock::of({1, 2, 3, 4}), second = Datablock::of({5, 6, 7, 8});
    kept.push(second);
    x.push(first);
    CHECK(refused([&] { y.pull(); }, {"task greedy", "greedy.", "only takes"}));
    CHECK(content<int>(first) == std::vector({1, 2, 3, 4}) && content<int>(second) == std::vector({5, 6, 7, 8}));
}

void inputs_are_not_written()
{
    static_assert(!std::convertible_to<const void *, void *>);
    static_assert(std::same_as<decltype(std::declval<Call &>().at(0)), const void *>);
    stays([](Call &call) { *call.at<int>(0) = 9; });
    stays([](Call &call) { *call.at<int>(1) = 9; });
    stays([](Call &call) { *static_cast<int *>(call.arguments()[0]) = 9; });
}

void functions_of_addresses()
{
    Graph graph;
    bool may_write[3] = {};
    Task &task =
        graph.host("look",
                   [&](const Arguments &ports) {
                       for (std::size_t i = 0; i < ports.size(); i++)
                           may_write[i] = ports[i].is_written();
                       CHECK(refused([&] { (void)static_cast<int *>(ports[0]); }, {"look.x", "only takes", "inout"}));
                       CHECK(refused([&] { (void)ports[3]; }, {"no parameter 3", "has 3"}));
                   },
                   {in("x", four), out("y", four), inout("z", four)});
    Input &x = graph.input(task["x"]), &z = graph.input(task["z"]);
    Output &y = graph.output(task["y"]);
    graph.run();
    x.push(Datablock::of({1, 2, 3, 4}));
    z.push(Datablock::of({1, 2, 3, 4}));
    CHECK(y.pull());
    CHECK(!may_write[0] && may_write[1] && may_write[2]);
}

} // namespace

Cases content_cases()
{
    return {{"the example at the head of graph.hpp", example_of_the_header},
            {"a block is made of what people have", what_people_have},
            {"a view keeps its block", views_keep_their_block},
            {"what a function is given to read stays as it is", inputs_are_not_written},
            {"a function knows what it may write", functions_of_addresses}};
}

} // namespace test
