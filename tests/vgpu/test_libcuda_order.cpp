// SPDX-License-Identifier: MIT
/* Streams, events and host functions: what comes after what. */
#include "tests/vgpu/test_libcuda.h"

#include <atomic>
#include <thread>

namespace test {

namespace {

void one_stream_is_a_queue()
{
    constexpr unsigned int launches = 3000; /* more than any ring holds */
    Context context;
    Stream stream;
    Pinned<unsigned int> counter(1);

    for (unsigned int i = 0; i < launches; i++)
        CU(launch_count(context, counter.device, 1, stream));
    CU(cuStreamSynchronize(stream));
    CHECK_EQ(*counter.host, launches);
    CU(cuStreamQuery(stream));
}

void results_of_threads()
{
    Context context;
    Pinned<unsigned int> out(64);

    CU(launch_spin(context, out.device, 1000, nullptr, 64, 1000));
    CU(cuCtxSynchronize());
    for (unsigned int i = 0; i < 64; i++)
        CHECK_EQ(out.host[i], spin_result(i, 1000));
}

/* What a host may be too slow to see while a kernel runs is looked for in longer ones. */
template <typename F> bool seen_while_running(F attempt)
{
    for (unsigned long long ns = 200000000; ns <= 12800000000; ns *= 2)
        if (attempt(ns))
            return true;
    return false;
}

void events_tell_the_time()
{
    Context context;
    Stream stream;
    Event begin, end, untimed(CU_EVENT_DISABLE_TIMING), never;
    Pinned<unsigned int> out(1);
    float ms = 0;

    CU(cuEventQuery(never));
    CU(cuEventSynchronize(never));
    CHECK(seen_while_running([&](unsigned long long ns) {
        CU(cuEventRecord(begin, stream));
        CU(launch_spin(context, out.device, ns, stream));
        CU(cuEventRecord(end, stream));
        bool seen = cuEventQuery(end) == CUDA_ERROR_NOT_READY && cuStreamQuery(stream) == CUDA_ERROR_NOT_READY &&
                    cuEventElapsedTime(&ms, begin, end) == CUDA_ERROR_NOT_READY;
        CU(cuEventSynchronize(end));
        CU(cuEventQuery(end));
        CU(cuEventElapsedTime(&ms, begin, end));
        /* On the device's clock, which no machine's load can shorten. */
        CHECK(ms >= 0.9999f * static_cast<float>(ns) / 1e6f);
        return seen;
    }));
    CU_IS(cuEventElapsedTime(&ms, begin, untimed), CUDA_ERROR_INVALID_HANDLE);
    CU_IS(cuEventElapsedTime(&ms, begin, never), CUDA_ERROR_INVALID_HANDLE);
    CUevent shared;
    CU_IS(cuEventCreate(&shared, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING), CUDA_ERROR_NOT_SUPPORTED);
    CU_IS(cuEventRecord(nullptr, stream), CUDA_ERROR_INVALID_HANDLE);
}

void streams_overlap()
{
    Context context;
    Stream one, two;
    Event one_end, two_begin;
    Pinned<unsigned int> out(2);
    float ms = 0;

    CHECK(seen_while_running([&](unsigned long long ns) {
        CU(launch_spin(context, out.device, ns, one));
        CU(cuEventRecord(two_begin, two));
        CU(launch_spin(context, out.device + 4, 1000, two));
        CU(cuEventRecord(one_end, one));
        CU(cuStreamSynchronize(two));
        bool seen = cuStreamQuery(one) == CUDA_ERROR_NOT_READY;
        CU(cuCtxSynchronize());
        CU(cuEventElapsedTime(&ms, two_begin, one_end));
        return seen && ms > 0;
    }));
}

void events_order_streams()
{
    Context context;
    Stream one, two;
    Event event;
    Pinned<unsigned int> value(1);
    unsigned int copied = 0;
    CUdeviceptr device;

    CU(cuMemAlloc_v2(&device, 4));
    for (unsigned int i = 1; i <= 200; i++) {
        CU(cuMemsetD32Async(device, i, 1, one));
        CU(launch_count(context, device, 1000, one));
        CU(cuEventRecord(event, one));
        CU(cuStreamWaitEvent(two, event, 0));
        CU(cuMemcpyDtoHAsync_v2(value.host, device, 4, two));
        CU(cuEventRecord(event, two));
        CU(cuStreamWaitEvent(one, event, 0));
        if (i % 50)
            continue;
        CU(cuStreamSynchronize(two));
        copied = *value.host;
        CHECK_EQ(copied, i + 1000);
    }
}

struct HostState {
    std::atomic<int> stage{0};
    unsigned int source = 0;
    unsigned int *seen = nullptr;
    unsigned int before = 0;
};

void host_functions_take_part()
{
    Context context;
    Stream stream;
    HostState state;
    Pinned<unsigned int> out(1);
    CUdeviceptr device;
    unsigned int result = 0;

    CU(cuMemAlloc_v2(&device, 4));
    state.seen = out.host;
    CU(launch_spin(context, out.device, 2000000, stream));
    /* Sees what came before, and comes before what follows. */
    CU(cuLaunchHostFunc(
        stream,
        [](void *data) {
            auto &s = *static_cast<HostState *>(data);
            s.before = *s.seen;
            s.source = 77;
            s.stage = 1;
        },
        &state));
    CU(cuMemcpyHtoDAsync_v2(device, &state.source, 4, stream));
    CU(launch_count(context, device, 1, stream));
    CU(cuStreamAddCallback(
        stream,
        [](CUstream, CUresult status, void *data) {
            auto &s = *static_cast<HostState *>(data);
            if (s.stage == 1 && status == CUDA_SUCCESS)
                s.stage = 2;
        },
        &state, 0));
    CU(cuMemcpyDtoHAsync_v2(&result, device, 4, stream));
    CU(cuStreamSynchronize(stream));
    CHECK_EQ(state.before, spin_result(0));
    CHECK_EQ(result, 78u);
    CHECK_EQ(state.stage.load(), 2);
}

/* Holds its stream until told. */
struct Gate {
    std::atomic<bool> open{false};
    CUresult close_stream(CUstream stream)
    {
        return cuLaunchHostFunc(
            stream, [](void *data) { static_cast<Gate *>(data)->open.wait(false); }, this);
    }
    void release()
    {
        open = true;
        open.notify_all();
    }
};

void legacy_stream_waits_for_blocking_ones()
{
    Context context;
    Stream blocking(CU_STREAM_DEFAULT), free_running(CU_STREAM_NON_BLOCKING);
    Pinned<unsigned int> counter(3);
    Gate gate;

    CU(gate.close_stream(blocking));
    CU(launch_count(context, counter.device, 1, blocking));
    CU(launch_count(context, counter.device + 4, 1, nullptr));
    CU(launch_count(context, counter.device + 8, 1, free_running));
    CU(cuStreamSynchronize(free_running));
    CHECK_EQ(counter.host[2], 1u);
    CU_IS(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);
    CU_IS(cuStreamQuery(blocking), CUDA_ERROR_NOT_READY);
    /* What comes after in another blocking stream waits for the legacy one. */
    Stream later(CU_STREAM_DEFAULT);
    CU(launch_count(context, counter.device, 1, later));
    CU_IS(cuStreamQuery(later), CUDA_ERROR_NOT_READY);
    gate.release();
    CU(cuStreamSynchronize(later));
    CHECK_EQ(counter.host[0], 2u);
    CHECK_EQ(counter.host[1], 1u);
}

void per_thread_default_streams()
{
    Context context;
    Pinned<unsigned int> counter(2);
    Gate gate;
    unsigned long long own = 0, others = 0, legacy = 0;

    CU(cuStreamGetId(CU_STREAM_PER_THREAD, &own));
    CU(cuStreamGetId_ptsz(nullptr, &others));
    CHECK_EQ(own, others);
    CU(cuStreamGetId(nullptr, &legacy));
    CHECK(legacy != own);
    CU(gate.close_stream(CU_STREAM_PER_THREAD));
    std::thread([&] {
        CU(cuCtxSetCurrent(context.handle));
        CU(cuStreamGetId_ptsz(nullptr, &others));
        CHECK(others != own);
        CUdeviceptr out = counter.device;
        unsigned int one = 1;
        void *params[] = {&out, &one};
        CU(cuLaunchKernel_ptsz(context.count, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr));
        CU(cuStreamSynchronize_ptsz(nullptr));
        CHECK_EQ(counter.host[0], 1u);
    }).join();
    CU_IS(cuStreamQuery_ptsz(nullptr), CUDA_ERROR_NOT_READY);
    gate.release();
    CU(cuStreamSynchronize(CU_STREAM_PER_THREAD));
}

/* A kernel that waits for the host holds up neither launches nor other streams. */
void resident_kernel()
{
    Context context;
    Stream stream, other;
    Pinned<unsigned int> flag(2), counter(1);
    CUdeviceptr seen = flag.device + 4;
    void *params[] = {&flag.device, &seen};

    CU(cuLaunchKernel(context.wait_for_host, 1, 1, 1, 1, 1, 1, 0, stream, params, nullptr));
    CU(launch_count(context, counter.device, 1, other));
    CU(cuStreamSynchronize(other));
    CHECK_EQ(*counter.host, 1u);
    CU_IS(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
    __atomic_store_n(flag.host, 9, __ATOMIC_RELEASE);
    CU(cuStreamSynchronize(stream));
    CHECK_EQ(flag.host[1], 9u);
}

void destroyed_streams_finish()
{
    Context context;
    Pinned<unsigned int> counter(1);
    CUstream stream;

    for (int i = 0; i < 20; i++) {
        CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        CU(launch_count(context, counter.device, 1, stream));
        CU(launch_count(context, counter.device, 1, stream));
        CU(cuStreamDestroy_v2(stream));
        CU_IS(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
    }
    CU(cuCtxSynchronize());
    CHECK_EQ(*counter.host, 40u);
}

/* By another thread than the one that runs its kernel: that has been short so far, and needs no worker. */
void stream_destroyed_while_in_use()
{
    constexpr unsigned int steps = 50000000;
    Context context;
    Pinned<unsigned int> out(1);
    CUstream stream;
    std::atomic<bool> launched{false};

    CU(launch_spin(context, out.device, 1000, nullptr));
    CU(cuCtxSynchronize());
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    std::thread launcher([&] {
        CU(cuCtxSetCurrent(context.handle));
        CU(launch_spin(context, out.device, 1000, stream, 1, steps));
        launched = true;
    });
    while (!launched && cuStreamQuery(stream) == CUDA_SUCCESS)
        std::this_thread::yield();
    CU(cuStreamDestroy_v2(stream));
    launcher.join();
    CU(cuCtxSynchronize());
    CHECK_EQ(out.host[0], spin_result(0, steps));
}

void many_threads()
{
    constexpr unsigned int threads = 4, launches = 200;
    Context context;
    Pinned<unsigned int> counter(1);
    std::vector<std::thread> all;

    for (unsigned int t = 0; t < threads; t++)
        all.emplace_back([&] {
            CU(cuCtxSetCurrent(context.handle));
            Stream stream;
            Event event;
            for (unsigned int i = 0; i < launches; i++) {
                CU(launch_count(context, counter.device, 1, stream));
                if (i % 16 == 0) {
                    CU(cuEventRecord(event, stream));
                    CU(cuEventSynchronize(event));
                }
            }
            CU(cuStreamSynchronize(stream));
        });
    for (auto &thread : all)
        thread.join();
    CHECK_EQ(*counter.host, threads * launches);
}

} // namespace

void add_order_cases(std::vector<tap::Case> &cases)
{
    cases.insert(cases.end(),
                 {
                     {"a stream is a queue, deeper than any ring", one_stream_is_a_queue},
                     {"every thread's result", results_of_threads},
                     {"events tell the device's time", events_tell_the_time},
                     {"streams overlap", streams_overlap},
                     {"events order streams", events_order_streams},
                     {"host functions and callbacks take part in the order", host_functions_take_part},
                     {"legacy and blocking streams wait for each other", legacy_stream_waits_for_blocking_ones},
                     {"each thread has its default stream", per_thread_default_streams},
                     {"a resident kernel", resident_kernel},
                     {"destroyed streams finish their work", destroyed_streams_finish},
                     {"a stream is destroyed while a thread runs its kernel", stream_destroyed_while_in_use},
                     {"launches from many threads", many_threads},
                 });
}

} // namespace test
