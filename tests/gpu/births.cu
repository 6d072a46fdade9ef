// SPDX-License-Identifier: MIT
/*
 * A program that makes streams, contexts and green contexts all the time, uses them and destroys them, beside work
 * that goes on: channels come and go whatever state the others are in.
 */
#include "tests/gpu/job.hpp"

#include <cuda.h>

namespace {

constexpr int count = 132 * 128, rounds = 300000;

__global__ void advance(unsigned *data, unsigned by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = data[i];
    for (int round = 0; round < rounds; round++)
        x = x * 1664525u + by;
    data[i] = x;
}

/* A function of the driver, so that the program is linked to the runtime only. */
template <typename F> F *driver(const char *name)
{
    void *found = nullptr;
    cudaDriverEntryPointQueryResult result;
    check(cudaGetDriverEntryPointByVersion(name, &found, 13000, cudaEnableDefault, &result), name);
    if (!found) {
        std::fprintf(stderr, "births: the driver has no %s\n", name);
        std::exit(1);
    }
    return reinterpret_cast<F *>(found);
}

void sure(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    std::fprintf(stderr, "births: %s: %d\n", what, static_cast<int>(result));
    std::exit(1);
}

class Births : public Job {
public:
    Births()
    {
        check(cudaMalloc(&data_, count * sizeof(unsigned)), "cudaMalloc");
        check(cudaStreamCreateWithFlags(&steady_, cudaStreamNonBlocking), "cudaStreamCreate");
        check(cudaMalloc(&other_, count * sizeof(unsigned)), "cudaMalloc");
    }

    void reset() override
    {
        number_ = steps_ = 0;
        for (unsigned *data : {data_, other_})
            check(cudaMemset(data, 0, count * sizeof(unsigned)), "cudaMemset");
        check(cudaDeviceSynchronize(), "cudaMemset");
        others_ = hash_of(nullptr, 0);
    }

    void step() override
    {
        advance<<<count / 128, 128, 0, steady_>>>(other_, ++number_);
        cudaStream_t streams[8];
        for (cudaStream_t &stream : streams)
            check(cudaStreamCreate(&stream), "cudaStreamCreate");
        for (cudaStream_t stream : streams) {
            advance<<<count / 128, 128, 0, stream>>>(data_, ++number_);
            check(cudaStreamSynchronize(stream), "a new stream");
            check(cudaStreamDestroy(stream), "cudaStreamDestroy");
        }
        if (steps_++ % 2)
            another_context();
        else
            a_green_context();
        check(cudaStreamSynchronize(steady_), "the steady stream");
    }

    uint64_t hash() override
    {
        std::vector<unsigned> found(count);
        uint64_t hash = others_;
        for (unsigned *data : {data_, other_}) {
            check(cudaMemcpy(found.data(), data, count * sizeof(unsigned), cudaMemcpyDeviceToHost), "cudaMemcpy");
            hash = hash_of(found.data(), found.size() * sizeof(unsigned), hash);
        }
        return hash;
    }

private:
    unsigned *data_, *other_;
    cudaStream_t steady_;
    unsigned number_ = 0, steps_ = 0;
    uint64_t others_ = 0;

    void another_context()
    {
        static auto create = driver<CUresult(CUcontext *, CUctxCreateParams *, unsigned, CUdevice)>("cuCtxCreate");
        static auto destroy = driver<CUresult(CUcontext)>("cuCtxDestroy");
        static auto set = driver<CUresult(CUcontext)>("cuCtxSetCurrent");
        static auto get = driver<CUresult(CUcontext *)>("cuCtxGetCurrent");
        static auto fill = driver<CUresult(CUdeviceptr, unsigned, size_t)>("cuMemsetD32");
        static auto allocate = driver<CUresult(CUdeviceptr *, size_t)>("cuMemAlloc");
        static auto fetch = driver<CUresult(void *, CUdeviceptr, size_t)>("cuMemcpyDtoH");
        CUcontext before, made;
        CUdeviceptr memory;
        unsigned found[64];
        sure(get(&before), "cuCtxGetCurrent");
        sure(create(&made, nullptr, 0, 0), "cuCtxCreate");
        sure(allocate(&memory, sizeof(found)), "cuMemAlloc");
        sure(fill(memory, number_, sizeof(found) / sizeof(*found)), "cuMemsetD32");
        sure(fetch(found, memory, sizeof(found)), "cuMemcpyDtoH");
        others_ = hash_of(found, sizeof(found), others_);
        sure(destroy(made), "cuCtxDestroy");
        sure(set(before), "cuCtxSetCurrent");
    }

    void a_green_context()
    {
        static auto resource = driver<CUresult(CUdevice, CUdevResource *, CUdevResourceType)>("cuDeviceGetDevResource");
        static auto split =
            driver<CUresult(CUdevResource *, unsigned *, const CUdevResource *, CUdevResource *, unsigned, unsigned)>(
                "cuDevSmResourceSplitByCount");
        static auto describe =
            driver<CUresult(CUdevResourceDesc *, CUdevResource *, unsigned)>("cuDevResourceGenerateDesc");
        static auto create = driver<CUresult(CUgreenCtx *, CUdevResourceDesc, CUdevice, unsigned)>("cuGreenCtxCreate");
        static auto stream_of = driver<CUresult(CUstream *, CUgreenCtx, unsigned, int)>("cuGreenCtxStreamCreate");
        static auto destroy = driver<CUresult(CUgreenCtx)>("cuGreenCtxDestroy");
        CUdevResource all, some;
        CUdevResourceDesc description;
        CUgreenCtx green;
        CUstream stream;
        unsigned groups = 1;
        sure(resource(0, &all, CU_DEV_RESOURCE_TYPE_SM), "cuDeviceGetDevResource");
        sure(split(&some, &groups, &all, nullptr, 0, 32), "cuDevSmResourceSplitByCount");
        sure(describe(&description, &some, 1), "cuDevResourceGenerateDesc");
        sure(create(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM), "cuGreenCtxCreate");
        sure(stream_of(&stream, green, CU_STREAM_NON_BLOCKING, 0), "cuGreenCtxStreamCreate");
        advance<<<count / 128, 128, 0, stream>>>(data_, ++number_);
        check(cudaStreamSynchronize(stream), "a green context's stream");
        check(cudaStreamDestroy(stream), "cudaStreamDestroy");
        sure(destroy(green), "cuGreenCtxDestroy");
    }
};

} // namespace

int main(int argc, char **argv)
{
    Births job;
    return run_program(job, argc, argv);
}
