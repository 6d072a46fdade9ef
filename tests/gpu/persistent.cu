// SPDX-License-Identifier: MIT
/*
 * A kernel that never ends while the program lives: it polls a slot in pinned memory for work and answers there. No
 * call to the driver tells when it works.
 */
#include "tests/gpu/job.hpp"

namespace {

constexpr int threads = 256, rounds = 2000;

struct Slot {
    volatile unsigned asked, answered; /* numbers of tasks; ~0u asks for the end */
    volatile unsigned value;
};

__global__ void resident(Slot *slot, unsigned *state, unsigned done)
{
    __shared__ unsigned wanted;
    for (;;) {
        if (threadIdx.x == 0) {
            while (slot->asked == done) {
            }
            wanted = slot->asked;
        }
        __syncthreads();
        if (wanted == ~0u)
            return;
        unsigned x = state[threadIdx.x];
        for (int i = 0; i < rounds; i++)
            x = x * 1664525u + 1013904223u + wanted;
        state[threadIdx.x] = x;
        __syncthreads();
        done = wanted;
        if (threadIdx.x == 0) {
            slot->value = state[done % threads];
            __threadfence_system();
            slot->answered = done;
        }
        __syncthreads();
    }
}

class Persistent : public Job {
public:
    Persistent()
    {
        check(cudaHostAlloc(&slot_, sizeof(Slot), cudaHostAllocMapped), "cudaHostAlloc");
        check(cudaMalloc(&state_, threads * sizeof(unsigned)), "cudaMalloc");
        check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
        *slot_ = {};
    }

    ~Persistent() override
    {
        end();
        cudaFree(state_);
        cudaFreeHost(slot_);
    }

    void reset() override
    {
        end();
        check(cudaMemsetAsync(state_, 0, threads * sizeof(unsigned), stream_), "cudaMemset");
        hash_ = hash_of(nullptr, 0);
        slot_->asked = slot_->answered = number_ = 0;
        resident<<<1, threads, 0, stream_>>>(slot_, state_, 0);
        check(cudaGetLastError(), "launch");
        running_ = true;
    }

    void step() override
    {
        for (int i = 0; i < 10; i++) {
            slot_->asked = ++number_;
            while (slot_->answered != number_) {
            }
            unsigned value = slot_->value;
            hash_ = hash_of(&value, sizeof(value), hash_);
        }
    }

    uint64_t hash() override { return hash_; }

private:
    Slot *slot_;
    unsigned *state_;
    unsigned number_ = 0;
    uint64_t hash_ = 0;
    cudaStream_t stream_;
    bool running_ = false;

    void end()
    {
        if (!running_)
            return;
        slot_->asked = ~0u;
        check(cudaStreamSynchronize(stream_), "the end of the kernel");
        running_ = false;
    }
};

} // namespace

int main(int argc, char **argv)
{
    Persistent job;
    return run_program(job, argc, argv);
}
