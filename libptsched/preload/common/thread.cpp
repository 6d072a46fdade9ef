// SPDX-License-Identifier: MIT
#include "libptsched/preload/common/thread.hpp"

#include "libptsched/base/no_cancellation.hpp"
#include "libptsched/base/no_signals.hpp"

#include <fcntl.h>
#include <linux/membarrier.h>
#include <new>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ptsched::preload {

__thread Thread *this_thread = nullptr;
constinit std::atomic<std::uint32_t> slots_epoch{1}, samples_epoch{0};

namespace {

/* Blocks are never freed: the agent walks the list without a lock. Those of ended threads are used again. */
constinit std::atomic<Thread *> threads{nullptr};
constinit std::atomic<ThreadEnds> thread_ends{nullptr};
pthread_key_t at_thread_end;
pthread_once_t key_once = PTHREAD_ONCE_INIT;

void release_thread(void *data)
{
    auto *thread = static_cast<Thread *>(data);
    NoCancellation here;
    thread->close_windows();
    thread->forget_slots();
    if (ThreadEnds tell = thread_ends.load(std::memory_order_acquire))
        tell(*thread);
    this_thread = nullptr;
    thread->live.store(false, std::memory_order_release);
}

void make_key()
{
    pthread_key_create(&at_thread_end, release_thread);
}

Thread *take_block()
{
    for (Thread *thread = first_thread(); thread; thread = thread->next) {
        bool dead = false;
        if (thread->live.compare_exchange_strong(dead, true, std::memory_order_acquire))
            return thread;
    }
    auto *thread = new (std::nothrow) Thread;
    if (!thread)
        return nullptr;
    thread->random ^= reinterpret_cast<std::uintptr_t>(thread);
    thread->next = threads.load(std::memory_order_relaxed);
    while (!threads.compare_exchange_weak(thread->next, thread, std::memory_order_release, std::memory_order_relaxed)) {
    }
    return thread;
}

constinit std::atomic<bool> barrier_registered{false};

int membarrier(int command)
{
    return static_cast<int>(syscall(SYS_membarrier, command, 0, 0));
}

void *register_barrier(void *)
{
    if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0)
        barrier_registered.store(true, std::memory_order_release);
    return nullptr;
}

/* Each thread is a folder there, beside the two that every folder has. (Older C libraries have no stat() to call.) */
bool is_single_threaded()
{
    struct stat tasks;
    return syscall(SYS_newfstatat, AT_FDCWD, "/proc/self/task", &tasks, 0) == 0 && tasks.st_nlink == 3;
}

} // namespace

void Thread::forget_slots()
{
    for (Slot &slot : slots)
        slot = Slot{};
}

void watch_thread_ends(ThreadEnds watcher)
{
    thread_ends.store(watcher, std::memory_order_release);
}

Thread *get_thread()
{
    if (this_thread)
        return this_thread;
    pthread_once(&key_once, make_key);
    Thread *thread = take_block();
    if (thread)
        pthread_setspecific(at_thread_end, thread);
    this_thread = thread;
    return thread;
}

Thread *first_thread()
{
    return threads.load(std::memory_order_acquire);
}

bool has_heavy_barrier()
{
    return barrier_registered.load(std::memory_order_acquire);
}

/* In a process of several threads the kernel first waits for all CPUs, which takes 10 to 30 ms on one of many. */
void ask_for_heavy_barrier()
{
    if (has_heavy_barrier() || (!is_single_threaded() && start_own_thread(register_barrier, nullptr)))
        return;
    register_barrier(nullptr);
}

/* The fence is for who comes before there is the other: whoever finds that registered sees what was stored here. */
void heavy_barrier()
{
    std::atomic_thread_fence(std::memory_order_seq_cst);
    membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

void forget_heavy_barrier()
{
    barrier_registered.store(false, std::memory_order_relaxed);
}

bool start_own_thread(void *(*body)(void *), void *argument)
{
    NoSignals for_it;
    pthread_t thread;
    bool started = pthread_create(&thread, nullptr, body, argument) == 0;
    if (started)
        pthread_detach(thread);
    return started;
}

void forget_other_threads()
{
    for (Thread *thread = first_thread(); thread; thread = thread->next) {
        thread->forget_slots();
        for (std::atomic<std::uint64_t> &submissions : thread->submissions)
            submissions.store(0, std::memory_order_relaxed);
        thread->epoch = 0;
        thread->device.store(nullptr, std::memory_order_relaxed);
        if (thread != this_thread) {
            thread->window.store(0, std::memory_order_relaxed);
            thread->capture_window.store(0, std::memory_order_relaxed);
            thread->live.store(false, std::memory_order_relaxed);
        }
    }
}

} // namespace ptsched::preload
