/* SPDX-License-Identifier: MIT */
/*
 * What the smaller CUDA programs of this folder have in common: the loop and the orders of serve.hpp around a job, as
 * loop.py has them for those in Python. They are compared by what they compute.
 */
#ifndef PTSCHED_TESTS_GPU_JOB_HPP
#define PTSCHED_TESTS_GPU_JOB_HPP

#include "tests/gpu/serve.hpp"

#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>

inline void check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    std::fprintf(stderr, "%s: %s (%s)\n", what, cudaGetErrorName(error), cudaGetErrorString(error));
    std::exit(1);
}

/* FNV-1a. */
inline std::uint64_t hash_of(const void *data, std::size_t size, std::uint64_t hash = 14695981039346656037ull)
{
    auto bytes = static_cast<const unsigned char *>(data);
    for (std::size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 1099511628211ull;
    return hash;
}

class Job {
public:
    virtual ~Job() = default;
    /* To the initial state. */
    virtual void reset() = 0;
    /* One unit of work; returns when the GPU has done it. */
    virtual void step() = 0;
    /* Of the state. */
    virtual std::uint64_t hash() = 0;
};

/* For @seconds after the warm-up, telling how far it is, or @steps if that is not 0. */
inline void run_job(Job &job, double seconds, double warm_up, unsigned long long steps)
{
    std::vector<float> latencies;
    std::atomic<unsigned long long> count{0};
    job.reset();
    double measured_from = now() + warm_up, end = measured_from + seconds;
    {
        Ticker ticker(steps == 0, count);
        while (!stop_requested && (steps ? count < steps : now() < end)) {
            double begun = now();
            job.step();
            count++;
            if (begun >= measured_from)
                latencies.push_back(static_cast<float>((now() - begun) * 1e6));
        }
    }
    double elapsed = now() - measured_from;
    std::size_t measured = latencies.size();
    std::sort(latencies.begin(), latencies.end());
    std::uint64_t hash = job.hash();
    std::printf("{\"event\": \"result\", \"start\": %.6f, \"seconds\": %.6f, \"n\": %zu, \"per_second\": %.3f, "
                "\"p50_us\": %.2f, \"p99_us\": %.2f, \"max_us\": %.2f, \"hash\": \"%016llx\", \"value\": %llu}\n",
                measured_from, elapsed, measured, elapsed > 0 ? static_cast<double>(measured) / elapsed : 0,
                percentile(latencies, 0.5), percentile(latencies, 0.99), percentile(latencies, 1),
                static_cast<unsigned long long>(hash), static_cast<unsigned long long>(hash >> 12));
    std::fflush(stdout);
}

inline int serve_job(Job &job)
{
    return serve_orders("", [&](const std::string &verb, double amount, double warm_up) {
        if (verb == "steps")
            run_job(job, 0, 0, static_cast<unsigned long long>(amount));
        else
            run_job(job, amount, warm_up, 0);
        return true;
    });
}

/* The program: "--serve" or "--steps N". */
inline int run_program(Job &job, int argc, char **argv)
{
    if (argc == 2 && !std::strcmp(argv[1], "--serve"))
        return serve_job(job);
    unsigned long long steps = argc >= 3 && !std::strcmp(argv[1], "--steps") ? std::strtoull(argv[2], nullptr, 10) : 0;
    if (!steps) {
        std::fprintf(stderr, "usage: %s --serve | --steps NUMBER\n", argv[0]);
        return 2;
    }
    run_job(job, 0, 0, steps);
    return 0;
}

#endif /* PTSCHED_TESTS_GPU_JOB_HPP */
