/* SPDX-License-Identifier: MIT */
/*
 * What each program thread carries: its submission window and a cache from streams to devices.
 *
 * The window makes the fast path asymmetric. A thread marks that it is submitting with a plain store and then looks at
 * the page; who wants to know that nobody submits any more (the agent, after the page changed) first makes every
 * thread's store visible with membarrier() and then looks at the marks. So the thread pays for no fence.
 */
#ifndef PTSCHED_PRELOAD_COMMON_THREAD_HPP
#define PTSCHED_PRELOAD_COMMON_THREAD_HPP

#define PTSCHED_CUDA_ABI_TYPES_ONLY
#include "libptsched/cuda/cuda_abi.h"

#include <atomic>
#include <cstdint>
#include <initializer_list>

namespace ptsched::preload {

class Device;
struct Stream;

/* So many devices of a process have a fast path: each thread counts what it gave to each of them. */
inline constexpr unsigned counted_devices = 16;

/* Where submissions to one stream go. */
struct Slot {
    CUstream handle;
    CUcontext context;
    bool check_context; /* the handle is a default stream and there are several contexts */
    const std::uint32_t *state;
    Device *device;
    Stream *stream;
    std::atomic<std::uint64_t> *submissions; /* by the fast path */
};

struct alignas(64) Thread {
    static constexpr unsigned slot_count = 8;

    std::atomic<std::uint64_t> window{0};  /* odd: inside a submission */
    std::atomic<Device *> device{nullptr}; /* the submission's, while inside */
    const void *opened_at{nullptr}; /* the frame that is inside; NULL: no frame is, but a scope of the program's */
    std::uint32_t epoch{0};         /* the slots are good while this equals the global one */
    std::int32_t until_sample{0};   /* submissions left before the next one is measured */
    std::uint64_t sampled_ns{0};    /* when the last one was */
    std::int32_t sample_interval{1};
    std::uint32_t samples_epoch{0};
    std::uint64_t random{0x9e3779b97f4a7c15};
    std::atomic<std::uint64_t> capture_window{0}; /* odd: inside a call that may begin a capture */
    Slot slots[slot_count]{};
    std::atomic<std::uint64_t> submissions[counted_devices]{}; /* by the fast path; of all threads that had the block */
    std::atomic<bool> live{true};
    Thread *next{nullptr};

    static unsigned index(CUstream handle)
    {
        auto bits = reinterpret_cast<std::uintptr_t>(handle);
        return (bits ^ bits >> 4 ^ bits >> 10) % slot_count;
    }
    Slot &slot(CUstream handle) { return slots[index(handle)]; }

    void forget_slots();

    /*
     * Whether the thread, which comes from @frame, is inside a submission: the driver calls itself. One that has left
     * its window by longjmp(), and so without closing it, is not; the window is closed then.
     */
    bool is_inside(const void *frame)
    {
        std::uint64_t now = window.load(std::memory_order_relaxed);
        if (!(now & 1))
            return false;
        if (!opened_at || frame < opened_at)
            return true;
        window.store(now + 1, std::memory_order_release);
        return false;
    }

    /* Whether it is in the scope of ptsched_preload_exempt(). */
    bool is_exempt() const
    {
        return window.load(std::memory_order_relaxed) & 1 && !device.load(std::memory_order_relaxed);
    }

    /* Closes what the thread has open, as it ends. */
    void close_windows()
    {
        for (std::atomic<std::uint64_t> *open : {&window, &capture_window}) {
            if (std::uint64_t now = open->load(std::memory_order_relaxed); now & 1)
                open->store(now + 1, std::memory_order_release);
        }
    }
};

/* The calling thread's, if it has submitted before. */
extern __thread Thread *this_thread __attribute__((tls_model("initial-exec")));

/* The calling thread's, made if need be; NULL without memory. */
Thread *get_thread();

Thread *first_thread();

/* Is told of each thread that ends, before another one may get its block. */
using ThreadEnds = void (*)(const Thread &thread);
void watch_thread_ends(ThreadEnds watcher);

/* Grows when a cached slot may have become wrong: a handle ended, a context appeared, a device changed. */
extern std::atomic<std::uint32_t> slots_epoch;
/* Grows when all that was submitted so far has been accounted. */
extern std::atomic<std::uint32_t> samples_epoch;
/* What every thread submits next is a sample, which stands for itself. */
inline void sample_anew()
{
    samples_epoch.fetch_add(1, std::memory_order_release);
    slots_epoch.fetch_add(1, std::memory_order_release);
}

/*
 * heavy_barrier() makes the window stores of all threads visible to the caller, from when has_heavy_barrier() is true:
 * soon after it was asked for, or never where this kernel or a sandbox forbids it. Until then there must be no fast
 * path.
 */
void ask_for_heavy_barrier();
bool has_heavy_barrier();
void heavy_barrier();
/* In a forked child, where it is to be asked for anew. */
void forget_heavy_barrier();

/* Starts a detached thread of our own, which takes none of the program's signals. False: not possible. */
bool start_own_thread(void *(*body)(void *), void *argument);

/* In a forked child: only the calling thread is left. */
void forget_other_threads();

} // namespace ptsched::preload

#endif
