// SPDX-License-Identifier: MIT
/* Kernels call functions of the host: many threads and blocks at once, one inside another, and those that are ready. */
#include "tests/arena/call/cases.hpp"

#include <atomic>
#include <mutex>
#include <set>

using namespace test;
using arena::Calls;

namespace {

std::atomic<unsigned> asked{0};

unsigned long long twice(unsigned long long value)
{
    asked++;
    return 2 * value;
}
PTSCHED_ARENA_HOST_FUNCTION(twice);

void throws()
{
    throw std::runtime_error("no luck");
}
PTSCHED_ARENA_HOST_FUNCTION(throws, ptsched::arena::may_wait);

using Ask = void(unsigned long long *, unsigned);

/* Several calls, whose threads all ask; the ring is shorter than there are threads. */
void many_ask()
{
    constexpr unsigned at_once = 6, each = 5;
    auto options = options_for();
    options.line_slots = 16;
    Calls calls(options);
    const auto ask = calls.function<Ask>("ask_all");
    const Common<unsigned long long> totals(at_once);
    asked = 0;
    std::vector<arena::Call<void>> all;
    for (unsigned i = 0; i < at_once; i++)
        all.push_back(ask.start(totals.get() + i, each));
    for (arena::Call<void> &call : all)
        call.get();
    for (unsigned i = 0; i < at_once; i++)
        CHECK_EQ(totals.get()[i], 32ULL * each);
    CHECK_EQ(asked.load(), at_once * 32 * each);
}

/* An ordinary kernel, of the program's own. */
void launched()
{
    Calls calls(options_for());
    device::Device &gpu = *device::gpus()[0];
    const auto queue = gpu.make_queue();
    const auto code = device::cuda_code(gpu, folder() + "/arena-call.so", "launched"),
               fails = device::cuda_code(gpu, folder() + "/arena-call.so", "launched_fails");
    const Common<unsigned long long> total(1);
    arena::Line line = calls.line();
    unsigned long long *to = total.get();
    unsigned each = 3;
    auto listening = calls.listen();
    queue->run(*code, {{3, 1, 1}, {32, 1, 1}}, {&line, &to, &each});
    queue->finish();
    CHECK_EQ(*total, 3ULL * 32 * 3);
    listening.check();
    queue->run(*fails, {{1, 1, 1}, {32, 1, 1}}, {&line});
    queue->finish();
    CHECK(refused([&] { listening.check(); }, {"'throws'", "a kernel of the program's", "no luck"}));
    listening.check();
}

/* A function of the host that is called back calls the GPU, and so on. */
void nested()
{
    constexpr int blocks = 4;
    Calls calls(options_for(blocks));
    const auto deeper = calls.function<int(int)>("deeper");
    calls.add<int(int)>("go_deeper", [&](int depth) { return deeper(depth); });
    CHECK_EQ(deeper(0), 0);
    CHECK_EQ(deeper(blocks - 1), blocks - 1);
    /* Several at once, of which each needs one more block. */
    std::vector<arena::Call<int>> begun;
    for (int i = 0; i < blocks - 1; i++)
        begun.push_back(deeper.start(1));
    for (arena::Call<int> &call : begun)
        CHECK_EQ(call.get(), 1);
}

void logs()
{
    std::mutex mutex;
    std::string said;
    auto options = options_for();
    options.log = [&](const std::string &text) {
        std::lock_guard lock(mutex);
        said += text;
    };
    Calls calls(options);
    calls.function<void(int, double, const int *)>("say")(-5, 2.5, reinterpret_cast<const int *>(0x1000));
    CHECK(said == "-5 and 7, 2.50 at 0x1000: 100%, (?)    ff|\n");
    if (said.empty() || said[0] != '-')
        std::printf("# %s\n", said.c_str());
}

void reads_a_file()
{
    Calls calls(options_for());
    const Common<char> text(16);
    const auto load = calls.function<long(char *, unsigned long)>("load");
    CHECK_EQ(load(text.get(), 4), 4L);
    CHECK(text.get()[0] && !text.get()[4]);
}

void allocates()
{
    static const Common<Node> nodes(20);
    std::set<void *> given;
    std::mutex mutex;
    auto options = options_for();
    unsigned next = 0;
    options.hooks.allocate = [&](std::size_t bytes, std::size_t alignment) -> void * {
        std::lock_guard lock(mutex);
        CHECK_EQ(bytes, sizeof(Node));
        CHECK_EQ(alignment, alignof(Node));
        return next < 20 ? nodes.get() + next++ : nullptr;
    };
    Calls calls(options);
    const auto make = calls.function<Node *(unsigned)>("make_list");
    unsigned long long sum = 0;
    for (Node *node = make(20); node; node = node->next)
        sum += node->value;
    CHECK_EQ(sum, 190ULL);
    CHECK(!make(1));
}

/* Each side is told of what is passed, before and after. */
void hooks()
{
    std::mutex mutex;
    std::vector<std::string> seen;
    const Common<unsigned long long> total(1);
    auto options = options_for();
    options.threads = 32;
    const auto note = [&](const char *what) {
        return [&, what](arena::Side callee, std::span<const void *const> pointers) {
            std::lock_guard lock(mutex);
            seen.push_back(what + (callee.is_host() ? std::string("host") : std::to_string(callee.number())) +
                           (pointers.size() == 1 && pointers[0] == total.get() ? " total" : ""));
        };
    };
    options.hooks.before_call = note("before ");
    options.hooks.after_call = note("after ");
    Calls calls(options);
    calls.function<void(unsigned long long *, unsigned long long)>("put")(total.get(), 1);
    CHECK(seen == (std::vector<std::string>{"before 0 total", "after 0 total"}));
    seen.clear();
    calls.add<int(int)>("go_deeper", [&](int) { return 0; });
    CHECK_EQ(calls.function<int(int)>("deeper")(1), 1);
    CHECK(seen == (std::vector<std::string>{"before 0", "before host", "after host", "after 0"}));
}

} // namespace

std::vector<tap::Case> test::host_cases()
{
    return {{"many threads of many blocks call the host", many_ask},
            {"kernels that the program launches call the host", launched},
            {"a function of the host calls the GPU, which calls the host", nested},
            {"a kernel logs", logs},
            {"a kernel reads a file", reads_a_file},
            {"a kernel allocates memory of the host", allocates},
            {"hooks are told of calls", hooks}};
}
