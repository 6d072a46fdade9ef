// SPDX-License-Identifier: MIT
#include "libptsched/spmd/run/machine.hpp"

#include <ptsched/spmd/roofline.hpp>

#include <algorithm>

namespace ptsched::spmd {
namespace {

void scale(model::Peak &peak, double by)
{
    peak.fp32 *= by;
    peak.fp64 *= by;
}

/* Of GPU @number, of @gpus that are dealt to @ranks. */
unsigned ranks_of_gpu(unsigned number, unsigned gpus, unsigned ranks)
{
    return ranks > gpus ? (ranks - number + gpus - 1) / gpus : 1;
}

model::Gpu part_of(model::Gpu gpu, unsigned ranks)
{
    scale(gpu.peak, 1.0 / ranks);
    for (double *const bandwidth : {&gpu.dram, &gpu.to_gpu, &gpu.to_host})
        *bandwidth /= ranks;
    gpu.memory /= ranks;
    return gpu;
}

} // namespace

const model::Machine *KnownMachine::get(bool gpus, bool attach)
{
    const Guard guard(mutex_);
    Asked &asked = asked_[gpus ? 1 : 0];
    if (!std::exchange(asked.is_asked, true)) {
        try {
            asked.machine = model::machine({.gpus = gpus, .attach = attach});
        } catch (const std::exception &) {
            asked.machine.reset();
        }
    }
    return asked.machine ? &*asked.machine : nullptr;
}

std::optional<model::Machine> part_of(const model::Machine &machine,
                                      const std::vector<std::unique_ptr<Engine>> &engines, unsigned threads,
                                      unsigned host_ranks, bool dealt)
{
    model::Machine part = machine;
    const double all = std::max(1u, machine.cpu.cores);
    const double by = std::min(threads / all, 1.0 / host_ranks);
    scale(part.cpu.peak, by);
    part.cpu.dram *= by;
    part.cpu.cores = threads;
    part.gpus.clear();
    const auto gpus = static_cast<unsigned>(machine.gpus.size());
    for (const std::unique_ptr<Engine> &engine : engines) {
        if (!engine->is_gpu())
            continue;
        if (engine->number() >= gpus)
            return std::nullopt;
        part.gpus.push_back(
            part_of(machine.gpus[engine->number()], dealt ? ranks_of_gpu(engine->number(), gpus, host_ranks) : 1));
    }
    return part;
}

} // namespace ptsched::spmd
