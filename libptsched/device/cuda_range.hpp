/* SPDX-License-Identifier: MIT */
/* Addresses that are reserved with the CUDA driver, and memory of a GPU that is mapped there for its peers. */
#ifndef PTSCHED_DEVICE_CUDA_RANGE_HPP
#define PTSCHED_DEVICE_CUDA_RANGE_HPP

#include "libptsched/device/cuda.hpp"
#include <ptsched/device/addresses.hpp>

namespace ptsched::device {

using Gpus = std::vector<CudaDevice *>;

/* The functions, all of which there must be. */
struct RangeFunctions {
    explicit RangeFunctions(const Driver &driver);
    decltype(Driver::address_reserve) reserve;
    decltype(Driver::address_free) free;
    decltype(Driver::memory_create) create;
    decltype(Driver::memory_release) release;
    decltype(Driver::memory_map) map;
    decltype(Driver::memory_unmap) unmap;
    decltype(Driver::memory_set_access) set_access;
    decltype(Driver::memory_granularity) granularity;
};

class CudaRange final : public Addresses {
public:
    /* Of as many bytes, in whole units; the first of @gpus has the memory. */
    CudaRange(Gpus gpus, std::size_t bytes);
    ~CudaRange() override;

    Address begin() const override { return begin_; }
    std::size_t bytes() const override { return bytes_; }
    std::size_t unit() const override { return unit_; }
    void make(std::size_t offset, std::size_t bytes) override;
    bool reached_by(const Device &device) const;

private:
    struct Piece {
        std::size_t offset, bytes;
        CUmemGenericAllocationHandle handle;
    };

    CUmemAllocationProp properties() const;
    bool create(Piece &piece);
    void map(const Piece &piece);

    const Gpus gpus_;
    CudaDevice &gpu_;
    const RangeFunctions driver_;
    std::size_t unit_ = 0, bytes_ = 0;
    CUdeviceptr begin_ = 0;
    std::vector<Piece> pieces_;
};

/* All of them, each once; none if one is something else. */
Gpus as_gpus(std::span<Device *const> devices);
/* Why they cannot have one range; empty if they can. */
std::string why_no_range(const Gpus &gpus);

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_CUDA_RANGE_HPP */
