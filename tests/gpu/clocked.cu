// SPDX-License-Identifier: MIT
/*
 * Kernels that note by the device's own clock when they began and ended, and when they came to a halt in between, so
 * that it is known for how long the GPU worked for this program: the time in which at least one of them ran. Between
 * two that are queued one behind the other nobody else gets onto the device: a gap as short as that one counts, too.
 */
#include "tests/gpu/job.hpp"

#include <getopt.h>
#include <memory>

namespace {

constexpr int threads = 128;
constexpr unsigned long long gap_ns = 10000;
/* Steps between two looks at the clock: some microseconds. It was off the device if that took so long. */
constexpr unsigned long long steps_for_a_look = 4096, halt_ns = 100000;
constexpr unsigned most_halts = 1 << 16;

struct Interval {
    unsigned long long begin_ns, end_ns;
};

/* What all kernels of a run have noted. */
struct Halts {
    unsigned count;
    struct {
        unsigned kernel;
        Interval interval;
    } halts[most_halts];
};

struct Options {
    double us = 1000, think_us = 0;
    unsigned depth = 2, streams = 1;
    bool serve = false;
};

__device__ unsigned long long device_ns()
{
    unsigned long long ns;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
    return ns;
}

__global__ void steps_kernel(uint32_t *state, unsigned long long steps, Interval *all_seen, unsigned kernel,
                             Halts *halts)
{
    Interval *seen = all_seen + kernel;
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long last_ns = device_ns();
    if (!threadIdx.x)
        atomicMin(&seen->begin_ns, last_ns);
    uint32_t x = state[i];
    for (unsigned long long done = 0; done < steps; done += steps_for_a_look) {
        unsigned long long next = min(steps - done, steps_for_a_look);
#pragma unroll 16
        for (unsigned long long step = 0; step < next; step++)
            x = x * 1664525u + i;
        if (i)
            continue;
        unsigned long long now_ns = device_ns();
        if (now_ns > last_ns + halt_ns)
            halts->halts[atomicAdd(&halts->count, 1) % most_halts] = {kernel, {last_ns, now_ns}};
        last_ns = now_ns;
    }
    state[i] = x;
    __syncthreads();
    if (!threadIdx.x)
        atomicMax(&seen->end_ns, device_ns());
}

/* The length of the union, short gaps included. */
unsigned long long union_ns(std::vector<Interval> intervals)
{
    unsigned long long length_ns = 0, until_ns = 0;
    std::sort(intervals.begin(), intervals.end(),
              [](const Interval &one, const Interval &other) { return one.begin_ns < other.begin_ns; });
    for (const Interval &interval : intervals) {
        if (interval.end_ns <= until_ns)
            continue;
        bool queued = interval.begin_ns < until_ns + gap_ns;
        length_ns += interval.end_ns - (queued && until_ns ? until_ns : interval.begin_ns);
        until_ns = interval.end_ns;
    }
    return length_ns;
}

class Clocked {
public:
    explicit Clocked(const Options &options) : options_(options)
    {
        cudaDeviceProp device;
        check(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
        blocks_ = device.multiProcessorCount;
        lanes_.resize(options.streams);
        for (Lane &lane : lanes_) {
            check(cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking), "cudaStreamCreate");
            check(cudaMalloc(&lane.state, blocks_ * threads * sizeof(uint32_t)), "cudaMalloc");
            check(cudaMemset(lane.state, 0, blocks_ * threads * sizeof(uint32_t)), "cudaMemset");
        }
        done_.resize(options.depth);
        for (cudaEvent_t &event : done_)
            check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
        check(cudaMalloc(&halts_, sizeof(Halts)), "cudaMalloc");
        check(cudaMemset(halts_, 0, sizeof(unsigned)), "cudaMemset");
        calibrate();
    }

    void run(size_t count)
    {
        std::vector<Interval> intervals(count, Interval{~0ull, 0});
        Interval *seen;
        check(cudaMalloc(&seen, count * sizeof(Interval)), "cudaMalloc");
        check(cudaMemcpy(seen, intervals.data(), count * sizeof(Interval), cudaMemcpyHostToDevice), "cudaMemcpy");
        check(cudaMemset(halts_, 0, sizeof(unsigned)), "cudaMemset");
        double start = now();
        for (size_t i = 0; i < count; i++) {
            cudaEvent_t done = done_[i % done_.size()];
            if (i >= done_.size())
                check(cudaEventSynchronize(done), "cudaEventSynchronize");
            Lane &lane = lanes_[i % lanes_.size()];
            steps_kernel<<<blocks_, threads, 0, lane.stream>>>(lane.state, steps_, seen, static_cast<unsigned>(i),
                                                               halts_);
            check(cudaGetLastError(), "launch");
            check(cudaEventRecord(done, lane.stream), "cudaEventRecord");
            pause(done);
        }
        check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
        double elapsed = now() - start;
        check(cudaMemcpy(intervals.data(), seen, count * sizeof(Interval), cudaMemcpyDeviceToHost), "cudaMemcpy");
        check(cudaFree(seen), "cudaFree");
        size_t halts = halt(intervals);
        std::printf("{\"event\": \"result\", \"n\": %zu, \"seconds\": %.6f, \"busy_s\": %.6f, \"halts\": %zu}\n", count,
                    elapsed, static_cast<double>(union_ns(std::move(intervals))) / 1e9, halts);
        std::fflush(stdout);
    }

private:
    struct Lane {
        cudaStream_t stream;
        uint32_t *state;
    };
    Options options_;
    unsigned blocks_ = 0;
    std::vector<Lane> lanes_;
    std::vector<cudaEvent_t> done_;
    unsigned long long steps_ = 0;
    Halts *halts_ = nullptr;

    /*
     * Takes what the kernels have noted out of their @intervals, which become more. Returns how often they came to a
     * halt.
     */
    size_t halt(std::vector<Interval> &intervals) const
    {
        auto memory = std::make_unique<Halts>();
        Halts &noted = *memory;
        check(cudaMemcpy(&noted, halts_, sizeof(noted), cudaMemcpyDeviceToHost), "cudaMemcpy");
        if (noted.count > most_halts) {
            std::fprintf(stderr, "clocked: came to a halt %u times; %u are counted\n", noted.count, most_halts);
            std::exit(1);
        }
        /* In the order of time: what is left of a kernel is what comes after its last one. */
        std::sort(noted.halts, noted.halts + noted.count,
                  [](const auto &one, const auto &other) { return one.interval.begin_ns < other.interval.begin_ns; });
        for (unsigned i = 0; i < noted.count; i++) {
            auto [kernel, off] = noted.halts[i];
            intervals.push_back({intervals[kernel].begin_ns, off.begin_ns});
            intervals[kernel].begin_ns = off.end_ns;
        }
        return noted.count;
    }

    void pause(cudaEvent_t done) const
    {
        if (options_.think_us <= 0)
            return;
        check(cudaEventSynchronize(done), "cudaEventSynchronize");
        std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(options_.think_us));
    }

    /* The device's clock says how long a kernel is; the fastest, since others may be there. */
    void calibrate()
    {
        constexpr unsigned long long few = 20000, many = 420000;
        Interval *seen;
        check(cudaMalloc(&seen, sizeof(Interval)), "cudaMalloc");
        auto fastest = [&](unsigned long long steps) {
            unsigned long long best = ~0ull;
            for (int i = 0; i < 200; i++) {
                Interval one{~0ull, 0};
                check(cudaMemcpy(seen, &one, sizeof(one), cudaMemcpyHostToDevice), "cudaMemcpy");
                steps_kernel<<<blocks_, threads, 0, lanes_[0].stream>>>(lanes_[0].state, steps, seen, 0, halts_);
                check(cudaStreamSynchronize(lanes_[0].stream), "cudaStreamSynchronize");
                check(cudaMemcpy(&one, seen, sizeof(one), cudaMemcpyDeviceToHost), "cudaMemcpy");
                best = std::min(best, one.end_ns - one.begin_ns);
            }
            return static_cast<double>(best);
        };
        double per_us = static_cast<double>(many - few) / (fastest(many) - fastest(few)) * 1000;
        steps_ = static_cast<unsigned long long>(options_.us * per_us);
        check(cudaFree(seen), "cudaFree");
    }
};

[[noreturn]] void usage()
{
    std::fprintf(stderr, "usage: clocked [--us DURATION] [--depth IN-FLIGHT] [--streams NUMBER] [--think-us PAUSE]\n"
                         "               --serve | --steps KERNELS\n");
    std::exit(2);
}

} // namespace

int main(int argc, char **argv)
{
    Options options;
    unsigned long steps = 0;
    const option names[] = {{"us", 1, nullptr, 'u'},       {"depth", 1, nullptr, 'd'}, {"streams", 1, nullptr, 's'},
                            {"think-us", 1, nullptr, 't'}, {"steps", 1, nullptr, 'n'}, {"serve", 0, nullptr, 'S'},
                            {nullptr, 0, nullptr, 0}};
    for (int which; (which = getopt_long(argc, argv, "", names, nullptr)) != -1;) {
        switch (which) {
        case 'u':
            options.us = std::atof(optarg);
            break;
        case 't':
            options.think_us = std::atof(optarg);
            break;
        case 'd':
            options.depth = static_cast<unsigned>(std::atoi(optarg));
            break;
        case 's':
            options.streams = static_cast<unsigned>(std::atoi(optarg));
            break;
        case 'n':
            steps = std::strtoul(optarg, nullptr, 10);
            break;
        case 'S':
            options.serve = true;
            break;
        default:
            usage();
        }
    }
    if (optind != argc || (!options.serve && !steps) || options.us <= 0 || !options.depth || options.depth > 1024 ||
        !options.streams || options.streams > 64)
        usage();
    Clocked clocked(options);
    if (!options.serve) {
        clocked.run(steps);
        return 0;
    }
    return serve_orders("", [&](const std::string &, double amount, double) {
        clocked.run(static_cast<size_t>(amount));
        return true;
    });
}
