// SPDX-License-Identifier: MIT
/* Tasks go in and come back: of several kinds and sizes, by many threads, bounded, in order of what they depend on. */
#include "tests/pool/waiting.hpp"
#include <ptsched/device/allocation.hpp>
#include <ptsched/pool/ordered.hpp>

#include <atomic>
#include <set>
#include <thread>

using namespace test;
using namespace std::chrono_literals;

namespace {

void one_task()
{
    Squares squares(options_for("squares"));
    CHECK_EQ(squares.unfinished(), std::size_t{0});
    squares.push(Square{3, 0, 17});
    CHECK_EQ(squares.unfinished(), std::size_t{1});
    const auto done = squares.pop();
    CHECK(done && done->result == 9 && done->id == 17);
    CHECK_EQ(squares.unfinished(), std::size_t{0});
    CHECK(!squares.try_pop());
}

/* More than there are slots, so that each is used again and again. */
void many_tasks()
{
    constexpr unsigned long long count = 2000;
    Squares squares(options_for("squares"));
    std::thread pushes([&] {
        for (unsigned long long i = 0; i < count; i++)
            squares.push(Square{static_cast<double>(i), 0, i});
    });
    std::set<unsigned long long> seen;
    for (unsigned long long i = 0; i < count; i++) {
        const auto done = squares.pop();
        if (CHECK(done) && done->result == done->value * done->value)
            seen.insert(done->id);
    }
    pushes.join();
    CHECK_EQ(seen.size(), std::size_t{count});
    CHECK_EQ(squares.state().on_devices, std::uint64_t{count});
}

void several_kinds()
{
    auto options = options_for("mixed");
    options.outputs = 2;
    Mixed pool(options);
    Reverse numbers{};
    for (unsigned i = 0; i < 64; i++)
        numbers.values[i] = i;
    pool.push(numbers, {.output = 1});
    pool.push(Square{5, 0, 1}, {.output = 0});
    const auto square = pool.pop(0), reversed = pool.pop(1);
    CHECK(square && std::get<Square>(*square).result == 25);
    if (CHECK(reversed && std::holds_alternative<Reverse>(*reversed)))
        for (unsigned i = 0; i < 64; i++)
            CHECK_EQ(std::get<Reverse>(*reversed).values[i], 63 - i);
}

/* The paper's example (3.3): c depends on a, and b runs beside both. Outputs say which has come back. */
void paper_example()
{
    auto options = options_for("mixed");
    options.outputs = 2;
    Mixed pool(options);
    device::Allocation memory = device::Allocation::pinned(sizeof(unsigned long long));
    auto *word = static_cast<unsigned long long *>(memory.host_address());
    *word = 1;
    Waiting waiting;
    const Add a{word, 10, 0}, c{word, 100, 0};
    const Wait b = waiting.task();
    pool.push(a, {.output = 0});
    pool.push(b, {.output = 1});
    const auto first = pool.pop(0);
    CHECK(first && std::get<Add>(*first).before == 1);
    pool.push(c, {.output = 0});
    const auto second = pool.pop(0);
    CHECK(second && std::get<Add>(*second).before == 11);
    CHECK_EQ(pool.unfinished(1), std::size_t{1});
    CHECK(!pool.try_pop(1));
    waiting.end();
    const auto third = pool.pop(1);
    CHECK(third && std::get<Wait>(*third).seen == 1);
    CHECK_EQ(*word, 111ull);
}

void many_threads()
{
    constexpr unsigned threads = 4, each = 300;
    Squares squares(options_for("squares"));
    std::atomic<unsigned long long> sum{0};
    std::vector<std::jthread> all;
    for (unsigned t = 0; t < threads; t++) {
        all.emplace_back([&, t] {
            for (unsigned i = 0; i < each; i++)
                squares.push(Square{1, 0, t * each + i});
        });
        all.emplace_back([&] {
            for (unsigned i = 0; i < each; i++)
                sum += squares.pop()->id;
        });
    }
    all.clear();
    const unsigned long long count = threads * each;
    CHECK_EQ(sum.load(), count * (count - 1) / 2);
}

/* What is more than the slots and the queue hold has to wait; no task is lost by that. */
void bounded()
{
    auto options = one_slot();
    options.capacity = 4;
    Mixed pool(options);
    Waiting waiting;
    waiting.begin(pool);
    for (unsigned long long i = 0; i < 4; i++)
        CHECK(pool.try_push(Square{2, 0, i}));
    CHECK(!pool.try_push(Square{2, 0, 4}));
    CHECK(!pool.push_for(Square{2, 0, 4}, 1ms));
    CHECK_EQ(pool.unfinished(), std::size_t{5});
    waiting.end();
    pool.push(Square{2, 0, 4});
    for (unsigned i = 0; i < 6; i++)
        CHECK(pool.pop());
    CHECK_EQ(pool.unfinished(), std::size_t{0});
}

void by_priority()
{
    auto options = one_slot();
    options.priorities = 3;
    Mixed pool(options);
    Waiting waiting;
    waiting.begin(pool);
    for (unsigned i = 0; i < 6; i++)
        pool.push(Square{1, 0, i}, {.priority = i % 3});
    waiting.end();
    CHECK(pool.pop());
    for (const unsigned long long id : {2, 5, 1, 4, 0, 3})
        CHECK_EQ(std::get<Square>(*pool.pop()).id, id);
}

void closed()
{
    Squares squares(options_for("squares"));
    for (unsigned long long i = 0; i < 10; i++)
        squares.push(Square{1, 0, i});
    squares.close();
    CHECK(refused([&] { squares.push(Square{1, 0, 0}); }, {"closed", "no more tasks"}));
    squares.wait();
    CHECK_EQ(squares.unfinished(), std::size_t{10});
    unsigned popped = 0;
    while (squares.pop())
        popped++;
    CHECK_EQ(popped, 10u);
}

/* Who waits for a task when the pool is stopped is told that none comes. */
void stopped()
{
    auto options = options_for("mixed");
    options.outputs = 2;
    Mixed pool(options);
    std::jthread waits([&] { CHECK(!pool.pop(1)); });
    pool.stop();
    waits.join();
    CHECK(refused([&] { pool.push(Square{1, 0, 0}); }, {"stopped"}));
}

/* A chain through one word, with others beside it: each of the chain has seen what the one before has left. */
void ordered()
{
    constexpr unsigned length = 50;
    auto options = options_for("mixed");
    options.outputs = 2;
    Mixed pool(options);
    const device::Allocation memory = device::Allocation::pinned(sizeof(unsigned long long));
    auto *word = static_cast<unsigned long long *>(memory.host_address());
    *word = 0;
    pool::Ordered order(pool, 1);
    std::vector<std::size_t> chain, others;
    for (unsigned i = 0; i < length; i++) {
        const std::vector<std::size_t> after = chain.empty() ? chain : std::vector{chain.back()};
        chain.push_back(order.add(Add{word, 1, 0}, after));
        others.push_back(order.add(Square{static_cast<double>(i), 0, i}));
    }
    const auto last = order.add(Reverse{}, {chain.back(), others.back()});
    order.run();
    for (unsigned i = 0; i < length; i++) {
        CHECK_EQ(std::get<Add>(order.result(chain[i])).before, static_cast<unsigned long long>(i));
        CHECK(std::get<Square>(order.result(others[i])).result == i * i);
    }
    CHECK(std::holds_alternative<Reverse>(order.result(last)));
    /* More may come after a run, also after what has run. */
    const auto more = order.add(Add{word, 0, 0}, {chain[3]});
    order.run();
    CHECK_EQ(std::get<Add>(order.result(more)).before, static_cast<unsigned long long>(length));
    CHECK(refused([&] { order.add(Square{}, {1000}); }, {"after task 1000", "not added before"}));
}

/* Far more are ready at once than have room, in queues and slots; some wait for several, one of them twice. */
void ordered_without_room()
{
    constexpr unsigned count = 200;
    auto options = options_for("squares");
    options.capacity = 2;
    options.depth = 1;
    options.priorities = 2;
    Squares pool(options);
    pool::Ordered order(pool);
    std::vector<std::size_t> first;
    for (unsigned i = 0; i < count; i++)
        first.push_back(order.add(Square{static_cast<double>(i), 0, i}, {}, {.priority = i / 3 % 2}));
    const auto all = order.add(Square{3, 0, 0}, first), twice = order.add(Square{4, 0, 0}, {all, first[0], first[0]});
    order.run();
    for (unsigned i = 0; i < count; i++)
        CHECK(order.result(first[i]).result == i * i);
    CHECK(order.result(all).result == 9);
    CHECK(order.result(twice).result == 16);
    CHECK_EQ(pool.state().on_devices, std::uint64_t{count + 2});
    order.clear();
    const auto again = order.add(Square{5, 0, 0});
    CHECK_EQ(again, std::size_t{0});
    const auto behind = order.add(Square{6, 0, 0}, {again});
    CHECK(refused([&] { order.clear(); }, {"2 tasks have not run", "run()"}));
    order.run();
    CHECK(order.result(again).result == 25);
    CHECK(order.result(behind).result == 36);
}

} // namespace

std::vector<tap::Case> test::basic_cases()
{
    return {{"one task", one_task},
            {"more tasks than slots", many_tasks},
            {"tasks of several kinds and sizes", several_kinds},
            {"the paper's example: c after a, beside b", paper_example},
            {"many threads push and pop", many_threads},
            {"queues have an end", bounded},
            {"urgent tasks go first", by_priority},
            {"a closed pool ends what it has", closed},
            {"a stopped pool tells who waits", stopped},
            {"tasks in the order of what they depend on", ordered},
            {"more of them at once than there is room for", ordered_without_room}};
}
