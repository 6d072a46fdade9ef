/* SPDX-License-Identifier: MIT */
/* How large the blocks are in which the devices of a node get their parts of a partition. */
#ifndef PTSCHED_SPMD_MODEL_BLOCKS_HPP
#define PTSCHED_SPMD_MODEL_BLOCKS_HPP

#include <ptsched/spmd/model.hpp>

namespace ptsched::spmd::model {

struct BlockOptions {
    /* Several for each core, so that at the end cores are idle for a part of a block only. */
    unsigned per_core = 4;
    unsigned per_gpu = 16;
    /* A block takes at least so many times what it costs besides its bytes: a core's seconds, and Gpu::latency. */
    double worth = 20;
    double core_overhead = 20e-6;
    /* Streams are worth it if a block's time without them is so many times that with them. */
    double least_gain = 1.05;
    unsigned most_streams = 4;
    /* For the blocks that are in a GPU's memory at once; zero: a quarter of it. */
    std::uint64_t gpu_memory = 0;
    /* For (11); without it the job's intensity is the same for all blocks. */
    IntensityOf intensity_of = {};
};

struct BlockSize {
    std::uint64_t bytes = 0; /* zero: the device has no part */
    std::uint64_t least = 0; /* smaller ones, as at the end, would cost too much */
    unsigned at_once = 1;    /* blocks under way: cores, or streams */
};

struct GpuBlockSize : BlockSize {
    double overlap = 0;              /* (9), with blocks of that size */
    std::optional<double> min_block; /* (11); @least is not below it, unless memory is */
};

struct Blocks {
    BlockSize cpu;
    std::vector<GpuBlockSize> gpus;
};

/* For a partition of @bytes of which each device has its part of @share. Throws what share() throws. */
Blocks blocks(const Machine &machine, const Intensity &intensity, const Conditions &conditions, const Share &share,
              double bytes, const BlockOptions &options = {});

} // namespace ptsched::spmd::model

#endif /* PTSCHED_SPMD_MODEL_BLOCKS_HPP */
