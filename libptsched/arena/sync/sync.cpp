// SPDX-License-Identifier: MIT
/*
 * Peterson's algorithm between the two sides, of which each has one thread there at a time: it needs no more of the bus
 * than that words are written and read in order.
 */
#include <ptsched/arena/sync.hpp>

#include <atomic>
#include <chrono>
#include <thread>

namespace ptsched::arena {

namespace {

using Word = std::atomic_ref<unsigned>;

/* What the other side does soon, or not so soon. */
template <typename Condition> void wait_until(Condition condition)
{
    constexpr unsigned patience = 200;
    constexpr std::chrono::microseconds nap{50};
    for (unsigned looks = 0; !condition(); looks++) {
        if (looks < patience)
            __builtin_ia32_pause();
        else
            std::this_thread::sleep_for(nap);
    }
}

void unlock_host(detail::HostWords &words)
{
    Word(words.host_lock).store(0, std::memory_order_release);
    Word(words.host_lock).notify_one();
}

} // namespace

void Mutex::lock()
{
    detail::HostWords &words = *words_.host;
    while (Word(words.host_lock).exchange(1, std::memory_order_acquire))
        Word(words.host_lock).wait(1);
    if (!words_.gpu)
        return;
    Word(words.host_wants).store(1);
    Word(words.turn).store(detail::turn_of_gpus);
    wait_until([&] { return !Word(words.gpu_wants).load() || Word(words.turn).load() != detail::turn_of_gpus; });
}

bool Mutex::try_lock()
{
    detail::HostWords &words = *words_.host;
    if (Word(words.host_lock).exchange(1, std::memory_order_acquire))
        return false;
    if (!words_.gpu)
        return true;
    Word(words.host_wants).store(1);
    Word(words.turn).store(detail::turn_of_gpus);
    if (!Word(words.gpu_wants).load() || Word(words.turn).load() != detail::turn_of_gpus)
        return true;
    Word(words.host_wants).store(0);
    unlock_host(words);
    return false;
}

void Mutex::unlock()
{
    if (words_.gpu)
        Word(words_.host->host_wants).store(0);
    unlock_host(*words_.host);
}

void Barrier::arrive_and_wait()
{
    detail::HostWords &words = *words_.host;
    /* Nobody comes for the next one before this one is through. */
    const unsigned number = Word(words.host_arrived).fetch_add(1);
    const unsigned generation = number / host_threads_ + 1;
    if ((number + 1) % host_threads_ == 0)
        Word(words.host_generation).store(generation);
    wait_until([&] {
        return Word(words.host_generation).load() >= generation &&
               (!gpu_threads_ || Word(words.gpu_generation).load() >= generation);
    });
}

} // namespace ptsched::arena
