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

/* The CPU's share is @p; the GPUs have the rest as @rates are. */
void share(std::vector<Mapper> &mappers, double p, const std::vector<double> &rates)
{
    if (!(p >= 0 && p <= 1))
        throw Error("the CPU's part of the input is " + std::to_string(p) + ", which is not between 0 and 1");
    double gpus = 0;
    for (std::size_t i = 0; i < mappers.size(); i++)
        gpus += mappers[i].engine->is_gpu() ? rates[i] : 0;
    const bool has_cpu = !mappers.front().engine->is_gpu();
    const double rest = has_cpu ? 1 - p : 1;
    for (std::size_t i = 0; i < mappers.size(); i++)
        mappers[i].part.share = mappers[i].engine->is_gpu() ? rest * rates[i] / gpus : gpus > 0 ? p : 1;
}

std::vector<double> rates_of(const Plan &plan)
{
    std::vector<double> rates;
    for (const Mapper &mapper : plan.mappers)
        rates.push_back(mapper.part.rate);
    return rates;
}

/* By equations (5) to (8). The machine's GPUs are those of the engines, in their order. */
void ask_model(Plan &plan, const model::Machine &machine, model::Intensity intensity)
{
    const bool has_cpu = !plan.mappers.front().engine->is_gpu();
    model::Machine used = machine;
    if (!has_cpu)
        intensity.cpu.reset();
    const std::size_t gpus = plan.mappers.size() - has_cpu;
    if (gpus == 0)
        intensity.gpu.reset();
    if (used.gpus.size() < gpus)
        throw Error("Options::machine has " + std::to_string(used.gpus.size()) + " GPUs, and the job is run on " +
                    std::to_string(gpus));
    used.gpus.resize(gpus);
    const model::Share share = model::share(used, intensity);
    for (std::size_t i = 0; i < plan.mappers.size(); i++) {
        schedule::SplitDevice &part = plan.mappers[i].part;
        const bool is_gpu = plan.mappers[i].engine->is_gpu();
        part.rate = is_gpu ? share.gpu_rates[i - has_cpu] : share.cpu_rate;
        part.share = is_gpu ? share.gpus[i - has_cpu] : share.cpu;
    }
    plan.rate = share.rate;
    plan.model_p = share.cpu;
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

void share_by_rates(Plan &plan, const std::vector<double> &rates)
{
    double sum = 0;
    for (const double rate : rates)
        sum += rate;
    if (!(sum > 0))
        return;
    plan.probes = false;
    plan.dynamic = false;
    plan.rate = sum;
    for (std::size_t i = 0; i < plan.mappers.size(); i++) {
        plan.mappers[i].part.rate = rates[i];
        plan.mappers[i].part.share = rates[i] / sum;
    }
}

std::uint64_t probe_bytes(const Plan &plan, std::uint64_t partition)
{
    std::uint64_t each_some = 0;
    for (const Mapper &mapper : plan.mappers)
        each_some += 2 * mapper.part.at_once * mapper.part.bytes;
    return std::min(each_some, partition / 4);
}

Plan make_plan(const Work &work, const Devices &devices, const Known &known, std::uint64_t partition)
{
    if (devices.engines.empty())
        throw Error("there is no device here for job \"" + work.program.name +
                    "\": it has functions for GPUs alone, and there is no GPU (Job::cpu.map would run on cores)");
    Plan plan;
    for (const std::unique_ptr<Engine> &engine : devices.engines) {
        Mapper mapper{.engine = engine.get(), .part = {}};
        mapper.part.rate = rate_of(*engine);
        mapper.part.share = devices.engines.size() == 1;
        mapper.part.at_once = engine->at_once();
        mapper.part.bytes = block_of(work, *engine, partition);
        plan.guess += mapper.part.rate;
        plan.mappers.push_back(mapper);
    }
    const model::Intensity *const intensity = std::get_if<model::Intensity>(&work.intensity);
    try {
        if (intensity && known.machine)
            ask_model(plan, *known.machine, *intensity);
    } catch (const Error &) {
        if (known.is_given)
            throw;
    }
    const Static *const fixed = std::get_if<Static>(&work.split);
    plan.dynamic = fixed == nullptr;
    if (fixed && fixed->p)
        share(plan.mappers, *fixed->p, rates_of(plan));
    else if (fixed && !devices.rates.empty() && !plan.model_p)
        share_by_rates(plan, devices.rates);
    else if (fixed && plan.mappers.size() > 1 && !plan.model_p)
        plan.probes = plan.dynamic = true;
    return plan;
}

} // namespace ptsched::spmd
