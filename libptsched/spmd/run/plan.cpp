// SPDX-License-Identifier: MIT
#include "libptsched/spmd/run/plan.hpp"

#include <algorithm>

namespace ptsched::spmd {
namespace {

constexpr std::uint64_t least_block = 64 << 10, most_block = 4 << 20, most_gpu_block = 64 << 20;
/* Several blocks for each core, so that cores are idle for a part of one only. */
constexpr std::uint64_t per_core = 8;
/* What a GPU counts as long as nothing is known of it. */
constexpr double cores_of_a_gpu = 32;

std::uint64_t block_of(const Work &work, const Engine &engine, std::uint64_t partition)
{
    if (work.ordered)
        return grid_of(work);
    if (work.block_bytes > 0 && !engine.is_gpu())
        return work.block_bytes;
    const std::uint64_t several = partition / (per_core * std::max(engine.at_once(), 1u));
    return std::clamp(several, least_block, engine.is_gpu() ? most_gpu_block : most_block);
}

double rate_of(const Engine &engine)
{
    return engine.is_gpu() ? cores_of_a_gpu : engine.at_once();
}

/* The CPU's share is @p, the others are equal. */
void share(std::vector<Mapper> &mappers, double p)
{
    if (!(p >= 0 && p <= 1))
        throw Error("the CPU's part of the input is " + std::to_string(p) + ", which is not between 0 and 1");
    const bool has_cpu = !mappers.front().engine->is_gpu();
    const std::size_t gpus = mappers.size() - has_cpu;
    for (Mapper &mapper : mappers)
        if (gpus == 0 || !has_cpu)
            mapper.part.share = 1 / static_cast<double>(mappers.size());
        else
            mapper.part.share = mapper.engine->is_gpu() ? (1 - p) / static_cast<double>(gpus) : p;
}

} // namespace

std::uint64_t grid_of(const Work &work)
{
    if (!work.ordered)
        return 0;
    if (work.block_bytes > 0)
        return work.block_bytes;
    return std::clamp(work.input.bytes() / 512, least_block, most_block);
}

Plan make_plan(const Work &work, const std::vector<std::unique_ptr<Engine>> &engines, std::uint64_t partition)
{
    if (engines.empty())
        throw Error("there is no device here for job \"" + work.program.name +
                    "\": it has functions for GPUs alone, and there is no GPU (Job::cpu.map would run on cores)");
    Plan plan;
    plan.rate = 0;
    for (const std::unique_ptr<Engine> &engine : engines) {
        Mapper mapper{.engine = engine.get(), .part = {}};
        mapper.part.rate = rate_of(*engine);
        mapper.part.at_once = engine->at_once();
        mapper.part.bytes = block_of(work, *engine, partition);
        plan.rate += mapper.part.rate;
        plan.mappers.push_back(mapper);
    }
    plan.dynamic = std::holds_alternative<Dynamic>(work.split);
    if (const Static *const fixed = std::get_if<Static>(&work.split)) {
        double cpu = plan.mappers.front().engine->is_gpu() ? 0 : plan.mappers.front().part.rate / plan.rate;
        share(plan.mappers, fixed->p.value_or(cpu));
    }
    return plan;
}

} // namespace ptsched::spmd
