// SPDX-License-Identifier: MIT
#include "tools/ptsched-spmd-sim/node.hpp"

#include "libptsched/spmd/schedule/split.hpp"

#include <algorithm>
#include <queue>
#include <stdexcept>

namespace spmd_sim {

namespace {

using namespace ptsched::spmd::schedule;

constexpr unsigned cores = 16, streams = 2;
constexpr double core_overhead = 5e-6, gpu_latency = 20e-6;
/* Blocks of a core's and a GPU's part. */
constexpr double per_core = 4, per_gpu = 16;

std::vector<SplitDevice> devices_of(const Cluster &cluster, double rate, double bytes)
{
    const double cpu = rate * (1 - cluster.gpu_part), gpu = rate * cluster.gpu_part;
    const double told = gpu * cluster.model_error, p = cpu / (cpu + told);
    const auto size = [](double bytes) { return static_cast<std::uint64_t>(std::max(bytes, 1.0)); };
    return {{.rate = cpu,
             .share = p,
             .at_once = cores,
             .bytes = size(p * bytes / (cores * per_core)),
             .latency = core_overhead},
            {.rate = told,
             .share = 1 - p,
             .at_once = streams,
             .streams = true,
             .bytes = size((1 - p) * bytes / per_gpu),
             .latency = gpu_latency}};
}

struct Ending {
    double at;
    std::uint64_t block;

    bool operator<(const Ending &other) const { return at > other.at; }
};

} // namespace

double time_of_split(const Cluster &cluster, double rate, const Range &partition, ptsim::Random &random)
{
    const auto devices = devices_of(cluster, rate, static_cast<double>(partition.size()));
    const double actual[] = {rate * (1 - cluster.gpu_part), rate * cluster.gpu_part};
    Split split(partition, devices, [](std::uint64_t at) { return at; }, {.dynamic = cluster.dynamic});
    std::priority_queue<Ending> endings;
    double now = 0, gpu_free = 0;

    for (;;) {
        for (unsigned device = 0; device < 2; device++)
            while (const auto block = split.next(device, now)) {
                const double seconds =
                    static_cast<double>(block->range.size()) / actual[device] * random.lognormal(1, cluster.noise);
                if (device) {
                    gpu_free = std::max(gpu_free, now) + gpu_latency + seconds;
                    endings.push({gpu_free, block->id});
                } else {
                    endings.push({now + core_overhead + seconds * cores, block->id});
                }
            }
        if (endings.empty())
            break;
        now = endings.top().at;
        split.done(endings.top().block, now);
        endings.pop();
    }
    if (!split.finished())
        throw std::logic_error("a node has left a part of its partition");
    return now;
}

} // namespace spmd_sim
