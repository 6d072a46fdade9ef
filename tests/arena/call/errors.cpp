// SPDX-License-Identifier: MIT
/* What cannot be is refused, and what fails is named. */
#include "tests/arena/call/cases.hpp"

#include <atomic>
#include <cstdlib>
#include <thread>

using namespace test;
using arena::Calls;
using namespace std::chrono_literals;

namespace {

template <typename Change> bool options_refused(Change change, const std::vector<std::string> &words)
{
    auto options = options_for();
    change(options);
    return refused([&] { Calls calls(options); }, words);
}

void options_that_cannot_be()
{
    using Options = arena::CallOptions;
    CHECK(options_refused([](Options &o) { o.kernel = nullptr; }, {"no kernel", "cuda_code()"}));
    CHECK(options_refused([](Options &o) { o.table = "nothing"; }, {"nothing"}));
    CHECK(options_refused([](Options &o) { o.table = "unlisted"; }, {"no list", "PTSCHED_ARENA_FUNCTIONS(unlisted"}));
    CHECK(options_refused([](Options &o) { o.slot_bytes = 16; }, {"slot_bytes is 16", "32 to 256"}));
    CHECK(options_refused([](Options &o) { o.line_slots = 3; }, {"line_slots is 3", "power of two", "4"}));
    CHECK(options_refused([](Options &o) { o.host_threads = 0; }, {"host_threads is 0"}));
    CHECK(options_refused([](Options &o) { o.threads = 48; }, {"threads is 48", "64"}));
}

void names_and_signatures()
{
    Calls calls(options_for());
    CHECK(refused([&] { calls.function<int(int, int)>("ad"); },
                  {"'ad', int (int, int)", "no function of the kernel kernels", "'add', int (int, int)", "'walk'"}));
    CHECK(refused([&] { calls.function<int(int)>("add"); }, {"'add', int (int),", "'add', int (int, int)"}));
    CHECK(refused([&] { calls.function<unsigned(int, int)>("add"); }, {"unsigned int (int, int)"}));
    CHECK(refused([&] { calls.function<Large(Pair, unsigned)>("rotate"); },
                  {"struct of 800 bytes (Pair, unsigned int)"}));
    CHECK(refused([&] { calls.function<void(const unsigned long *, unsigned long)>("put"); },
                  {"void (const unsigned long *, unsigned long)", "void (unsigned long *, unsigned long)"}));
    CHECK(refused([&] { calls.function<int(int, int)>("add", {.cooperative = true}); }, {"blocks is 0"}));
    CHECK(refused([&] { calls.function<int(int, int)>("add", {.blocks = 1, .threads = 2000}); }, {"threads is 2000"}));
    CHECK(refused([&] { calls.pointer<int(int)>("nobody"); }, {"'nobody'", "nor of the host", "'twice'"}));
    CHECK(refused([&] { calls.pointer<int(int)>("twice"); }, {"the host has 'twice', unsigned long (unsigned long)"}));
    CHECK(refused([&] { calls.function<int(int)>("twice"); }, {"the host has one of that name"}));
    calls.add<int(int, int)>("add", [](int, int) { return 0; });
    CHECK(refused([&] { calls.pointer<int(int, int)>("add"); }, {"'add'", "both"}));
    CHECK(refused([&] { calls.add<void()>("twice", [] {}); }, {"'twice'", "second of that name"}));
    CHECK(refused([&] { calls.add<void()>("ptsched.log", [] {}); }, {"ptsched.log", "the library's"}));
    CHECK(refused([&] { calls.add<void(Large)>("large", [](Large) {}); }, {"800 bytes", "pass pointers"}));
    CHECK(refused([&] { calls.add<void()>(std::string(64, 'x'), [] {}); }, {"64 characters", "63"}));
}

bool ask_fails(const arena::Remote<arena::Status(int)> &ask, int what, const std::vector<std::string> &words)
{
    try {
        return refused([&] { ask(what); }, words);
    } catch (const std::exception &other) {
        std::printf("# %s\n", other.what());
        return false;
    }
}

/* The caller of the kernel's function is told what its call of the host came to, and the kernel goes on. */
void of_the_host()
{
    auto options = options_for();
    options.hooks.contains = [](const void *pointer) { return pointer != reinterpret_cast<void *>(4096); };
    Calls calls(options);
    calls.add<bool(const int *)>("is_one", [](const int *) { return true; });
    calls.add<Large *(Large *)>("reverse", [](Large *) { return reinterpret_cast<Large *>(4096); });
    const auto ask = calls.function<arena::Status(int)>("ask");
    CHECK(ask_fails(ask, 0, {"'throws'", "'ask' has called", "no luck"}));
    CHECK(ask_fails(ask, 1, {"'ask' calls 'twise', int (int)", "no function of the host", "'twice', unsigned long"}));
    CHECK(ask_fails(ask, 2, {"'ask' calls 'twice', int (int)", "the host has 'twice', unsigned long (unsigned long)"}));
    CHECK(ask_fails(ask, 3, {"'ptsched.allocate'", "CallHooks::allocate"}));
    CHECK(ask_fails(ask, 4, {"argument 1 of 'is_one' is 0x1000", "private memory"}));
    CHECK(ask_fails(ask, 5, {"'reverse' returns is 0x1000", "private memory"}));
    try {
        ask(0);
    } catch (const std::exception &error) {
        CHECK(dynamic_cast<const std::nested_exception *>(&error));
    }
    const auto apply = calls.function<int(arena::RemotePointer<int(int, int)>, int, int)>("apply");
    CHECK(refused([&] { apply({ptsched::arena::detail::host_bit | 1000}, 1, 2); }, {"'apply'", "number is 1000"}));
    CHECK(refused([&] { apply({calls.pointer<bool(const int *)>("is_one").number}, 1, 2); },
                  {"'apply'", "another one", "'is_one', bool (const int *)"}));
    CHECK_EQ(apply({}, 1, 2), -1);
    CHECK_EQ(calls.function<int(int, int)>("add")(1, 2), 3);
}

void private_pointers()
{
    static const Common<unsigned long long> word(1);
    auto options = options_for();
    options.hooks.contains = [](const void *pointer) { return pointer == word.get(); };
    Calls calls(options);
    const auto put = calls.function<void(unsigned long long *, unsigned long long)>("put");
    put(word.get(), 3);
    CHECK_EQ(*word, 3ULL);
    unsigned long long mine = 0;
    CHECK(refused([&] { put(&mine, 3); }, {"argument 1 of 'put' is 0x", "private memory", "arena"}));
    CHECK_EQ(calls.function<unsigned long long(Node *)>("walk")(nullptr), 0ULL);
}

/* With as many blocks as there are levels it ends; with one less, it would not, and is not begun. */
void never_ends()
{
    constexpr int blocks = 3;
    Calls calls(options_for(blocks));
    const auto deeper = calls.function<int(int)>("deeper");
    calls.add<int(int)>("go_deeper", [&](int depth) { return deeper(depth); });
    CHECK(refused([&] { deeper(blocks); }, {"'go_deeper'", "'deeper' would never begin", "all 3 blocks", "start()"}));
    CHECK_EQ(deeper(blocks - 1), blocks - 1);
}

void too_many_wait()
{
    auto options = options_for(4);
    options.host_threads = 2;
    Calls calls(options);
    const auto deeper = calls.function<int(int)>("deeper");
    calls.add<int(int)>("go_deeper", [&](int depth) { return deeper(depth); });
    CHECK_EQ(deeper(1), 1);
    CHECK(refused([&] { deeper(3); }, {"'go_deeper' cannot wait for 'deeper'", "2 functions", "host_threads"}));
}

/* What waits in the pool when its Calls end is not waited for. */
void ends_with_calls()
{
    const Common<unsigned> words(2);
    std::atomic_ref begun(words.get()[0]), flag(words.get()[1]);
    Calls calls(options_for(1));
    (void)calls.function<void(unsigned *, const unsigned *)>("wait").start(words.get(), words.get() + 1);
    (void)calls.function<int(int, int)>("add").start(1, 2);
    while (!begun.load())
        std::this_thread::yield();
    flag.store(1);
}

void faulty()
{
    Calls calls(options_for());
    const auto add = calls.function<int(int, int)>("add");
    CHECK_EQ(add(1, 2), 3);
    CHECK(refused([&] { calls.function<void()>("trap")(); },
                  {"'trap', void ()", "has not come back", "device has failed"}));
    CHECK(refused([&] { add(1, 2); }, {"'add'", "device has failed"}));
}

/* In a process of its own, since the driver refuses it everything from then on. */
void failed_on_the_device()
{
    for (const char *argument : {fault_argument}) {
        const std::string command =
            std::string("unset PTSCHED_CASE; \"$(readlink /proc/$PPID/exe)\" ") + argument + " >&2";
        CHECK_EQ(std::system(command.c_str()), 0);
    }
}

} // namespace

std::vector<tap::Case> test::fault_cases()
{
    return {{"a function that faults is named", faulty}};
}

std::vector<tap::Case> test::error_cases()
{
    return {{"options that cannot be", options_that_cannot_be},
            {"wrong names and signatures", names_and_signatures},
            {"what kernels call of the host, and cannot", of_the_host},
            {"private pointers", private_pointers},
            {"calls inside calls that would never end", never_ends},
            {"more functions of the host wait than may", too_many_wait},
            {"calls that nobody waits for end with their Calls", ends_with_calls},
            {"a function that faults", failed_on_the_device}};
}
