// SPDX-License-Identifier: MIT
/* The host calls functions of the GPU: of several kinds and sizes, by many threads, in one block and in many. */
#include "tests/arena/call/cases.hpp"

#include <atomic>
#include <numeric>
#include <thread>

using namespace test;
using namespace std::chrono_literals;
using arena::Calls;

namespace {

void one_call()
{
    Calls calls(options_for());
    const auto add = calls.function<int(int, int)>("add");
    CHECK_EQ(add(3, 4), 7);
    const Common<unsigned long long> word(1);
    calls.function<void(unsigned long long *, unsigned long long)>("put")(word.get(), 17);
    CHECK_EQ(*word, 17ULL);
}

/* What a kernel says of its functions, where it comes with no variable. */
void said_by_a_kernel()
{
    auto options = options_for();
    options.table = "described";
    Calls calls(options);
    CHECK_EQ(calls.function<int(int, int)>("add")(3, 4), 7);
    CHECK(refused([&] { calls.function<int(int, int)>("add", {.blocks = 1}); }, {"needs the kernel described_spread"}));
}

void threads_of_a_block()
{
    constexpr unsigned count = 1000;
    Calls calls(options_for());
    const Common<unsigned long long> values(count);
    std::iota(values.get(), values.get() + count, 0ULL);
    const auto sum = calls.function<unsigned long long(const unsigned long long *, unsigned)>("sum");
    CHECK_EQ(sum(values.get(), count), std::uint64_t{count} * (count - 1) / 2);
}

/* A struct between others is where its type's alignment says; what is too large for a slot lies beside it. */
void of_all_sizes()
{
    Calls calls(options_for());
    const Pair swapped = calls.function<Pair(char, Pair, short)>("swap")(2, {5, 0.5}, 40);
    CHECK_EQ(swapped.a, 42);
    CHECK_EQ(swapped.b, 5.5);
    const auto rotate = calls.function<Large(Large, unsigned)>("rotate");
    Large large{};
    std::iota(large.words, large.words + 100, 0ULL);
    std::vector<arena::Call<Large>> all;
    for (unsigned by = 0; by < 10; by++)
        all.push_back(rotate.start(large, by));
    for (unsigned by = 0; by < 10; by++) {
        const Large rotated = all[by].get();
        for (unsigned i = 0; i < 100; i++)
            CHECK_EQ(rotated.words[(i + by) % 100], large.words[i]);
    }
}

/* A pointer means the same on both sides. */
void a_list()
{
    constexpr unsigned length = 100;
    Calls calls(options_for());
    const Common<Node> nodes(length);
    for (unsigned i = 0; i < length; i++)
        nodes.get()[i] = {i + 1 < length ? nodes.get() + i + 1 : nullptr, i};
    CHECK_EQ(calls.function<unsigned long long(Node *)>("walk")(nodes.get()), length * (length - 1ULL) / 2);
}

void handles()
{
    Calls calls(options_for(1));
    const auto wait = calls.function<void(unsigned *, const unsigned *)>("wait");
    const auto add = calls.function<int(int, int)>("add");
    const Common<unsigned> words(2);
    arena::Call<void> waits = wait.start(words.get(), words.get() + 1);
    arena::Call<int> behind = add.start(1, 2);
    CHECK(!waits.wait_for(1ms));
    CHECK(!behind.ready());
    std::atomic_ref(words.get()[1]).store(1);
    waits.get();
    CHECK(!waits.is_valid());
    CHECK(refused([&] { waits.get(); }, {"got already", "once"}));
    arena::Call<int> moved = std::move(behind);
    CHECK(refused([&] { (void)behind.ready(); }, {"no call"}));
    CHECK(moved.wait_for(1h));
    CHECK(moved.ready());
    CHECK_EQ(moved.get(), 3);
    CHECK(!arena::Call<int>().is_valid());
}

/* More than are kept at first; some of whose results nobody wants. */
void many_at_once()
{
    constexpr int count = 600;
    Calls calls(options_for());
    const auto add = calls.function<int(int, int)>("add");
    std::vector<arena::Call<int>> begun;
    for (int i = 0; i < count; i++) {
        begun.push_back(add.start(i, 1));
        (void)add.start(i, 2);
    }
    for (int i = 0; i < count; i++)
        CHECK_EQ(begun[static_cast<unsigned>(i)].get(), i + 1);
    (void)add.start(0, 0);
}

void many_threads()
{
    constexpr int threads = 6, each = 200;
    Calls calls(options_for());
    const auto add = calls.function<int(int, int)>("add");
    std::atomic<int> wrong{0};
    std::vector<std::jthread> all;
    for (int t = 0; t < threads; t++)
        all.emplace_back([&, t] {
            for (int i = 0; i < each; i++)
                wrong += add(t, i) != t + i;
        });
    all.clear();
    CHECK_EQ(wrong.load(), 0);
}

void on_several_gpus()
{
    auto options = options_for(2);
    options.devices = device::gpus();
    Calls calls(options);
    for (unsigned gpu = 0; gpu < 2; gpu++)
        CHECK_EQ(calls.function<int(int, int)>("add", {.gpu = gpu})(static_cast<int>(gpu), 1),
                 static_cast<int>(gpu) + 1);
    CHECK(refused([&] { calls.function<int(int, int)>("add", {.gpu = 2}); }, {"gpu is 2", "there are 2"}));
}

/* The same function, spread over blocks: with arguments beside the launch, too, and calls of the host. */
void spread()
{
    Calls calls(options_for());
    const Common<unsigned> counter(1);
    const auto count = calls.function<unsigned(unsigned *, Large)>("count_threads", {.blocks = 5, .threads = 64});
    CHECK_EQ(count(counter.get(), Large{}), 320U);
    CHECK_EQ(*counter, 320U);
    const auto rotate = calls.function<Large(Large, unsigned)>("rotate", {.blocks = 1, .threads = 32});
    Large large{};
    large.words[7] = 1;
    arena::Call<Large> call = rotate.start(large, 3);
    CHECK(call.wait_for(1h));
    CHECK_EQ(call.get().words[10], 1ULL);
    const Common<unsigned long long> total(1);
    calls.function<void(unsigned long long *, unsigned)>("ask_all", {.blocks = 3, .threads = 32})(total.get(), 2);
    CHECK_EQ(*total, 3ULL * 32 * 2);
    (void)count.start(counter.get(), Large{});
}

void by_pointers()
{
    Calls calls(options_for());
    calls.add<int(int, int)>("subtract", [](int a, int b) { return a - b; });
    const auto apply = calls.function<int(arena::RemotePointer<int(int, int)>, int, int)>("apply");
    const auto add = calls.pointer<int(int, int)>("add"), subtract = calls.pointer<int(int, int)>("subtract");
    CHECK_EQ(calls.call(add, 5, 3), 8);
    CHECK_EQ(calls.call(subtract, 5, 3), 2);
    CHECK_EQ(apply(add, 5, 3), 8);
    CHECK_EQ(apply(subtract, 5, 3), 2);
    CHECK(!arena::RemotePointer<int(int, int)>());
    CHECK(refused([&] { calls.call(arena::RemotePointer<int(int, int)>(), 1, 2); }, {"leads to nothing"}));
    CHECK(refused([&] { calls.call(arena::RemotePointer<int(int)>{add.number}, 1); }, {"int (int)", "int (int, int)"}));
    CHECK(refused([&] { calls.call(arena::RemotePointer<int(int)>{subtract.number}, 1); }, {"'subtract'"}));
    CHECK(refused([&] { calls.call(arena::RemotePointer<int(int, int)>{100}, 1, 2); }, {"number 100", "18 functions"}));
}

} // namespace

std::vector<tap::Case> test::basic_cases()
{
    return {{"one call", one_call},
            {"functions that a kernel says", said_by_a_kernel},
            {"all threads of a block have a part in a call", threads_of_a_block},
            {"arguments and results of all sizes", of_all_sizes},
            {"a list is walked where it is", a_list},
            {"a call that was started", handles},
            {"many calls at once, some of which nobody waits for", many_at_once},
            {"many threads call", many_threads},
            {"on several GPUs", on_several_gpus},
            {"a call that is spread over blocks", spread},
            {"pointers that are valid on both sides", by_pointers}};
}
