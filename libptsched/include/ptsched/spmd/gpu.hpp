/* SPDX-License-Identifier: MIT */
/* What a job has for GPUs. */
#ifndef PTSCHED_SPMD_GPU_HPP
#define PTSCHED_SPMD_GPU_HPP

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#pragma GCC visibility push(default)

namespace ptsched::spmd {

class GpuBlock;

/* Device functions: the kernels that a macro of <ptsched/spmd.cuh> has made in a module. Empty: none. */
struct GpuKernels {
    std::string module = {}; /* path of a cubin, PTX or fatbin */
    std::string name = {};   /* the macro's */
};

/* Host functions, which give work to the block's stream, be it by libraries. */
struct GpuHost {
    std::function<void(GpuBlock &)> map = {};
};

/* One of the two at most. */
struct GpuFunctions {
    GpuKernels kernels = {};
    GpuHost host = {};

    bool any() const { return !kernels.name.empty() || host.map != nullptr; }
};

} // namespace ptsched::spmd

#pragma GCC visibility pop

#endif /* PTSCHED_SPMD_GPU_HPP */
