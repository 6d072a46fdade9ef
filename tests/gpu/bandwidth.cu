// SPDX-License-Identifier: MIT
/* A program that does nothing but move memory on the device: a triad over arrays much larger than the caches. */
#include "tests/gpu/job.hpp"

namespace {

constexpr size_t count = size_t{1} << 26; /* 256 MiB each */

__global__ void fill(float *a, float value)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        a[i] = value + static_cast<float>(i % 1000);
}

__global__ void triad(float *a, const float *b, const float *c)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        a[i] = b[i] + 0.5f * c[i];
}

class Bandwidth : public Job {
public:
    Bandwidth()
    {
        for (float *&array : arrays_)
            check(cudaMalloc(&array, count * sizeof(float)), "cudaMalloc");
    }

    void reset() override
    {
        for (int i = 0; i < 3; i++)
            fill<<<1024, 256>>>(arrays_[i], static_cast<float>(i));
        turn_ = 0;
        check(cudaDeviceSynchronize(), "fill");
    }

    void step() override
    {
        for (int i = 0; i < 8; i++, turn_++)
            triad<<<1024, 256>>>(arrays_[turn_ % 3], arrays_[(turn_ + 1) % 3], arrays_[(turn_ + 2) % 3]);
        check(cudaDeviceSynchronize(), "triad");
    }

    uint64_t hash() override
    {
        std::vector<float> found(count);
        uint64_t hash = 0;
        for (float *array : arrays_) {
            check(cudaMemcpy(found.data(), array, count * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
            for (size_t i = 0; i < count; i += 4096)
                hash = hash_of(&found[i], sizeof(float), hash);
        }
        return hash;
    }

private:
    float *arrays_[3];
    int turn_ = 0;
};

} // namespace

int main(int argc, char **argv)
{
    Bandwidth job;
    return run_program(job, argc, argv);
}
