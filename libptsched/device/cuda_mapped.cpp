// SPDX-License-Identifier: MIT
/* One address for several GPUs: memory of one of them that is mapped for its peers. */
#include "libptsched/device/backing.hpp"
#include "libptsched/device/cuda.hpp"

#include <algorithm>

namespace ptsched::device {

namespace {

constexpr char what[] = "memory that is mapped for several devices";

using Gpus = std::vector<CudaDevice *>;

CUmemLocation location_of(const CudaDevice &gpu)
{
    return {CU_MEM_LOCATION_TYPE_DEVICE, gpu.number()};
}

/* The functions, all of which there must be. */
struct Functions {
    explicit Functions(const Driver &driver)
        : reserve(driver.need(&Driver::address_reserve, what)), free(driver.need(&Driver::address_free, what)),
          create(driver.need(&Driver::memory_create, what)), release(driver.need(&Driver::memory_release, what)),
          map(driver.need(&Driver::memory_map, what)), unmap(driver.need(&Driver::memory_unmap, what)),
          set_access(driver.need(&Driver::memory_set_access, what)),
          granularity(driver.need(&Driver::memory_granularity, what))
    {
    }
    decltype(Driver::address_reserve) reserve;
    decltype(Driver::address_free) free;
    decltype(Driver::memory_create) create;
    decltype(Driver::memory_release) release;
    decltype(Driver::memory_map) map;
    decltype(Driver::memory_unmap) unmap;
    decltype(Driver::memory_set_access) set_access;
    decltype(Driver::memory_granularity) granularity;
};

class Mapped final : public Allocation::Backing {
public:
    Mapped(Gpus gpus, std::size_t bytes);
    ~Mapped() override { undo(); }
    bool reached_by(Device &device) const override
    {
        return std::find(gpus_.begin(), gpus_.end(), &device) != gpus_.end();
    }

private:
    CUmemAllocationProp properties() const;
    bool create();
    void map();
    void undo() noexcept;

    const Gpus gpus_; /* the first has it */
    CudaDevice &gpu_;
    const Functions driver_;
    std::size_t size_ = 0; /* in whole pages */
    CUmemGenericAllocationHandle handle_ = 0;
    bool counted_ = false, mapped_ = false;
};

CUmemAllocationProp Mapped::properties() const
{
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = location_of(gpu_);
    return properties;
}

Mapped::Mapped(Gpus gpus, std::size_t bytes)
    : Backing(Space::mapped, *gpus[0], bytes), gpus_(std::move(gpus)), gpu_(*gpus_[0]), driver_(gpu_.driver)
{
    std::size_t page = 0;
    const CUmemAllocationProp like = properties();
    {
        Entered entered(gpu_);
        gpu_.driver.check(driver_.granularity(&page, &like, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
                          "cuMemGetAllocationGranularity");
    }
    if (bytes > SIZE_MAX - page)
        throw OutOfMemory(gpu_.name() + " has no memory for " + std::to_string(bytes) + " bytes");
    size_ = (std::max<std::size_t>(bytes, 1) + page - 1) / page * page;
    /* The device's context is not kept while others make room. */
    gpu_.memory().take_beside(size_, [this] { return create(); });
    counted_ = true;
    try {
        map();
    } catch (...) {
        undo();
        throw;
    }
}

/* False if there is not as much. */
bool Mapped::create()
{
    const CUmemAllocationProp like = properties();
    Entered entered(gpu_);
    const CUresult result = driver_.create(&handle_, size_, &like, 0);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return false;
    gpu_.driver.check(result, "cuMemCreate");
    return true;
}

void Mapped::map()
{
    std::vector<CUmemAccessDesc> access;
    for (const CudaDevice *gpu : gpus_)
        access.push_back({location_of(*gpu), CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
    CUdeviceptr reserved = 0;
    Entered entered(gpu_);
    gpu_.driver.check(driver_.reserve(&reserved, size_, 0, 0, 0), "cuMemAddressReserve");
    address = reserved;
    gpu_.driver.check(driver_.map(address, size_, 0, handle_, 0), "cuMemMap");
    mapped_ = true;
    gpu_.driver.check(driver_.set_access(address, size_, access.data(), access.size()), "cuMemSetAccess");
}

void Mapped::undo() noexcept
{
    try {
        Entered entered(gpu_);
        if (mapped_)
            driver_.unmap(address, size_);
        if (address)
            driver_.free(address, size_);
        if (counted_)
            driver_.release(handle_);
    } catch (const Error &) {
        /* The driver is going, and the memory with it. */
    }
    if (counted_)
        gpu_.memory().give_beside(size_);
}

/* All of them, each once; none if one is something else. */
Gpus as_gpus(std::span<Device *const> devices)
{
    Gpus found;
    for (Device *device : devices) {
        auto *gpu = dynamic_cast<CudaDevice *>(device);
        if (!gpu)
            return {};
        if (std::find(found.begin(), found.end(), gpu) == found.end())
            found.push_back(gpu);
    }
    return found;
}

/* Empty if they can. */
std::string why_not_mapped(const Gpus &gpus)
{
    for (CudaDevice *gpu : gpus) {
        if (!gpu->attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED))
            return gpu->name() + " or its driver has no virtual memory management";
        if (gpu != gpus[0] && !gpu->reaches(*gpus[0]))
            return gpu->name() + " does not reach the memory of " + gpus[0]->name();
    }
    return {};
}

} // namespace

BackingPtr make_mapped(std::span<Device *const> devices, std::size_t bytes, std::string &why_not)
{
    Gpus gpus = as_gpus(devices);
    why_not = gpus.empty() ? "not all of them are GPUs of CUDA" : why_not_mapped(gpus);
    if (!why_not.empty())
        return nullptr;
    try {
        const Functions there(gpus[0]->driver);
    } catch (const Error &error) {
        why_not = error.what();
        return nullptr;
    }
    return std::make_unique<Mapped>(std::move(gpus), bytes);
}

} // namespace ptsched::device
