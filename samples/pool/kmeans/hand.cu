// SPDX-License-Identifier: MIT
/*
 * Products of samples and centres by cuBLAS, the nearest by a kernel, and the centres' update by threads of the host:
 * one behind the other, or in pieces of some samples, which streams assign while threads update what has come. The last
 * form does all of it on the device, with one launch behind another.
 */
#include "samples/common/check.hpp"
#include "samples/common/try_to.hpp"
#include "samples/pool/common/workers.hpp"
#include "samples/pool/kmeans/hand.h"

#include <chrono>
#include <cublas_v2.h>
#include <memory>
#include <stdexcept>
#include <string>

namespace ptsched::kmeans {

namespace {

/* That a thread updates at once. */
constexpr unsigned samples_at_once = 32;
constexpr unsigned most_pieces = 16;
constexpr Cluster nowhere = clusters;

using ptsched::samples::check;

template <typename T> void make(T *&memory, size_t count)
{
    check(cudaMalloc(&memory, count * sizeof(T)), "cudaMalloc");
}

struct Prepared {
    Problem problem{};
    hand_host host{};
    float *centres = nullptr; /* the problem's, which change */
    cublasHandle_t blas = nullptr;
    cudaStream_t streams[most_pieces] = {};
    cudaEvent_t arrivals[most_pieces] = {}, moved = nullptr;
    float *products = nullptr;
    Cluster *on_device = nullptr, *on_host = nullptr, *before = nullptr;
    double *sums = nullptr; /* of each cluster's samples */
    int *members = nullptr;
    std::unique_ptr<samples::Workers> workers;

    size_t bytes_of_centres() const { return (size_t{problem.dimensions} + 1) * clusters * sizeof(float); }
};
Prepared prepared;

/* A warp for each sample, which has four products in each lane. */
__global__ void find_nearest(const float *products, const float *norms, Cluster *nearest, unsigned count)
{
    const unsigned sample = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (sample >= count)
        return;
    const float4 four = reinterpret_cast<const float4 *>(products)[sample * (clusters / 4) + lane];
    const float4 norm = reinterpret_cast<const float4 *>(norms)[lane];
    const float distances[4] = {norm.x - 2 * four.x, norm.y - 2 * four.y, norm.z - 2 * four.z, norm.w - 2 * four.w};
    float least = distances[0];
    unsigned cluster = lane * 4;
    for (unsigned i = 1; i < 4; i++)
        if (distances[i] < least) {
            least = distances[i];
            cluster = lane * 4 + i;
        }
    for (int with = 16; with; with /= 2) {
        const float other = __shfl_xor_sync(0xffffffff, least, with);
        const unsigned its = __shfl_xor_sync(0xffffffff, cluster, with);
        if (other < least || (other == least && its < cluster)) {
            least = other;
            cluster = its;
        }
    }
    if (lane == 0)
        nearest[sample] = static_cast<Cluster>(cluster);
}

/* Of samples from @first on. */
void assign(cudaStream_t stream, unsigned first, unsigned count)
{
    const float one = 1, zero = 0;
    const Problem &problem = prepared.problem;
    const int depth = static_cast<int>(problem.dimensions);
    float *const products = prepared.products + size_t{first} * clusters;
    check(cublasSetStream(prepared.blas, stream), "cublasSetStream");
    check(cublasSgemm(prepared.blas, CUBLAS_OP_T, CUBLAS_OP_N, clusters, static_cast<int>(count), depth, &one,
                      problem.centres, depth, problem.samples + size_t{first} * problem.dimensions, depth, &zero,
                      products, clusters),
          "cublasSgemm");
    find_nearest<<<(count + 7) / 8, 256, 0, stream>>>(products, problem.norms, prepared.on_device + first, count);
    check(cudaGetLastError(), "the nearest");
}

void fetch(cudaStream_t stream, unsigned first, unsigned count)
{
    check(cudaMemcpyAsync(prepared.on_host + first, prepared.on_device + first, count, cudaMemcpyDefault, stream),
          "cudaMemcpyAsync");
}

/* What all of the host's threads do: samples in their order, each when it has arrived. */
void update_all(std::atomic<unsigned> &next, const std::atomic<unsigned> &arrived)
{
    const unsigned all = prepared.problem.count;
    for (;;) {
        const unsigned first = next.fetch_add(samples_at_once, std::memory_order_relaxed);
        if (first >= all)
            return;
        const unsigned count = all - first < samples_at_once ? all - first : samples_at_once;
        while (arrived.load(std::memory_order_acquire) < first + count)
            __builtin_ia32_pause();
        prepared.host.update(prepared.host.clustering, first, count, prepared.on_host + first);
    }
}

void move_centres(cudaStream_t stream)
{
    check(cudaMemcpyAsync(prepared.centres, prepared.host.move(prepared.host.clustering), prepared.bytes_of_centres(),
                          cudaMemcpyDefault, stream),
          "cudaMemcpyAsync");
}

void iterate_in_turn()
{
    const cudaStream_t stream = prepared.streams[0];
    const unsigned count = prepared.problem.count;
    std::atomic<unsigned> next{0}, arrived{count};
    assign(stream, 0, count);
    fetch(stream, 0, count);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    prepared.workers->start([&] { update_all(next, arrived); });
    prepared.workers->wait();
    move_centres(stream);
}

void assign_pieces(unsigned pieces, std::atomic<unsigned> &arrived)
{
    const unsigned long long count = prepared.problem.count;
    for (unsigned i = 0; i < pieces; i++) {
        const unsigned first = static_cast<unsigned>(count * i / pieces);
        const unsigned last = static_cast<unsigned>(count * (i + 1) / pieces);
        check(cudaStreamWaitEvent(prepared.streams[i], prepared.moved, 0), "cudaStreamWaitEvent");
        assign(prepared.streams[i], first, last - first);
        fetch(prepared.streams[i], first, last - first);
        check(cudaEventRecord(prepared.arrivals[i], prepared.streams[i]), "cudaEventRecord");
    }
    for (unsigned i = 0; i < pieces; i++) {
        check(cudaEventSynchronize(prepared.arrivals[i]), "cudaEventSynchronize");
        arrived.store(static_cast<unsigned>(count * (i + 1) / pieces), std::memory_order_release);
    }
}

void iterate_in_streams(unsigned pieces)
{
    std::atomic<unsigned> next{0}, arrived{0};
    prepared.workers->start([&] { update_all(next, arrived); });
    try {
        assign_pieces(pieces, arrived);
    } catch (...) {
        arrived = prepared.problem.count;
        prepared.workers->wait();
        throw;
    }
    prepared.workers->wait();
    move_centres(prepared.streams[0]);
    check(cudaEventRecord(prepared.moved, prepared.streams[0]), "cudaEventRecord");
}

/* A block for each sample; only those that have gone elsewhere change anything. */
__global__ void add_up(Problem problem, const Cluster *nearest, Cluster *before, double *sums, int *members)
{
    const Cluster now = nearest[blockIdx.x], then = before[blockIdx.x];
    if (now == then)
        return;
    const float *sample = problem.samples + size_t{blockIdx.x} * problem.dimensions;
    for (unsigned i = threadIdx.x; i < problem.dimensions; i += blockDim.x) {
        atomicAdd(sums + size_t{now} * problem.dimensions + i, static_cast<double>(sample[i]));
        if (then != nowhere)
            atomicAdd(sums + size_t{then} * problem.dimensions + i, -static_cast<double>(sample[i]));
    }
    __syncthreads();
    if (threadIdx.x)
        return;
    before[blockIdx.x] = now;
    atomicAdd(members + now, 1);
    if (then != nowhere)
        atomicAdd(members + then, -1);
}

/* A block of 256 threads for each centre. */
__global__ void find_middle(const double *sums, const int *members, float *centres, float *norms, unsigned dimensions)
{
    __shared__ float parts[256];
    float *const centre = centres + size_t{blockIdx.x} * dimensions;
    const int count = members[blockIdx.x];
    float norm = 0;
    for (unsigned i = threadIdx.x; i < dimensions; i += blockDim.x) {
        if (count)
            centre[i] = static_cast<float>(sums[size_t{blockIdx.x} * dimensions + i] / count);
        norm += centre[i] * centre[i];
    }
    parts[threadIdx.x] = norm;
    for (unsigned half = 128; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            parts[threadIdx.x] += parts[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        norms[blockIdx.x] = parts[0];
}

void start_on_device()
{
    const cudaStream_t stream = prepared.streams[0];
    check(cudaMemsetAsync(prepared.before, nowhere, prepared.problem.count, stream), "cudaMemset");
    check(cudaMemsetAsync(prepared.sums, 0, size_t{clusters} * prepared.problem.dimensions * sizeof(double), stream),
          "cudaMemset");
    check(cudaMemsetAsync(prepared.members, 0, clusters * sizeof(int), stream), "cudaMemset");
}

void iterate_on_device(bool is_last)
{
    const cudaStream_t stream = prepared.streams[0];
    const Problem &problem = prepared.problem;
    assign(stream, 0, problem.count);
    if (is_last)
        check(cudaMemcpyAsync(prepared.host.used(prepared.host.clustering), problem.centres,
                              prepared.bytes_of_centres(), cudaMemcpyDefault, stream),
              "cudaMemcpyAsync");
    add_up<<<problem.count, 256, 0, stream>>>(problem, prepared.on_device, prepared.before, prepared.sums,
                                              prepared.members);
    find_middle<<<clusters, 256, 0, stream>>>(prepared.sums, prepared.members, prepared.centres,
                                              prepared.centres + size_t{clusters} * problem.dimensions,
                                              problem.dimensions);
    check(cudaGetLastError(), "the middle");
    if (is_last)
        fetch(stream, 0, problem.count);
}

double seconds_since(std::chrono::steady_clock::time_point begin)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double run_on_device(unsigned iterations)
{
    const auto begin = std::chrono::steady_clock::now();
    start_on_device();
    for (unsigned i = 0; i < iterations; i++)
        iterate_on_device(i + 1 == iterations);
    check(cudaStreamSynchronize(prepared.streams[0]), "cudaStreamSynchronize");
    const double seconds = seconds_since(begin);
    prepared.host.update(prepared.host.clustering, 0, prepared.problem.count, prepared.on_host);
    return seconds;
}

double run(int form, unsigned iterations)
{
    static constexpr unsigned pieces[] = {2, 4, 8, most_pieces};
    const auto begin = std::chrono::steady_clock::now();
    if (form == 5)
        return run_on_device(iterations);
    for (unsigned i = 0; i < iterations; i++)
        if (form == 0)
            iterate_in_turn();
        else
            iterate_in_streams(pieces[form - 1]);
    check(cudaStreamSynchronize(prepared.streams[0]), "cudaStreamSynchronize");
    return seconds_since(begin);
}

void forget()
{
    if (!prepared.blas)
        return;
    check(cublasDestroy(prepared.blas), "cublasDestroy");
    for (void *memory : {static_cast<void *>(prepared.products), static_cast<void *>(prepared.on_device),
                         static_cast<void *>(prepared.before), static_cast<void *>(prepared.sums),
                         static_cast<void *>(prepared.members)})
        check(cudaFree(memory), "cudaFree");
    check(cudaFreeHost(prepared.on_host), "cudaFreeHost");
    for (unsigned i = 0; i < most_pieces; i++) {
        check(cudaStreamDestroy(prepared.streams[i]), "cudaStreamDestroy");
        check(cudaEventDestroy(prepared.arrivals[i]), "cudaEventDestroy");
    }
    check(cudaEventDestroy(prepared.moved), "cudaEventDestroy");
    prepared = Prepared();
}

void prepare(const Problem &problem, const hand_host &host, unsigned threads)
{
    forget();
    prepared.problem = problem;
    prepared.host = host;
    prepared.centres = const_cast<float *>(problem.centres);
    prepared.workers = std::make_unique<samples::Workers>(threads);
    check(cublasCreate(&prepared.blas), "cublasCreate");
    make(prepared.products, size_t{problem.count} * clusters);
    make(prepared.on_device, problem.count);
    make(prepared.before, problem.count);
    make(prepared.sums, size_t{clusters} * problem.dimensions);
    make(prepared.members, clusters);
    check(cudaHostAlloc(&prepared.on_host, problem.count, cudaHostAllocDefault), "cudaHostAlloc");
    for (unsigned i = 0; i < most_pieces; i++) {
        check(cudaStreamCreateWithFlags(&prepared.streams[i], cudaStreamNonBlocking), "cudaStreamCreate");
        check(cudaEventCreateWithFlags(&prepared.arrivals[i], cudaEventDisableTiming), "cudaEventCreate");
    }
    check(cudaEventCreateWithFlags(&prepared.moved, cudaEventDisableTiming), "cudaEventCreate");
}

} // namespace

} // namespace ptsched::kmeans

extern "C" {

const char *const hand_forms[] = {"in-turn",    "streams/2",    "streams/4", "streams/8",
                                  "streams/16", "device-alone", nullptr};

const char *hand_prepare(const ptsched::kmeans::Problem *problem, const struct hand_host *host, unsigned threads)
{
    return ptsched::samples::try_to([&] { ptsched::kmeans::prepare(*problem, *host, threads); });
}

const char *hand_run(int form, unsigned iterations, double *seconds)
{
    return ptsched::samples::try_to([&] { *seconds = ptsched::kmeans::run(form, iterations); });
}
}
