// SPDX-License-Identifier: MIT
/* GPUs through the CUDA driver: the primary context of each, and its memory. */
#include "libptsched/device/cuda.hpp"

#include "libptsched/device/waits.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>

namespace ptsched::device {

namespace {

std::atomic<bool> sleeps{false};

unsigned flags_of_events()
{
    const unsigned waits = sleeps ? CU_EVENT_BLOCKING_SYNC : CU_EVENT_DEFAULT;
    return waits | CU_EVENT_DISABLE_TIMING;
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

void sleep_in_waits()
{
    sleeps = true;
}

thread_local constinit Entered::Kept Entered::kept_{};

void Entered::enter(const CudaDevice &device)
{
    const Driver &driver = device.driver;

    if (!kept_.adopted) {
        driver.check(driver.context_get(&before_), "cuCtxGetCurrent");
        if (before_ == device.context())
            return;
    }
    if (kept_.lent && !kept_.borrowed) {
        driver.check(driver.context_get(&kept_.own), "cuCtxGetCurrent");
        kept_.borrowed = &driver;
        kept_.current = kept_.own;
    }
    if (kept_.current != device.context())
        driver.check(driver.context_set(device.context()), "cuCtxSetCurrent");
    if (kept_.adopted)
        kept_.current = device.context();
    else
        driver_ = &driver;
}

bool Entered::borrow()
{
    if (kept_.adopted)
        return false;
    return kept_.adopted = kept_.lent = true;
}

void Entered::give_back()
{
    if (kept_.borrowed && kept_.current != kept_.own)
        kept_.borrowed->context_set(kept_.own);
    kept_.borrowed = nullptr;
    kept_.current = nullptr;
    kept_.adopted = kept_.lent = false;
}

BorrowedThread::BorrowedThread() : borrowed_(Entered::borrow()) {}

BorrowedThread::~BorrowedThread()
{
    if (borrowed_)
        Entered::give_back();
}

void adopt_thread()
{
    Entered::adopt_thread();
}

CUevent Events::take()
{
    {
        Guard lock(mutex_);
        if (!kept_.empty()) {
            CUevent event = kept_.back();
            kept_.pop_back();
            return event;
        }
    }
    CUevent event = nullptr;
    driver_.check(driver_.event_create(&event, flags_), "cuEventCreate");
    return event;
}

void Events::give(CUevent event) noexcept
{
    Guard lock(mutex_);
    try {
        kept_.push_back(event);
    } catch (const std::bad_alloc &) {
        driver_.event_destroy(event);
    }
}

CudaDevice::CudaDevice(const Driver &driver, CUdevice device)
    : driver(driver), events(driver, flags_of_events()), timed_events(driver, 0), number_(device),
      memory_(
          *this, [this](std::size_t bytes) { return allocate_now(bytes); },
          [this](Address address) { free_now(address); })
{
    char name[128] = "";
    driver.check(driver.device_name(name, sizeof(name), device), "cuDeviceGetName");
    name_ = name;
    /* Where the program has made the context already, an old driver leaves it as it is. */
    if (sleeps && driver.primary_flags)
        driver.primary_flags(device, CU_CTX_SCHED_BLOCKING_SYNC);
    driver.check(driver.context_retain(&context_, device), "cuDevicePrimaryCtxRetain");
}

/* The driver's numbers are the other way round. */
Device::Priorities CudaDevice::priorities() const
{
    int least = 0, greatest = 0;
    if (!driver.priority_range || !driver.stream_create_priority)
        return {};
    Entered entered(*this);
    if (driver.priority_range(&least, &greatest) != CUDA_SUCCESS)
        return {};
    return {-least, -greatest};
}

std::string CudaDevice::bus_address() const
{
    char address[32] = "";
    if (!driver.bus_address || driver.bus_address(address, sizeof(address), number_) != CUDA_SUCCESS)
        return {};
    std::string text = address;
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

std::optional<int> CudaDevice::attribute(CUdevice_attribute which) const
{
    int value = 0;
    if (driver.attribute(&value, which, number_) != CUDA_SUCCESS || value <= 0)
        return {};
    return value;
}

double CudaDevice::strength() const
{
    double strength = 1;
    for (CUdevice_attribute factor : {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, CU_DEVICE_ATTRIBUTE_CLOCK_RATE,
                                      CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE})
        strength *= attribute(factor).value_or(1);
    return strength;
}

std::optional<std::size_t> CudaDevice::most_threads() const
{
    const auto processors = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    const auto each = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    if (!processors || !each)
        return {};
    return static_cast<std::size_t>(*processors) * static_cast<std::size_t>(*each);
}

/* Its module stays loaded, like the device. */
CUfunction CudaDevice::piece_mover()
{
    std::call_once(piece_mover_loaded_, [this] {
        CUmodule module = nullptr;
        Entered entered(*this);
        if (driver.module_load_data(&module, pieces::ptx) != CUDA_SUCCESS)
            return;
        if (driver.module_function(&piece_mover_, module, pieces::entry) == CUDA_SUCCESS)
            return;
        piece_mover_ = nullptr;
        driver.module_unload(module);
    });
    return piece_mover_;
}

Queue &CudaDevice::made_once(std::unique_ptr<Queue> CudaDevice::*which)
{
    Guard lock(mutex_);
    std::unique_ptr<Queue> &queue = this->*which;
    if (!queue)
        queue = make_queue();
    return *queue;
}

/* Makes them peers with the first question. */
bool CudaDevice::reaches(const Device &other)
{
    auto *peer = dynamic_cast<const CudaDevice *>(&other);
    int possible = 0;

    if (!peer)
        return false;
    Guard lock(mutex_);
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

std::optional<std::size_t> memory_bytes(const Device &device)
{
    const auto *gpu = dynamic_cast<const CudaDevice *>(&device);
    std::size_t free = 0, all = 0;
    if (!gpu || !gpu->driver.memory_info)
        return {};
    Entered entered(*gpu);
    return gpu->driver.memory_info(&free, &all) == CUDA_SUCCESS ? std::optional(all) : std::nullopt;
}

/* Of all of them, whichever gives it: one on which a kernel was at fault does not. */
void *allocate_pinned(std::size_t bytes)
{
    for (Device *device : gpus())
        try {
            auto &gpu = static_cast<CudaDevice &>(*device);
            void *memory = nullptr;
            Entered entered(gpu);
            const CUresult result = gpu.driver.host_alloc(&memory, bytes, CU_MEMHOSTALLOC_PORTABLE);
            if (result == CUDA_ERROR_OUT_OF_MEMORY)
                return nullptr;
            gpu.driver.check(result, "cuMemHostAlloc");
            return memory;
        } catch (const Fault &) {
            if (device == gpus().back())
                throw;
        }
    return nullptr;
}

void release_pinned(void *memory)
{
    auto &gpu = static_cast<CudaDevice &>(*gpus()[0]);
    Entered entered(gpu);
    gpu.driver.host_free(memory);
}

} // namespace ptsched::device
