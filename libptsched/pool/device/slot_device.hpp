/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_POOL_DEVICE_SLOT_DEVICE_HPP
#define PTSCHED_POOL_DEVICE_SLOT_DEVICE_HPP

#include "libptsched/base/lock.hpp"
#include <ptsched/pool/device.hpp>

#include <atomic>
#include <deque>

namespace ptsched::pool {

class SlotWork;

/* What a queue of the device runs. */
class SlotCode final : public device::Code {
public:
    SlotCode(const device::Device &device, unsigned kind, std::size_t task_bytes, std::vector<Member> parameters);

    std::optional<std::vector<std::size_t>> parameter_sizes() const override;
    std::optional<bool> is_address(std::size_t parameter) const override;
    bool fits_programs() const override { return false; }

    const device::Device &device() const { return device_; }
    unsigned kind() const { return kind_; }
    void write_task(std::byte *task, const std::vector<void *> &arguments) const;

private:
    const device::Device &device_;
    const unsigned kind_;
    const std::size_t task_bytes_;
    const std::vector<Member> parameters_;
};

class SlotDeviceImpl final : public SlotDevice {
public:
    using Duration = Core::Duration;

    SlotDeviceImpl(device::Device &gpu, Options options, std::vector<Core::Kind> kinds);

    const std::string &name() const override { return name_; }
    double strength() const override { return gpu_.strength(); }
    std::optional<std::size_t> most_threads() const override { return gpu_.most_threads(); }
    device::Address allocate(std::size_t bytes) override { return gpu_.allocate(bytes); }
    void release(device::Address address, std::size_t bytes) noexcept override { gpu_.release(address, bytes); }
    std::unique_ptr<device::Queue> make_queue() override;
    device::Queue &outgoing() override { return gpu_.outgoing(); }
    /* It is the host that knows when a task has ended. */
    bool orders_others() const override { return false; }
    bool reaches(const device::Device &other) override { return gpu_.reaches(other); }
    device::Residents *residents() override { return gpu_.residents(); }
    std::optional<device::ShareHandle> share(device::Address address, std::size_t bytes) override
    {
        return gpu_.share(address, bytes);
    }
    device::Mapping map_shared(const device::ShareHandle &handle, std::size_t bytes) override
    {
        return gpu_.map_shared(handle, bytes);
    }
    void limit_memory(std::size_t bytes) override { gpu_.limit_memory(bytes); }
    std::size_t trim(std::size_t keep) override { return gpu_.trim(keep); }
    std::unique_ptr<device::Code> code(unsigned kind, std::vector<Member> parameters) override;
    void stop() override;
    State state() const override { return core_->state(); }

    device::Device &gpu() const { return gpu_; }
    /* Of the GPU, for the copies of all its queues. */
    device::Queue &copies() { return *copies_; }
    /* The pool has a task for @work, or no room now: false. Does not block. Throws Error; Fault for what is one. */
    bool push(const std::shared_ptr<SlotWork> &work, unsigned kind, const std::byte *task);
    /* Those that have come back have ended, as their work knows then. Waits so long for one. Throws likewise. */
    void collect(Duration most);

private:
    /* A task that has come back. */
    std::shared_ptr<SlotWork> whose(std::uint64_t number);

    device::Device &gpu_;
    const std::string name_;
    const std::vector<Core::Kind> kinds_;
    const std::unique_ptr<device::Queue> copies_;
    std::atomic<bool> is_ending_{false}, is_stopped_{false};
    const std::unique_ptr<Core> core_;
    Mutex mutex_;
    /* Whose tasks they are, by the numbers that the pool gives them, from that of the first on. Null: it has ended. */
    std::deque<std::shared_ptr<SlotWork>> begun_ PTSCHED_GUARDED_BY(mutex_);
    std::uint64_t first_ PTSCHED_GUARDED_BY(mutex_) = 1;
};

} // namespace ptsched::pool

#endif /* PTSCHED_POOL_DEVICE_SLOT_DEVICE_HPP */
