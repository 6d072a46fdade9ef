/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PTASK_OPTIONS_HPP
#define PTSCHED_PTASK_OPTIONS_HPP

#include <ptsched/device/turns.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace ptsched::ptask {

/* Which task comes first, and on which device it runs (PTask, 5.1). */
enum class Mode {
    first_available, /* as they come, to the next device in turn */
    fifo,            /* as they come, to the device with the fewest runs */
    priority,        /* the highest effective priority first, to the device with the fewest runs for its strength */
    data_aware,      /* the highest effective priority first, to the device where it would begin first */
};

/*
 * What a task's effective priority is made of, besides its static priority: each is what one unit counts in steps.
 * Waiting is counted in average waits, a run time of nothing as one and one of twice the average or more as minus one.
 */
struct PriorityWeights {
    double waiting = 1;
    double short_run = 1;
    double proxy = 1;
};

/* What is taken for granted about moving data, until it shows otherwise. */
struct MovingCosts {
    double bytes_per_second = 20e9;
    std::chrono::nanoseconds block{10000};
    /* The device that has most of the inputs is left only for one that is better by this factor and this time. */
    double factor = 1.25;
    std::chrono::nanoseconds margin{50000};
};

/* Whether a graph's work is scheduled by ptsched; where it must be, Graph::run() throws. */
using device::Attach;

/*
 * Whether tasks whose kernels follow each other in the same way again and again are given to the GPU as a CUDA graph:
 * where that takes the host less time, as soon as it can be, or never.
 */
enum class Lower { automatic, always, never };

struct GraphOptions {
    Mode mode = Mode::data_aware;
    PriorityWeights weights = {};
    MovingCosts moving = {};
    /* Of tasks that do not have their own: for whom the graph works. Without one: minus the making thread's nice. */
    std::optional<int> proxy_priority = {};
    bool timeline = false; /* to be kept, for Graph::timeline() */
    Attach attach = Attach::no;
    Lower lower = Lower::automatic;
    /*
     * Those that kernels may use; without any, all there are. A GPU is named by its number in the CUDA driver's order,
     * "0", or by its address on the PCI bus, "0000:17:00.0"; a device of OpenCL by its number there, "opencl:0".
     */
    std::vector<std::string> devices = {};
    /*
     * Functions of the host that are at work at once, at most. 0: as many as the machine has processors, which all
     * graphs of the process share, and more where they wait for something.
     */
    unsigned host_functions = 0;
};

/* What a graph did on a device so far. */
struct DeviceCounters {
    std::string device;
    std::uint64_t runs = 0;
    std::uint64_t lowered = 0; /* of these, in CUDA graphs */
    /* That runs needed and that came from the host, or from another GPU. */
    std::uint64_t blocks_uploaded = 0, bytes_uploaded = 0;
    std::uint64_t blocks_migrated = 0, bytes_migrated = 0;
};

} // namespace ptsched::ptask

#pragma GCC visibility pop

#endif /* PTSCHED_PTASK_OPTIONS_HPP */
