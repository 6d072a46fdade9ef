/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_ARENA_SYNC_WORDS_HPP
#define PTSCHED_ARENA_SYNC_WORDS_HPP

#include "libptsched/base/lock.hpp"
#include <ptsched/arena/sync.hpp>
#include <ptsched/device/allocation.hpp>

#include <vector>

namespace ptsched::arena {

/* What mutexes and barriers of a window count with. Thread-safe. */
class SyncWords {
public:
    explicit SyncWords(const std::vector<device::Device *> &gpus) : gpus_(gpus) {}

    /* All 0. Throws Error if there are too many. */
    detail::Words take();
    /* Nobody uses it any more. */
    void give_back(const detail::Words &words);

private:
    static constexpr std::size_t most = 1024;

    void make() PTSCHED_REQUIRES(mutex_);

    const std::vector<device::Device *> gpus_;
    ptsched::Mutex mutex_;
    device::Allocation host_ PTSCHED_GUARDED_BY(mutex_), gpu_ PTSCHED_GUARDED_BY(mutex_);
    std::unique_ptr<device::Queue> queue_ PTSCHED_GUARDED_BY(mutex_);
    std::vector<detail::Words> unused_ PTSCHED_GUARDED_BY(mutex_);
};

} // namespace ptsched::arena

#endif /* PTSCHED_ARENA_SYNC_WORDS_HPP */
