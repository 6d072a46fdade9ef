// SPDX-License-Identifier: MIT
// GPUs through the CUDA driver: the primary context of each, a stream for a queue, an event for a marker.
#include "cuda.hpp"

#include "cuda_code.hpp"

#include <typeinfo>

namespace ptsched::device {

namespace {

class CudaMarker final : public Marker {
public:
    CudaMarker(CudaDevice &device, CUevent event) : device_(device), event_(event) {}
    ~CudaMarker() override { device_.events.give(event_); }
    CudaMarker(const CudaMarker &) = delete;
    CudaMarker &operator=(const CudaMarker &) = delete;

    bool reached() override;
    void wait() override;
    CUevent event() const { return event_; }

private:
    CudaDevice &device_;
    CUevent event_;
};

bool CudaMarker::reached()
{
    if (seen())
        return true;
    CUresult state = device_.driver.event_query(event_);
    if (state == CUDA_ERROR_NOT_READY)
        return false;
    device_.driver.check(state, device_.name().c_str());
    see();
    return true;
}

void CudaMarker::wait()
{
    if (seen())
        return;
    Entered entered(device_);
    device_.driver.check(device_.driver.event_synchronize(event_), device_.name().c_str());
    see();
}

class CudaQueue final : public Queue {
public:
    explicit CudaQueue(CudaDevice &device);
    ~CudaQueue() override;
    CudaQueue(const CudaQueue &) = delete;
    CudaQueue &operator=(const CudaQueue &) = delete;

    void upload(Address to, const void *from, std::size_t bytes) override;
    void download(void *to, Address from, std::size_t bytes) override;
    void copy(Address to, Device &source, Address from, std::size_t bytes) override;
    void run(const Code &code, const Geometry &geometry, const std::vector<void *> &arguments) override;
    void after(const MarkerPtr &marker) override;
    MarkerPtr mark() override;

private:
    CudaDevice &device_;
    CUstream stream_{};
};

CudaQueue::CudaQueue(CudaDevice &device) : device_(device)
{
    Entered entered(device);
    device.driver.check(device.driver.stream_create(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
}

CudaQueue::~CudaQueue()
{
    Entered entered(device_);
    device_.driver.stream_synchronize(stream_);
    device_.driver.stream_destroy(stream_);
}

void CudaQueue::upload(Address to, const void *from, std::size_t bytes)
{
    Entered entered(device_);
    device_.driver.check(device_.driver.upload(to, from, bytes, stream_), "cuMemcpyHtoDAsync");
}

void CudaQueue::download(void *to, Address from, std::size_t bytes)
{
    Entered entered(device_);
    device_.driver.check(device_.driver.download(to, from, bytes, stream_), "cuMemcpyDtoHAsync");
}

void CudaQueue::copy(Address to, Device &source, Address from, std::size_t bytes)
{
    Entered entered(device_);
    auto &other = dynamic_cast<CudaDevice &>(source);
    device_.driver.check(device_.driver.copy_peer(to, device_.context(), from, other.context(), bytes, stream_),
                         "cuMemcpyPeerAsync");
}

void CudaQueue::run(const Code &code, const Geometry &g, const std::vector<void *> &arguments)
{
    Entered entered(device_);
    device_.driver.check(device_.driver.launch(static_cast<const CudaCode &>(code).function(), g.grid.x, g.grid.y,
                                               g.grid.z, g.block.x, g.block.y, g.block.z, g.shared_bytes, stream_,
                                               const_cast<void **>(arguments.data()), nullptr),
                         "cuLaunchKernel");
}

void CudaQueue::after(const MarkerPtr &marker)
{
    const Marker &base = *marker;
    if (typeid(base) != typeid(CudaMarker)) {
        marker->wait();
        return;
    }
    Entered entered(device_);
    CUevent event = static_cast<const CudaMarker &>(base).event();
    device_.driver.check(device_.driver.stream_wait(stream_, event, 0), "cuStreamWaitEvent");
}

MarkerPtr CudaQueue::mark()
{
    Entered entered(device_);
    auto marker = std::make_shared<CudaMarker>(device_, device_.events.take());
    device_.driver.check(device_.driver.event_record(marker->event(), stream_), "cuEventRecord");
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

thread_local bool Entered::adopted_;
thread_local constinit CUcontext Entered::kept_ = nullptr;

void Entered::enter(const CudaDevice &device)
{
    const Driver &driver = device.driver;

    if (!adopted_) {
        driver.check(driver.context_get(&before_), "cuCtxGetCurrent");
        if (before_ == device.context())
            return;
    }
    driver.check(driver.context_set(device.context()), "cuCtxSetCurrent");
    if (adopted_)
        kept_ = device.context();
    else
        driver_ = &driver;
}

void adopt_thread()
{
    Entered::adopt_thread();
}

CUevent Events::take()
{
    {
        std::lock_guard lock(mutex_);
        if (!kept_.empty()) {
            CUevent event = kept_.back();
            kept_.pop_back();
            return event;
        }
    }
    CUevent event = nullptr;
    driver_.check(driver_.event_create(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
    return event;
}

void Events::give(CUevent event) noexcept
{
    std::lock_guard lock(mutex_);
    try {
        kept_.push_back(event);
    } catch (const std::bad_alloc &) {
        driver_.event_destroy(event);
    }
}

CudaDevice::CudaDevice(const Driver &driver, CUdevice device)
    : driver(driver), events(driver), number_(device),
      memory_(
          *this, [this](std::size_t bytes) { return allocate_now(bytes); },
          [this](Address address) { free_now(address); })
{
    char name[128] = "";
    driver.check(driver.device_name(name, sizeof(name), device), "cuDeviceGetName");
    name_ = name;
    driver.check(driver.context_retain(&context_, device), "cuDevicePrimaryCtxRetain");
}

std::unique_ptr<Queue> CudaDevice::make_queue()
{
    return std::make_unique<CudaQueue>(*this);
}

Queue &CudaDevice::outgoing()
{
    std::lock_guard lock(mutex_);
    if (!outgoing_)
        outgoing_ = make_queue();
    return *outgoing_;
}

/* Makes them peers with the first question. */
bool CudaDevice::reaches(const Device &other)
{
    auto *peer = dynamic_cast<const CudaDevice *>(&other);
    int possible = 0;

    if (!peer)
        return false;
    std::lock_guard lock(mutex_);
    for (const auto &[known, yes] : peers_)
        if (known == peer)
            return yes;
    Entered entered(*this);
    if (driver.peer_possible(&possible, number_, peer->number()) != CUDA_SUCCESS)
        possible = 0;
    CUresult result = possible ? driver.peer_enable(peer->context(), 0) : CUDA_ERROR_NOT_SUPPORTED;
    bool yes = result == CUDA_SUCCESS || result == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    peers_.emplace_back(peer, yes);
    return yes;
}

Address CudaDevice::allocate_now(std::size_t bytes)
{
    CUdeviceptr address = 0;
    Entered entered(*this);
    CUresult result = driver.mem_alloc(&address, bytes);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return 0;
    driver.check(result, "cuMemAlloc");
    return address;
}

void CudaDevice::free_now(Address address)
{
    Entered entered(*this);
    driver.mem_free(address);
}

const std::vector<Device *> &gpus()
{
    static const std::vector<Device *> &found = *new std::vector<Device *>(find_gpus());
    return found;
}

void *allocate_pinned(std::size_t bytes)
{
    auto &gpu = static_cast<CudaDevice &>(*gpus()[0]);
    void *memory = nullptr;
    Entered entered(gpu);
    CUresult result = gpu.driver.host_alloc(&memory, bytes, CU_MEMHOSTALLOC_PORTABLE);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return nullptr;
    gpu.driver.check(result, "cuMemHostAlloc");
    return memory;
}

void release_pinned(void *memory)
{
    auto &gpu = static_cast<CudaDevice &>(*gpus()[0]);
    Entered entered(gpu);
    gpu.driver.host_free(memory);
}

} // namespace ptsched::device
