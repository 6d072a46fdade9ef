/* SPDX-License-Identifier: MIT */
/*
 * The way of a submission to the driver.
 *
 * Inside a turn that no equal wants, a submission costs the marks of its window and one look at the page. All else
 * is in submit_slowly(): finding the device, attaching, waiting for the turn, bounding and measuring work in flight.
 */
#ifndef PTSCHED_PRELOAD_TURN_GATE_HPP
#define PTSCHED_PRELOAD_TURN_GATE_HPP

#include "libptsched/preload/common/thread.hpp"
#include "libptsched/preload/driver/driver.hpp"
#include "libptsched/preload/turn/device.hpp"

#include <type_traits>

namespace ptsched::preload {

/* The driver's call with its arguments; lives on the caller's stack. */
class Call {
public:
    template <class Fn>
    explicit Call(Fn &function) : function_(&function), run_([](void *f) { return (*static_cast<Fn *>(f))(); })
    {
    }
    CUresult operator()() const { return run_(function_); }

private:
    void *function_;
    CUresult (*run_)(void *);
};

/* @frame: of the caller's, as for Thread::opened_at. */
CUresult submit_slowly(CUstream stream, const Key &key, Call call, const void *frame);

/* Handle 0 by its unambiguous name. */
inline CUstream by_name(CUstream stream, DefaultStream kind)
{
    if (stream)
        return stream;
    return kind == DefaultStream::legacy ? CU_STREAM_LEGACY : CU_STREAM_PER_THREAD;
}

inline bool in_slot(const Slot &slot, CUstream stream)
{
    if (slot.handle != stream)
        return false;
    if (!slot.check_context)
        return true;
    CUcontext current = nullptr;
    return driver.own().ctx_get_current(&current) == CUDA_SUCCESS && current == slot.context;
}

/* Closes the window, whichever way the driver's call ends. */
class OpenWindow {
public:
    OpenWindow(Thread &thread, std::uint64_t window) : thread_(thread), window_(window) {}
    ~OpenWindow() { thread_.window.store(window_ + 2, std::memory_order_release); }
    OpenWindow(const OpenWindow &) = delete;
    OpenWindow &operator=(const OpenWindow &) = delete;

private:
    Thread &thread_;
    std::uint64_t window_;
};

template <class MakeKey, class Fn>
inline CUresult submit(CUstream handle, DefaultStream kind, MakeKey make_key, Fn call)
{
    CUstream stream = by_name(handle, kind);
    Thread *thread = this_thread;
    if (thread && thread->epoch == slots_epoch.load(std::memory_order_relaxed) && thread->until_sample > 0) [[likely]] {
        Slot &slot = thread->slot(stream);
        std::uint64_t window = thread->window.load(std::memory_order_relaxed);
        if (!(window & 1) && in_slot(slot, stream)) [[likely]] {
            Device &device = *slot.device;
            thread->device.store(&device, std::memory_order_relaxed);
            thread->opened_at = __builtin_frame_address(0);
            thread->window.store(window + 1, std::memory_order_relaxed);
            OpenWindow open(*thread, window);
            /* Pairs with heavy_barrier(): the mark comes before the look. */
            std::atomic_signal_fence(std::memory_order_seq_cst);
            if ((__atomic_load_n(slot.state, __ATOMIC_ACQUIRE) & fast_mask) == PTSCHED_STATE_TURN &&
                !device.is_closing_fast()) [[likely]] {
                std::atomic<std::uint64_t> &submissions = *slot.submissions;
                submissions.store(submissions.load(std::memory_order_relaxed) + 1, std::memory_order_release);
                thread->until_sample--;
                return call();
            }
        }
    }
    return submit_slowly(stream, make_key(), Call(call), __builtin_frame_address(0));
}

/* A call returned that waits for work: the device may be idle now. */
void settled();

/* Work is being queued that waits for something the host does. */
void will_wait_for_host();

} // namespace ptsched::preload

#endif
