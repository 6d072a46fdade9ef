/* SPDX-License-Identifier: MIT */
/* What the host keeps of a call that has begun. */
#ifndef PTSCHED_ARENA_CALL_RECORD_HPP
#define PTSCHED_ARENA_CALL_RECORD_HPP

#include "libptsched/base/lock.hpp"
#include <ptsched/arena/call.hpp>
#include <ptsched/device/allocation.hpp>
#include <ptsched/pool.hpp>

#include <atomic>
#include <exception>

namespace ptsched::arena::detail {

/* A function of the GPU, and how it runs. */
struct Target {
    std::string name, signature;
    unsigned number; /* from 0 on, as the pool's kinds */
    unsigned argument_bytes, result_bytes;
    std::vector<PointerAt> pointers;
    bool returns_pointer;
    bool is_beside; /* arguments or results do not fit into its slot */
    Run how;
};

struct Record {
    pool::Receipt receipt; /* of a call in a slot */
    unsigned index = 0;
    std::atomic<unsigned> next_free{0};
    std::byte *beside = nullptr; /* in page-locked memory */
    const Target *target = nullptr;
    std::vector<const void *> pointers; /* among its arguments, for hooks */
    std::atomic<bool> has_failed{false};
    std::exception_ptr failure; /* of the first function of the host, under the lock of who has the records */
    device::MarkerPtr end;      /* of a call that is spread */

    /*
     * What a caller of the GPU has done comes before what the functions do that its kernel calls, and that before the
     * result. The order passes through the kernel, where a sanitizer does not see it, and is told at both ends.
     */
    void passes_gpu()
    {
#ifdef PTSCHED_THREAD_SANITIZER
        passed_.fetch_add(1, std::memory_order_acq_rel);
#endif
    }

private:
#ifdef PTSCHED_THREAD_SANITIZER
    std::atomic<unsigned> passed_{0};
#endif
};

/* Those of all calls. Thread-safe. */
class Records {
public:
    /* With so many bytes of page-locked memory for each. */
    explicit Records(unsigned bytes_beside);

    /* One that nobody has. Makes more if there is none, for which it may have to wait for the driver. */
    Record &take();
    void give(Record &record);
    Record &at(unsigned index) const { return chunks_[index / in_chunk][index % in_chunk]; }

private:
    static constexpr unsigned in_chunk = 256, most_chunks = 4096;

    Record *pop();
    void grow();

    const unsigned bytes_beside_;
    /* The index of the first that is free, from 1 on, and how often that was changed. */
    std::atomic<std::uint64_t> free_{0};
    Mutex mutex_;
    std::unique_ptr<Record[]> chunks_[most_chunks];
    std::vector<device::Allocation> beside_ PTSCHED_GUARDED_BY(mutex_); /* of each chunk */
};

} // namespace ptsched::arena::detail

#endif /* PTSCHED_ARENA_CALL_RECORD_HPP */
