/* SPDX-License-Identifier: MIT */
/* A program's device functions on one GPU: their kernel, and what it says of itself. */
#ifndef PTSCHED_SPMD_GPU_FUNCTIONS_HPP
#define PTSCHED_SPMD_GPU_FUNCTIONS_HPP

#include <ptsched/device/device.hpp>
#include <ptsched/spmd/gpu_launch.h>
#include <ptsched/spmd/program.hpp>

namespace ptsched::spmd {

/* Thread-safe. */
class Functions {
public:
    /*
     * Runs the kernel once, and waits. Throws Error if there is no such kernel, if it is none of <ptsched/spmd.cuh>, or
     * of other types than the program's.
     */
    Functions(device::Device &gpu, const Program &program);

    const gpu::Traits &traits() const { return traits_; }
    /* Blocks that are on the GPU at once. */
    unsigned most_blocks() const { return most_blocks_; }
    void run(device::Queue &queue, gpu::Launch launch, unsigned blocks) const;
    /* Throws Error if the records are not of the size that the functions have. */
    void check(const Block &block) const;

private:
    gpu::Traits describe(device::Device &gpu) const;
    void compare(const Program &program) const;
    void compare(const char *what, std::size_t here, std::size_t wanted) const;

    const std::string name_; /* for errors */
    const std::unique_ptr<device::Code> code_;
    const gpu::Traits traits_;
    const unsigned most_blocks_;
};

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_GPU_FUNCTIONS_HPP */
