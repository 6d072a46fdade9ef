// SPDX-License-Identifier: MIT
/* Mutexes and barriers of threads of the host, and of kernels that run beside them. */
#include "tests/arena/cases.hpp"

#include <mutex>
#include <thread>
#include <vector>

using namespace test;

namespace {

void mutex_of_the_host()
{
    constexpr unsigned threads = 4, times = 2000;
    Window window(small());
    Arena common = window.shared_arena();
    arena::Mutex *mutex = common.make_mutex();
    unsigned count = 0;
    std::vector<std::thread> all;
    for (unsigned i = 0; i < threads; i++)
        all.emplace_back([&] {
            for (unsigned j = 0; j < times; j++) {
                const std::lock_guard lock(*mutex);
                count++;
            }
        });
    for (std::thread &thread : all)
        thread.join();
    CHECK_EQ(count, threads * times);
    CHECK(mutex->try_lock());
    std::thread([&] { CHECK(!mutex->try_lock()); }).join();
    mutex->unlock();
    CHECK(mutex->try_lock());
    mutex->unlock();
    common.destroy(mutex);
    common.destroy(static_cast<arena::Mutex *>(nullptr));
    CHECK_EQ(window.state().blocks, 0u);
}

/* What both count up is in memory that both reach. */
void mutex_of_both_sides()
{
    constexpr unsigned threads = 3, times = 200;
    Window window(small());
    Kernels kernels;
    Arena common = window.shared_arena();
    arena::Mutex *mutex = common.make_mutex();
    common.release(Side::host());
    common.acquire(Side::gpu());
    auto *count = kernels.out<unsigned>();
    std::vector<std::thread> all;
    for (unsigned i = 0; i < threads; i++)
        all.emplace_back([&] {
            for (unsigned j = 0; j < times; j++) {
                const std::lock_guard lock(*mutex);
                volatile unsigned *word = count;
                *word = *word + 1;
            }
        });
    unsigned each = times;
    kernels.run("count_up", {{2, 1, 1}, {2, 1, 1}}, {&mutex, &count, &each});
    for (std::thread &thread : all)
        thread.join();
    CHECK_EQ(*count, (threads + 4) * times);
}

void barrier_of_both_sides()
{
    constexpr unsigned rounds = 20, gpu_threads = 3, host_threads = 2;
    Window window(small());
    Kernels kernels;
    Arena common = window.shared_arena();
    arena::Barrier *barrier = common.make_barrier(host_threads, gpu_threads);
    common.release(Side::host());
    common.acquire(Side::gpu());
    auto *words = kernels.out<unsigned>();
    std::atomic<unsigned> wrong{0};
    std::vector<std::thread> all;
    for (unsigned i = 0; i < host_threads; i++)
        all.emplace_back([&] {
            for (unsigned round = 1; round <= rounds; round++) {
                barrier->arrive_and_wait();
                for (unsigned thread = 0; thread < gpu_threads; thread++)
                    wrong += std::atomic_ref(words[thread]).load() != round;
                barrier->arrive_and_wait();
            }
        });
    unsigned times = rounds;
    kernels.run("rounds", {{1, 1, 1}, {gpu_threads, 1, 1}}, {&barrier, &words, &times});
    for (std::thread &thread : all)
        thread.join();
    CHECK_EQ(wrong.load(), 0u);
    common.destroy(barrier);
}

void what_there_is_not()
{
    Window window(small());
    Arena common = window.shared_arena();
    std::vector<arena::Mutex *> all;
    CHECK(refused([&] { common.make_barrier(0); }, {"at least one"}));
    CHECK(refused(
        [&] {
            for (;;)
                all.push_back(common.make_mutex());
        },
        {"1024"}));
    CHECK_EQ(all.size(), 1024u);
    common.destroy(all.back());
    arena::Barrier *barrier = common.make_barrier(1);
    barrier->arrive_and_wait();
    barrier->arrive_and_wait();
    CHECK_EQ(window.state().blocks, 1024u);
}

} // namespace

std::vector<tap::Case> test::sync_cases()
{
    return {
        {"a mutex of the host's threads", mutex_of_the_host},
        {"a mutex of both sides", mutex_of_both_sides},
        {"a barrier of both sides", barrier_of_both_sides},
        {"mutexes and barriers that there are not", what_there_is_not},
    };
}
