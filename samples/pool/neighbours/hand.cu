// SPDX-License-Identifier: MIT
/*
 * Products by cuBLAS, and the selection by threads of the host: one behind the other, or in pieces of some rows, which
 * streams multiply and copy while threads select from those that have come.
 */
#include "samples/common/check.hpp"
#include "samples/common/try_to.hpp"
#include "samples/pool/common/workers.hpp"
#include "samples/pool/neighbours/hand.h"

#include <chrono>
#include <cublas_v2.h>
#include <memory>
#include <stdexcept>
#include <string>

namespace ptsched::neighbours {

namespace {

/* That a thread selects for at once. */
constexpr unsigned rows_at_once = 64;
constexpr unsigned most_streams = 4;

using ptsched::samples::check;

struct Prepared {
    Problem problem{};
    hand_select *select = nullptr;
    void *selection = nullptr;
    cublasHandle_t blas = nullptr;
    cudaStream_t streams[most_streams] = {};
    cudaEvent_t arrivals[most_streams] = {};
    float *on_device = nullptr, *on_host = nullptr; /* all products */
    std::unique_ptr<samples::Workers> workers;
};
Prepared prepared;

/* Of rows from @first on, to the host's memory. */
void multiply(cudaStream_t stream, unsigned first, unsigned rows)
{
    const float one = 1, zero = 0;
    const int count = static_cast<int>(prepared.problem.count), depth = static_cast<int>(prepared.problem.dimensions);
    const size_t at = static_cast<size_t>(first) * prepared.problem.count;
    const float *samples = prepared.problem.samples;
    check(cublasSetStream(prepared.blas, stream), "cublasSetStream");
    check(cublasSgemm(prepared.blas, CUBLAS_OP_T, CUBLAS_OP_N, count, static_cast<int>(rows), depth, &one, samples,
                      depth, samples + static_cast<size_t>(first) * prepared.problem.dimensions, depth, &zero,
                      prepared.on_device + at, count),
          "cublasSgemm");
    check(cudaMemcpyAsync(prepared.on_host + at, prepared.on_device + at,
                          static_cast<size_t>(rows) * prepared.problem.count * sizeof(float), cudaMemcpyDefault,
                          stream),
          "cudaMemcpyAsync");
}

/* What all of the host's threads do: rows in their order, each when it has arrived. */
void select_all(std::atomic<unsigned> &next, const std::atomic<unsigned> &arrived)
{
    for (;;) {
        const unsigned first = next.fetch_add(rows_at_once, std::memory_order_relaxed);
        if (first >= prepared.problem.count)
            return;
        while (arrived.load(std::memory_order_acquire) < first + rows_at_once)
            __builtin_ia32_pause();
        prepared.select(prepared.selection, first, rows_at_once,
                        prepared.on_host + static_cast<size_t>(first) * prepared.problem.count);
    }
}

void run_in_turn()
{
    std::atomic<unsigned> next{0}, arrived{prepared.problem.count};
    multiply(prepared.streams[0], 0, prepared.problem.count);
    check(cudaStreamSynchronize(prepared.streams[0]), "cudaStreamSynchronize");
    prepared.workers->start([&] { select_all(next, arrived); });
    prepared.workers->wait();
}

/* All of a stream's pieces are given at once: there is room for all products. */
void run_in_streams(unsigned streams, unsigned rows)
{
    std::atomic<unsigned> next{0}, arrived{0};
    const unsigned count = prepared.problem.count;
    prepared.workers->start([&] { select_all(next, arrived); });
    try {
        for (unsigned first = 0, piece = 0; first < count + streams * rows; first += rows, piece++) {
            /* What this stream had before. */
            if (first >= streams * rows) {
                check(cudaEventSynchronize(prepared.arrivals[piece % streams]), "cudaEventSynchronize");
                arrived.store(first - (streams - 1) * rows, std::memory_order_release);
            }
            if (first >= count)
                continue;
            multiply(prepared.streams[piece % streams], first, rows);
            check(cudaEventRecord(prepared.arrivals[piece % streams], prepared.streams[piece % streams]),
                  "cudaEventRecord");
        }
    } catch (...) {
        arrived = count + rows;
        prepared.workers->wait();
        throw;
    }
    prepared.workers->wait();
}

void run(int form)
{
    static constexpr unsigned shapes[][2] = {{2, 256}, {4, 256}, {2, 512}, {4, 512}, {4, 1024}};
    if (form == 0)
        run_in_turn();
    else
        run_in_streams(shapes[form - 1][0], shapes[form - 1][1]);
}

/* What was prepared for a problem before. */
void forget()
{
    if (!prepared.blas)
        return;
    check(cublasDestroy(prepared.blas), "cublasDestroy");
    check(cudaFree(prepared.on_device), "cudaFree");
    check(cudaFreeHost(prepared.on_host), "cudaFreeHost");
    for (unsigned i = 0; i < most_streams; i++) {
        check(cudaStreamDestroy(prepared.streams[i]), "cudaStreamDestroy");
        check(cudaEventDestroy(prepared.arrivals[i]), "cudaEventDestroy");
    }
    prepared = Prepared();
}

void prepare(const Problem &problem, hand_select *select, void *selection, unsigned threads)
{
    forget();
    const size_t bytes = static_cast<size_t>(problem.count) * problem.count * sizeof(float);
    prepared.problem = problem;
    prepared.select = select;
    prepared.selection = selection;
    prepared.workers = std::make_unique<samples::Workers>(threads);
    check(cublasCreate(&prepared.blas), "cublasCreate");
    check(cudaMalloc(&prepared.on_device, bytes), "cudaMalloc");
    check(cudaHostAlloc(&prepared.on_host, bytes, cudaHostAllocDefault), "cudaHostAlloc");
    for (unsigned i = 0; i < most_streams; i++) {
        check(cudaStreamCreateWithFlags(&prepared.streams[i], cudaStreamNonBlocking), "cudaStreamCreate");
        check(cudaEventCreateWithFlags(&prepared.arrivals[i], cudaEventDisableTiming), "cudaEventCreate");
    }
}

} // namespace

} // namespace ptsched::neighbours

extern "C" {

const char *const hand_forms[] = {"in-turn",       "streams/2-256",  "streams/4-256", "streams/2-512",
                                  "streams/4-512", "streams/4-1024", nullptr};

const char *hand_prepare(const ptsched::neighbours::Problem *problem, hand_select *select, void *selection,
                         unsigned threads)
{
    return ptsched::samples::try_to([&] { ptsched::neighbours::prepare(*problem, select, selection, threads); });
}

const char *hand_run(int form, double *seconds)
{
    return ptsched::samples::try_to([&] {
        const auto begin = std::chrono::steady_clock::now();
        ptsched::neighbours::run(form);
        *seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    });
}
}
