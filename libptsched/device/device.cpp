// SPDX-License-Identifier: MIT
/* What a device answers that cannot do it, and how extents are written. */
#include <ptsched/device/device.hpp>

namespace ptsched::device {

std::string describe(const Extent &extent)
{
    return std::to_string(extent.x) + " x " + std::to_string(extent.y) + " x " + std::to_string(extent.z);
}

void Queue::copy(Address, Device &source, Address, std::size_t)
{
    throw Error("there is no way for copies from " + source.name() + " to this device's memory");
}

void Queue::run_cooperative(const Code &, const Geometry &, const std::vector<void *> &)
{
    throw Error("this device has no cooperative launches: its blocks cannot wait for each other");
}

void Queue::run(Program &)
{
    throw Error("this device has no programs");
}

void Queue::signal(Program &, std::size_t)
{
    throw Error("this device has no programs");
}

void Queue::after_native(void *)
{
    throw Error("this device does not wait for events of CUDA");
}

std::unique_ptr<Queue> Device::wrap_stream(void *)
{
    throw Error(name() + " has no streams of CUDA");
}

Queue &Device::incoming()
{
    throw Error(name() + " has no programs");
}

Mapping Device::map_shared(const ShareHandle &, std::size_t)
{
    throw Error(name() + " does not use memory of other processes");
}

std::unique_ptr<Program> Device::make_program(const std::vector<ProgramStep> &)
{
    throw Error(name() + " has no programs");
}

} // namespace ptsched::device
