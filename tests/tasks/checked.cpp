// SPDX-License-Identifier: MIT
/* Tasks that touch what they have not declared, and other mistakes that are to be said clearly. */
#include "tests/graph_clock.hpp"
#include "tests/tasks/cases.hpp"
#include "tests/vgpu/refused.h"

#include <atomic>
#include <bit>
#include <csetjmp>
#include <csignal>
#include <numeric>
#include <sys/mman.h>
#include <thread>

namespace test {

namespace {

using namespace tasks;

/* Of several pages. */
constexpr std::size_t many = 4096, page = 4096 / sizeof(int);

Options checked()
{
    Options options;
    options.check = true;
    return options;
}

std::string at(const void *address)
{
    std::string text = describe({static_cast<std::byte *>(const_cast<void *>(address)), 0, 1, 0});
    return text.substr(0, text.find(','));
}

/* What a program that is right does is found right, and its results are. */
void what_is_declared()
{
    Runtime tasks(checked());
    Array<int> x = tasks.array<int>(many), y = tasks.array<int>(10);
    int sum = 0, count = 0;
    tasks.host(
        {"fill"}, [](int *to) { std::iota(to, to + many, 0); }, out(x));
    tasks.host(
        {"few"}, [](const int *from, int *to) { std::copy(from, from + 10, to); }, in(x), out(y));
    for (std::size_t i = 0; i < 4; i++)
        tasks.host(
            {"add"}, [](const int *from, int *to) { *to += std::accumulate(from, from + many / 4, 0); },
            in(x.data() + i * many / 4, many / 4), reduction<Sum>(sum));
    for (std::size_t i = 0; i < 3; i++)
        tasks.host(
            {"count"}, [](int *to) { ++*to; }, commutative(count));
    tasks.wait();
    CHECK_EQ(sum, static_cast<int>(many * (many - 1) / 2));
    CHECK_EQ(count, 3);
    CHECK_EQ(y[9], 9);
    /* And memory is nobody's who has waited. */
    x[many - 1] = 1;
    tasks.host(
        {"inner ones"},
        [&] {
            for (std::size_t i = 0; i < 4; i++)
                tasks.host(
                    {"double"}, [](int *part) { part[0] *= 2; }, inout(x.data() + i * page, page));
            tasks.wait();
        },
        weak_inout(x));
    tasks.wait();
    CHECK_EQ(x[page], static_cast<int>(2 * page));
}

void a_write_to_another_array()
{
    Runtime tasks(checked());
    Array<int> x = tasks.array<int>(many), y = tasks.array<int>(many), z = tasks.array<int>(many);
    tasks.host(
        {"init"}, [](int *to) { std::fill_n(to, many, 1); }, out(x));
    tasks.host(
        {"smooth"}, [&](const int *) { x[2000] = 5; }, in(y));
    tasks.host(
        {"stray"}, [&](const int *) { z[7] = z[8] = 5; }, in(y));
    tasks.host(
        {"good"}, [](const int *, int *to) { *to = 3; }, in(y), inout(x));
    CHECK(refused([&] { tasks.wait(); },
                  {"task 2 (smooth) writes ", "at " + at(&x[2000]),
                   ", in the range that task 1 (init) declares out (" + describe(out(x).range) +
                       "); it has declared in " + describe(in(y).range),
                   "task 3 (stray) writes ", " at " + at(&z[7]) + ", in an array of 16384 bytes at " + at(&z[0])}));
    /* What was found does not keep others from running, and is said once. */
    CHECK_EQ(x[0], 3);
    CHECK_EQ(x[2000], 5);
    tasks.wait();
}

void the_bytes_are_counted()
{
    Runtime tasks(checked());
    Array<int> x = tasks.array<int>(many);
    tasks.host(
        {"init"}, [](int *to) { std::fill_n(to, many, 0x01010101); }, out(x));
    tasks.host({"over a page's end"}, [&] { std::fill_n(&x[page - 4], 8, 0x02020202); });
    CHECK(refused([&] { tasks.wait(); },
                  {"(over a page's end) writes 32 bytes at " + at(&x[page - 4]), "it has declared nothing"}));
}

void a_read_of_another_array()
{
    Runtime tasks(checked());
    Array<int> x = tasks.array<int>(many), y = tasks.array<int>(many);
    int result = 0;
    tasks.host(
        {"init"}, [](int *to) { std::fill_n(to, many, 4); }, out(x));
    tasks.host(
        {"peek"}, [&](int *to) { *to = x[100]; }, out(result));
    CHECK(refused([&] { tasks.wait(); }, {"task 2 (peek) reads at " + at(&x[100]), "task 1 (init) declares out"}));
    CHECK_EQ(result, 4);
}

void a_write_to_what_is_read()
{
    Runtime tasks(checked());
    Array<int> x = tasks.array<int>(many);
    std::vector<int> few(8);
    tasks.host(
        {"reader"}, [&](const int *from) { const_cast<int *>(from)[3] = 9; }, in(x));
    tasks.host(
        {"small reader"}, [](const int *from) { const_cast<int *>(from)[3] = 9; }, in(few));
    CHECK(refused([&] { tasks.wait(); },
                  {"(reader) writes ", "at " + at(&x[3]) + ", of what it has declared in alone",
                   "(small reader) writes ", "at " + at(&few[3]) + ", of what it has declared in alone"}));
}

/* In pages with other things: no protection, but what was written is seen. */
void what_shares_a_page()
{
    Runtime tasks(checked());
    struct {
        int before = 1, x = 2, y = 3, behind = 4;
    } all;
    tasks.host(
        {"first"}, [](int *x) { *x = 20; }, out(all.x));
    tasks.host(
        {"second"},
        [&](int *y) {
            *y = 30;
            all.x = 0x05060708;
            all.before = 10;
        },
        out(all.y));
    CHECK(refused([&] { tasks.wait(); },
                  {"tasks: task 2 (second) writes 4 bytes at " + at(&all.x) + ", in the range that task 1 (first)"}));
    CHECK_EQ(all.before, 10);
}

void beyond_an_array()
{
    Runtime tasks(checked());
    Array<int> x = tasks.array<int>(many), y = tasks.array<int>(3);
    tasks.host(
        {"one more"}, [](int *to) { to[many] = 1; }, out(x));
    tasks.host(
        {"one less"}, [](int *to) { to[-1] = 1; }, out(x));
    tasks.host(
        {"a little more"}, [](int *to) { to[4] = 1; }, out(y));
    CHECK(refused([&] { tasks.wait(); },
                  {"(one more) writes ", ", 0 bytes behind the end of an array of 16384 bytes at " + at(&x[0]),
                   "(one less) writes ", ", 4 bytes before an array of 16384 bytes", "(a little more) writes ",
                   ", 4 bytes behind the end of an array of 12 bytes at " + at(&y[0])}));
}

void rows_of_a_matrix()
{
    constexpr std::size_t rows = 64, columns = 64;
    Runtime tasks(checked());
    Array<int> all = tasks.array<int>(rows * columns);
    const Tile<int> matrix{all.data(), rows, columns, columns};
    const auto left = matrix.part(0, 0, rows, 32), right = matrix.part(0, 32, rows, 32);
    tasks.host(
        {"left"}, [](const Tile<int> &tile) { tile(10, 31) = 1; }, out(left));
    tasks.host(
        {"right"}, [&](const Tile<int> &tile) { tile(20, 0) = 1; }, out(right));
    tasks.wait();
    tasks.host(
        {"left"}, [](const Tile<int> &tile) { tile(10, 32) = 0x01010101; }, out(left));
    tasks.host(
        {"right"}, [](const Tile<int> &) {}, out(right));
    CHECK(refused([&] { tasks.wait(); }, {"(left) writes 4 bytes at " + at(&right(10, 0)),
                                          "in the range that task 4 (right) declares out (", "64 rows of 128 bytes"}));
}

/* It says so for tasks inside it, and does not touch it itself. */
void a_weak_access()
{
    Runtime tasks(checked());
    Array<int> x = tasks.array<int>(many);
    tasks.host(
        {"outer"},
        [&] {
            tasks.host(
                {"inner"}, [](int *to) { *to = 1; }, out(x));
            tasks.wait();
            x[1] = 2;
        },
        weak_inout(x));
    CHECK(refused([&] { tasks.wait(); },
                  {"task 1 (outer) writes ", "at " + at(&x[1]) + ", of what it has declared weak_inout alone"}));
    CHECK_EQ(x[0], 1);
}

void an_inner_one_that_is_not_covered()
{
    Runtime tasks(checked());
    Array<int> x = tasks.array<int>(many);
    tasks.host(
        {"other"}, [](int *) {}, out(x));
    tasks.host({"outer"}, [&] {
        tasks.host(
            {"inner"}, [](int *) {}, inout(x.data() + 8, 8));
    });
    CHECK(refused([&] { tasks.wait(); },
                  {"(inner) declares inout " + describe(inout(x.data() + 8, 8).range),
                   "task 2 (outer), by which it was made, has not declared", "task 1 (other) declares out"}));
}

/* What a task keeps for itself while it runs. */
void memory_of_the_task_itself()
{
    Runtime tasks(checked());
    tasks.host({"outer"}, [&] {
        std::vector<int> own(many);
        for (std::size_t i = 0; i < 4; i++)
            tasks.host(
                {"inner"}, [](int *part) { part[1] = 1; }, out(own.data() + i * page, page));
        tasks.wait();
        CHECK_EQ(own[page + 1], 1);
    });
    tasks.wait();
    CHECK_EQ(tasks.state().on_host, 5U);
}

void many_are_cut()
{
    Runtime tasks(checked());
    Array<int> x = tasks.array<int>(many);
    tasks.host(
        {"init"}, [](int *) {}, out(x));
    for (unsigned i = 0; i < 30; i++)
        tasks.host({"stray"}, [&] { x[0]++; });
    CHECK(refused([&] { tasks.wait(); }, {"and 14 more of these"}));
}

/* Why it has failed may be what it has not declared. */
void with_a_failure()
{
    Runtime tasks(checked());
    Array<int> x = tasks.array<int>(many), y = tasks.array<int>(many);
    tasks.host(
        {"init"}, [](int *) {}, out(x));
    tasks.host(
        {"stray"},
        [&](int *) {
            x[0] = 1;
            throw std::runtime_error("it is wrong");
        },
        out(y));
    CHECK(refused([&] { tasks.wait(); }, {"(stray) writes", "and, after that: ", "(stray) has failed: it is wrong"}));
    tasks.wait();
}

sigjmp_buf back;

void jump_back(int)
{
    siglongjmp(back, 1);
}

/* Of the program, which has a handler. */
void other_faults_go_on()
{
    struct sigaction mine {};
    struct sigaction before {};
    mine.sa_handler = jump_back;
    sigaction(SIGSEGV, &mine, &before);
    void *closed = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    {
        Runtime tasks(checked());
        tasks.host([] {});
        tasks.wait();
        volatile bool came = false;
        if (!sigsetjmp(back, 1))
            *static_cast<volatile int *>(closed) = 1;
        else
            came = true;
        CHECK(came);
    }
    munmap(closed, 4096);
    sigaction(SIGSEGV, &before, nullptr);
}

/* Another thread has what it likes; the arrays are open to it. */
void threads_beside()
{
    Runtime tasks(checked());
    Array<int> x = tasks.array<int>(many), y = tasks.array<int>(many);
    tasks.host(
        {"init"}, [](int *) {}, out(x));
    tasks.host(
        {"with a thread"}, [&](int *) { std::thread([&] { x[5] = 6; }).join(); }, out(y));
    tasks.wait();
    CHECK_EQ(x[5], 6);
}

void an_array_is_freed_meanwhile()
{
    for (bool check : {false, true}) {
        Options options;
        options.check = check;
        options.workers = 2;
        Runtime tasks(options);
        std::atomic<bool> goes{false};
        {
            Array<int> x = tasks.array<int>(many);
            tasks.host(
                {"reader"},
                [&](int *to) {
                    CHECK(comes_true([&] { return check || goes; }));
                    to[many - 1] = 1;
                },
                out(x));
        }
        goes = true;
        CHECK(
            refused([&] { tasks.wait(); }, {"an array of 16384 bytes was freed while task 1 (reader) was to use it"}));
        tasks.wait();
    }
}

/* Managed memory is the same for all: what a kernel writes there is seen. */
void a_kernel_writes_another_array()
{
    constexpr unsigned n = 64;
    Options options = checked();
    options.memory = Memory::managed;
    options.devices = {device::gpus().at(0)};
    Runtime tasks(options);
    const Kernel add = vector_add();
    Array<float> a = tasks.array<float>(n), b = tasks.array<float>(n), c = tasks.array<float>(n);
    float *other = c.data();
    tasks.host(
        {"fill"},
        [](float *to, float *as_well) {
            std::fill_n(to, n, 1.0F);
            std::fill_n(as_well, n, std::bit_cast<float>(0x01010101));
        },
        out(a), out(c));
    tasks.kernel({"good"}, add, one_block, in(a), in(a), out(b), n);
    tasks.wait();
    CHECK_EQ(b[n - 1], 2.0F);
    tasks.kernel({"stray"}, add, one_block, in(a), out(b), other, n);
    tasks.host(
        {"reader"}, [](const float *) {}, in(c));
    CHECK(refused([&] { tasks.wait(); }, {"task 3 (stray) writes 256 bytes at " + at(other),
                                          "in the range that task 4 (reader) declares in"}));
    CHECK_EQ(tasks.state().on_devices, 2U);
}

/* With copies, tasks of both sides follow each other, and nothing is found. */
void both_sides_in_turn()
{
    constexpr unsigned n = 64, count = 4;
    Options options = checked();
    options.devices = {device::gpus().at(0)};
    Runtime tasks(options);
    const Kernel add = vector_add();
    Array<float> a = tasks.array<float>(n), b = tasks.array<float>(n);
    std::fill_n(a.data(), n, 1.0F);
    for (unsigned i = 0; i < count; i++) {
        tasks.kernel({"double"}, add, one_block, in(a), in(a), out(b), n);
        tasks.host(
            {"copy"}, [](const float *from, float *to) { std::copy(from, from + n, to); }, in(b), out(a));
    }
    tasks.wait();
    CHECK_EQ(a[n - 1], 16.0F);
}

void mistakes_of_functions_that_give_work()
{
    Runtime tasks({.workers = 2, .devices = {device::gpus().at(0)}});
    std::vector<float> x(64), y(64);
    tasks.cuda(
        {"asks"}, [&](Gpu &gpu, float *) { gpu.at(&y[3]); }, inout(x));
    CHECK(refused([&] { tasks.wait(); }, {"(asks) has failed", "a task asks for " + at(&y[3]),
                                          "which it has not declared; it has: inout " + at(x.data())}));
    tasks.cuda(
        {"waits"}, [&](Gpu &, float *) { tasks.wait(); }, inout(x));
    CHECK(refused([&] { tasks.wait(); }, {"(waits) gives a GPU work, and cannot wait for tasks meanwhile"}));
}

/* Which of the two is told first is open, and the other one hears of that. */
void runtimes_that_wait_for_each_other()
{
    Options options;
    options.workers = 2;
    Runtime one(options), other(options);
    std::atomic<unsigned> begun{0};
    const auto wait_for = [&](Runtime &runtime) {
        begun++;
        CHECK(comes_true([&] { return begun == 2; }));
        runtime.wait();
    };
    one.host({"in one"}, [&] { wait_for(other); });
    other.host({"in the other"}, [&] { wait_for(one); });
    unsigned refusals = 0;
    for (Runtime *runtime : {&one, &other})
        try {
            runtime->wait();
        } catch (const ptsched::Error &failure) {
            CHECK(std::string(failure.what()).find("nothing can go on: tasks of 2 runtimes wait for each other") !=
                  std::string::npos);
            refusals++;
        }
    CHECK(refusals >= 1);
}

/* It is slow, and no cycle: who waits looks often enough, at later and later times, to take it for one. */
void a_task_waits_for_another_runtime()
{
    GraphClock clock;
    Runtime one({.workers = 2}), other({.workers = 2});
    int x = 0;
    std::atomic<bool> begun{false};
    one.host(
        [&](int *to) {
            other.host([&] {
                begun = true;
                const auto looks = [&] { return one.state().sleeps + other.state().sleeps; };
                const std::uint64_t enough = looks() + 20;
                clock.advance_until(std::chrono::milliseconds(100), [&] { return looks() >= enough; });
                x = 1;
            });
            /* Who waits would run it himself, and look no more. */
            CHECK(comes_true([&] { return begun.load(); }));
            other.wait();
            *to = x + 1;
        },
        out(x));
    one.wait();
    CHECK_EQ(x, 2);
}

} // namespace

std::vector<tap::Case> checked_cases()
{
    return {{"checked: what is declared", what_is_declared},
            {"checked: a write to another array", a_write_to_another_array},
            {"checked: bytes are counted over pages", the_bytes_are_counted},
            {"checked: a read of another array", a_read_of_another_array},
            {"checked: a write to what is read", a_write_to_what_is_read},
            {"checked: what shares a page", what_shares_a_page},
            {"checked: beyond an array", beyond_an_array},
            {"checked: rows of a matrix", rows_of_a_matrix},
            {"checked: a weak access", a_weak_access},
            {"checked: a task inside another uses what that has not", an_inner_one_that_is_not_covered},
            {"checked: memory of the task itself", memory_of_the_task_itself},
            {"checked: many findings are cut", many_are_cut},
            {"checked: with a failure", with_a_failure},
            {"checked: faults of others go on", other_faults_go_on},
            {"checked: threads beside are let be", threads_beside},
            {"an array is freed while a task is to use it", an_array_is_freed_meanwhile},
            {"checked: a kernel writes another array", a_kernel_writes_another_array},
            {"checked: both sides in turn", both_sides_in_turn},
            {"mistakes of functions that give work", mistakes_of_functions_that_give_work},
            {"runtimes whose tasks wait for each other", runtimes_that_wait_for_each_other},
            {"a task waits for another runtime", a_task_waits_for_another_runtime}};
}

} // namespace test
