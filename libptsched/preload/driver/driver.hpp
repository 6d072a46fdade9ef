/* SPDX-License-Identifier: MIT */
/* The real driver library: its entry points, and the calls that the interposer makes itself. */
#ifndef PTSCHED_PRELOAD_DRIVER_DRIVER_HPP
#define PTSCHED_PRELOAD_DRIVER_DRIVER_HPP

#define PTSCHED_CUDA_ABI_TYPES_ONLY
#include "libptsched/base/lock.hpp"
#include "libptsched/cuda/cuda_abi.h"
#include "libptsched/preload/driver/entry_points.hpp"

#include <array>
#include <atomic>

namespace ptsched::preload {

/* What the interposer itself asks of the driver; all but the UUIDs and the last ten are there once usable(). */
struct OwnCalls {
    CUresult (*ctx_get_current)(CUcontext *);
    CUresult (*ctx_push)(CUcontext);
    CUresult (*ctx_pop)(CUcontext *);
    CUresult (*ctx_get_device)(CUdevice *);
    CUresult (*device_count)(int *);
    CUresult (*device_pci)(char *, int, CUdevice);
    CUresult (*device_uuid)(CUuuid *, CUdevice);   /* of the GPU; null: not known */
    CUresult (*instance_uuid)(CUuuid *, CUdevice); /* of the MIG instance, else of the GPU; null: not known */
    CUresult (*primary_state)(CUdevice, unsigned *, int *);
    CUresult (*stream_ctx)(CUstream, CUcontext *);
    CUresult (*stream_capturing)(CUstream, CUstreamCaptureStatus *);
    CUresult (*stream_query)(CUstream);
    CUresult (*exchange_capture_mode)(CUstreamCaptureMode *);
    CUresult (*event_create)(CUevent *, unsigned);
    CUresult (*event_record)(CUevent, CUstream);
    CUresult (*event_query)(CUevent);
    CUresult (*event_destroy)(CUevent);
    CUresult (*event_elapsed)(float *, CUevent, CUevent);
    CUresult (*stream_create)(CUstream *, unsigned);
    CUresult (*stream_destroy)(CUstream);
    CUresult (*pool_create)(CUmemoryPool *, const CUmemPoolProps *);
    CUresult (*pool_destroy)(CUmemoryPool);
    CUresult (*pool_alloc)(CUdeviceptr *, std::size_t, CUmemoryPool, CUstream);
    CUresult (*free_async)(CUdeviceptr, CUstream);
    CUresult (*fill_async)(CUdeviceptr, unsigned, std::size_t, CUstream);
    CUresult (*ctx_from_green)(CUcontext *, CUgreenCtx);
    CUresult (*device_attribute)(int *, CUdevice_attribute, CUdevice);
    CUresult (*max_active_blocks)(int *, CUfunction, int, std::size_t);
};

class Driver {
public:
    /* Finds the driver that is loaded, if any. Does not load one. False, too, where this library is disabled. */
    bool bind();

    /* Takes the library that @address belongs to for the driver, if it is one and none is bound yet. */
    bool bind_to(void *address);

    bool bound() const { return bound_.load(std::memory_order_acquire); }

    /* Whether the driver has all that measuring needs. */
    bool usable() const { return usable_; }

    /* The same for what a trial of the channels needs: from stream_create to fill_async. */
    bool can_probe() const { return can_probe_; }

    bool has(Entry entry) const { return present_[static_cast<std::size_t>(entry)]; }

    /*
     * The driver's function; where it has none, one that answers CUDA_ERROR_NOT_SUPPORTED. While no driver is bound,
     * what the program would call without us, be it another library's; where that is nothing, one that answers
     * CUDA_ERROR_NOT_INITIALIZED, since a name that is exported cannot be null.
     */
    template <class Fn> Fn *real(Entry entry)
    {
        void *function = real_[static_cast<std::size_t>(entry)].load(std::memory_order_relaxed);
        return reinterpret_cast<Fn *>(function ? function : next(entry));
    }

    /*
     * Our wrapper for @address if that is one of the driver's functions in entry_points.def, else @address. @name and
     * @kind choose where the driver has one address under several names.
     */
    void *wrapped(void *address, std::string_view name, DefaultStream kind) const;

    const OwnCalls &own() const { return own_; }

    /* Of a green context, which has its streams; null: there is none. */
    CUcontext context_of(CUgreenCtx green) const;

    bool is_capturing(CUstream stream) const;

    /* In a forked child: nobody else can be at it. */
    void reset_lock() { new (&lock_) Mutex; }

private:
    bool load_tables(void *handle) PTSCHED_REQUIRES(lock_);
    void *next(Entry entry);
    void load_own_calls(void *handle) PTSCHED_REQUIRES(lock_);

    Mutex lock_;
    std::atomic<bool> bound_{false};
    bool usable_{false};
    bool can_probe_{false};
    std::array<std::atomic<void *>, entry_count> real_{};
    std::array<bool, entry_count> present_{};
    struct Address {
        void *address;
        Entry entry;
    };
    std::array<Address, entry_count> by_address_{};
    std::size_t addresses_{0};
    OwnCalls own_{};
};

extern Driver driver;

/* Makes @context current in this scope; leaves the thread as it was found. */
class ContextScope {
public:
    explicit ContextScope(CUcontext context);
    ~ContextScope();
    ContextScope(const ContextScope &) = delete;
    ContextScope &operator=(const ContextScope &) = delete;
    bool ok() const { return ok_; }

private:
    bool pushed_{false};
    bool ok_{true};
};

/* Our own calls in this scope neither fail because of, nor invalidate, a capture that another thread is making. */
class CaptureModeScope {
public:
    CaptureModeScope() { driver.own().exchange_capture_mode(&mode_); }
    ~CaptureModeScope() { driver.own().exchange_capture_mode(&mode_); }
    CaptureModeScope(const CaptureModeScope &) = delete;
    CaptureModeScope &operator=(const CaptureModeScope &) = delete;

private:
    CUstreamCaptureMode mode_{CU_STREAM_CAPTURE_MODE_RELAXED};
};

} // namespace ptsched::preload

#endif
