// SPDX-License-Identifier: MIT
#include "libptsched/device/backing.hpp"

#include <algorithm>

namespace ptsched::device {

namespace {

/* Of a device's pool, or the host's. */
class Pooled final : public Allocation::Backing {
public:
    Pooled(Device &device, std::size_t bytes)
        : Backing(&device == &host() ? Space::pinned : Space::device, device, bytes)
    {
        address = device.allocate(bytes);
        if (space == Space::pinned)
            host_address = host_pointer(address);
    }
    ~Pooled() override { home.release(address, bytes); }
    bool reached_by(Device &device) const override
    {
        if (&device == &home)
            return true;
        return space == Space::pinned ? gpu_reaches_host(device, host_address) : device.reaches(home);
    }
};

/* Nothing was done to it. */
class Plain final : public Allocation::Backing {
public:
    Plain(void *memory, std::size_t bytes) : Backing(Space::registered, host(), bytes)
    {
        address = reinterpret_cast<std::uintptr_t>(memory);
        host_address = memory;
    }
    bool reached_by(Device &device) const override { return &device == &home; }
};

void check(const Allocation::Part &part, std::size_t bytes)
{
    if (part.from > bytes || part.bytes > bytes - part.from)
        throw Error("a part of memory has " + std::to_string(part.bytes) + " bytes from byte " +
                    std::to_string(part.from) + " on, where there are " + std::to_string(bytes));
}

void check_devices(std::span<Device *const> devices)
{
    if (devices.empty())
        throw Error("memory with one address is of no device: there must be one at least");
    if (std::find(devices.begin(), devices.end(), nullptr) != devices.end())
        throw Error("memory with one address is to be for a device that is null");
}

} // namespace

const char *to_string(Space space)
{
    switch (space) {
    case Space::device:
        return "device";
    case Space::pinned:
        return "pinned";
    case Space::managed:
        return "managed";
    case Space::registered:
        return "registered";
    case Space::mapped:
        return "mapped";
    }
    return "unknown";
}

Allocation::Allocation() = default;
Allocation::Allocation(Allocation &&other) noexcept = default;
Allocation &Allocation::operator=(Allocation &&other) noexcept = default;
Allocation::~Allocation() = default;
Allocation::Allocation(std::unique_ptr<Backing> backing) : backing_(std::move(backing)) {}

Allocation Allocation::on_device(Device &device, std::size_t bytes)
{
    return Allocation(std::make_unique<Pooled>(device, bytes));
}

Allocation Allocation::pinned(std::size_t bytes)
{
    return on_device(device::host(), bytes);
}

Allocation Allocation::managed(Device &gpu, std::size_t bytes)
{
    return Allocation(make_managed(gpu, bytes));
}

Allocation Allocation::registered(void *memory, std::size_t bytes)
{
    if (!memory || !bytes)
        throw Error("memory of " + std::to_string(bytes) + " bytes at " + (memory ? "its address" : "a null pointer") +
                    " cannot be registered: it must be some");
    if (gpus().empty())
        return Allocation(std::make_unique<Plain>(memory, bytes));
    return Allocation(make_registered(memory, bytes));
}

Allocation Allocation::one_address(std::span<Device *const> devices, std::size_t bytes)
{
    check_devices(devices);
    const bool is_alone = std::all_of(devices.begin(), devices.end(), [&](Device *one) { return one == devices[0]; });
    if (is_alone)
        return on_device(*devices[0], bytes);
    std::string why_not;
    if (auto mapped = make_mapped(devices, bytes, why_not))
        return Allocation(std::move(mapped));
    auto is_gpu = [](Device *one) { return one != &device::host(); };
    try {
        /* There is one that is not the host. */
        Allocation made = managed(**std::find_if(devices.begin(), devices.end(), is_gpu), bytes);
        for (Device *one : devices)
            if (!made.reached_by(*one))
                throw Error(one->name() + " does not reach managed memory");
        return made;
    } catch (const OutOfMemory &) {
        throw;
    } catch (const Fault &) {
        throw;
    } catch (const Error &error) {
        throw Error("there is no memory with one address for these devices: not mapped, because " + why_not +
                    "; nor managed, because " + error.what());
    }
}

Space Allocation::space() const
{
    return backing_->space;
}

Device &Allocation::home() const
{
    return backing_->home;
}

std::size_t Allocation::bytes() const
{
    return backing_ ? backing_->bytes : 0;
}

Address Allocation::address() const
{
    return backing_->address;
}

void *Allocation::host_address() const
{
    return backing_->host_address;
}

bool Allocation::reached_by(Device &device) const
{
    return backing_->reached_by(device);
}

void Allocation::advise(Advice advice, Device &device)
{
    backing_->advise(advice, device, true, {0, bytes()});
}

void Allocation::withdraw(Advice advice, Device &device)
{
    backing_->advise(advice, device, false, {0, bytes()});
}

void Allocation::prefetch(Device &to, Queue &queue)
{
    backing_->prefetch(to, queue, {0, bytes()});
}

void Allocation::advise(Advice advice, Device &device, const Part &part)
{
    check(part, bytes());
    backing_->advise(advice, device, true, part);
}

void Allocation::withdraw(Advice advice, Device &device, const Part &part)
{
    check(part, bytes());
    backing_->advise(advice, device, false, part);
}

void Allocation::prefetch(Device &to, Queue &queue, const Part &part)
{
    check(part, bytes());
    backing_->prefetch(to, queue, part);
}

} // namespace ptsched::device
