/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_SPMD_GPU_KEPT_INPUT_HPP
#define PTSCHED_SPMD_GPU_KEPT_INPUT_HPP

#include "libptsched/base/lock.hpp"
#include <ptsched/device/allocation.hpp>
#include <ptsched/spmd/program.hpp>

#include <map>
#include <memory>

namespace ptsched::spmd {

/* Parts of the input that stay on a GPU, by where they are in it. Thread-safe. */
class KeptInput {
public:
    using Copy = std::shared_ptr<const device::Allocation>;
    /* A block that is a part of one that stays has its bytes in the middle of that. */
    struct Found {
        Copy copy = {}; /* null: there is none */
        std::size_t offset = 0;
    };

    /* Aligned as a block of its own would be, as far as functions can tell. */
    Found find(const Block &block) const
    {
        const Guard guard(mutex_);
        auto after = copies_.upper_bound(block.offset);
        if (after == copies_.begin())
            return {};
        const auto &[begin, kept] = *--after;
        const std::uint64_t offset = block.offset - begin;
        const bool is_in_it = offset + block.bytes <= kept.bytes && offset % alignment == 0;
        return is_in_it ? Found{kept.copy, offset} : Found{};
    }
    /* Whose copy is there. */
    void keep(const Block &block, Copy copy)
    {
        const Guard guard(mutex_);
        copies_[block.offset] = {block.bytes, std::move(copy)};
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
            if (copy->second.copy.use_count() == 1) {
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
    /* Bytes: more than a thread loads at once. */
    static constexpr std::uint64_t alignment = 16;
    struct Kept {
        std::size_t bytes = 0;
        Copy copy = {};
    };

    mutable Mutex mutex_;
    std::map<std::uint64_t, Kept> copies_ PTSCHED_GUARDED_BY(mutex_); /* by their first bytes' offsets */
    bool is_full_ PTSCHED_GUARDED_BY(mutex_) = false;
};

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_GPU_KEPT_INPUT_HPP */
