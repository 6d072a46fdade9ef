// SPDX-License-Identifier: MIT
/*
 * One program of the priority-inversion experiment: spin kernels, one after another with pauses, or several in flight.
 * Uses only the driver API, so that it runs on the virtual GPU (module made by vgpu-cc) and on a real one (by nvcc).
 */
#include "libptsched/cuda/cuda_abi.h"
#include "tools/standard_streams.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <deque>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

volatile std::sig_atomic_t stopped = 0;

struct Options {
    std::string module = "kernels.so";
    std::string label;
    double kernel_us = 1000;
    double duty = 100;
    double think_us = 0;
    double seconds = 1;
    double warm_up = 0;
    double scale = 1;
    unsigned long long count = 0;
    unsigned int depth = 1;
    unsigned int burst = 1;
    unsigned int steps = 64;
    int device = 0;
    bool json = false;
};

void check(CUresult result, const char *what)
{
    const char *name = "?";

    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    throw std::runtime_error(std::string(what) + ": " + name);
}
#define CU(call) check(call, #call)

/* What thread 0 of the spin kernel computes. */
unsigned int expected(unsigned int steps)
{
    unsigned int x = 0;
    for (unsigned int i = 0; i < steps; i++)
        x = x * 1664525u + 1013904223u;
    return x;
}

struct Result {
    unsigned long long iterations = 0;
    unsigned long long wrong = 0;
    double seconds = 0;
    std::vector<double> latencies_us;

    double percentile(double fraction) const
    {
        if (latencies_us.empty())
            return 0;
        return latencies_us[static_cast<std::size_t>(fraction * static_cast<double>(latencies_us.size() - 1))];
    }
};

class Client {
public:
    explicit Client(const Options &options) : options_(options), expected_(expected(options.steps))
    {
        CUdevice device;
        void *memory;

        CU(cuInit(0));
        CU(cuDeviceGet(&device, options.device));
        CU(cuCtxCreate_v2(&context_, CU_CTX_SCHED_BLOCKING_SYNC, device));
        check(cuModuleLoad(&module_, options.module.c_str()), ("cuModuleLoad(" + options.module + ")").c_str());
        CU(cuModuleGetFunction(&spin_, module_, "spin"));
        CU(cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING));
        CU(cuMemHostAlloc(&memory, options.depth * sizeof(unsigned int), CU_MEMHOSTALLOC_DEVICEMAP));
        results_ = static_cast<unsigned int *>(memory);
        CU(cuMemHostGetDevicePointer_v2(&device_results_, memory, 0));
        events_.resize(options.depth);
        for (auto &event : events_)
            CU(cuEventCreate(&event, CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING));
    }

    ~Client() { cuCtxDestroy_v2(context_); }
    Client(const Client &) = delete;
    Client &operator=(const Client &) = delete;

    Result run()
    {
        Result result;
        auto think = std::chrono::duration<double, std::micro>(
            options_.think_us + options_.kernel_us * options_.scale * (100 - options_.duty) / options_.duty);
        auto ticks = [](double seconds) {
            return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
        };
        auto begin = Clock::now();
        auto warm = begin + ticks(options_.warm_up);
        auto end = warm + ticks(options_.seconds);
        bool counts = options_.warm_up == 0;

        for (unsigned int slot = 0; !stopped && Clock::now() < end; slot = (slot + 1) % options_.depth) {
            if (!counts && Clock::now() >= warm) {
                counts = true;
                begin = Clock::now();
                result.iterations = 0;
                result.latencies_us.clear();
            }
            if (options_.count && result.iterations + started_.size() >= options_.count)
                break;
            if (started_.size() == options_.depth)
                finish(slot, result);
            launch(slot);
            if (think.count() > 0) {
                finish(slot, result);
                if (launched_ % options_.burst == 0)
                    std::this_thread::sleep_for(think);
            }
        }
        /* What is still under way counts neither as done nor as time. */
        result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
        if (options_.count)
            while (!started_.empty())
                finish(static_cast<unsigned int>(launched_ - started_.size()) % options_.depth, result);
        CU(cuStreamSynchronize(stream_));
        std::sort(result.latencies_us.begin(), result.latencies_us.end());
        return result;
    }

private:
    void launch(unsigned int slot)
    {
        CUdeviceptr out = device_results_ + slot * sizeof(unsigned int);
        auto ns = static_cast<unsigned long long>(options_.kernel_us * 1000);
        unsigned int steps = options_.steps;
        void *params[] = {&out, &ns, &steps};

        results_[slot] = ~expected_;
        started_.push_back(Clock::now());
        CU(cuLaunchKernel(spin_, 1, 1, 1, 1, 1, 1, 0, stream_, params, nullptr));
        CU(cuEventRecord(events_[slot], stream_));
        launched_++;
    }

    void finish(unsigned int slot, Result &result)
    {
        CU(cuEventSynchronize(events_[slot]));
        result.latencies_us.push_back(
            std::chrono::duration<double, std::micro>(Clock::now() - started_.front()).count());
        started_.pop_front();
        result.wrong += results_[slot] != expected_;
        result.iterations++;
    }

    const Options &options_;
    unsigned int expected_;
    CUcontext context_{};
    CUmodule module_{};
    CUfunction spin_{};
    CUstream stream_{};
    CUdeviceptr device_results_{};
    unsigned int *results_{};
    std::vector<CUevent> events_;
    std::deque<Clock::time_point> started_;
    unsigned long long launched_ = 0;
};

void print(const Options &options, const Result &result)
{
    double speed = result.seconds > 0 ? static_cast<double>(result.iterations) / result.seconds : 0;

    if (options.json) {
        nlohmann::json json = {{"label", options.label},
                               {"iterations", result.iterations},
                               {"seconds", result.seconds},
                               {"per_second", speed},
                               {"errors", result.wrong},
                               {"kernel_us", options.kernel_us},
                               {"depth", options.depth},
                               {"duty", options.duty},
                               {"p50_us", result.percentile(0.5)},
                               {"p90_us", result.percentile(0.9)},
                               {"p99_us", result.percentile(0.99)},
                               {"max_us", result.percentile(1)}};
        std::printf("%s\n", json.dump().c_str());
        return;
    }
    std::printf(
        "%s%s%llu kernels in %.3f s: %.1f per second; latency us p50 %.0f p90 %.0f p99 %.0f max %.0f; %llu wrong\n",
        options.label.c_str(), options.label.empty() ? "" : ": ", result.iterations, result.seconds, speed,
        result.percentile(0.5), result.percentile(0.9), result.percentile(0.99), result.percentile(1), result.wrong);
}

std::string default_module()
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof(path));
    std::string self(path, n > 0 ? static_cast<std::size_t>(n) : 0);
    return self.substr(0, self.rfind('/') + 1) + "kernels.so";
}

int run(int argc, char **argv)
{
    CLI::App app{"Runs spin kernels, checks their results, and prints how fast it got on."};
    Options options;

    options.module = default_module();
    app.add_option("--module", options.module, "kernels.cu, compiled for the device")->capture_default_str();
    app.add_option("--kernel-us", options.kernel_us, "what one kernel takes")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    auto *duty = app.add_option("--duty", options.duty,
                                "percent of the time, alone, in which a kernel runs; the rest is a pause after each")
                     ->check(CLI::Range(1.0, 100.0))
                     ->capture_default_str();
    auto *think = app.add_option("--think-us", options.think_us, "the pause after each kernel or burst, as a time")
                      ->check(CLI::NonNegativeNumber)
                      ->excludes(duty);
    app.add_option("--depth", options.depth, "kernels in flight")
        ->check(CLI::Range(1, 1000))
        ->excludes(duty)
        ->excludes(think)
        ->capture_default_str();
    app.add_option("--burst", options.burst, "with --think-us: kernels before each pause, one at a time")
        ->check(CLI::Range(1, 1000))
        ->needs(think)
        ->capture_default_str();
    app.add_option("--seconds", options.seconds, "how long")->check(CLI::PositiveNumber)->capture_default_str();
    app.add_option("--warm-up", options.warm_up, "before that, so many seconds that do not count")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_option("--count", options.count, "end after so many kernels, or after --seconds; 0: no limit")
        ->capture_default_str();
    app.add_option("--steps", options.steps, "dependent steps that each kernel computes")->capture_default_str();
    app.add_option("--scale", options.scale, "the virtual device's factor; multiplies the pauses of --duty")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--device", options.device, "ordinal of the device")->capture_default_str();
    app.add_option("--label", options.label, "put into the output");
    app.add_flag("--json", options.json, "print one JSON object");
    CLI11_PARSE(app, argc, argv);
    std::signal(SIGTERM, [](int) { stopped = 1; });
    std::signal(SIGINT, [](int) { stopped = 1; });
    try {
        Client client(options);
        Result result = client.run();
        print(options, result);
        return result.wrong ? 1 : 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "inversion-client: %s\n", error.what());
        return 2;
    }
}

} // namespace

int main(int argc, char **argv)
{
    return ptsched::close_standard_output("inversion-client", run(argc, argv));
}
