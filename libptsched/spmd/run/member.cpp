// SPDX-License-Identifier: MIT
#include "libptsched/spmd/run/member.hpp"

#include "libptsched/spmd/gpu/functions.hpp"
#include "libptsched/spmd/run/rank_run.hpp"

#include <algorithm>
#include <bit>
#include <sched.h>
#include <unistd.h>

namespace ptsched::spmd {
namespace {

/* Pairs that a core keeps back: more than a core's caches would only be slower than to sort them. */
constexpr std::size_t most_kept = 64 << 20;

/* A kept job's input is not to move as something else has held up one run: not before several have been as slow. */
constexpr double most_slower = 0.9;

/* A way that is slower by some per cent is tried again after about as many runs. */
constexpr double better_by = 1.01;

/* Processors that this process may use, at least one for each rank. */
unsigned threads_of(const Options &options, const Link &link)
{
    if (options.threads > 0)
        return options.threads;
    cpu_set_t set;
    CPU_ZERO(&set);
    const unsigned processors = sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set))
                                                                            : std::thread::hardware_concurrency();
    return std::max(1u, processors / link.host_ranks());
}

std::size_t memory_of(const Options &options, const Link &link)
{
    if (options.memory > 0)
        return options.memory;
    const auto pages = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES));
    return pages / 8 / link.host_ranks() * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

/* What rates are known of. */
std::string key_of(const Program &program, const Devices &devices, bool kept)
{
    std::string key = program.name + '\0' + program.gpu.kernels.name + (kept ? "\nkept" : "\n");
    for (const std::unique_ptr<Engine> &engine : devices.engines)
        key += '\n' + engine->name();
    return key;
}

/* What is right for little input may be wrong for much. */
std::string key_of_ways(const Work &work, const Devices &devices)
{
    return key_of(work.program, devices, false) + '\n' + std::to_string(std::bit_width(work.input.bytes()));
}

} // namespace

Member::Member(const Options &options, Link &link, std::shared_ptr<KnownMachine> known)
    : options_(options), link_(link), known_(std::move(known)), functions_(std::make_shared<KnownFunctions>()),
      memory_(memory_of(options, link)), workers_(threads_of(options, link))
{
}

Member::~Member() = default;

Devices Member::devices_for(const Program &program)
{
    Devices devices;
    auto cores = make_cpu_engine(program, workers_, std::min(most_kept, memory_ / (2 * workers_.threads())));
    if (program.on_cpu())
        devices.engines.push_back(std::move(cores));
    else if (program.combines())
        devices.combiner = std::move(cores);
    if (!program.on_gpu() || !options_.use_gpus)
        return devices;
    GpuChoice choice;
    choice.which = options_.gpus;
    choice.host_rank = link_.host_rank();
    choice.host_ranks = link_.host_ranks();
    choice.attach = options_.attach;
    choice.functions = functions_.get();
    for (std::unique_ptr<Engine> &engine : make_gpu_engines(program, choice))
        devices.engines.push_back(std::move(engine));
    return devices;
}

std::vector<double> Member::known_rates(const Program &program, const Devices &devices, bool kept) const
{
    const auto found = rates_.find(key_of(program, devices, kept));
    return found == rates_.end() ? std::vector<double>() : found->second;
}

void Member::learn_rates(const Program &program, const Devices &devices, bool kept, const std::vector<double> &rates)
{
    if (rates.empty() || *std::min_element(rates.begin(), rates.end()) <= 0)
        return;
    const auto [known, is_new] = rates_.try_emplace(key_of(program, devices, kept), rates);
    for (std::size_t i = 0; !is_new && i < rates.size(); i++) {
        double &rate = known->second[i];
        rate = (rate + (kept ? std::max(rates[i], most_slower * rate) : rates[i])) / 2;
    }
}

void Member::learn_way(const Work &work, const Devices &devices, bool has_cores, double rate)
{
    Ways &ways = ways_[key_of_ways(work, devices)];
    Ways::Way &taken = has_cores ? ways.with_cores : ways.gpus_alone;
    Ways::Way &other = has_cores ? ways.gpus_alone : ways.with_cores;
    taken.rate = taken.runs++ > 0 ? (taken.rate + rate) / 2 : rate;
    other.rate *= better_by;
}

/* What the job does not need is not measured. */
Known Member::known_for(const Work &work, const Devices &devices, bool again)
{
    Known known{.machine = options_.machine, .is_given = options_.machine.has_value(), .again = again};
    if (const auto ways = ways_.find(key_of_ways(work, devices)); !again && ways != ways_.end())
        known.ways = ways->second;
    if (known.is_given || !std::holds_alternative<model::Intensity>(work.intensity))
        return known;
    const bool gpus = std::any_of(devices.engines.begin(), devices.engines.end(),
                                  [](const std::unique_ptr<Engine> &engine) { return engine->is_gpu(); });
    if (const model::Machine *const machine = known_->get(gpus, options_.attach))
        known.machine =
            part_of(*machine, devices.engines, workers_.threads(), link_.host_ranks(), options_.gpus.empty());
    return known;
}

/* While it measures, it waits for no other rank. */
Member::Result Member::run(const Work &work, Devices &devices, std::span<const std::byte> parameters, bool again)
{
    const Known known = known_for(work, devices, again);
    return RankRun(*this, work, devices, known, parameters, ++runs_).run();
}

} // namespace ptsched::spmd
