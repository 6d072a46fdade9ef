/* SPDX-License-Identifier: MIT */
/* What the files about CUDA GPUs share. */
#ifndef PTSCHED_DEVICE_CUDA_HPP
#define PTSCHED_DEVICE_CUDA_HPP

#include "libptsched/device/driver.hpp"
#include "libptsched/device/memory.hpp"
#include "libptsched/device/pieces.hpp"

namespace ptsched::device {

/* Events for markers: drivers take long to make one. */
class Events {
public:
    Events(const Driver &driver, unsigned flags) : driver_(driver), flags_(flags) {}
    /* The device's context is current. */
    CUevent take();
    void give(CUevent event) noexcept;

private:
    const Driver &driver_;
    const unsigned flags_;
    SmallMutex mutex_;
    std::vector<CUevent> kept_ PTSCHED_GUARDED_BY(mutex_);
};

class CudaDevice final : public Device {
public:
    CudaDevice(const Driver &driver, CUdevice device);

    const std::string &name() const override { return name_; }
    std::string bus_address() const override;
    double strength() const override;
    std::optional<std::size_t> most_threads() const override;
    Address allocate(std::size_t bytes) override { return memory_.take(bytes); }
    void release(Address address, std::size_t bytes) noexcept override { memory_.give(address, bytes); }
    std::unique_ptr<Queue> make_queue() override;
    Priorities priorities() const override;
    std::unique_ptr<Queue> make_queue_at(int priority) override;
    std::unique_ptr<Queue> wrap_stream(void *stream) override;
    Queue &outgoing() override { return made_once(&CudaDevice::outgoing_); }
    Queue &incoming() override { return made_once(&CudaDevice::incoming_); }
    bool orders_others() const override { return true; }
    bool reaches(const Device &other) override;
    bool has_programs() const override { return driver.graph_create; }
    std::unique_ptr<Program> make_program(const std::vector<ProgramStep> &steps) override;
    Residents *residents() override { return &memory_.residents(); }
    std::optional<ShareHandle> share(Address address, std::size_t bytes) override;
    Mapping map_shared(const ShareHandle &handle, std::size_t bytes) override;
    void limit_memory(std::size_t bytes) override { memory_.limit(bytes); }
    std::size_t trim(std::size_t keep) override { return memory_.trim(keep); }

    std::size_t most_pieces() override { return piece_mover() ? pieces::most : 0; }
    /* The kernel of pieces.hpp, or null where the driver does not compile it. */
    CUfunction piece_mover();

    CUcontext context() const { return context_; }
    CUdevice number() const { return number_; }
    Memory &memory() { return memory_; }

    /* Above 0; nothing where the driver does not tell. */
    std::optional<int> attribute(CUdevice_attribute which) const;

    const Driver &driver;
    Events events, timed_events;

private:
    Address allocate_now(std::size_t bytes);
    void free_now(Address address);
    void unmap(Address mapped) noexcept;
    Queue &made_once(std::unique_ptr<Queue> CudaDevice::*which);

    std::string name_;
    const CUdevice number_;
    CUcontext context_{};
    std::once_flag piece_mover_loaded_;
    CUfunction piece_mover_{};
    Mutex mutex_;
    std::unique_ptr<Queue> outgoing_ PTSCHED_GUARDED_BY(mutex_), incoming_ PTSCHED_GUARDED_BY(mutex_);
    std::vector<std::pair<const Device *, bool>> peers_ PTSCHED_GUARDED_BY(mutex_); /* those that were asked about */
    Memory memory_;
};

/* The device's context is the calling thread's for as long as this lives; afterwards, the one that was. */
class Entered {
public:
    explicit Entered(const CudaDevice &device)
    {
        if (kept_.current != device.context())
            enter(device);
    }
    ~Entered()
    {
        if (driver_)
            driver_->context_set(before_);
    }
    Entered(const Entered &) = delete;
    Entered &operator=(const Entered &) = delete;

    /* The calling thread's context is nobody else's concern. */
    static void adopt_thread() { kept_.adopted = true; }
    /* The same until give_back(); false if it was so before. */
    static bool borrow();
    static void give_back();

private:
    void enter(const CudaDevice &device);

    const Driver *driver_ = nullptr; /* null: nothing to be put back */
    CUcontext before_ = nullptr;
    /* Of a thread. The model saves a call for each. */
    struct Kept {
        bool adopted, lent;
        const Driver *borrowed; /* where it has been asked for the context that is to be put back */
        CUcontext own;          /* which is this */
        CUcontext current;      /* where it is known */
    };
    [[gnu::tls_model("initial-exec")]] static thread_local constinit Kept kept_;
};

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_CUDA_HPP */
