/* SPDX-License-Identifier: MIT */
/* The runtime's arrays, and which memory is theirs. */
#ifndef PTSCHED_TASKS_GPU_ARRAYS_HPP
#define PTSCHED_TASKS_GPU_ARRAYS_HPP

#include "libptsched/base/lock.hpp"
#include <ptsched/device/allocation.hpp>
#include <ptsched/tasks/core.hpp>

#include <map>

namespace ptsched::tasks {

/* Thread-safe. */
class Arrays {
public:
    explicit Arrays(std::vector<device::Device *> devices) : devices_(std::move(devices)) {}
    Arrays(const Arrays &) = delete;
    Arrays &operator=(const Arrays &) = delete;

    /* Throws OutOfMemory; Error, with what would do, if a device has no such memory. */
    std::byte *make(std::size_t bytes, Memory memory);
    Range range_of(std::byte *begin) const;
    void release(std::byte *begin);
    /* Its content need not come to the host. Whether there is one that begins there. */
    bool keep(std::byte *begin);

    struct Found {
        Memory memory = Memory::copied;           /* what is no array's, too */
        device::Allocation *allocation = nullptr; /* stays until release(); null: no array's */
        bool is_kept = false;
    };
    Found find(const std::byte *address);

private:
    struct Array {
        device::Allocation allocation;
        Memory memory;
        std::size_t bytes;
        bool is_kept = false;
    };
    Array *find_array(const std::byte *address) PTSCHED_REQUIRES(mutex_);

    const std::vector<device::Device *> devices_;
    mutable Mutex mutex_;
    std::map<std::byte *, Array> arrays_ PTSCHED_GUARDED_BY(mutex_);
};

} // namespace ptsched::tasks

#endif /* PTSCHED_TASKS_GPU_ARRAYS_HPP */
