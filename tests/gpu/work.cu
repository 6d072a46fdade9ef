// SPDX-License-Identifier: MIT
/*
 * A plain CUDA program, built by nvcc with the default static runtime: kernels of dependent
 * integer steps, one after another or when they are due, whose result is checked at the end.
 */
#include "tests/gpu/serve.hpp"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <cuda_runtime.h>
#include <fcntl.h>
#include <memory>
#include <random>
#include <unistd.h>

namespace {

constexpr uint32_t factor = 1664525u, addend = 1013904223u;
constexpr int threads = 128;

/* factor and addend are arguments so that the compiler cannot fold several steps into one. */
__global__ void steps_kernel(uint32_t *state, uint64_t steps, uint32_t a, uint32_t c)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t x = state[i];
#pragma unroll 16
    for (uint64_t step = 0; step < steps; step++)
        x = x * a + c;
    state[i] = x;
}

void check(cudaError_t error, const char *what)
{
    if (error == cudaSuccess)
        return;
    std::fprintf(stderr, "work: %s: %s (%s)\n", what, cudaGetErrorName(error), cudaGetErrorString(error));
    std::exit(1);
}

/* What `steps` steps do: x -> a * x + c. */
struct Affine {
    uint32_t a = 1, c = 0;
};

Affine power(uint64_t steps)
{
    Affine result, square{factor, addend};
    for (; steps; steps >>= 1) {
        if (steps & 1)
            result = {square.a * result.a, square.a * result.c + square.c};
        square = {square.a * square.a, square.a * square.c + square.c};
    }
    return result;
}

struct Options {
    double us = 1000;
    double think_us = 0, jitter_us = 0;
    double period_us = 0, poisson_us = 0; /* kernels that are due so often, or on average so often */
    double seconds = 0;
    double rate = 0; /* steps per microsecond; 0: measure */
    unsigned depth = 1, streams = 1;
    unsigned graph = 0; /* kernels of a graph; 0: launched one by one */
    unsigned waves = 0; /* how often the blocks of a kernel fill the device; 0: one block on each multiprocessor */
    unsigned long long steps = 0;
    int exit_code = 0;
    bool serve = false, ticks = false, latency = false, json = false, calibrate = false, bad_launch = false;

    bool open_loop() const { return period_us > 0 || poisson_us > 0; }
};

/* When to measure, and what was found. */
struct Run {
    double measured_from, end;
    unsigned long long count; /* launches, if not 0: instead of the end */
    unsigned long long skipped = 0, missed = 0;
    std::vector<float> latencies = {};
    std::vector<float> with_cpu = {}; /* of who thinks in between: less the time in which others had its CPU */

    bool goes_on(unsigned long long started, double instant) const
    {
        return !stop_requested && (count ? started < count : instant < end);
    }

    static float us(double seconds) { return static_cast<float>(seconds * 1e6); }
    void add(double from, double to) { latencies.push_back(us(to - from)); }
};

/* For how long the calling thread was ready to run so far, and others had its CPU. */
class CpuWait {
public:
    CpuWait() : file_(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}
    ~CpuWait()
    {
        if (file_ >= 0)
            close(file_);
    }
    CpuWait(const CpuWait &) = delete;
    CpuWait &operator=(const CpuWait &) = delete;

    double seconds() const
    {
        char text[80] = "";
        unsigned long long ran, waited = 0;
        if (pread(file_, text, sizeof(text) - 1, 0) <= 0 || std::sscanf(text, "%llu %llu", &ran, &waited) != 2)
            return 0;
        return static_cast<double>(waited) / 1e9;
    }

private:
    const int file_;
};

class Work {
public:
    explicit Work(const Options &options) : options_(options)
    {
        cudaDeviceProp device;
        check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
        blocks_ = device.multiProcessorCount;
        if (options_.waves)
            blocks_ *= static_cast<int>(options_.waves) * blocks_that_fit();
        initial_.resize(static_cast<size_t>(blocks_) * threads);
        for (size_t i = 0; i < initial_.size(); i++)
            initial_[i] = static_cast<uint32_t>(i);
        lanes_.resize(options_.streams);
        for (Lane &lane : lanes_) {
            check(cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking), "cudaStreamCreate");
            check(cudaMalloc(&lane.state, bytes()), "cudaMalloc");
        }
        reset();
        done_.resize(options_.depth);
        for (cudaEvent_t &event : done_)
            check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
        if (options_.rate <= 0)
            options_.rate = calibrate();
        steps_ = static_cast<uint64_t>(options_.us * options_.rate + 0.5);
        steps_ = steps_ ? steps_ : 1;
        for (Lane &lane : lanes_)
            if (options_.graph)
                capture(lane);
    }

    Work(const Work &) = delete;
    Work &operator=(const Work &) = delete;

    ~Work()
    {
        for (cudaEvent_t event : done_)
            cudaEventDestroy(event);
        for (Lane &lane : lanes_) {
            if (lane.graph)
                cudaGraphExecDestroy(lane.graph);
            cudaFree(lane.state);
            cudaStreamDestroy(lane.stream);
        }
    }

    double rate() const { return options_.rate; }
    int blocks() const { return blocks_; }

    /* Launches for `seconds`, or `count` of them if that is not 0; measured after the warm-up. */
    bool run(double seconds, double warm_up, unsigned long long count)
    {
        double measured_from = now() + warm_up;
        Run run{measured_from, measured_from + seconds, count};
        finished_ = 0;
        {
            Ticker ticker(options_.ticks, finished_);
            if (options_.open_loop())
                open_loop(run);
            else
                closed_loop(run);
        }
        report(run, now() - measured_from);
        return verify();
    }

    /* What a program gets that asks for too many threads. */
    int bad_launch()
    {
        steps_kernel<<<1, 4096, 0, lanes_[0].stream>>>(lanes_[0].state, 1, factor, addend);
        cudaError_t error = cudaGetLastError();
        std::printf("%s\n", cudaGetErrorName(error));
        return error == cudaSuccess ? 0 : 5;
    }

private:
    /* A stream, and what its kernels work on. */
    struct Lane {
        cudaStream_t stream = nullptr;
        uint32_t *state = nullptr;
        cudaGraphExec_t graph = nullptr;
        uint64_t total_steps = 0; /* since reset() */
    };
    Options options_;
    int blocks_ = 0;
    std::vector<Lane> lanes_;
    std::vector<uint32_t> initial_;
    std::vector<cudaEvent_t> done_;
    uint64_t steps_ = 0; /* of one kernel */
    std::atomic<unsigned long long> finished_{0};
    std::minstd_rand random_;

    /* On one multiprocessor. */
    static int blocks_that_fit()
    {
        int blocks;
        check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, steps_kernel, threads, 0),
              "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
        return blocks;
    }

    size_t bytes() const { return initial_.size() * sizeof(uint32_t); }

    void reset()
    {
        for (Lane &lane : lanes_) {
            check(cudaMemcpy(lane.state, initial_.data(), bytes(), cudaMemcpyHostToDevice), "cudaMemcpy to the device");
            lane.total_steps = 0;
        }
    }

    void launch(Lane &lane, uint64_t steps)
    {
        steps_kernel<<<blocks_, threads, 0, lane.stream>>>(lane.state, steps, factor, addend);
        check(cudaGetLastError(), "launch");
        lane.total_steps += steps;
    }

    /* One kernel, or a graph of them. */
    void launch_next(Lane &lane)
    {
        if (!lane.graph)
            return launch(lane, steps_);
        check(cudaGraphLaunch(lane.graph, lane.stream), "cudaGraphLaunch");
        lane.total_steps += steps_ * options_.graph;
    }

    void capture(Lane &lane)
    {
        cudaGraph_t graph;
        check(cudaStreamBeginCapture(lane.stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
        for (unsigned i = 0; i < options_.graph; i++)
            steps_kernel<<<blocks_, threads, 0, lane.stream>>>(lane.state, steps_, factor, addend);
        check(cudaGetLastError(), "capture of a launch");
        check(cudaStreamEndCapture(lane.stream, &graph), "cudaStreamEndCapture");
        check(cudaGraphInstantiate(&lane.graph, graph, 0), "cudaGraphInstantiate");
        check(cudaGraphDestroy(graph), "cudaGraphDestroy");
    }

    /* The fastest of many short kernels: others on the GPU only make some slower. */
    double calibrate()
    {
        constexpr uint64_t few = 20000, many = 220000;
        cudaEvent_t from, to;
        check(cudaEventCreate(&from), "cudaEventCreate");
        check(cudaEventCreate(&to), "cudaEventCreate");
        auto best = [&](uint64_t steps, double least_seconds) {
            float fastest = 1e9f, ms;
            double end = now() + least_seconds;
            do {
                check(cudaEventRecord(from, lanes_[0].stream), "cudaEventRecord");
                launch(lanes_[0], steps);
                check(cudaEventRecord(to, lanes_[0].stream), "cudaEventRecord");
                check(cudaEventSynchronize(to), "cudaEventSynchronize");
                check(cudaEventElapsedTime(&ms, from, to), "cudaEventElapsedTime");
                fastest = std::min(fastest, ms);
            } while (now() < end);
            return fastest;
        };
        best(many, 0.4); /* until the clocks are up */
        double difference_ms = best(many, 0.2) - best(few, 0.2);
        cudaEventDestroy(from);
        cudaEventDestroy(to);
        return static_cast<double>(many - few) / (difference_ms * 1000);
    }

    /* So many in flight all the time. */
    void closed_loop(Run &run)
    {
        std::vector<double> launched(options_.depth);
        unsigned long long started = 0;
        CpuWait cpu_wait;
        double waited = 0;
        auto finish_oldest = [&] {
            size_t slot = finished_ % options_.depth;
            check(cudaEventSynchronize(done_[slot]), "cudaEventSynchronize");
            double end = now();
            if (launched[slot] < run.measured_from)
                run.skipped++;
            else
                run.add(launched[slot], end);
            if (options_.think_us > 0)
                run.with_cpu.push_back(Run::us(end - launched[slot] - (cpu_wait.seconds() - waited)));
            finished_++;
        };
        while (run.goes_on(started, now())) {
            if (started - finished_ == options_.depth)
                finish_oldest();
            size_t slot = started % options_.depth;
            Lane &lane = lanes_[started % lanes_.size()];
            if (options_.think_us > 0)
                waited = cpu_wait.seconds();
            launched[slot] = now();
            launch_next(lane);
            check(cudaEventRecord(done_[slot], lane.stream), "cudaEventRecord");
            started++;
            if (options_.depth == 1) {
                finish_oldest();
                think();
            }
        }
        while (finished_ < started)
            finish_oldest();
    }

    /*
     * Launches that are due whether or not the one before is done; one at a time, in order. Latencies are from the
     * instant when they are due. One of a period that is not done when the next is due misses its deadline.
     */
    void open_loop(Run &run)
    {
        std::mt19937 random; /* with its usual seed: the same instants in every run */
        std::exponential_distribution<double> gap;
        auto next_gap = [&] {
            return (options_.poisson_us > 0 ? options_.poisson_us * gap(random) : options_.period_us) / 1e6;
        };
        double due = now() + next_gap();
        while (run.goes_on(finished_, std::max(due, now()))) {
            sleep_until(due);
            launch_next(lanes_[0]);
            check(cudaEventRecord(done_[0], lanes_[0].stream), "cudaEventRecord");
            check(cudaEventSynchronize(done_[0]), "cudaEventSynchronize");
            double done = now(), next = due + next_gap();
            finished_++;
            if (due < run.measured_from) {
                run.skipped++;
            } else {
                run.add(due, done);
                run.missed += options_.period_us > 0 && done > next;
            }
            due = next;
        }
        if (!run.count && !stop_requested)
            sleep_until(run.end);
        /* What was due in time and could not even begin counts with the time that it has waited. */
        double end = run.count ? 0 : std::min(run.end, now());
        for (; due < end; due += next_gap()) {
            if (due < run.measured_from)
                continue;
            run.add(due, now());
            run.missed += options_.period_us > 0;
        }
    }

    static void sleep_until(double instant)
    {
        auto seconds = static_cast<time_t>(instant);
        timespec until{seconds, static_cast<long>((instant - static_cast<double>(seconds)) * 1e9)};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR && !stop_requested) {
        }
    }

    /* Pauses of varying length, so that they keep no step with the kernels of others. */
    void think()
    {
        if (options_.think_us <= 0)
            return;
        std::uniform_real_distribution<double> jitter(-options_.jitter_us, options_.jitter_us);
        auto ns = static_cast<long>(std::max(0.0, options_.think_us + jitter(random_)) * 1000);
        timespec duration{ns / 1000000000, ns % 1000000000};
        nanosleep(&duration, nullptr);
    }

    void report(Run &run, double elapsed) const
    {
        std::vector<float> &latencies = run.latencies;
        std::sort(latencies.begin(), latencies.end());
        std::sort(run.with_cpu.begin(), run.with_cpu.end());
        double p50 = percentile(latencies, 0.5), p99 = percentile(latencies, 0.99), most = percentile(latencies, 1);
        unsigned long long launches = finished_ - run.skipped;
        double per_second = elapsed > 0 ? launches / elapsed : 0;
        if (options_.serve || options_.json) {
            std::printf(
                "{\"event\": \"result\", \"start\": %.6f, \"seconds\": %.6f, \"n\": %llu, "
                "\"per_second\": %.3f, \"p50_us\": %.2f, \"p90_us\": %.2f, \"p99_us\": %.2f, \"max_us\": %.2f, "
                "\"with_cpu_p99_us\": %.2f, \"due\": %zu, \"missed\": %llu, \"hash\": \"%016llx\", \"value\": %u}\n",
                run.measured_from, elapsed, launches, per_second, p50, percentile(latencies, 0.9), p99, most,
                percentile(run.with_cpu, 0.99), latencies.size(), run.missed, hash(), power(lanes_[0].total_steps).c);
        } else {
            std::printf("%llu %s of %.0f us in %.3f s: %.1f per second\n", launches,
                        options_.graph ? "graphs of kernels" : "kernels", options_.us, elapsed, per_second);
            if (options_.latency)
                std::printf("latency us: p50 %.1f, p99 %.1f, max %.1f\n", p50, p99, most);
            if (options_.period_us > 0)
                std::printf("missed deadlines: %llu\n", run.missed);
        }
        std::fflush(stdout);
    }

    std::vector<uint32_t> fetch(const Lane &lane) const
    {
        std::vector<uint32_t> found(initial_.size());
        check(cudaMemcpyAsync(found.data(), lane.state, bytes(), cudaMemcpyDeviceToHost, lane.stream),
              "cudaMemcpyAsync");
        check(cudaStreamSynchronize(lane.stream), "cudaStreamSynchronize");
        return found;
    }

    unsigned long long hash() const
    {
        uint64_t value = 14695981039346656037ull;
        for (const Lane &lane : lanes_)
            for (uint32_t word : fetch(lane))
                value = (value ^ word) * 1099511628211ull;
        return value;
    }

    bool verify()
    {
        for (const Lane &lane : lanes_) {
            Affine expected = power(lane.total_steps);
            std::vector<uint32_t> found = fetch(lane);
            for (size_t i = 0; i < found.size(); i++) {
                uint32_t right = expected.a * initial_[i] + expected.c;
                if (found[i] == right)
                    continue;
                std::fprintf(stderr, "work: wrong result: thread %zu has %u instead of %u\n", i, found[i], right);
                return false;
            }
        }
        reset();
        return true;
    }
};

int serve(Work &work)
{
    /* Under MPS with a part of the threads, kernels are narrower: there are fewer blocks. */
    return serve_orders(", \"blocks\": " + std::to_string(work.blocks()), [&](const std::string &verb, double amount,
                                                                              double warm_up) {
        return verb == "steps" ? work.run(0, 0, static_cast<unsigned long long>(amount)) : work.run(amount, warm_up, 0);
    });
}

[[noreturn]] void usage(const char *problem)
{
    std::fprintf(stderr,
                 "work: %s\nusage: work [--us DURATION] [--depth IN-FLIGHT] [--streams NUMBER] [--rate STEPS-PER-US]\n"
                 "            [--think-us PAUSE [--jitter-us MORE-OR-LESS] | --period-us PERIOD | --poisson-us MEAN]\n"
                 "            [--graph KERNELS] [--waves NUMBER]\n"
                 "            --seconds S | --steps KERNELS | --serve [--ticks] | --calibrate | --bad-launch\n"
                 "            [--latency] [--json] [--exit-code N]\n",
                 problem);
    std::exit(2);
}

double number(const char *option, const char *text)
{
    char *end = nullptr;
    double value = text ? std::strtod(text, &end) : -1;
    if (!text || end == text || *end || !(value >= 0) || value > 1e12)
        usage((std::string(option) + " needs a number that is not negative").c_str());
    return value;
}

Options parse(char **arguments)
{
    Options options;
    struct Flag {
        const char *name;
        bool *target;
    } flags[] = {{"--serve", &options.serve},         {"--ticks", &options.ticks},
                 {"--latency", &options.latency},     {"--json", &options.json},
                 {"--calibrate", &options.calibrate}, {"--bad-launch", &options.bad_launch}};
    struct Number {
        const char *name;
        double *target;
    };
    double depth = 1, streams = 1, graph = 0, waves = 0, steps = 0, exit_code = 0;
    Number numbers[] = {{"--us", &options.us},
                        {"--think-us", &options.think_us},
                        {"--jitter-us", &options.jitter_us},
                        {"--period-us", &options.period_us},
                        {"--poisson-us", &options.poisson_us},
                        {"--seconds", &options.seconds},
                        {"--rate", &options.rate},
                        {"--depth", &depth},
                        {"--streams", &streams},
                        {"--graph", &graph},
                        {"--waves", &waves},
                        {"--steps", &steps},
                        {"--exit-code", &exit_code}};
    for (; *arguments; arguments++) {
        bool known = false;
        for (const Flag &flag : flags)
            if (!std::strcmp(*arguments, flag.name))
                known = *flag.target = true;
        for (const Number &entry : numbers)
            if (!known && !std::strcmp(*arguments, entry.name)) {
                *entry.target = number(entry.name, arguments[1]);
                arguments++;
                known = true;
                break;
            }
        if (!known)
            usage((std::string("unknown option ") + *arguments).c_str());
    }
    if (depth < 1 || depth > 1024)
        usage("--depth must be 1 to 1024");
    if (streams < 1 || streams > 64)
        usage("--streams must be 1 to 64");
    if (graph > 10000)
        usage("--graph must be 0 to 10000");
    if (waves > 1000)
        usage("--waves must be 0 to 1000");
    if (options.open_loop() && (depth > 1 || streams > 1 || options.think_us > 0))
        usage("--period-us and --poisson-us go with one kernel at a time: not with --depth, --streams or --think-us");
    if (options.period_us > 0 && options.poisson_us > 0)
        usage("--period-us and --poisson-us exclude each other");
    options.depth = static_cast<unsigned>(depth);
    options.streams = static_cast<unsigned>(streams);
    options.graph = static_cast<unsigned>(graph);
    options.waves = static_cast<unsigned>(waves);
    options.steps = static_cast<unsigned long long>(steps);
    options.exit_code = static_cast<int>(exit_code);
    if (!options.serve && !options.calibrate && !options.bad_launch && options.seconds <= 0 && !options.steps)
        usage("give --seconds, --steps, --serve, --calibrate or --bad-launch");
    return options;
}

} // namespace

int main(int, char **argv)
{
    Options options = parse(argv + 1);
    if (!options.serve)
        std::signal(SIGTERM, on_terminate);
    Work work(options);
    if (options.calibrate) {
        std::printf("%.6f\n", work.rate());
        return 0;
    }
    if (options.bad_launch)
        return work.bad_launch();
    if (options.serve)
        return serve(work);
    if (!work.run(options.seconds, 0, options.steps))
        return 1;
    return options.exit_code;
}
