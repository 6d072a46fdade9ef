/* SPDX-License-Identifier: MIT */
/*
 * All that a process keeps: its devices and contexts, as far as they are known, and what ends with a handle.
 *
 * Objects are made when first needed and live as long as the process; a forked child leaves its parent's behind.
 */
#ifndef PTSCHED_PRELOAD_TURN_PROCESS_HPP
#define PTSCHED_PRELOAD_TURN_PROCESS_HPP

#include "libptsched/base/lock.hpp"
#include "libptsched/preload/turn/device.hpp"

#include <atomic>
#include <vector>

namespace ptsched::preload {

/* In the order in which they were added. No lock is needed to go through them, nor memory. */
class Devices {
public:
    class Iterator {
    public:
        explicit Iterator(Device *device) : device_(device) {}
        Device *operator*() const { return device_; }
        Iterator &operator++()
        {
            device_ = device_->next();
            return *this;
        }
        bool operator==(const Iterator &) const = default;

    private:
        Device *device_;
    };

    explicit Devices(Device *first) : first_(first) {}
    Iterator begin() const { return Iterator(first_); }
    Iterator end() const { return Iterator(nullptr); }

private:
    Device *first_;
};

/* A forked child begins with a new one. */
class Process {
public:
    Devices devices() const { return Devices(first_device_.load(std::memory_order_acquire)); }
    Context *find_context(CUcontext handle);
    /* NULL: the driver would not say to which device it belongs. */
    Context *find_or_add_context(CUcontext handle);

    /* Before the driver's call that makes one: the first needs memory that a program which has ended may still have. */
    void context_is_to_begin();
    /* @created: by cuCtxCreate() and the like, hence no primary context. */
    void note_context(CUcontext handle, bool created);
    void stream_ends(CUstream handle);
    void thread_ends(const Thread &thread);
    /* Before and after the driver's call; the second gets what the first has returned. */
    Device *context_ends(CUcontext handle);
    void context_ended(CUcontext handle, Device *device, bool gone);
    Device *primary_context_ends(CUdevice ordinal);
    void primary_context_ended(CUdevice ordinal, Device *device);

    /* Whether a default stream handle can mean several streams. */
    bool several_contexts() const { return several_contexts_.load(std::memory_order_relaxed); }

    std::uint64_t submissions();

    /* Its clients are to be closed in the child, outside of fork(). */
    void inherit(const Process *parent)
    {
        Guard guard(lock_);
        parent_ = parent;
    }
    void close_inherited();

private:
    Device *find_or_add_device(CUdevice ordinal) PTSCHED_REQUIRES(lock_);

    std::atomic<bool> freed_{false}; /* ended programs' memory has been waited for */
    Mutex lock_;
    std::atomic<Device *> first_device_{nullptr};
    Device *last_device_ PTSCHED_GUARDED_BY(lock_) = nullptr;
    const Process *parent_ PTSCHED_GUARDED_BY(lock_) = nullptr;
    std::vector<Context *> contexts_ PTSCHED_GUARDED_BY(lock_);
    std::vector<CUcontext> created_ PTSCHED_GUARDED_BY(lock_);
    std::atomic<bool> several_contexts_{false};
};

extern Process *process;

} // namespace ptsched::preload

#endif
