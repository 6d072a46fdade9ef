// SPDX-License-Identifier: MIT
/*
 * Each step is held up by a kernel that spins until the host has submitted all of it, as programs do that measure what
 * submitting takes.
 */
#include "tests/gpu/job.hpp"

namespace {

constexpr size_t count = size_t{1} << 20;

__global__ void spin_until_set(volatile unsigned *latch)
{
    while (!*latch) {
    }
}

__global__ void advance(unsigned *data, unsigned by)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        unsigned x = data[i];
        for (int round = 0; round < 2000; round++)
            x = x * 1664525u + by;
        data[i] = x;
    }
}

class Latches : public Job {
public:
    Latches()
    {
        check(cudaMalloc(&data_, count * sizeof(unsigned)), "cudaMalloc");
        check(cudaMallocHost(&copy_, count * sizeof(unsigned)), "cudaMallocHost");
        check(cudaMallocHost(const_cast<unsigned **>(&latch_), sizeof(*latch_)), "cudaMallocHost");
        check(cudaStreamCreate(&stream_), "cudaStreamCreate");
        /* A kernel that is not loaded yet would wait for the one that spins. */
        *latch_ = 1;
        spin_until_set<<<1, 1, 0, stream_>>>(latch_);
        advance<<<132, 128, 0, stream_>>>(data_, 0);
        check(cudaDeviceSynchronize(), "kernels");
    }
    ~Latches() override
    {
        cudaStreamDestroy(stream_);
        cudaFreeHost(const_cast<unsigned *>(latch_));
        cudaFreeHost(copy_);
        cudaFree(data_);
    }

    void reset() override
    {
        check(cudaMemset(data_, 0, count * sizeof(unsigned)), "cudaMemset");
        number_ = 0;
    }

    void step() override
    {
        *latch_ = 0;
        spin_until_set<<<1, 1, 0, stream_>>>(latch_);
        for (unsigned i = 0; i < 8; i++)
            advance<<<132, 128, 0, stream_>>>(data_, ++number_);
        check(cudaMemcpyAsync(copy_, data_, count * sizeof(unsigned), cudaMemcpyDeviceToHost, stream_), "copy");
        *latch_ = 1;
        check(cudaStreamSynchronize(stream_), "advance");
    }

    uint64_t hash() override { return hash_of(copy_, count * sizeof(unsigned)); }

private:
    unsigned *data_, *copy_;
    volatile unsigned *latch_;
    cudaStream_t stream_;
    unsigned number_ = 0;
};

} // namespace

int main(int argc, char **argv)
{
    Latches job;
    return run_program(job, argc, argv);
}
