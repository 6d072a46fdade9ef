// SPDX-License-Identifier: MIT
#include "libptsched/spmd/gpu/functions.hpp"

#include <ptsched/device/allocation.hpp>
#include <ptsched/device/queue_pool.hpp>

#include <algorithm>
#include <filesystem>

namespace ptsched::spmd {

namespace {

constexpr unsigned usual_blocks = 128; /* where nobody knows how many there can be */

std::string describe_width(std::size_t bytes)
{
    return bytes == any_width ? "byte strings" : "of " + std::to_string(bytes) + " bytes";
}

} // namespace

Functions::Functions(device::Device &gpu, const Program &program)
    : name_("the kernel " + program.gpu.kernels.name + " of " + program.gpu.kernels.module),
      code_(device::cuda_code(gpu, program.gpu.kernels.module, program.gpu.kernels.name)), traits_(describe(gpu)),
      most_blocks_(static_cast<unsigned>(
          std::clamp<std::size_t>(code_->most_blocks({{}, {traits_.threads}}).value_or(usual_blocks), 1, 1U << 20)))
{
}

void Functions::run(device::Queue &queue, gpu::Launch launch, unsigned blocks) const
{
    queue.run(*code_, {{blocks}, {traits_.threads}}, {&launch});
}

void Functions::need_entries(std::uint64_t entries) const
{
    std::uint64_t known = entries_needed();
    while (known < entries && !entries_needed_.compare_exchange_weak(known, entries, std::memory_order_relaxed)) {
    }
}

gpu::Traits Functions::describe(device::Device &gpu) const
{
    const auto sizes = code_->parameter_sizes();
    if (sizes && (sizes->size() != 1 || sizes->front() != sizeof(gpu::Launch)))
        throw Error(name_ + " is none of <ptsched/spmd.cuh>, or of another version: its parameter is to be a "
                            "ptsched::spmd::gpu::Launch");
    const device::Allocation there = device::Allocation::on_device(gpu, sizeof(gpu::Traits)),
                             here = device::Allocation::pinned(sizeof(gpu::Traits));
    gpu::Launch launch{};
    launch.step = gpu::Step::describe;
    launch.traits = static_cast<gpu::Traits *>(device::host_pointer(there.address()));
    const device::PooledQueue queue = device::QueuePool::of(gpu).take();
    const Settled settled{*queue};
    queue->run(*code_, {{1}, {32}}, {&launch});
    queue->download(here.host_address(), there.address(), sizeof(gpu::Traits));
    queue->finish();
    const auto &traits = *static_cast<const gpu::Traits *>(here.host_address());
    if (traits.version != gpu::version)
        throw Error(name_ + " is of version " + std::to_string(traits.version) +
                    " of <ptsched/spmd.cuh>, and is to be "
                    "compiled with version " +
                    std::to_string(gpu::version));
    return traits;
}

void Functions::compare(const char *what, std::size_t here, std::size_t wanted) const
{
    if (here != wanted)
        throw Error(name_ + " has " + what + ' ' + describe_width(here) + ", and those of the job are " +
                    describe_width(wanted));
}

void Functions::compare(const Program &program) const
{
    compare("keys", traits_.is_text ? any_width : traits_.key_bytes, program.key_width);
    compare("values", traits_.value_bytes, program.value_width);
    if (traits_.way != gpu::Way::list && !program.combines())
        throw Error(name_ + " combines values, and the job does not: what it has for the CPU is to have combine, too");
    if (traits_.way == gpu::Way::dense && program.key_width > 8)
        throw Error(name_ + " has dense keys, which are numbers, and those of the job are " +
                    describe_width(program.key_width));
}

std::shared_ptr<const Functions> KnownFunctions::get(device::Device &gpu, const Program &program)
{
    const std::string &file = program.gpu.kernels.module;
    std::error_code none;
    const auto written = std::filesystem::last_write_time(file, none).time_since_epoch().count();
    const Key key(&gpu, file, program.gpu.kernels.name, written, std::filesystem::file_size(file, none));
    {
        const Guard guard(mutex_);
        if (const auto found = known_.find(key); found != known_.end())
            return found->second;
        if (known_.size() >= most_known)
            std::erase_if(known_, [](const auto &one) { return one.second.use_count() == 1; });
    }
    auto made = std::make_shared<const Functions>(gpu, program);
    const Guard guard(mutex_);
    return known_.try_emplace(key, std::move(made)).first->second;
}

void Functions::check(const Block &block) const
{
    if (traits_.record_bytes && block.bytes % traits_.record_bytes)
        throw Error(name_ + " has records of " + std::to_string(traits_.record_bytes) + " bytes, and a block has " +
                    std::to_string(block.bytes) + ": the input is to have records of that size");
}

} // namespace ptsched::spmd
