// SPDX-License-Identifier: MIT
/* Arrays and runtimes that go while tasks are under way, and tasks that do not come to be. */
#include "tests/tasks/cases.hpp"
#include "tests/vgpu/refused.h"

#include <array>
#include <atomic>
#include <stdexcept>
#include <thread>

using namespace test;
using namespace ptsched::tasks;

namespace {

/* Those inside a task use it. */
void an_array_of_a_task()
{
    Runtime tasks({.workers = 2});
    std::atomic<bool> is_gone{false};
    int seen = 0;
    tasks.host({.name = "outer"}, [&] {
        {
            auto numbers = tasks.array<int>(1U << 20);
            tasks.host(
                {.name = "inner"},
                [&](int *n) {
                    CHECK(comes_true([&] { return is_gone.load(); }));
                    seen = ++n[5];
                },
                out(numbers));
            numbers[5] = 6;
        }
        is_gone = true;
    });
    CHECK(refused([&] { tasks.wait(); }, {"inner", "freed"}));
    CHECK_EQ(seen, 7);
}

/* It waits for its tasks, whoever has its arrays. */
void an_array_outlives_its_runtime()
{
    Array<int> numbers;
    std::atomic<bool> go{false};
    bool ran = false;
    std::thread other;
    {
        Runtime tasks({.workers = 2});
        numbers = tasks.array<int>(10);
        tasks.host(
            [&](int *) {
                CHECK(comes_true([&] { return go.load(); }));
                ran = true;
            },
            inout(numbers));
        other = std::thread([&] { go = true; });
    }
    CHECK(ran);
    other.join();
    numbers[3] = 1;
}

struct Unmovable {
    explicit Unmovable(int copies) : left(copies) {}
    Unmovable(const Unmovable &other) : left(other.left - 1)
    {
        if (left < 0)
            throw std::runtime_error("no more copies");
    }
    void operator()() const {}
    int left;
    std::array<std::byte, 200> more{};
};

/* At whichever of its moves: the task is as if it had not been made. */
void a_function_that_cannot_be_moved()
{
    Runtime tasks({.workers = 2});
    unsigned refused = 0;
    for (int copies = 0; copies < 10; copies++) {
        try {
            tasks.host(Unmovable(copies));
            break;
        } catch (const std::runtime_error &) {
            refused++;
        }
        tasks.wait();
        CHECK_EQ(tasks.state().live, std::size_t{0});
    }
    tasks.wait();
    CHECK(refused > 0 && refused < 10);
    CHECK_EQ(tasks.state().made, std::uint64_t{1});
}

} // namespace

std::vector<tap::Case> test::lifetime_cases()
{
    return {{"an array of a task that goes before those inside have ended", an_array_of_a_task},
            {"an array outlives its runtime", an_array_outlives_its_runtime},
            {"a function that cannot be moved", a_function_that_cannot_be_moved}};
}
