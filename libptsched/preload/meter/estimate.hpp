/* SPDX-License-Identifier: MIT */
/* How long a submission will keep the GPU busy, learnt from those before it. */
#ifndef PTSCHED_PRELOAD_METER_ESTIMATE_HPP
#define PTSCHED_PRELOAD_METER_ESTIMATE_HPP

#define PTSCHED_CUDA_ABI_TYPES_ONLY
#include "libptsched/cuda/cuda_abi.h"

#include <array>
#include <cstdint>

namespace ptsched::preload {

/* Submissions with the same @exact key last alike; those with the same @kind are the next best guess. */
struct Key {
    std::uint64_t exact;
    std::uint64_t kind;
    std::uint64_t guess_ns; /* for the first of its kind; 0: no idea */
    /* Of a launch of one kernel: its blocks, and what each of them needs. Else there is no function. */
    CUfunction function{nullptr};
    std::uint64_t blocks{0};
    std::uint64_t block_threads{0};
    std::uint64_t block_shared{0}; /* bytes of dynamic shared memory */
};

Key launch_key(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
               unsigned shared);
Key launch_key(CUfunction f, const CUlaunchConfig *config);
Key handle_key(const void *handle);
Key upload_key(const void *graph);
Key copy_key(std::size_t bytes);
Key copy_key(const CUDA_MEMCPY2D *copy);
Key copy_key(const CUDA_MEMCPY3D *copy);
Key copy_key(const CUDA_MEMCPY3D_PEER *copy);
Key fill_key(std::size_t bytes);
Key batch_key(const std::size_t *sizes, std::size_t count);

/* Stands for the stream of a call that gives the GPU no work this time. */
inline const CUstream no_stream = reinterpret_cast<CUstream>(~std::uintptr_t{0});
CUstream upload_stream(const CUDA_GRAPH_INSTANTIATE_PARAMS *how);

/* Running means by key, in a table of fixed size: a newcomer replaces what has its place. Not locked. */
class Estimates {
public:
    /* 0: no idea. */
    std::uint64_t of(const Key &key) const;
    void learn(const Key &key, std::uint64_t ns);
    /* Whether the last few with exactly this key all took what was expected: then not each need be measured. */
    bool knows(const Key &key) const;
    /* Whether there is a mean of exactly this key: enough for the sum of many, whether they agree or not. */
    bool has_mean(const Key &key) const;

    /* Whether what has exactly this key was last found to end when the host, or a later submission, lets it. */
    bool waits_for_others(const Key &key) const;
    void learn_wait(const Key &key, bool waits);

private:
    struct Cell {
        std::uint64_t key;
        float ns;
        std::uint16_t seen;
        std::uint16_t agreeing; /* in a row */
        bool waits;
    };
    static constexpr std::uint16_t enough = 8;
    static constexpr unsigned size = 2048;

    static unsigned index(std::uint64_t key) { return static_cast<unsigned>(key >> 53) % size; }
    void learn(std::uint64_t key, std::uint64_t ns);

    std::array<Cell, size> cells_{};
};

} // namespace ptsched::preload

#endif
