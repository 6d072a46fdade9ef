// SPDX-License-Identifier: MIT
/*
 * What the driver lets a process do with its own compute channels, found out without ptsched, by its effect on kernels
 * of about 1 ms: short time slices, channels off and on, pre-emption of the channel group.
 *
 * Its ioctl() is that of the interposer (libptsched/preload/entry/ioctl.cpp), which shows its channels to that one's
 * Channels.
 */
#include "libptsched/preload/loaded/real_dlsym.hpp"
#include "libptsched/preload/turn/channels.hpp"
#include "libptsched/rm/rm_abi.h"
#include "libptsched/rm/rm_channels.hpp"
#include "tests/gpu/job.hpp"

#include <cerrno>
#include <csignal>
#include <dlfcn.h>
#include <getopt.h>

using ptsched::preload::channels;
using ptsched::preload::ComputeGroup;
namespace rm = ptsched::rm;

/* There is no dlsym() of the interposer's in the way here. */
ptsched::preload::DlsymFn ptsched::preload::real_dlsym()
{
    return dlsym;
}

namespace {

constexpr int threads = 128;
constexpr int depth = 4; /* kernels in flight */
constexpr double kernel_us = 1000;
constexpr uint64_t short_slice_us = 50;
constexpr double patience_s = 2; /* for kernels to go on */
constexpr double spare_s = 60;   /* for all else that the program does */

/* NVA06C_CTRL_CMD_PREEMPT, on a channel group, and its parameters. */
constexpr uint32_t preempt_group = 0xa06c0105;
struct PreemptGroup {
    uint8_t wait, manual_timeout;
    uint32_t timeout_us;
};

struct Options {
    double times = 20, off_ms = 50;
};

/* Switches the process's channels. However the program ends, they are on then. */
class Switch {
public:
    void use(const std::string &address) { address_ = address; }
    const char *address() const { return address_.c_str(); }

    std::string off()
    {
        std::lock_guard<std::mutex> guard(lock_);
        if (ended_)
            return "the program ends";
        off_ = true;
        return channels->switch_off(address());
    }
    std::string on()
    {
        std::lock_guard<std::mutex> guard(lock_);
        off_ = false;
        return channels->switch_on(address());
    }
    /* Nobody takes them off any more. */
    void end()
    {
        std::lock_guard<std::mutex> guard(lock_);
        ended_ = true;
        if (off_)
            channels->switch_on(address());
        off_ = false;
    }

private:
    std::mutex lock_;
    std::string address_;
    bool off_ = false, ended_ = false;
};

Switch &own_channels = *new Switch; /* threads may outlive us */

/* Waits for the signals that end a program, or until it should have come to an end by itself. */
void watch(const sigset_t &signals, double seconds)
{
    timespec limit{static_cast<time_t>(seconds) + 1, 0};
    int number;
    do {
        number = sigtimedwait(&signals, nullptr, &limit);
    } while (number < 0 && errno == EINTR);
    own_channels.end();
    if (number < 0)
        std::fprintf(stderr, "mechanisms: no end after %.0f s: something hangs\n", seconds);
    std::_Exit(number < 0 ? 1 : 128 + number);
}

/* What kernels tell, in the host's memory: it can be looked at without a call to the driver. */
struct Told {
    volatile unsigned done, wrong;
};

/* On the device: blocks that have ended of the kernel that runs, and kernels that have. */
struct Ended {
    unsigned blocks, kernels;
};

__host__ __device__ unsigned chain(unsigned x, unsigned rounds)
{
    for (unsigned round = 0; round < rounds; round++)
        x = x * 1664525u + round;
    return x;
}

__global__ void chain_kernel(unsigned rounds, const unsigned *right, Ended *ended, Told *told)
{
    if (chain(threadIdx.x, rounds) != right[threadIdx.x])
        told->wrong = 1;
    __syncthreads();
    /* The last block counts the kernel. */
    if (threadIdx.x == 0 && atomicInc(&ended->blocks, gridDim.x - 1) == gridDim.x - 1)
        told->done = ++ended->kernels;
}

/* Kernels one after another, some of them in flight all the time. */
class Kernels {
public:
    Kernels()
    {
        check(cudaGetDeviceProperties(&device_, 0), "cudaGetDeviceProperties");
        check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
        check(cudaHostAlloc(&told_, sizeof(*told_), cudaHostAllocMapped), "cudaHostAlloc");
        check(cudaMalloc(&right_, threads * sizeof(unsigned)), "cudaMalloc");
        check(cudaMalloc(&ended_, sizeof(*ended_)), "cudaMalloc");
        check(cudaMemset(ended_, 0, sizeof(*ended_)), "cudaMemset");
        told_->done = 0;
        told_->wrong = 0;
        calibrate();
        launcher_ = std::thread(&Kernels::keep_going, this);
    }
    Kernels(const Kernels &) = delete;
    Kernels &operator=(const Kernels &) = delete;

    const char *device() const { return device_.name; }
    std::string address() const
    {
        char text[32];
        std::snprintf(text, sizeof(text), "%04x:%02x:%02x.0", device_.pciDomainID, device_.pciBusID,
                      device_.pciDeviceID);
        return text;
    }
    unsigned done() const { return told_->done; }
    /* One that has just been launched may be done before it is counted. */
    int in_flight() const { return static_cast<int>(launched_ - told_->done); }

    /* Whether what is in flight completes, and something that is launched after that. */
    bool go_on() const { return completes(launched_ + 1); }

    /* No more of them. Whether all completed, with the right results. */
    bool finish()
    {
        ending_ = true;
        launcher_.join();
        if (!completes(launched_))
            return false;
        check(cudaStreamSynchronize(stream_), "the end of the kernels");
        return !told_->wrong;
    }

private:
    cudaDeviceProp device_;
    cudaStream_t stream_;
    Told *told_;
    Ended *ended_;
    unsigned *right_; /* results */
    unsigned rounds_ = 0;
    std::atomic<unsigned> launched_{0};
    std::atomic<bool> ending_{false};
    std::thread launcher_;

    void launch()
    {
        chain_kernel<<<device_.multiProcessorCount, threads, 0, stream_>>>(rounds_, right_, ended_, told_);
        check(cudaGetLastError(), "launch");
        launched_++;
    }

    void keep_going()
    {
        while (!ending_) {
            if (in_flight() < depth)
                launch();
            else
                std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
    }

    bool completes(unsigned number) const
    {
        for (double end = now() + patience_s; static_cast<int>(told_->done - number) < 0;) {
            if (now() > end)
                return false;
            std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
        return true;
    }

    void set_rounds(unsigned rounds)
    {
        unsigned right[threads];
        for (unsigned i = 0; i < threads; i++)
            right[i] = chain(i, rounds);
        check(cudaMemcpy(right_, right, sizeof(right), cudaMemcpyHostToDevice), "cudaMemcpy");
        rounds_ = rounds;
    }

    /* By the fastest of some shorter ones. */
    void calibrate()
    {
        constexpr unsigned some = 100000;
        set_rounds(some);
        double fastest_us = 1e9;
        for (double end = now() + 0.3; now() < end;) {
            double before = now();
            launch();
            check(cudaStreamSynchronize(stream_), "a kernel");
            fastest_us = std::min(fastest_us, (now() - before) * 1e6);
        }
        set_rounds(static_cast<unsigned>(some * kernel_us / fastest_us));
    }
};

/* What was found out about one mechanism. */
struct Finding {
    std::string why; /* it does not work; empty: it does */
    std::vector<float> us = {};
    std::string more = ""; /* JSON members, each after a comma */

    /* What is found out first counts. */
    void fails(const std::string &reason) { why = why.empty() ? reason : why; }

    void print(const char *name)
    {
        std::sort(us.begin(), us.end());
        std::printf(", \"%s\": {\"works\": %s, \"why\": \"%s\", \"times\": %zu, \"us_p50\": %.1f, \"us_max\": %.1f%s}",
                    name, why.empty() ? "true" : "false", why.c_str(), us.size(), percentile(us, 0.5),
                    percentile(us, 1), more.c_str());
    }
};

/* Calls it, and adds how long that took. */
template <typename Call> auto timed(std::vector<float> &us, Call call)
{
    double before = now();
    auto result = call();
    us.push_back(static_cast<float>((now() - before) * 1e6));
    return result;
}

void sleep_ms(double ms)
{
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms));
}

std::string member(const char *name, double value)
{
    char text[80];
    std::snprintf(text, sizeof(text), ", \"%s\": %.15g", name, value);
    return text;
}

/* Of a group, in us; 0: the driver does not say. */
uint64_t slice_of(const ComputeGroup &group)
{
    rm::Timeslice slice{0};
    bool told = !rm::control(group.fd, group.client, group.handle, rm::get_timeslice, &slice, sizeof(slice));
    return told ? slice.us : 0;
}

Finding try_slice(const std::vector<ComputeGroup> &groups, double times)
{
    Finding found;
    uint64_t drivers_own = groups.empty() ? 0 : slice_of(groups.front());
    auto are = [&](uint64_t us) {
        return std::all_of(groups.begin(), groups.end(),
                           [&](const ComputeGroup &group) { return slice_of(group) == us; });
    };
    auto set = [&](uint64_t us) { return channels->set_timeslice(own_channels.address(), us); };
    for (int i = 0; i < times && found.why.empty(); i++) {
        found.fails(timed(found.us, [&] { return set(short_slice_us); }));
        if (found.why.empty() && !are(short_slice_us))
            found.fails("another time slice is read back than was set");
        std::string undone = set(0);
        found.fails(undone.empty() && !are(drivers_own) ? "the driver's own time slice does not come back" : undone);
    }
    found.more = member("set_us", short_slice_us) + member("default_us", static_cast<double>(drivers_own));
    return found;
}

/* What happened while the channels were off once. */
struct Off {
    std::string error, undone; /* of off and on */
    unsigned completed;        /* kernels, while they were off */
    bool waiting, went_on;     /* whether some were in flight meanwhile, and whether they went on afterwards */
};

Off take_off_for(double ms, const Kernels &kernels, std::vector<float> &off_us, std::vector<float> &on_us)
{
    Off off{};
    off.error = timed(off_us, [] { return own_channels.off(); });
    unsigned before = kernels.done();
    if (off.error.empty())
        sleep_ms(ms);
    off.completed = kernels.done() - before;
    off.waiting = kernels.in_flight() > 0;
    off.undone = timed(on_us, [] { return own_channels.on(); });
    off.went_on = kernels.go_on();
    return off;
}

/* What that says of off and on. */
void judge(const Off &one, Finding &off, Finding &on)
{
    off.fails(one.error);
    if (one.completed)
        off.fails("kernels complete all the same");
    else if (!one.waiting)
        off.fails("no kernel was in flight");
    on.fails(one.undone);
    if (!one.went_on)
        on.fails("kernels do not go on");
}

void try_off(const Kernels &kernels, const Options &options, Finding &off, Finding &on)
{
    unsigned completed = 0;
    for (int i = 0; i < options.times && off.why.empty() && on.why.empty(); i++) {
        Off one = take_off_for(options.off_ms, kernels, off.us, on.us);
        completed += one.completed;
        judge(one, off, on);
    }
    if (!off.why.empty())
        on.fails("nothing was off");
    off.more = member("off_ms", options.off_ms) + member("completed_while_off", completed);
}

/* It works if it keeps the group off the hardware, and that ends. */
Finding try_group_preempt(const std::vector<ComputeGroup> &groups, const Kernels &kernels, const Options &options)
{
    Finding found;
    int status = 0;
    unsigned completed = 0;
    if (groups.empty())
        found.fails("no compute group was seen being made");
    for (int i = 0; i < options.times && found.why.empty() && !status; i++) {
        for (const ComputeGroup &group : groups) {
            PreemptGroup call{1, 0, 0};
            int answer = timed(found.us, [&] {
                return rm::control(group.fd, group.client, group.handle, preempt_group, &call, sizeof(call));
            });
            status = status ? status : answer;
        }
        unsigned before = kernels.done();
        sleep_ms(options.off_ms);
        completed += kernels.done() - before;
        if (!kernels.go_on())
            found.fails("the group does not come back");
    }
    if (status)
        found.fails(rm::in_words(status));
    if (completed)
        found.fails("kernels complete all the same");
    found.more = member("status", status) + member("off_ms", options.off_ms) + member("completed_while_off", completed);
    return found;
}

bool try_all(Kernels &kernels, const Options &options)
{
    auto groups = channels->groups(own_channels.address());
    size_t count = 0;
    for (const ComputeGroup &group : groups)
        count += group.channels;
    Finding off, on;
    std::printf("{\"gpu\": \"%s\", \"address\": \"%s\", \"groups\": %zu, \"channels\": %zu", kernels.device(),
                own_channels.address(), groups.size(), count);
    try_slice(groups, options.times).print("slice");
    try_off(kernels, options, off, on);
    off.print("off");
    on.print("on");
    try_group_preempt(groups, kernels, options).print("group_preempt");
    bool right = kernels.finish();
    std::printf(", \"kernels\": %u, \"results_right\": %s}\n", kernels.done(), right ? "true" : "false");
    std::fflush(stdout);
    return right;
}

[[noreturn]] void usage(std::FILE *where, int status)
{
    std::fprintf(where,
                 "usage: mechanisms [--times NUMBER] [--off-ms MS]\n"
                 "Tries what the driver lets a process do with its own channels, each so many times (20), taken\n"
                 "off for so long (50). What it finds out is one object of JSON.\n");
    std::exit(status);
}

double number(const char *name, double least, double most)
{
    char *end = nullptr;
    double value = std::strtod(optarg, &end);
    if (end != optarg && !*end && value >= least && value <= most)
        return value;
    std::fprintf(stderr, "mechanisms: --%s is a number from %g to %g, not \"%s\"\n", name, least, most, optarg);
    usage(stderr, 2);
}

Options parse(int argc, char **argv)
{
    Options options;
    const option names[] = {
        {"times", 1, nullptr, 't'}, {"off-ms", 1, nullptr, 'o'}, {"help", 0, nullptr, 'h'}, {nullptr, 0, nullptr, 0}};
    for (int which; (which = getopt_long(argc, argv, "", names, nullptr)) != -1;) {
        if (which == 't')
            options.times = number("times", 1, 1000);
        else if (which == 'o')
            options.off_ms = number("off-ms", 5, 10000);
        else
            usage(which == 'h' ? stdout : stderr, which == 'h' ? 0 : 2);
    }
    if (optind == argc)
        return options;
    std::fprintf(stderr, "mechanisms: there are no arguments but options\n");
    usage(stderr, 2);
}

} // namespace

int main(int argc, char **argv)
{
    Options options = parse(argc, argv);
    double planned_s = 2 * options.times * options.off_ms / 1000;
    sigset_t signals;
    sigemptyset(&signals);
    for (int number : {SIGTERM, SIGINT, SIGHUP})
        sigaddset(&signals, number);
    /* No thread takes them but one, which may lock. */
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    std::thread(watch, signals, planned_s + spare_s).detach();

    Kernels kernels;
    own_channels.use(kernels.address());
    std::atexit([] { own_channels.end(); });
    return try_all(kernels, options) ? 0 : 1;
}
