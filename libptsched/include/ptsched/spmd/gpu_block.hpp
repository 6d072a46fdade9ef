/* SPDX-License-Identifier: MIT */
/*
 * What a host function for GPUs (Job::gpu::host) is given: records in a GPU's memory, and a stream to work with. It
 * gives the stream work, be it by libraries like cuBLAS, says where the pairs will be, and returns without waiting.
 *
 *	job.gpu.host.map = [](spmd::GpuBlock &block) {
 *		auto sums = block.allocate(block.on_host().records * sizeof(float));
 *		cublasSetStream(handle, block.stream());
 *		cublasSgemv(handle, ..., (const float *)block.data(), ..., (float *)sums, 1);
 *		block.emit_numbered(sums, sizeof(float));
 *	};
 */
#ifndef PTSCHED_SPMD_GPU_BLOCK_HPP
#define PTSCHED_SPMD_GPU_BLOCK_HPP

#include <ptsched/device/device.hpp>
#include <ptsched/spmd/program.hpp>

#pragma GCC visibility push(default)

namespace ptsched::spmd {

/*
 * Of one call of the function, which has it for as long as it lasts. Its GPU's primary context is current. Functions
 * are called by several threads at a time, for streams of their own.
 */
class GpuBlock {
public:
    virtual CUstream_st *stream() const = 0;
    /* In the driver's order. */
    virtual int gpu() const = 0;
    /* The records on the GPU, and the parameters. */
    virtual device::Address data() const = 0;
    virtual device::Address parameters() const = 0;
    /* The same on the host, with their numbers. */
    virtual const Block &on_host() const = 0;
    /* Of the GPU, until the pairs are home; for work of the stream. Throws OutOfMemory. */
    virtual device::Address allocate(std::size_t bytes) = 0;

    /*
     * So many pairs, which are there when the stream has done what it has by the end of the function. Keys, and values,
     * lie one behind the other, on the GPU, with so many bytes each: the job's widths or, where these are any, what is
     * said. Throws Error if they do not fit.
     */
    virtual void emit(std::size_t count, device::Address keys, device::Address values, std::size_t key_bytes,
                      std::size_t value_bytes) = 0;
    /* The same with keys of the host, which are copied. */
    virtual void emit(std::size_t count, const void *keys, device::Address values, std::size_t key_bytes,
                      std::size_t value_bytes) = 0;
    /* A value for each record of a fixed size, whose key is its number: of a job whose keys are of 8 bytes. */
    virtual void emit_numbered(device::Address values, std::size_t value_bytes) = 0;

protected:
    ~GpuBlock() = default;
};

} // namespace ptsched::spmd

#pragma GCC visibility pop

#endif /* PTSCHED_SPMD_GPU_BLOCK_HPP */
