// SPDX-License-Identifier: MIT
/* One address for several GPUs: memory of one of them that is mapped for its peers. */
#include "libptsched/device/backing.hpp"
#include "libptsched/device/cuda_range.hpp"

namespace ptsched::device {

namespace {

class Mapped final : public Allocation::Backing {
public:
    Mapped(Gpus gpus, std::size_t bytes) : Backing(Space::mapped, *gpus[0], bytes), range_(std::move(gpus), bytes)
    {
        range_.make(0, range_.bytes());
        address = range_.begin();
    }
    bool reached_by(Device &device) const override { return range_.reached_by(device); }

private:
    CudaRange range_; /* as much as there is memory for */
};

} // namespace

BackingPtr make_mapped(std::span<Device *const> devices, std::size_t bytes, std::string &why_not)
{
    Gpus gpus = as_gpus(devices);
    why_not = why_no_range(gpus);
    if (!why_not.empty())
        return nullptr;
    try {
        const RangeFunctions there(gpus[0]->driver);
    } catch (const Error &error) {
        why_not = error.what();
        return nullptr;
    }
    return std::make_unique<Mapped>(std::move(gpus), bytes);
}

} // namespace ptsched::device
