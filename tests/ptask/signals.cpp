// SPDX-License-Identifier: MIT
/* What travels with datablocks. */
#include "tests/ptask/ptask_test.hpp"

#include <atomic>
#include <thread>

namespace test {

namespace {

const auto one = Template::of<int>(1);

struct Sum {
    Sum()
    {
        Task &first = graph.callback("add",
                                     [this](Call &call) {
                                         runs++;
                                         *call.at<int>(2) = *call.at<const int>(0) + *call.at<const int>(1);
                                         if (*call.at<int>(2) < 0)
                                             call.report("negative");
                                         if (*call.at<int>(2) == 0)
                                             call.end_stream();
                                     },
                                     {in("x", one), in("y", one), out("z", one)});
        Task &second = graph.host("pass", [this](const Arguments &) { runs++; }, {inout("x", one)});
        graph.connect(first["z"], second["x"]);
        x = &graph.input(first["x"]);
        y = &graph.input(first["y"]);
        sum = &graph.output(second["x"]);
        graph.run();
    }

    std::atomic<int> runs{0};
    Graph graph;
    Input *x, *y;
    Output *sum;
};

void parameters_that_there_are_not()
{
    Graph graph;
    Task &task = graph.callback(
        "f",
        [](Call &call) {
            for (auto get : {+[](Call &c) { c.at(2); }, +[](Call &c) { c.bytes(2); }, +[](Call &c) { c.records(2); }})
                CHECK(refused([&] { get(call); }, {"no parameter 2", "has 2", "metadata"}));
            *call.at<int>(1) = *call.at<const int>(0);
        },
        {in("x", one), out("y", one), metadata("m")});
    Input &x = graph.input(task["x"]), &m = graph.input(task["m"]);
    Output &y = graph.output(task["y"]);
    graph.run();
    x.push_value(3);
    m.push_value(4);
    CHECK_EQ(pulled<int>(y).at(0), 3);
}

void the_end_of_a_stream()
{
    Sum sum;
    sum.x->push_value(1);
    sum.y->push_value(2);
    sum.x->end_stream();
    sum.y->end_stream();
    sum.x->send({block_of<int>({3}), true});
    sum.y->push_value(4);
    CHECK_EQ(pulled<int>(*sum.sum).at(0), 3);
    std::optional<Item> end = sum.sum->take();
    CHECK(end && end->end_of_stream && !end->block && !end->error);
    std::optional<Item> last = sum.sum->take();
    if (CHECK(last && last->end_of_stream && last->block))
        CHECK_EQ(content<int>(last->block).at(0), 7);
    CHECK_EQ(sum.runs.load(), 4);
    CHECK(!sum.sum->take(0ns));
}

/* The one that has an error is not computed, and the others are. */
void errors_travel()
{
    Sum sum;
    for (int i = 1; i <= 3; i++) {
        sum.y->push_value(10);
        if (i == 2)
            sum.x->send({nullptr, false, text("lost")});
        else
            sum.x->push_value(i);
    }
    CHECK_EQ(pulled<int>(*sum.sum).at(0), 11);
    CHECK(refused([&] { sum.sum->pull(); }, {"lost"}));
    CHECK_EQ(pulled<int>(*sum.sum).at(0), 13);
    CHECK_EQ(sum.runs.load(), 4);
}

void callbacks_give_signals()
{
    Sum sum;
    for (int x : {-1, 0, 1}) {
        sum.x->push_value(x);
        sum.y->push_value(0);
    }
    std::optional<Item> negative = sum.sum->take(), zero = sum.sum->take(), positive = sum.sum->take();
    CHECK(negative && negative->error && *negative->error == "negative" && negative->block);
    CHECK(zero && zero->end_of_stream && zero->block && !zero->error);
    CHECK(positive && !positive->end_of_stream && !positive->error);
}

/* It is what is pulled next, once. */
void an_end_that_comes_with_a_block()
{
    Sum sum;
    for (int x : {1, 0, 2}) {
        sum.x->push_value(x);
        sum.y->push_value(0);
    }
    std::vector<int> got;
    while (DatablockPtr block = sum.sum->pull())
        got.push_back(content<int>(block).at(0));
    CHECK(got == std::vector<int>({1, 0}));
    CHECK_EQ(pulled<int>(*sum.sum).at(0), 2);
    CHECK(!sum.sum->take(0ns));
}

void an_end_that_comes_with_an_error()
{
    Sum sum;
    for (int i = 0; i < 2; i++) {
        sum.x->send({block_of<int>({1}), true, text("lost")});
        sum.y->push_value(i);
    }
    CHECK(refused([&] { sum.sum->pull(); }, {"lost"}));
    CHECK(!sum.sum->pull());
    CHECK(refused([&] { sum.sum->pull(); }, {"lost"}));
    std::optional<Item> end = sum.sum->take();
    CHECK(end && end->end_of_stream && !end->block && !end->error);
    CHECK(!sum.sum->take(0ns));
}

/* Each end is for one of them, and nothing else is lost. */
void several_pull_until_the_end()
{
    constexpr int threads = 3, blocks = 60;
    Graph graph;
    Task &pass = graph.host("pass", [](const Arguments &) {}, {inout("x", one)});
    Input &x = graph.input(pass["x"]);
    Output &y = graph.output(pass["x"], 1);
    graph.run();
    std::atomic<int> sum{0};
    std::vector<std::thread> pullers;
    for (int i = 0; i < threads; i++)
        pullers.emplace_back([&] {
            while (DatablockPtr block = y.pull())
                sum += content<int>(block).at(0);
        });
    for (int i = 1; i <= blocks; i++)
        x.send({block_of<int>({i}), i % (blocks / threads) == 0});
    for (std::thread &puller : pullers)
        puller.join();
    CHECK_EQ(sum.load(), blocks * (blocks + 1) / 2);
    CHECK(!y.take(0ns));
}

/* They leave a loop at once, and what comes after them enters it. */
void signals_leave_loops()
{
    Graph graph;
    Task &halve = graph.cuda("halve", {ptask_kernels(), "halve"},
                             {inout("x", one), zeroed(inout("rounds", one)), out("again", Template::of<unsigned>(1))});
    graph.loop(halve["x"], halve["x"], halve["again"]);
    Input &x = graph.input(halve["x"]);
    Output &last = graph.output(halve["x"]), &rounds = graph.output(halve["rounds"]);
    graph.run();
    x.push_value(8);
    x.end_stream();
    x.push_value(4);
    CHECK_EQ(pulled<int>(last).at(0), 1);
    std::optional<Item> end = last.take();
    CHECK(end && end->end_of_stream && !end->block);
    CHECK_EQ(pulled<int>(last).at(0), 1);
    /* Each round begins with 0, as this one does not go round. */
    CHECK_EQ(pulled<int>(rounds).at(0), 1);
    CHECK(!rounds.pull());
    CHECK_EQ(pulled<int>(rounds).at(0), 1);
    CHECK_EQ(halve.skipped(), std::uint64_t{1});
}

} // namespace

Cases signal_cases()
{
    return {{"a function asks for a parameter that it does not have", parameters_that_there_are_not},
            {"the end of a stream", the_end_of_a_stream},
            {"errors travel with what they spoiled", errors_travel},
            {"callbacks give signals", callbacks_give_signals},
            {"an end that comes with a block", an_end_that_comes_with_a_block},
            {"an end that comes with an error", an_end_that_comes_with_an_error},
            {"several threads pull until the end", several_pull_until_the_end},
            {"signals leave loops", signals_leave_loops}};
}

} // namespace test
