// SPDX-License-Identifier: MIT
#include "libptsched/spmd/run/plan.hpp"

#include "libptsched/spmd/input/source.hpp"
#include "libptsched/spmd/model/blocks.hpp"
#include "libptsched/spmd/schedule/parts.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ptsched::spmd {
namespace {

constexpr std::uint64_t least_block = 64 << 10, most_block = 4 << 20, most_gpu_block = 64 << 20;
/*
 * Several blocks for each core, so that cores are idle for a part of one only. Those of a GPU that are combined are
 * fewer and stay large to the end: each has most keys, which cost as much whatever its size.
 */
constexpr std::uint64_t per_core = 8, per_stream_combined = 4, least_of_combined = 2;
/* More than that at once brings nothing, and a block's pairs have to have room, too. */
constexpr std::uint64_t most_of_cores = 16 << 20, most_of_gpu = 256 << 20, most_of_gpu_combined = 1 << 30;
/* What a GPU counts as long as nothing is known of it. */
constexpr double cores_of_a_gpu = 32;
/* Of a GPU's memory, the part for blocks that are under way, and for those that stay. */
constexpr std::uint64_t memory_for_blocks = 4, memory_to_keep = 2;
/* Input stays where it is as long as no device's part is to be another one by more than that. */
constexpr double worth_moving = 0.05;
/* Where only the difference is to be moved: as long as a run is not longer by more than that. */
constexpr double worth_a_difference = 0.02, nearly_the_same = 0.001;
/* Seconds of a run in which whoever is ready first could still help: less, and parts are better the next time. */
constexpr double worth_helping = 10e-3;
/* Of what all do: less might be more. And what the first run shows is also what was made for it. */
constexpr double small_part = 0.25;
constexpr unsigned enough_runs = 2;
/* Of so many, one may see to GPUs instead of mapping. */
constexpr unsigned cores_to_look = 4;

std::uint64_t block_of(const Work &work, const Engine &engine, std::uint64_t partition)
{
    if (work.ordered)
        return grid_of(work);
    if (work.block_bytes > 0 && !engine.is_gpu())
        return work.block_bytes;
    const std::uint64_t each = engine.is_gpu() && work.program.combines() ? per_stream_combined : per_core;
    const std::uint64_t several = partition / (each * std::max(engine.at_once(), 1u));
    return std::clamp(several, least_block, engine.is_gpu() ? most_gpu_block : most_block);
}

double guess_of(const Engine &engine)
{
    return engine.is_gpu() ? cores_of_a_gpu : engine.at_once();
}

double sum(const std::vector<double> &values)
{
    return std::accumulate(values.begin(), values.end(), 0.0);
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
        mappers[i].part.share = !mappers[i].engine->is_gpu() ? (gpus > 0 ? p : 1)
                                : gpus > 0                   ? rest * rates[i] / gpus
                                                             : 0;
}

std::vector<double> rates_of(const Plan &plan)
{
    std::vector<double> rates;
    for (const Mapper &mapper : plan.mappers)
        rates.push_back(mapper.part.rate);
    return rates;
}

double cpu_share(const Plan &plan)
{
    return plan.mappers.front().engine->is_gpu() ? 0 : plan.mappers.front().part.share;
}

/* What the model is asked about a rank. Blocks are under way several at a time, so that copies hide each other. */
struct Question {
    model::Machine machine;
    model::Intensity intensity;
    model::Conditions conditions = {.path = model::Path::streamed};
    std::size_t first_gpu = 0; /* of the mappers */
};

/* The machine's GPUs are those of the engines, in their order. */
Question question_of(const Plan &plan, model::Intensity intensity, const Known &known)
{
    Question asked{.machine = *known.machine, .intensity = std::move(intensity)};
    asked.first_gpu = plan.mappers.front().engine->is_gpu() ? 0 : 1;
    const std::size_t gpus = plan.mappers.size() - asked.first_gpu;
    if (asked.first_gpu == 0)
        asked.intensity.cpu.reset();
    else
        asked.machine.cpu.cores = plan.mappers.front().engine->at_once();
    if (gpus == 0)
        asked.intensity.gpu.reset();
    if (asked.machine.gpus.size() < gpus)
        throw Error("Options::machine has " + std::to_string(asked.machine.gpus.size()) +
                    " GPUs, and the job is run on " + std::to_string(gpus));
    asked.machine.gpus.resize(gpus);
    for (std::size_t i = 0; i < gpus; i++) {
        std::uint64_t &memory = asked.machine.gpus[i].memory;
        const std::uint64_t all = plan.mappers[asked.first_gpu + i].engine->memory();
        memory = memory > 0 && all > 0 ? std::min(memory, all) : std::max(memory, all);
    }
    return asked;
}

/* Input that is to stay in GPUs has to have room there. */
bool has_room(const model::Machine &machine, const model::Share &share, std::uint64_t bytes)
{
    for (std::size_t i = 0; i < machine.gpus.size(); i++) {
        const std::uint64_t memory = machine.gpus[i].memory;
        if (memory > 0 && share.gpus[i] * static_cast<double>(bytes) > static_cast<double>(memory / memory_to_keep))
            return false;
    }
    return true;
}

bool are_known(const std::vector<double> &rates)
{
    return !rates.empty() && *std::min_element(rates.begin(), rates.end()) > 0;
}

/* What runs have shown is what the model has equations for, and all that it does not know of. */
model::Share share_of_runs(const std::vector<double> &rates, std::size_t first_gpu)
{
    const auto gpus = rates.begin() + static_cast<std::ptrdiff_t>(first_gpu);
    return model::share_of_rates(first_gpu > 0 ? rates.front() : 0, {gpus, rates.end()});
}

/* Of all that take part together, if runs have shown it of each. */
std::optional<double> shown_rate(const Plan &plan, const std::vector<double> &rates)
{
    double all = 0;
    for (std::size_t i = 0; i < plan.mappers.size(); i++) {
        if (!(plan.mappers[i].part.rate > 0))
            continue;
        if (rates.empty() || !(rates[i] > 0))
            return std::nullopt;
        all += rates[i];
    }
    return all;
}

/* By equations (5) to (8). */
model::Share ask_for_share(Question &asked, const Known &known, std::uint64_t bytes)
{
    if (known.again) {
        asked.conditions.input = model::Where::gpu;
        model::Share share = model::share(asked.machine, asked.intensity, asked.conditions);
        if (has_room(asked.machine, share, bytes))
            return share;
        asked.conditions.input = model::Where::host;
    }
    return model::share(asked.machine, asked.intensity, asked.conditions);
}

void take_share(Plan &plan, const model::Share &share, std::size_t first_gpu)
{
    for (std::size_t i = 0; i < plan.mappers.size(); i++) {
        schedule::SplitDevice &part = plan.mappers[i].part;
        const bool is_gpu = i >= first_gpu;
        part.rate = is_gpu ? share.gpu_rates[i - first_gpu] : share.cpu_rate;
        part.share = is_gpu ? share.gpus[i - first_gpu] : share.cpu;
        if (!is_gpu && !(share.cpu > 0))
            part.rate = 0;
    }
    plan.model_p = share.cpu;
}

void take_block(schedule::SplitDevice &part, const model::BlockSize &size, double most)
{
    part.bytes = std::min(size.bytes, static_cast<std::uint64_t>(most));
    part.least = std::min(size.least, part.bytes);
    part.at_once = std::min(part.at_once, size.at_once);
}

/* By equations (9) to (11), of parts as they are now. What the job says of blocks comes first. */
void take_blocks(Plan &plan, const Work &work, const Question &asked, model::Share share, std::uint64_t partition)
{
    for (std::size_t i = 0; i < plan.mappers.size(); i++)
        (i < asked.first_gpu ? share.cpu : share.gpus[i - asked.first_gpu]) = plan.mappers[i].part.share;
    /* Blocks are what comes over the bus, if only in the first run: what stays is one. */
    model::Conditions conditions = asked.conditions;
    conditions.input = model::Where::host;
    for (std::size_t i = 0; i < share.gpu_rates.size(); i++)
        share.gpu_rates[i] =
            std::min(share.gpu_rates[i], model::bandwidth(asked.machine, asked.machine.gpus[i], conditions));
    const model::Blocks blocks = model::blocks(asked.machine, asked.intensity, conditions, share,
                                               static_cast<double>(partition), {.intensity_of = work.intensity_of});
    if (asked.first_gpu > 0 && !work.ordered && !work.block_bytes && blocks.cpu.bytes > 0)
        take_block(plan.mappers.front().part, blocks.cpu, most_of_cores);
    for (std::size_t i = 0; i < blocks.gpus.size(); i++) {
        schedule::SplitDevice &part = plan.mappers[asked.first_gpu + i].part;
        const double most = static_cast<double>(work.program.combines() ? most_of_gpu_combined : most_of_gpu);
        part.latency = asked.machine.gpus[i].latency;
        if (!work.ordered && blocks.gpus[i].bytes > 0)
            take_block(part, blocks.gpus[i], std::max(most, blocks.gpus[i].min_block.value_or(0)));
    }
}

/*
 * Whose threads give GPUs their blocks have one where there are several: else one is waited for by the bus until a core
 * has used up its time. Those that have more to do have one each, of not more than half of them.
 */
void leave_cores(Plan &plan)
{
    schedule::SplitDevice &part = plan.mappers.front().part;
    if (!has_cores_and_gpus(plan) || part.at_once < cores_to_look)
        return;
    unsigned busy = 0;
    for (const Mapper &mapper : plan.mappers)
        busy += mapper.engine->host_threads();
    part.at_once -= std::min(std::max(busy, 1U), part.at_once / 2);
}

/*
 * Cores do more for GPUs than to map beside them: they bring, sort and combine what these have mapped. So with a small
 * part of the input they may hold up more than they help, which runs of both kinds show.
 */
bool are_better_alone(const Plan &plan, const Ways &ways)
{
    const schedule::SplitDevice &cores = plan.mappers.front().part;
    const double all = sum(rates_of(plan));
    if (!has_cores_and_gpus(plan) || ways.with_cores.runs < enough_runs ||
        !(cores.rate > 0 && cores.rate < small_part * all))
        return false;
    return ways.gpus_alone.runs == 0 || ways.gpus_alone.rate >= ways.with_cores.rate;
}

void leave_out_cores(Plan &plan)
{
    schedule::SplitDevice &cores = plan.mappers.front().part;
    cores.rate = cores.share = 0;
    double gpus = 0;
    for (const Mapper &mapper : plan.mappers)
        gpus += mapper.part.share;
    for (Mapper &mapper : plan.mappers)
        mapper.part.share /= gpus > 0 ? gpus : 1;
    if (plan.model_p)
        plan.model_p = 0;
}

/* What nobody has to know anything for. */
Plan plan_of(const Work &work, const Devices &devices, std::uint64_t partition)
{
    Plan plan;
    for (const std::unique_ptr<Engine> &engine : devices.engines) {
        Mapper mapper{.engine = engine.get(), .part = {}};
        mapper.part.rate = guess_of(*engine);
        mapper.part.share = devices.engines.size() == 1;
        mapper.part.at_once = engine->at_once();
        mapper.part.streams = engine->is_gpu();
        mapper.part.bytes = block_of(work, *engine, partition);
        if (const std::uint64_t memory = engine->memory())
            mapper.part.bytes = std::clamp<std::uint64_t>(
                memory / (memory_for_blocks * std::max(engine->at_once(), 1u)), 1, mapper.part.bytes);
        if (engine->is_gpu() && work.program.combines() && !work.ordered)
            mapper.part.least = mapper.part.bytes / least_of_combined;
        plan.guess += mapper.part.rate;
        plan.mappers.push_back(mapper);
    }
    return plan;
}

/* Those of an earlier run, if each device has one. */
void take_rates(Plan &plan, const std::vector<double> &rates)
{
    if (!are_known(rates))
        return;
    for (std::size_t i = 0; i < plan.mappers.size(); i++)
        plan.mappers[i].part.rate = rates[i];
    plan.rate = sum(rates);
}

void split(Plan &plan, const Work &work, const Devices &devices)
{
    const Static *const fixed = std::get_if<Static>(&work.split);
    plan.dynamic = fixed == nullptr;
    if (fixed && fixed->p)
        share(plan.mappers, *fixed->p, rates_of(plan));
    else if (fixed && !devices.rates.empty() && !plan.model_p)
        share_by_rates(plan, devices.rates);
    else if (fixed && plan.mappers.size() > 1 && !plan.model_p)
        plan.probes = plan.dynamic = true;
}

/* By the job: the CPU's part is what it says. */
bool is_said(const Split &split)
{
    const Static *const fixed = std::get_if<Static>(&split);
    return fixed && fixed->p;
}

/* False: there is no answer, and the plan is as before. */
bool ask_model(Plan &plan, const Work &work, const Devices &devices, const Known &known, std::uint64_t partition,
               unsigned ranks)
{
    const model::Intensity *const intensity = std::get_if<model::Intensity>(&work.intensity);
    if (!intensity || !known.machine)
        return false;
    try {
        Plan asking = plan;
        Question asked = question_of(plan, *intensity, known);
        const model::Share model = ask_for_share(asked, known, work.input.bytes() / ranks);
        model::Share share = are_known(devices.rates) ? share_of_runs(devices.rates, asked.first_gpu) : model;
        if (!is_said(work.split))
            share = model::worthwhile(asked.machine.cpu, std::move(share), static_cast<double>(partition),
                                      static_cast<double>(work.block_bytes));
        take_share(asking, share, asked.first_gpu);
        asking.rate = shown_rate(asking, devices.rates).value_or(share.rate);
        split(asking, work, devices);
        take_blocks(asking, work, asked, share, partition);
        plan = std::move(asking);
        return true;
    } catch (const Error &) {
        if (known.is_given)
            throw;
        return false;
    }
}

/* Where a static split is by rates, these may say by now that parts are to be others than they were. */
bool stays(const Plan &plan, bool by_rates, const std::vector<schedule::Home> &homes)
{
    if (homes.empty())
        return false;
    if (!by_rates)
        return true;
    const std::vector<double> had = parts_in(homes, plan.mappers.size());
    for (std::size_t i = 0; i < had.size(); i++)
        if (std::abs(had[i] - plan.mappers[i].part.share) > worth_moving)
            return false;
    return true;
}

/* The parts that the devices of a kept job are to have, of those that they had: none if these stay. */
std::optional<std::vector<double>> new_parts(const Plan &plan, const Work &work, const Devices &devices, bool is_models)
{
    const bool known = are_known(devices.rates);
    if (is_said(work.split) || (!known && !is_models))
        return {};
    const std::vector<double> had = parts_in(devices.homes, plan.mappers.size());
    std::vector<double> parts;
    double others = 0;
    bool is_left_out = false;
    for (std::size_t i = 0; i < had.size(); i++) {
        parts.push_back(is_models ? plan.mappers[i].part.share : devices.rates[i] / sum(devices.rates));
        others += std::abs(parts[i] - had[i]);
        is_left_out = is_left_out || (had[i] > 0 && !(parts[i] > 0));
    }
    const bool is_as_fast =
        known && lateness(had, devices.rates) <= lateness(parts, devices.rates) + worth_a_difference;
    if (!is_left_out && (others <= nearly_the_same || is_as_fast))
        return {};
    return parts;
}

/* Of a kept job whose input lies where devices want it: who has how much of it, by what the last runs have shown. */
void stay_resident(Plan &plan, const Work &work, const Devices &devices, bool is_models)
{
    const auto moved = new_parts(plan, work, devices, is_models);
    const std::vector<double> parts = moved ? *moved : parts_in(devices.homes, plan.mappers.size());
    unsigned gpus = 0;
    for (std::size_t i = 0; i < parts.size(); i++) {
        schedule::SplitDevice &part = plan.mappers[i].part;
        part.share = parts[i];
        if (plan.mappers[i].engine->is_gpu()) {
            gpus++;
            part.bytes = part.most;
        }
    }
    plan.looks = true;
    if (schedule::SplitDevice &part = plan.mappers.front().part; !plan.mappers.front().engine->is_gpu()) {
        plan.looks = part.at_once >= cores_to_look * (gpus + 1);
        part.at_once -= plan.looks ? std::min(gpus, part.at_once - 1) : 0;
        const double bytes = part.share * static_cast<double>(work.input.bytes());
        part.bytes = part.least = static_cast<std::uint64_t>(bytes) / part.at_once + 1;
    }
    if (plan.model_p)
        plan.model_p = cpu_share(plan);
    plan.probes = false;
    const double seconds = are_known(devices.rates) ? static_cast<double>(work.input.bytes()) / sum(devices.rates) : 1;
    plan.dynamic = std::holds_alternative<Dynamic>(work.split) && seconds > worth_helping;
    plan.moves = moved.has_value();
    plan.is_resident = plan.stays = true;
}

} // namespace

std::vector<double> parts_in(const std::vector<schedule::Home> &homes, std::size_t count)
{
    std::vector<double> parts(count, 0.0);
    for (const schedule::Home &home : homes)
        parts.at(home.who) += static_cast<double>(home.range.size());
    const double all = std::max(sum(parts), 1.0);
    for (double &part : parts)
        part /= all;
    return parts;
}

double lateness(const std::vector<double> &parts, const std::vector<double> &rates)
{
    double longest = 0;
    for (std::size_t i = 0; i < parts.size(); i++)
        longest = std::max(longest, parts[i] / rates[i]);
    return longest * sum(rates) - 1;
}

bool has_cores_and_gpus(const Plan &plan)
{
    return plan.mappers.size() > 1 && !plan.mappers.front().engine->is_gpu();
}

std::uint64_t grid_of(const Work &work)
{
    if (!work.ordered)
        return 0;
    if (work.block_bytes > 0)
        return work.block_bytes;
    return std::clamp(work.input.bytes() / 512, least_block, most_block);
}

bool gpus_have_theirs(const Devices &devices)
{
    bool has_gpu = false;
    for (const schedule::Home &home : devices.homes) {
        const Engine &engine = *devices.engines.at(home.who);
        has_gpu = has_gpu || engine.is_gpu();
        if (engine.is_gpu() && !engine.has_input(home.range))
            return false;
    }
    return has_gpu;
}

std::uint64_t partitions_of(const Work &work, unsigned ranks)
{
    if (work.partitions > 0)
        return work.partitions;
    return ranks > 1 ? 2 * ranks : 1;
}

std::vector<schedule::Home> homes_by_shares(const Plan &plan, const schedule::Range &range,
                                            const schedule::Border &border)
{
    std::vector<double> shares;
    for (const Mapper &mapper : plan.mappers)
        shares.push_back(mapper.part.share);
    std::vector<schedule::Home> homes;
    for (const auto &[who, part] : schedule::parts_by(shares, range, border)) {
        const std::uint64_t bytes = plan.mappers[who].part.bytes;
        for (std::uint64_t at = part.begin; at < part.end;) {
            const std::uint64_t next = part.end - at > bytes ? std::min(part.end, border(at + bytes)) : part.end;
            homes.push_back({who, {at, next}});
            at = next;
        }
    }
    return homes;
}

void share_by_rates(Plan &plan, const std::vector<double> &rates)
{
    const double all = sum(rates);
    if (!(all > 0))
        return;
    plan.probes = false;
    plan.dynamic = false;
    plan.rate = all;
    for (std::size_t i = 0; i < plan.mappers.size(); i++) {
        plan.mappers[i].part.rate = rates[i];
        plan.mappers[i].part.share = rates[i] / all;
    }
    plan.model_p = cpu_share(plan);
}

std::uint64_t probe_bytes(const Plan &plan, std::uint64_t partition)
{
    std::uint64_t each_some = 0;
    for (const Mapper &mapper : plan.mappers)
        each_some += 2 * mapper.part.at_once * mapper.part.bytes;
    return std::min(each_some, partition / 4);
}

Plan make_plan(const Work &work, const Devices &devices, const Known &known, std::uint64_t partition, unsigned ranks)
{
    if (devices.engines.empty())
        throw Error("there is no device here for job \"" + work.program.name +
                    "\": it has functions for GPUs alone, and there is no GPU (Job::cpu.map would run on cores)");
    Plan plan = plan_of(work, devices, partition);
    const bool is_models = ask_model(plan, work, devices, known, partition, ranks);
    if (!is_models) {
        take_rates(plan, devices.rates);
        split(plan, work, devices);
    }
    leave_cores(plan);
    if (!known.again) {
        if (!is_said(work.split) && !plan.probes && are_better_alone(plan, known.ways))
            leave_out_cores(plan);
        return plan;
    }
    /* What is made is so in blocks, by all cores. */
    if (!work.ordered && !work.input.source()->is_made() && gpus_have_theirs(devices))
        stay_resident(plan, work, devices, is_models);
    else
        plan.stays = stays(plan, !is_models && plan.model_p, devices.homes);
    /* What devices have in the first run, they are to have in others. */
    if (devices.homes.empty() && are_known(devices.rates) && !work.ordered && plan.dynamic) {
        plan.dynamic = false;
        if (!is_models)
            share_by_rates(plan, devices.rates);
    }
    return plan;
}

} // namespace ptsched::spmd
