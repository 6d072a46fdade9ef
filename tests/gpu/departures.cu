// SPDX-License-Identifier: MIT
/* A program whose threads are cancelled as they give the GPU work: wherever it finds them, the others go on. */
#include "tests/gpu/job.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <pthread.h>

namespace {

constexpr unsigned count = 264 * 128;

__global__ void advance(unsigned *data, unsigned by)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, x = data[i];
    for (int round = 0; round < 2000; round++)
        x = x * 1664525u + by;
    data[i] = x;
}

/* Launches and looks whether that is done, without end. */
struct Endless {
    cudaStream_t stream;
    unsigned *data;
    std::atomic<unsigned> launched{0};

    static void *run(void *argument)
    {
        auto *self = static_cast<Endless *>(argument);
        for (;;) {
            advance<<<264, 128, 0, self->stream>>>(self->data, 1);
            self->launched++;
            while (cudaStreamQuery(self->stream) == cudaErrorNotReady)
                pthread_testcancel();
            pthread_testcancel();
        }
    }
};

class Departures : public Job {
public:
    Departures()
    {
        check(cudaMalloc(&data_, count * sizeof(unsigned)), "cudaMalloc");
        check(cudaMalloc(&scratch_, count * sizeof(unsigned)), "cudaMalloc");
        check(cudaStreamCreate(&stream_), "cudaStreamCreate");
    }
    ~Departures() override
    {
        cudaStreamDestroy(stream_);
        cudaFree(scratch_);
        cudaFree(data_);
    }

    void reset() override
    {
        check(cudaMemset(data_, 1, count * sizeof(unsigned)), "cudaMemset");
        check(cudaMemset(scratch_, 0, count * sizeof(unsigned)), "cudaMemset");
        number_ = 0;
    }

    void step() override
    {
        Endless endless{stream_, scratch_};
        pthread_t thread;
        if (pthread_create(&thread, nullptr, Endless::run, &endless))
            fail("pthread_create");
        /* At another place each time: in its first submissions, or deep in its round. */
        unsigned wanted = 1 + number_ % 16;
        while (endless.launched < wanted)
            sched_yield();
        void *status = nullptr;
        pthread_cancel(thread);
        pthread_join(thread, &status);
        if (status != PTHREAD_CANCELED)
            fail("the thread was not cancelled");
        advance<<<264, 128>>>(data_, ++number_);
        check(cudaDeviceSynchronize(), "advance");
    }

    uint64_t hash() override
    {
        static unsigned copy[count];
        check(cudaMemcpy(copy, data_, sizeof(copy), cudaMemcpyDeviceToHost), "cudaMemcpy");
        return hash_of(copy, sizeof(copy));
    }

private:
    [[noreturn]] static void fail(const char *what)
    {
        std::fprintf(stderr, "departures: %s\n", what);
        std::exit(1);
    }

    unsigned *data_, *scratch_;
    cudaStream_t stream_;
    unsigned number_ = 0;
};

} // namespace

int main(int argc, char **argv)
{
    Departures job;
    return run_program(job, argc, argv);
}
