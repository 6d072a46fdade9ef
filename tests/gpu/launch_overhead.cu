// SPDX-License-Identifier: MIT
/* What one launch of an empty kernel costs the caller, in nanoseconds: among many, or as the first after a pause. */
#include "tests/gpu/serve.hpp"

#include <ctime>
#include <cuda_runtime.h>
#include <unistd.h>

namespace {

/* Few enough that the driver's queue never fills, so that a launch never waits for the GPU. */
constexpr int batch = 256;

__global__ void empty_kernel() {}

void check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    std::fprintf(stderr, "launch_overhead: %s: %s\n", what, cudaGetErrorString(error));
    std::exit(1);
}

/* Over batches. In the median, a batch in which the process was interrupted does not count. */
struct Cost {
    double median_ns, mean_ns;
};

Cost measure(double seconds)
{
    std::vector<float> batches;
    double end = now() + seconds;
    do {
        double start = now();
        for (int i = 0; i < batch; i++)
            empty_kernel<<<1, 1>>>();
        batches.push_back(static_cast<float>((now() - start) * 1e9 / batch));
        check(cudaGetLastError(), "launch");
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    } while (now() < end && !stop_requested);
    std::sort(batches.begin(), batches.end());
    double sum = 0;
    for (float value : batches)
        sum += value;
    return {percentile(batches, 0.5), sum / batches.size()};
}

double thread_cpu_ns()
{
    timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) * 1e9 + static_cast<double>(used.tv_nsec);
}

/* What the first launch after a pause costs the thread, and how long it takes: medians. */
void report_first_launches(unsigned long count)
{
    std::vector<float> cpu, took;
    for (unsigned long i = 0; i < count && !stop_requested; i++) {
        usleep(5000);
        double start = now(), used = thread_cpu_ns();
        empty_kernel<<<1, 1>>>();
        cpu.push_back(static_cast<float>(thread_cpu_ns() - used));
        took.push_back(static_cast<float>((now() - start) * 1e9));
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
    std::sort(cpu.begin(), cpu.end());
    std::sort(took.begin(), took.end());
    std::printf("{\"event\": \"result\", \"ns\": %.0f, \"cpu_ns\": %.0f}\n", percentile(took, 0.5),
                percentile(cpu, 0.5));
    std::fflush(stdout);
}

void report(const Cost &cost)
{
    std::printf("{\"event\": \"result\", \"ns\": %.2f, \"mean_ns\": %.2f, \"per_second\": %.2f}\n", cost.median_ns,
                cost.mean_ns, 1e9 / cost.mean_ns);
    std::fflush(stdout);
}

} // namespace

int main(int argc, char **argv)
{
    bool serve = argc == 2 && std::string(argv[1]) == "--serve";
    double seconds = argc == 2 && !serve ? std::atof(argv[1]) : 0;
    if (!serve && seconds <= 0) {
        std::fprintf(stderr, "usage: launch_overhead SECONDS | --serve\n");
        return 2;
    }
    measure(0.1); /* module load and first launches */
    if (!serve) {
        report(measure(seconds));
        return 0;
    }
    return serve_orders("", [](const std::string &verb, double amount, double) {
        if (verb == "steps")
            report_first_launches(static_cast<unsigned long>(amount));
        else
            report(measure(amount));
        return true;
    });
}
