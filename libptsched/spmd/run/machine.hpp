/* SPDX-License-Identifier: MIT */
/* What the model is to know of a rank: its part of the machine that it is on. */
#ifndef PTSCHED_SPMD_RUN_MACHINE_HPP
#define PTSCHED_SPMD_RUN_MACHINE_HPP

#include "libptsched/base/lock.hpp"
#include "libptsched/spmd/link/link.hpp"
#include "libptsched/spmd/run/engine.hpp"
#include <ptsched/spmd/model.hpp>

#include <array>
#include <optional>

namespace ptsched::spmd {

/* The machine as it was measured, which it is when that is first asked for. Of all ranks of a process. Thread-safe. */
class KnownMachine {
public:
    /* Blocks while it is measured. Null if it cannot be; else valid as long as this. */
    const model::Machine *get(bool gpus, bool attach);

private:
    struct Asked {
        bool is_asked = false;
        std::optional<model::Machine> machine = {};
    };

    Mutex mutex_;
    std::array<Asked, 2> asked_ PTSCHED_GUARDED_BY(mutex_); /* without and with GPUs */
};

/*
 * What one of a host's ranks has: @threads of the CPU, but no more than its part of it, and the GPUs of @engines, in
 * their order. @dealt: each rank has other GPUs, see GpuChoice, and where there are fewer GPUs than ranks a part of
 * one. None if @machine does not have these GPUs.
 */
std::optional<model::Machine> part_of(const model::Machine &machine,
                                      const std::vector<std::unique_ptr<Engine>> &engines, unsigned threads,
                                      unsigned host_ranks, bool dealt);

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_RUN_MACHINE_HPP */
