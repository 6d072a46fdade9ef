// SPDX-License-Identifier: MIT
#include "libptsched/device/cuda_range.hpp"

#include <algorithm>

namespace ptsched::device {

namespace {

constexpr char what[] = "memory that is mapped for several devices";

CUmemLocation location_of(const CudaDevice &gpu)
{
    return {CU_MEM_LOCATION_TYPE_DEVICE, gpu.number()};
}

} // namespace

RangeFunctions::RangeFunctions(const Driver &driver)
    : reserve(driver.need(&Driver::address_reserve, what)), free(driver.need(&Driver::address_free, what)),
      create(driver.need(&Driver::memory_create, what)), release(driver.need(&Driver::memory_release, what)),
      map(driver.need(&Driver::memory_map, what)), unmap(driver.need(&Driver::memory_unmap, what)),
      set_access(driver.need(&Driver::memory_set_access, what)),
      granularity(driver.need(&Driver::memory_granularity, what))
{
}

CUmemAllocationProp CudaRange::properties() const
{
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = location_of(gpu_);
    return properties;
}

CudaRange::CudaRange(Gpus gpus, std::size_t bytes) : gpus_(std::move(gpus)), gpu_(*gpus_[0]), driver_(gpu_.driver)
{
    const CUmemAllocationProp like = properties();
    Entered entered(gpu_);
    gpu_.driver.check(driver_.granularity(&unit_, &like, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
                      "cuMemGetAllocationGranularity");
    if (bytes > SIZE_MAX - unit_)
        throw OutOfMemory(gpu_.name() + " has no memory for " + std::to_string(bytes) + " bytes");
    bytes_ = (std::max<std::size_t>(bytes, 1) + unit_ - 1) / unit_ * unit_;
    const CUresult result = driver_.reserve(&begin_, bytes_, 0, 0, 0);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        throw OutOfMemory(gpu_.name() + " has no addresses for " + std::to_string(bytes) + " bytes");
    gpu_.driver.check(result, "cuMemAddressReserve");
}

CudaRange::~CudaRange()
{
    std::size_t made = 0;
    try {
        Entered entered(gpu_);
        for (const Piece &piece : pieces_) {
            driver_.unmap(begin_ + piece.offset, piece.bytes);
            driver_.release(piece.handle);
            made += piece.bytes;
        }
        driver_.free(begin_, bytes_);
    } catch (const Error &) {
        /* The driver is going, and the memory with it. */
    }
    if (made)
        gpu_.memory().give_beside(made);
}

/* False if there is not as much. */
bool CudaRange::create(Piece &piece)
{
    const CUmemAllocationProp like = properties();
    Entered entered(gpu_);
    const CUresult result = driver_.create(&piece.handle, piece.bytes, &like, 0);
    if (result == CUDA_ERROR_OUT_OF_MEMORY)
        return false;
    gpu_.driver.check(result, "cuMemCreate");
    return true;
}

void CudaRange::map(const Piece &piece)
{
    std::vector<CUmemAccessDesc> access;
    for (const CudaDevice *gpu : gpus_)
        access.push_back({location_of(*gpu), CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
    const CUdeviceptr address = begin_ + piece.offset;
    Entered entered(gpu_);
    CUresult result = driver_.map(address, piece.bytes, 0, piece.handle, 0);
    const char *doing = "cuMemMap";
    if (result == CUDA_SUCCESS) {
        result = driver_.set_access(address, piece.bytes, access.data(), access.size());
        doing = "cuMemSetAccess";
        if (result != CUDA_SUCCESS)
            driver_.unmap(address, piece.bytes);
    }
    if (result == CUDA_SUCCESS)
        return;
    driver_.release(piece.handle);
    gpu_.memory().give_beside(piece.bytes);
    gpu_.driver.check(result, doing);
}

void CudaRange::make(std::size_t offset, std::size_t bytes)
{
    if (offset % unit_ || bytes % unit_ || !bytes || offset > bytes_ || bytes > bytes_ - offset)
        throw Error("memory for " + std::to_string(bytes) + " bytes at " + std::to_string(offset) + " of " +
                    std::to_string(bytes_) + " addresses: both must be multiples of " + std::to_string(unit_) +
                    ", and within");
    Piece piece{offset, bytes, 0};
    pieces_.reserve(pieces_.size() + 1);
    /* The device's context is not kept while others make room. */
    gpu_.memory().take_beside(bytes, [&] { return create(piece); });
    map(piece);
    pieces_.push_back(piece);
}

bool CudaRange::reached_by(const Device &device) const
{
    return std::find(gpus_.begin(), gpus_.end(), &device) != gpus_.end();
}

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

std::string why_no_range(const Gpus &gpus)
{
    if (gpus.empty())
        return "not all of them are GPUs of CUDA";
    for (CudaDevice *gpu : gpus) {
        if (!gpu->attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED))
            return gpu->name() + " or its driver has no virtual memory management";
        if (gpu != gpus[0] && !gpu->reaches(*gpus[0]))
            return gpu->name() + " does not reach the memory of " + gpus[0]->name();
    }
    return {};
}

std::unique_ptr<Addresses> Addresses::reserve(std::span<Device *const> devices, std::size_t bytes)
{
    Gpus gpus = as_gpus(devices);
    if (const std::string why_not = why_no_range(gpus); !why_not.empty())
        throw Error("these devices cannot have one range of addresses: " + why_not);
    return std::make_unique<CudaRange>(std::move(gpus), bytes);
}

} // namespace ptsched::device
