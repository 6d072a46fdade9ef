// SPDX-License-Identifier: MIT
#include "libptsched/spmd/model/blocks.hpp"

#include "libptsched/spmd/model/roofline.hpp"

#include <algorithm>
#include <limits>

namespace ptsched::spmd::model {

namespace {

/* Whole bytes; a part that is there at all has a block. */
std::uint64_t whole(double bytes)
{
    constexpr double most = 1ull << 62;
    return static_cast<std::uint64_t>(std::clamp(bytes, 1.0, most));
}

BlockSize for_cores(const Cpu &cpu, const Share &share, double part, const BlockOptions &options)
{
    BlockSize size;
    size.at_once = std::max(1u, cpu.cores);
    if (!(part > 0))
        return size;
    const double least = share.cpu_rate / size.at_once * options.core_overhead * options.worth;
    size.least = whole(std::min(least, part / size.at_once));
    size.bytes = std::max(size.least, whole(part / (size.at_once * std::max(1u, options.per_core))));
    return size;
}

/* What fits in the GPU at once. */
double room(const Gpu &gpu, const BlockOptions &options)
{
    if (options.gpu_memory)
        return static_cast<double>(options.gpu_memory);
    return gpu.memory ? static_cast<double>(gpu.memory) / 4 : std::numeric_limits<double>::max();
}

GpuBlockSize for_gpu(const Machine &machine, const Gpu &gpu, const Intensity &intensity, const Conditions &conditions,
                     double rate, double part, const BlockOptions &options)
{
    GpuBlockSize size;
    if (!(part > 0))
        return size;
    const IntensityOf same = [&](double) { return intensity.gpu.value_or(0); };
    const IntensityOf &intensity_of = options.intensity_of ? options.intensity_of : same;
    const double room_for_all = room(gpu, options);
    size.min_block = min_block(intensity_of, ridge(machine, gpu, intensity.precision, conditions), room_for_all);

    const double least = std::max(size.min_block.value_or(0), rate * gpu.latency * options.worth);
    const double one = std::min({part, room_for_all, std::max(least, part / std::max(1u, options.per_gpu))});
    size.overlap = overlap(machine, gpu, intensity_of(one), intensity.precision, conditions);
    /* One for each direction of the bus, and one that computes; fewer where a part or memory has fewer blocks. */
    const double stages = conditions.home > 0 ? 3 : 2;
    const double streams = std::min({stages, static_cast<double>(options.most_streams), part / one,
                                     room_for_all / std::min(one, std::max(least, 1.0))});
    /* Two at least, even where one thing takes nearly all the time: that is not to wait for what is between blocks. */
    if (streams >= 2)
        size.at_once = gain_of_streams(size.overlap) >= options.least_gain ? static_cast<unsigned>(streams) : 2;
    size.bytes = whole(std::min(one, room_for_all / size.at_once));
    size.least = std::min(size.bytes, whole(least));
    return size;
}

} // namespace

Blocks blocks(const Machine &machine, const Intensity &intensity, const Conditions &conditions, const Share &share,
              double bytes, const BlockOptions &options)
{
    Blocks blocks;
    require_number(bytes, "the size of a partition");
    blocks.cpu = for_cores(machine.cpu, share, share.cpu * bytes, options);
    for (std::size_t i = 0; i < machine.gpus.size() && i < share.gpus.size(); i++)
        blocks.gpus.push_back(for_gpu(machine, machine.gpus[i], intensity, conditions, share.gpu_rates[i],
                                      share.gpus[i] * bytes, options));
    return blocks;
}

} // namespace ptsched::spmd::model
