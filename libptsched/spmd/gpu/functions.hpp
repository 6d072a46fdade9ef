/* SPDX-License-Identifier: MIT */
/* A program's device functions on one GPU: their kernel, and what it says of itself. */
#ifndef PTSCHED_SPMD_GPU_FUNCTIONS_HPP
#define PTSCHED_SPMD_GPU_FUNCTIONS_HPP

#include "libptsched/base/lock.hpp"
#include <ptsched/device/device.hpp>
#include <ptsched/spmd/gpu_launch.h>
#include <ptsched/spmd/program.hpp>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <tuple>

namespace ptsched::spmd {

/* Waits when it goes: an error leaves work in the queue that uses what goes then, too. */
struct Settled {
    device::Queue &queue;
    ~Settled() { device::settle(queue); }
};

/* Thread-safe. */
class Functions {
public:
    /* Runs the kernel once, and waits. Throws Error if there is none, or if it is none of <ptsched/spmd.cuh>. */
    Functions(device::Device &gpu, const Program &program);

    const gpu::Traits &traits() const { return traits_; }
    /* Blocks that are on the GPU at once. */
    unsigned most_blocks() const { return most_blocks_; }
    void run(device::Queue &queue, gpu::Launch launch, unsigned blocks) const;
    /* Entries that a table has needed, on whichever stream. */
    std::uint64_t entries_needed() const { return entries_needed_.load(std::memory_order_relaxed); }
    void need_entries(std::uint64_t entries) const;
    /* Throws Error if they are of other types than the program's. */
    void compare(const Program &program) const;
    /* Throws Error if the records are not of the size that the functions have. */
    void check(const Block &block) const;

private:
    gpu::Traits describe(device::Device &gpu) const;
    void compare(const char *what, std::size_t here, std::size_t wanted) const;

    const std::string name_; /* for errors */
    const std::unique_ptr<device::Code> code_;
    const gpu::Traits traits_;
    const unsigned most_blocks_;
    mutable std::atomic<std::uint64_t> entries_needed_{0};
};

/* Those of the jobs that were run, which need not be loaded again as long as their files are the same. Thread-safe. */
class KnownFunctions {
public:
    /* Throws what the constructor of Functions does. */
    std::shared_ptr<const Functions> get(device::Device &gpu, const Program &program);

private:
    static constexpr std::size_t most_known = 32;
    /* The GPU, the kernel, and its file: when it was written, and its size. */
    using Key = std::tuple<const device::Device *, std::string, std::string, std::int64_t, std::uintmax_t>;

    Mutex mutex_;
    std::map<Key, std::shared_ptr<const Functions>> known_ PTSCHED_GUARDED_BY(mutex_);
};

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_GPU_FUNCTIONS_HPP */
