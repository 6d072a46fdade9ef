// SPDX-License-Identifier: MIT
/* Tasks that come back to who pushed them, and to no output. */
#include "tests/pool/waiting.hpp"

#include <atomic>
#include <cstring>
#include <thread>

using namespace test;
using namespace std::chrono_literals;
using pool::Core;
using pool::Receipt;

namespace {

/* Of the kernel "mixed". */
constexpr unsigned square_kind = 0, wait_kind = 2;

std::unique_ptr<Core> make_core(const pool::Options &options)
{
    return Core::make(options, {{"square", sizeof(Square)},
                                {"reverse", sizeof(Reverse)},
                                {"wait", sizeof(Wait)},
                                {"add", sizeof(Add)},
                                {"trap", sizeof(Trap)}});
}

template <typename Task> void put(Receipt &receipt, const Task &task)
{
    std::memcpy(receipt.task(), &task, sizeof(task));
}

double result_of(Receipt &receipt)
{
    Square square;
    std::memcpy(&square, receipt.task(), sizeof(square));
    return square.result;
}

/* With few tasks for many blocks, only those that have some are looked at. */
void comes_back()
{
    auto options = options_for("mixed");
    options.blocks = 20;
    const auto core = make_core(options);
    Receipt receipt;
    for (unsigned i = 0; i < 20; i++) {
        put(receipt, Square{static_cast<double>(i), 0, 0});
        CHECK(core->send(square_kind, receipt, {}, Core::for_ever));
        CHECK(core->await(receipt, Core::for_ever));
        CHECK(receipt.is_back());
        CHECK(result_of(receipt) == i * i);
    }
    CHECK_EQ(core->unfinished(0), std::size_t{0});
    CHECK_EQ(core->state().on_devices, std::uint64_t{20});
    CHECK_EQ(core->blocks(0), 20U);
}

/* Beside tasks of the same blocks that have outputs, and by many threads. */
void beside_others()
{
    constexpr unsigned threads = 4, each = 100;
    const auto core = make_core(options_for("mixed"));
    std::atomic<unsigned> right{0};
    std::vector<std::jthread> all;
    for (unsigned t = 0; t < threads; t++)
        all.emplace_back([&] {
            Receipt receipt;
            const Square other{3, 0, 0};
            for (unsigned i = 0; i < each; i++) {
                put(receipt, Square{static_cast<double>(i), 0, 0});
                core->send(square_kind, receipt, {}, Core::for_ever);
                core->push(square_kind, &other, 1, {}, Core::for_ever);
                core->await(receipt, Core::for_ever);
                right += result_of(receipt) == i * i;
            }
        });
    all.clear();
    CHECK_EQ(right.load(), threads * each);
    unsigned popped = 0;
    core->close();
    while (core->pop(
        0, 64, [&](unsigned, const std::byte *, std::uint64_t) { popped++; }, Core::for_ever))
        ;
    CHECK_EQ(popped, threads * each);
}

void not_back_yet()
{
    auto options = one_slot();
    options.capacity = 2;
    const auto core = make_core(options);
    Waiting waiting;
    Receipt first, second, third, fourth;
    put(first, waiting.task());
    CHECK(core->send(wait_kind, first, {}, Core::for_ever));
    waiting.wait_until_begun();
    for (Receipt *receipt : {&second, &third, &fourth})
        put(*receipt, Square{5, 0, 0});
    CHECK(core->send(square_kind, second, {}, Core::Duration::zero()));
    CHECK(core->send(square_kind, third, {}, Core::Duration::zero()));
    CHECK(!core->send(square_kind, fourth, {}, 1ms));
    CHECK(!core->await(second, 1ms));
    waiting.end();
    CHECK(core->await(third, Core::for_ever));
    CHECK(core->await(second, Core::for_ever));
    CHECK(result_of(second) == 25);
    put(first, Square{1, 0, 0});
    CHECK(refused([&] { core->send(square_kind, first, {.where = pool::Where::host}, 1ms); }, {"receipt", "device"}));
    put(first, waiting.task());
    core->stop();
    CHECK(refused([&] { core->send(wait_kind, first, {}, 1ms); }, {"stopped"}));
    CHECK(refused([&] { core->await(fourth, Core::for_ever); }, {"stopped"}));
}

} // namespace

std::vector<tap::Case> test::receipt_cases()
{
    return {{"a task comes back to its receipt", comes_back},
            {"receipts beside outputs, by many threads", beside_others},
            {"a receipt that is not back yet", not_back_yet}};
}
