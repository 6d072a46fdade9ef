// SPDX-License-Identifier: MIT
/*
 * Two blocking streams that run side by side: a kernel of the one waits for what a later kernel of the other sets. The
 * legacy stream, which is used before, gets nothing in between: an event on it would have the one wait for the other.
 */
#include "tests/gpu/job.hpp"

#include <unistd.h>

namespace {

constexpr long long patience = 4000000000; /* clock cycles, after which a kernel waits in vain */

struct State {
    unsigned flag, late;
};

__global__ void wait_for(volatile State *state, unsigned value)
{
    long long begun = clock64();
    while (state->flag < value) {
        if (clock64() - begun > patience) {
            state->late = state->late + 1;
            break;
        }
    }
}

__global__ void set_to(volatile State *state, unsigned value)
{
    state->flag = value;
}

__global__ void nothing() {}

class Blocking : public Job {
public:
    Blocking()
    {
        check(cudaMalloc(&state_, sizeof(State)), "cudaMalloc");
        for (cudaStream_t *stream : {&first_, &second_})
            check(cudaStreamCreate(stream), "cudaStreamCreate");
        /* What is not loaded yet would be between two kernels, and wait for the first. */
        wait_for<<<1, 1, 0, first_>>>(state_, 0);
        set_to<<<1, 1, 0, second_>>>(state_, 0);
        nothing<<<1, 1>>>();
        check(cudaDeviceSynchronize(), "kernels");
    }
    ~Blocking() override
    {
        cudaStreamDestroy(first_);
        cudaStreamDestroy(second_);
        cudaFree(state_);
    }

    void reset() override
    {
        check(cudaMemset(state_, 0, sizeof(State)), "cudaMemset");
        number_ = 0;
    }

    void step() override
    {
        number_++;
        for (int i = 0; i < 60; i++) {
            nothing<<<1, 1, 0, i % 2 ? first_ : second_>>>();
            if (i % 3 == 0)
                nothing<<<1, 1>>>();
        }
        wait_for<<<1, 1, 0, first_>>>(state_, number_);
        /* Long enough for whoever looks after the program to look; now and then, to take it for one that rests. */
        usleep(number_ % 16 ? 1000 * (number_ % 8) : 250000);
        set_to<<<1, 1, 0, second_>>>(state_, number_);
        check(cudaDeviceSynchronize(), "wait_for");
    }

    uint64_t hash() override
    {
        State state;
        check(cudaMemcpy(&state, state_, sizeof(state), cudaMemcpyDeviceToHost), "cudaMemcpy");
        return hash_of(&state, sizeof(state));
    }

private:
    State *state_;
    cudaStream_t first_, second_;
    unsigned number_ = 0;
};

} // namespace

int main(int argc, char **argv)
{
    Blocking job;
    return run_program(job, argc, argv);
}
