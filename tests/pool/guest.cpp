// SPDX-License-Identifier: MIT
/* A pool leaves its device when nothing is to do, or when somebody else is to have it, and loses nothing by that. */
#include "tests/device/rival.hpp"
#include "tests/pool/waiting.hpp"

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

using namespace test;
using namespace std::chrono_literals;

namespace {

template <typename Pool, typename Condition> void until(const Pool &pool, Condition condition)
{
    while (!condition(pool.state()))
        std::this_thread::yield();
}

void parks_when_idle()
{
    auto options = options_for("squares");
    options.idle = 1ms;
    Squares squares(options);
    for (unsigned long long round = 1; round <= 20; round++) {
        squares.push(Square{static_cast<double>(round), 0, round});
        CHECK(squares.pop()->result == static_cast<double>(round * round));
        until(squares, [&](const pool::State &state) { return state.parks == round; });
        CHECK(!squares.state().resident);
        CHECK_EQ(squares.state().launches, std::uint64_t{round});
    }
}

/* Called back in the midst of its work, again and again: each task comes back once, with the right value. */
void called_back()
{
    constexpr unsigned long long rounds = 20, each = 100;
    Broker broker;
    Rival rival;
    auto options = options_for("squares");
    options.attach = device::Attach::required;
    options.idle = 1h;
    Squares squares(options);
    for (unsigned long long round = 0; round < rounds; round++) {
        for (unsigned long long i = round * each; i < (round + 1) * each; i++)
            squares.push(Square{static_cast<double>(i), 0, i});
        until(squares, [&](const pool::State &state) { return state.launches == round + 1; });
        rival.tell('t');
        CHECK(rival.told() == 'h');
        until(squares, [&](const pool::State &state) { return state.parks == round + 1; });
        rival.tell('g');
    }
    std::vector<unsigned> seen(rounds * each);
    for (unsigned long long i = 0; i < rounds * each; i++) {
        const auto done = squares.pop();
        if (CHECK(done && done->result == done->value * done->value))
            seen.at(done->id)++;
    }
    for (const unsigned times : seen)
        CHECK_EQ(times, 1u);
}

/* One that is never without tasks hears of it, too. */
void called_back_while_busy()
{
    Broker broker;
    Rival rival;
    auto options = options_for("squares");
    options.attach = device::Attach::required;
    Squares squares(options);
    std::atomic<bool> enough{false};
    std::jthread pushes([&] {
        while (!enough)
            squares.push(Square{2, 0, 0});
        squares.close();
    });
    std::jthread pops([&] {
        while (const auto done = squares.pop())
            CHECK(done->result == 4);
    });
    for (std::uint64_t round = 0; round < 10; round++) {
        const std::uint64_t before = squares.state().on_devices;
        until(squares, [&](const pool::State &state) { return state.on_devices > before; });
        rival.tell('t');
        CHECK(rival.told() == 'h');
        until(squares, [&](const pool::State &state) { return state.parks > round; });
        rival.tell('g');
    }
    enough = true;
    pushes.join();
    pops.join();
}

/* What a block has done in one turn is not done again in the next, though nobody has taken it meanwhile. */
void done_once()
{
    constexpr unsigned fit = 2, depth = 4, adds = fit + depth - 1;
    const auto memory = device::Allocation::pinned(sizeof(unsigned long long));
    *static_cast<unsigned long long *>(memory.host_address()) = 0;
    const Add add{static_cast<unsigned long long *>(device::host_pointer(memory.address())), 1, 0};
    Broker broker;
    Rival rival;
    auto options = one_slot();
    options.depth = depth;
    options.capacity = fit;
    options.attach = device::Attach::required;
    Mixed pool(options);
    Waiting waiting;
    for (unsigned i = 0; i < adds; i++)
        pool.push(add);
    /* Which is begun when they have ended. */
    waiting.begin(pool);
    waiting.end();
    rival.tell('t');
    CHECK(rival.told() == 'h');
    rival.tell('g');
    until(pool, [](const pool::State &state) { return state.launches == 2; });
    for (unsigned long long i = 0; i < adds; i++)
        CHECK_EQ(std::get<Add>(*pool.pop()).before, i);
    CHECK(std::holds_alternative<Wait>(*pool.pop()));
    pool.push(add);
    CHECK_EQ(std::get<Add>(*pool.pop()).before, 0ULL + adds);
}

/* What it has begun is ended first; what waits in its slots goes on in the next turn. */
void ends_what_it_has_begun()
{
    Broker broker;
    Rival rival;
    auto options = options_for("mixed");
    options.attach = device::Attach::required;
    options.blocks = 1;
    options.depth = 4;
    Mixed pool(options);
    Waiting waiting;
    waiting.begin(pool);
    for (unsigned long long i = 0; i < 3; i++)
        pool.push(Square{2, 0, i});
    until(pool, [](const pool::State &state) { return state.in_slots == 4; });
    rival.tell('t');
    CHECK(pool.state().resident);
    waiting.end();
    CHECK(rival.told() == 'h');
    CHECK(std::holds_alternative<Wait>(*pool.pop()));
    rival.tell('g');
    for (unsigned i = 0; i < 3; i++)
        CHECK(std::get<Square>(*pool.pop()).result == 4);
}

/* Each look at what was used comes after another of the pool's reports. */
bool stays_as_it_is(const Broker &broker)
{
    const auto first = broker.counters();
    nlohmann::json now;
    do {
        now = broker.counters();
    } while (now.at("held_ns").get<std::uint64_t>() < first.at("held_ns").get<std::uint64_t>() + 300000000);
    return now.at("gpu_ns") == first.at("gpu_ns");
}

/* Alone, it is charged while it has tasks, and for nothing else. */
void charged_for_its_tasks()
{
    Broker broker;
    auto options = options_for("mixed");
    options.attach = device::Attach::required;
    options.idle = 1h;
    Mixed pool(options);
    Waiting waiting;
    waiting.begin(pool);
    while (!broker.counter("gpu_ns"))
        std::this_thread::yield();
    const std::uint64_t before = broker.counter("gpu_ns");
    while (broker.counter("gpu_ns") <= before)
        std::this_thread::yield();
    waiting.end();
    CHECK(pool.pop());
    bool stays = false;
    for (unsigned i = 0; i < 20 && !stays; i++)
        stays = stays_as_it_is(broker);
    CHECK(stays);
    CHECK(pool.state().resident);
    CHECK_EQ(broker.counter("submissions"), std::uint64_t{1});
}

void without_a_scheduler()
{
    setenv("PTSCHED_DEVICE_NODE", "/nowhere", 1);
    setenv("PTSCHED_SOCKET", "/nowhere", 1);
    auto options = options_for("squares");
    options.attach = device::Attach::required;
    CHECK(refused([&] { Squares squares(options); }, {"pool", "to be scheduled"}));
    options.attach = device::Attach::if_possible;
    Squares squares(options);
    squares.push(Square{3, 0, 0});
    CHECK(squares.pop()->result == 9);
}

} // namespace

std::vector<tap::Case> test::guest_cases()
{
    return {{"a pool with nothing to do leaves, and comes back", parks_when_idle},
            {"called back again and again, nothing is lost", called_back},
            {"called back while it always has something to do", called_back_while_busy},
            {"what was done in one turn is not done again in the next", done_once},
            {"called back, a block ends its task and no more", ends_what_it_has_begun},
            {"a pool is charged for its tasks while nobody waits", charged_for_its_tasks},
            {"a pool that is to be scheduled, and is not", without_a_scheduler}};
}
