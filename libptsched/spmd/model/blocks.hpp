/* SPDX-License-Identifier: MIT */
/* How large the blocks are in which the devices of a node get their parts of a partition. */
#ifndef PTSCHED_SPMD_MODEL_BLOCKS_HPP
#define PTSCHED_SPMD_MODEL_BLOCKS_HPP

#include <ptsched/spmd/model.hpp>

namespace ptsched::spmd::model {

struct BlockOptions {
    /* Several for each core, so that cores are idle for a part of one block only at the end. */
    unsigned per_core = 4;
    /* What a block costs in addition, in a core's time; a block is to take 50 times as long. */
    double core_overhead = 5e-6;
    /* Streams are worth it if a block's time without them is so many times that with them. */
    double least_gain = 1.05;
    unsigned most_streams = 4;
    /* Of a GPU's memory, for all blocks that are there at once; zero: a quarter of it. */
    std::uint64_t gpu_memory = 0;
    /* For (11); without it the job's intensity is the same for all blocks. */
    IntensityOf intensity_of;
};

struct GpuBlocks {
    std::uint64_t bytes = 0;         /* of one block; at least MinBs, unless memory or its part is less */
    unsigned streams = 1;            /* blocks that are under way at once */
    double overlap = 0;              /* (9) */
    std::optional<double> min_block; /* (11) */
};

struct Blocks {
    std::uint64_t cpu = 0; /* bytes; zero: no part */
    std::vector<GpuBlocks> gpus;
};

/* For a partition of @bytes of which each device has its part of @share. Throws what share() throws. */
Blocks blocks(const Machine &machine, const Intensity &intensity, const Conditions &conditions, const Share &share,
              double bytes, const BlockOptions &options = {});

} // namespace ptsched::spmd::model

#endif /* PTSCHED_SPMD_MODEL_BLOCKS_HPP */
