/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_SPMD_GPU_KEPT_INPUT_HPP
#define PTSCHED_SPMD_GPU_KEPT_INPUT_HPP

#include "libptsched/base/lock.hpp"
#include <ptsched/device/allocation.hpp>
#include <ptsched/spmd/program.hpp>

#include <map>
#include <memory>
#include <utility>

namespace ptsched::spmd {

/* Blocks of the input that stay on a GPU, by where they are on the host. Thread-safe. */
class KeptInput {
public:
    using Copy = std::shared_ptr<const device::Allocation>;

    /* Null if there is none. */
    Copy find(const Block &block) const
    {
        const Guard guard(mutex_);
        const auto found = copies_.find({block.data, block.bytes});
        return found == copies_.end() ? nullptr : found->second;
    }
    /* Whose copy is there. */
    void keep(const Block &block, Copy copy)
    {
        const Guard guard(mutex_);
        copies_[{block.data, block.bytes}] = std::move(copy);
    }
    /* Null if there is no memory for it, or there has not been enough for something else. Throws Error. */
    Copy make(device::Device &gpu, std::size_t bytes)
    {
        {
            const Guard guard(mutex_);
            if (is_full_)
                return nullptr;
        }
        try {
            return std::make_shared<device::Allocation>(device::Allocation::on_device(gpu, bytes));
        } catch (const device::OutOfMemory &) {
            return nullptr;
        }
    }
    /* Something else needs memory: one of the copies that nobody uses goes, and none comes. False if there is none. */
    bool drop_one()
    {
        const Guard guard(mutex_);
        is_full_ = true;
        for (auto copy = copies_.begin(); copy != copies_.end(); ++copy)
            if (copy->second.use_count() == 1) {
                copies_.erase(copy);
                return true;
            }
        return false;
    }
    void forget()
    {
        const Guard guard(mutex_);
        copies_.clear();
        is_full_ = false;
    }

private:
    mutable Mutex mutex_;
    std::map<std::pair<const std::byte *, std::size_t>, Copy> copies_ PTSCHED_GUARDED_BY(mutex_);
    bool is_full_ PTSCHED_GUARDED_BY(mutex_) = false;
};

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_GPU_KEPT_INPUT_HPP */
