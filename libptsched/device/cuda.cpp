// SPDX-License-Identifier: MIT
// GPUs through the CUDA driver: the primary context of each, a stream for a queue, an event for a marker.
#include "driver.hpp"
#include "pool.hpp"

#include <atomic>

namespace ptsched::device {

namespace {

class CudaDevice;

class CudaMarker final : public Marker {
public:
    CudaMarker(const CudaDevice &device, CUevent event) : device_(device), event_(event) {}
    ~CudaMarker() override;
    CudaMarker(const CudaMarker &) = delete;
    CudaMarker &operator=(const CudaMarker &) = delete;

    bool reached() override;
    void wait() override;
    CUevent event() const { return event_; }

private:
    const CudaDevice &device_;
    CUevent event_;
    std::atomic<bool> reached_{false};
};

class CudaCode final : public Code {
public:
    CudaCode(const CudaDevice &device, const std::string &module, const std::string &function);
    ~CudaCode() override;
    CudaCode(const CudaCode &) = delete;
    CudaCode &operator=(const CudaCode &) = delete;
    CUfunction function() const { return function_; }

private:
    const CudaDevice &device_;
    CUmodule module_{};
    CUfunction function_{};
};

class CudaQueue final : public Queue {
public:
    explicit CudaQueue(const CudaDevice &device);
    ~CudaQueue() override;
    CudaQueue(const CudaQueue &) = delete;
    CudaQueue &operator=(const CudaQueue &) = delete;

    void upload(Address to, const void *from, std::size_t bytes) override;
    void download(void *to, Address from, std::size_t bytes) override;
    void run(const Code &code, const Geometry &geometry, const std::vector<void *> &arguments) override;
    void after(const MarkerPtr &marker) override;
    MarkerPtr mark() override;

private:
    const CudaDevice &device_;
    CUstream stream_{};
};

class CudaDevice final : public Device {
public:
    CudaDevice(const Driver &driver, CUdevice device) : driver(driver)
    {
        char name[128] = "";
        driver.check(driver.device_name(name, sizeof(name), device), "cuDeviceGetName");
        name_ = name;
        driver.check(driver.context_retain(&context_, device), "cuDevicePrimaryCtxRetain");
    }

    const std::string &name() const override { return name_; }
    Address allocate(std::size_t bytes) override { return pool_.take(bytes); }
    void release(Address address, std::size_t bytes) noexcept override { pool_.give(address, bytes); }
    std::unique_ptr<Queue> make_queue() override { return std::make_unique<CudaQueue>(*this); }
    bool orders_others() const override { return true; }

    Queue &outgoing() override
    {
        static std::mutex mutex;
        std::lock_guard lock(mutex);
        if (!outgoing_)
            outgoing_ = make_queue();
        return *outgoing_;
    }

    /* The context that the calling thread uses from now on. */
    void enter() const { driver.check(driver.context_set(context_), "cuCtxSetCurrent"); }

    const Driver &driver;

private:
    std::string name_;
    CUcontext context_{};
    std::unique_ptr<Queue> outgoing_;
    Pool pool_{[this](std::size_t bytes) {
                   CUdeviceptr address = 0;
                   enter();
                   driver.check(driver.mem_alloc(&address, bytes), "cuMemAlloc");
                   return Address(address);
               },
               [this](Address address) {
                   driver.context_set(context_);
                   driver.mem_free(address);
               }};
};

CudaMarker::~CudaMarker()
{
    device_.driver.event_destroy(event_);
}

bool CudaMarker::reached()
{
    if (reached_.load(std::memory_order_acquire))
        return true;
    CUresult state = device_.driver.event_query(event_);
    if (state == CUDA_ERROR_NOT_READY)
        return false;
    device_.driver.check(state, device_.name().c_str());
    reached_.store(true, std::memory_order_release);
    return true;
}

void CudaMarker::wait()
{
    if (reached_.load(std::memory_order_acquire))
        return;
    device_.enter();
    device_.driver.check(device_.driver.event_synchronize(event_), device_.name().c_str());
    reached_.store(true, std::memory_order_release);
}

CudaCode::CudaCode(const CudaDevice &device, const std::string &module, const std::string &function) : device_(device)
{
    const Driver &driver = device.driver;
    device.enter();
    if (CUresult error = driver.module_load(&module_, module.c_str()))
        driver.fail(error, "module " + module);
    if (CUresult error = driver.module_function(&function_, module_, function.c_str())) {
        driver.module_unload(module_);
        driver.fail(error, "kernel " + function + " in module " + module);
    }
}

CudaCode::~CudaCode()
{
    device_.enter();
    device_.driver.module_unload(module_);
}

CudaQueue::CudaQueue(const CudaDevice &device) : device_(device)
{
    device.enter();
    device.driver.check(device.driver.stream_create(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
}

CudaQueue::~CudaQueue()
{
    device_.enter();
    device_.driver.stream_synchronize(stream_);
    device_.driver.stream_destroy(stream_);
}

void CudaQueue::upload(Address to, const void *from, std::size_t bytes)
{
    device_.enter();
    device_.driver.check(device_.driver.upload(to, from, bytes, stream_), "cuMemcpyHtoDAsync");
}

void CudaQueue::download(void *to, Address from, std::size_t bytes)
{
    device_.enter();
    device_.driver.check(device_.driver.download(to, from, bytes, stream_), "cuMemcpyDtoHAsync");
}

void CudaQueue::run(const Code &code, const Geometry &g, const std::vector<void *> &arguments)
{
    device_.enter();
    device_.driver.check(device_.driver.launch(static_cast<const CudaCode &>(code).function(), g.grid.x, g.grid.y,
                                               g.grid.z, g.block.x, g.block.y, g.block.z, g.shared_bytes, stream_,
                                               const_cast<void **>(arguments.data()), nullptr),
                         "cuLaunchKernel");
}

void CudaQueue::after(const MarkerPtr &marker)
{
    auto *event = dynamic_cast<CudaMarker *>(marker.get());
    if (!event) {
        marker->wait();
        return;
    }
    device_.enter();
    device_.driver.check(device_.driver.stream_wait(stream_, event->event(), 0), "cuStreamWaitEvent");
}

MarkerPtr CudaQueue::mark()
{
    CUevent event = nullptr;
    device_.enter();
    device_.driver.check(device_.driver.event_create(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
    auto marker = std::make_shared<CudaMarker>(device_, event);
    device_.driver.check(device_.driver.event_record(event, stream_), "cuEventRecord");
    return marker;
}

std::vector<Device *> find_gpus()
{
    std::vector<Device *> found;
    const Driver *driver = Driver::get();
    int count = 0;

    if (!driver || driver->device_count(&count) != CUDA_SUCCESS)
        return found;
    for (int ordinal = 0; ordinal < count; ordinal++) {
        CUdevice device = 0;
        driver->check(driver->device_get(&device, ordinal), "cuDeviceGet");
        /* For good: the driver may be gone before static objects are. */
        found.push_back(new CudaDevice(*driver, device));
    }
    return found;
}

} // namespace

const std::vector<Device *> &gpus()
{
    static const std::vector<Device *> &found = *new std::vector<Device *>(find_gpus());
    return found;
}

void *allocate_pinned(std::size_t bytes)
{
    auto &gpu = static_cast<CudaDevice &>(*gpus()[0]);
    void *memory = nullptr;
    gpu.enter();
    gpu.driver.check(gpu.driver.host_alloc(&memory, bytes, CU_MEMHOSTALLOC_PORTABLE), "cuMemHostAlloc");
    return memory;
}

void release_pinned(void *memory)
{
    auto &gpu = static_cast<CudaDevice &>(*gpus()[0]);
    gpu.enter();
    gpu.driver.host_free(memory);
}

std::unique_ptr<Code> cuda_code(Device &gpu, const std::string &module, const std::string &function)
{
    return std::make_unique<CudaCode>(static_cast<CudaDevice &>(gpu), module, function);
}

} // namespace ptsched::device
