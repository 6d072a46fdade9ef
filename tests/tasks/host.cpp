// SPDX-License-Identifier: MIT
/* Tasks of the host: their order, what they make, how they end and fail. */
#include "tests/tasks/cases.hpp"

#include <atomic>
#include <optional>
#include <stdexcept>
#include <thread>

using namespace test;
using namespace ptsched::tasks;

namespace {

/* What a call throws, as text; empty if it throws nothing. */
template <typename Function> std::string thrown_by(Function function)
{
    try {
        function();
    } catch (const std::exception &error) {
        return error.what();
    }
    return {};
}

bool has(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

/* Each digit needs the one before. */
void a_chain_is_in_order()
{
    Runtime tasks({.workers = 3});
    unsigned long found = 0, expected = 0;
    for (unsigned i = 0; i < 5000; i++) {
        tasks.host([i](unsigned long *value) { *value = *value * 31 + i; }, inout(found));
        expected = expected * 31 + i;
    }
    tasks.wait();
    CHECK_EQ(found, expected);
    CHECK_EQ(tasks.state().live, std::size_t{0});
}

/* A tile and a row of it are different shapes with the same bytes. */
void shapes_that_overlap()
{
    Runtime tasks({.workers = 3});
    std::vector<unsigned> matrix(64, 0);
    const Tile<unsigned> tile{matrix.data() + 9, 4, 4, 8};
    for (int round = 0; round < 100; round++) {
        tasks.host(
            [](const Tile<unsigned> &all) {
                for (std::size_t row = 0; row < 4; row++)
                    for (std::size_t column = 0; column < 4; column++)
                        all(row, column)++;
            },
            inout(tile));
        tasks.host([](unsigned *row) { row[2] *= 2; }, inout(matrix.data() + 16, 8));
    }
    tasks.wait();
    unsigned expected = 0;
    for (int round = 0; round < 100; round++)
        expected = (expected + 1) * 2;
    CHECK_EQ(matrix[18], expected);
    CHECK_EQ(matrix[9], 100U);
    CHECK_EQ(matrix[8], 0U);
}

void commutative_tasks_exclude_each_other()
{
    Runtime tasks({.workers = 4});
    long sum = 0, other = 0;
    for (int i = 0; i < 1000; i++) {
        tasks.host([](long *a, long *b) { ++*a, ++*b; }, commutative(sum), commutative(other));
        tasks.host([](long *b, long *a) { ++*a, ++*b; }, commutative(other), commutative(sum));
    }
    tasks.wait();
    CHECK_EQ(sum, 2000L);
    CHECK_EQ(other, 2000L);
}

void reductions_are_there_for_readers()
{
    Runtime tasks({.workers = 4});
    std::array<long, 3> sums{1, 2, 3};
    long product = 3, seen = 0;
    for (long i = 0; i < 1000; i++)
        tasks.host([i](long *s) { s[i % 3] += i; }, reduction<Sum>(sums));
    tasks.host([&seen](const long *s) { seen = s[0] + s[1] + s[2]; }, in(sums));
    for (int i = 0; i < 5; i++)
        tasks.host([](long *p) { *p *= 2; }, reduction<Product>(product));
    tasks.wait();
    CHECK_EQ(seen, 999L * 500 + 6);
    CHECK_EQ(product, 96L);
}

/* The outer ones begin before what they declare is there; their own keep the order of the outer ones. */
void tasks_in_tasks()
{
    Runtime tasks({.workers = 4});
    std::vector<unsigned> numbers(8, 0);
    unsigned expected = 0;
    for (unsigned round = 1; round <= 50; round++) {
        tasks.host(
            [&tasks, &numbers, round] {
                for (std::size_t i = 0; i < numbers.size(); i++)
                    tasks.host([round](unsigned *number) { *number = *number * 3 + round; }, inout(&numbers[i], 1));
            },
            weak_inout(numbers));
        expected = expected * 3 + round;
    }
    tasks.wait();
    for (const unsigned number : numbers)
        CHECK_EQ(number, expected);
}

void a_task_waits_for_its_own()
{
    Runtime tasks({.workers = 2});
    long value = 0;
    bool was_right = false;
    tasks.host(
        [&] {
            for (int i = 0; i < 100; i++)
                tasks.host([](long *v) { ++*v; }, inout(value));
            tasks.wait();
            was_right = value == 100;
        },
        inout(value));
    tasks.wait(in(value));
    CHECK(was_right);
}

/* The one worker is not free until all are there; then what is more urgent goes first. */
void urgent_tasks_go_first()
{
    Runtime tasks({.workers = 1});
    std::atomic<bool> begun{false}, go{false}, all{false};
    std::vector<int> order;
    long value = 0;
    tasks.host(
        [&] {
            begun = true;
            CHECK(comes_true([&] { return go.load(); }));
        },
        out(value));
    for (const int priority : {1, 3, 2})
        tasks.host(
            {.name = "urgent", .priority = priority}, [&order, priority] { order.push_back(priority); }, in(value));
    tasks.host(
        {.priority = -2}, [&all] { all = true; }, in(value));
    tasks.host(
        {.priority = -1}, [&order] { order.push_back(-1); }, in(value));
    tasks.host([&order] { order.push_back(0); }, in(value));
    CHECK(comes_true([&] { return begun.load(); }));
    go = true;
    CHECK(comes_true([&] { return all.load(); }));
    tasks.wait();
    CHECK(order == (std::vector{3, 2, 1, 0, -1}));
}

void a_hold_keeps_a_task()
{
    Runtime tasks({.workers = 2});
    std::optional<Hold> hold;
    std::atomic<bool> returned{false};
    int value = 0, seen = -1;
    tasks.host(
        [&] {
            hold.emplace();
            returned = true;
        },
        out(value));
    tasks.host([&seen](const int *v) { seen = *v; }, in(value));
    CHECK(comes_true([&] { return returned.load(); }));
    CHECK(!tasks.wait_for(std::chrono::milliseconds(20)));
    CHECK_EQ(seen, -1);
    value = 5;
    std::thread([&] { hold.reset(); }).join();
    tasks.wait();
    CHECK_EQ(seen, 5);
    CHECK(has(thrown_by([] { const Hold none; }), "outside of a task"));
}

void failures_surface_once()
{
    Runtime tasks({.workers = 2});
    int value = 0;
    bool ran = false;
    tasks.host(
        {.name = "breaks"}, [] { throw std::runtime_error("no luck"); }, out(value));
    tasks.host([&ran] { ran = true; }, in(value));
    const std::string text = thrown_by([&] { tasks.wait(); });
    CHECK(has(text, "breaks") && has(text, "no luck"));
    CHECK(!ran);
    tasks.wait();
    tasks.host([&ran] { ran = true; }, in(value));
    tasks.wait();
    CHECK(ran);
}

/* A task that has not waited for what it made fails by it. */
void failures_inside_reach_the_outside()
{
    Runtime tasks({.workers = 2});
    tasks.host({.name = "outer"}, [&] { tasks.host({.name = "inner"}, [] { throw std::runtime_error("deep"); }); });
    const std::string text = thrown_by([&] { tasks.wait(); });
    CHECK(has(text, "outer") && has(text, "inner") && has(text, "deep"));
}

void what_cannot_be_is_refused()
{
    CHECK(has(thrown_by([] { Runtime tasks({.workers = 5000}); }), "workers is 5000"));
    CHECK(has(thrown_by([] { Runtime tasks({.streams = 0}); }), "streams is 0"));
    Runtime tasks({.workers = 2});
    int *const none = nullptr;
    const Tile<int> narrow{reinterpret_cast<int *>(64), 3, 4, 2};
    CHECK(has(thrown_by([&] { tasks.host([] {}, in(none, 3)); }), "null pointer"));
    CHECK(has(thrown_by([&] {
                  tasks.host(
                      {.name = "narrow"}, [] {}, in(narrow));
              }),
              "stride"));
    CHECK(has(thrown_by([&] { tasks.wait(in(narrow)); }), "stride"));
    CHECK(has(thrown_by([&] { tasks.array<double>((std::size_t{1} << 61) + 1); }), "larger than any memory"));
    CHECK(has(thrown_by([&] { tasks.host({.name = nullptr}, [] {}); }), "name is null"));
    CHECK(has(thrown_by([&] { tasks.host({.name = "far", .device = 99}, [] {}); }), "device 99"));
    tasks.wait();
}

void an_array_that_goes_too_early()
{
    Runtime tasks({.workers = 2});
    std::atomic<bool> begun{false}, go{false};
    int seen = 0;
    {
        auto numbers = tasks.array<int>(100);
        numbers[7] = 7;
        tasks.host(
            {.name = "late"},
            [&](const int *n) {
                begun = true;
                CHECK(comes_true([&] { return go.load(); }));
                seen = n[7];
            },
            in(numbers));
        CHECK(comes_true([&] { return begun.load(); }));
    }
    go = true;
    const std::string text = thrown_by([&] { tasks.wait(); });
    CHECK(has(text, "late") && has(text, "freed"));
    CHECK_EQ(seen, 7);
}

void threads_make_tasks_at_once()
{
    Runtime tasks({.workers = 3});
    std::vector<long> sums(4, 0);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < sums.size(); i++)
        threads.emplace_back([&tasks, &sums, i] {
            for (int j = 0; j < 1000; j++)
                tasks.host([](long *sum) { ++*sum; }, inout(&sums[i], 1));
        });
    for (std::thread &thread : threads)
        thread.join();
    tasks.wait();
    for (const long sum : sums)
        CHECK_EQ(sum, 1000L);
}

} // namespace

std::vector<tap::Case> test::host_cases()
{
    return {{"a chain is in order", a_chain_is_in_order},
            {"shapes that overlap in part", shapes_that_overlap},
            {"commutative tasks exclude each other", commutative_tasks_exclude_each_other},
            {"reductions are there for readers", reductions_are_there_for_readers},
            {"tasks in tasks", tasks_in_tasks},
            {"a task waits for its own", a_task_waits_for_its_own},
            {"urgent tasks go first", urgent_tasks_go_first},
            {"a hold keeps a task from ending", a_hold_keeps_a_task},
            {"failures surface once", failures_surface_once},
            {"failures inside reach the outside", failures_inside_reach_the_outside},
            {"what cannot be is refused", what_cannot_be_is_refused},
            {"an array that goes too early", an_array_that_goes_too_early},
            {"threads make tasks at once", threads_make_tasks_at_once}};
}
