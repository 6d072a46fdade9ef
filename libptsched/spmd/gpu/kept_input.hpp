/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_SPMD_GPU_KEPT_INPUT_HPP
#define PTSCHED_SPMD_GPU_KEPT_INPUT_HPP

#include "libptsched/base/lock.hpp"
#include "libptsched/spmd/schedule/range.hpp"
#include <ptsched/device/allocation.hpp>
#include <ptsched/spmd/program.hpp>

#include <map>
#include <memory>
#include <vector>

namespace ptsched::spmd {

/*
 * Parts of the input that stay on a GPU, by where they are in it. A range that is expected has one piece of memory, in
 * which its blocks lie as in the input: what came in several may come again as one. Thread-safe.
 */
class KeptInput {
public:
    using Copy = std::shared_ptr<const device::Allocation>;
    /* Where a block's bytes are, or are to be. */
    struct Place {
        Copy copy = {}; /* null: there is none */
        std::size_t offset = 0;

        device::Address address() const { return copy->address() + offset; }
    };

    /* A larger range is not expected as a whole. */
    explicit KeptInput(std::uint64_t most_expected) : most_expected_(most_expected) {}

    void expect(const schedule::Range &range);
    /* None if not all of it is there. Aligned as a block of its own would be, as far as functions can tell. */
    Place find(const Block &block) const;
    bool has(const schedule::Range &range) const;
    /* For one that is not there. None if there is no memory, or there has not been enough for something else. */
    Place make(device::Device &gpu, const Block &block);
    /* What of the block is not yet where make() has said. */
    std::vector<schedule::Range> missing(const Block &block, const Place &place) const;
    /* Its bytes are there. */
    void keep(const Block &block, const Place &place);
    /* Something else needs memory: some that nobody uses goes, and none comes. False if there is none. */
    bool drop_one();
    /* Nothing is there any more; memory of what was expected stays for what is so again. */
    void forget();

private:
    /* Bytes: more than a thread loads at once. */
    static constexpr std::uint64_t alignment = 16;
    struct Kept {
        std::uint64_t end = 0;
        Place place = {};
    };
    /* Of a range that is expected; null: there is none yet. */
    struct Extent {
        std::uint64_t end = 0;
        Copy copy = {};
    };
    using Parts = std::map<std::uint64_t, Kept>;

    Parts::const_iterator part_with(std::uint64_t offset) const PTSCHED_REQUIRES(mutex_);
    long parts_in(const Copy &copy) const PTSCHED_REQUIRES(mutex_);
    Place in_extent(device::Device &gpu, const Block &block) PTSCHED_REQUIRES(mutex_);

    const std::uint64_t most_expected_;
    mutable Mutex mutex_;
    Parts parts_ PTSCHED_GUARDED_BY(mutex_); /* by their first bytes' offsets */
    std::map<std::uint64_t, Extent> extents_ PTSCHED_GUARDED_BY(mutex_);
    bool is_full_ PTSCHED_GUARDED_BY(mutex_) = false;
};

} // namespace ptsched::spmd

#endif /* PTSCHED_SPMD_GPU_KEPT_INPUT_HPP */
