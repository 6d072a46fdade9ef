/* SPDX-License-Identifier: MIT */
/* What is behind an allocation, by kind. */
#ifndef PTSCHED_DEVICE_BACKING_HPP
#define PTSCHED_DEVICE_BACKING_HPP

#include <ptsched/device/allocation.hpp>

namespace ptsched::device {

class Allocation::Backing {
public:
    Backing(Space space, Device &home, std::size_t bytes) : space(space), home(home), bytes(bytes) {}
    virtual ~Backing() = default;
    Backing(const Backing &) = delete;
    Backing &operator=(const Backing &) = delete;

    virtual bool reached_by(Device &device) const = 0;
    using Part = Allocation::Part;
    virtual void advise(Advice, Device &, bool /* holds */, const Part &) {}
    virtual void prefetch(Device &, Queue &, const Part &) {}

    const Space space;
    Device &home;
    const std::size_t bytes;
    Address address = 0;
    void *host_address = nullptr;
};

/* Of CUDA's driver: cuda_spaces.cpp, cuda_mapped.cpp. */
using BackingPtr = std::unique_ptr<Allocation::Backing>;
BackingPtr make_managed(Device &gpu, std::size_t bytes);
BackingPtr make_registered(void *memory, std::size_t bytes);
/* Null with the reason if the devices cannot have it so. */
BackingPtr make_mapped(std::span<Device *const> devices, std::size_t bytes, std::string &why_not);
/* Whether code of a GPU finds what the host has there at the same address. */
bool gpu_reaches_host(Device &device, void *memory);

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_BACKING_HPP */
