// SPDX-License-Identifier: MIT
/*
 * A program whose managed memory moves back and forth: the host writes it, a kernel faults it in and changes it, the
 * host reads it. Small: what is moved counts, not how much there is.
 */
#include "tests/gpu/job.hpp"

namespace {

constexpr size_t count = size_t{1} << 22; /* 16 MiB */
constexpr size_t page = 4096 / sizeof(unsigned);

__global__ void advance(unsigned *data, unsigned by)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        unsigned x = data[i];
        for (int round = 0; round < 500; round++)
            x = x * 1664525u + by;
        data[i] = x;
    }
}

class Managed : public Job {
public:
    Managed() { check(cudaMallocManaged(&data_, count * sizeof(unsigned)), "cudaMallocManaged"); }
    ~Managed() override { cudaFree(data_); }

    void reset() override
    {
        for (size_t i = 0; i < count; i++)
            data_[i] = static_cast<unsigned>(i);
        number_ = 0;
    }

    void step() override
    {
        advance<<<264, 128>>>(data_, ++number_);
        check(cudaDeviceSynchronize(), "advance");
        for (size_t i = 0; i < count; i += page)
            data_[i] += number_;
    }

    uint64_t hash() override { return hash_of(data_, count * sizeof(unsigned)); }

private:
    unsigned *data_;
    unsigned number_ = 0;
};

} // namespace

int main(int argc, char **argv)
{
    Managed job;
    return run_program(job, argc, argv);
}
