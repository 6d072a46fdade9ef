// SPDX-License-Identifier: MIT
/* One memory for all: managed, which the driver moves to who uses it, or the host's, where there is no GPU. */
#include "libptsched/arena/window/ground.hpp"
#include <ptsched/device/allocation.hpp>

#include <cstring>
#include <sys/mman.h>

namespace ptsched::arena {

namespace {

class Managed final : public Ground {
public:
    Managed(const std::vector<device::Device *> &gpus, std::size_t bytes)
        : gpu_(*gpus.at(0)), memory_(device::Allocation::managed(gpu_, bytes + page_bytes)),
          begin_(aligned(memory_.host_address())), bytes_(bytes)
    {
        for (device::Device *gpu : gpus)
            if (!memory_.reached_by(*gpu))
                throw Error(gpu->name() + " has no managed memory, which the window is to be of");
    }

    std::byte *begin() override { return begin_; }
    std::size_t bytes() const override { return bytes_; }
    std::size_t unit() const override { return page_bytes; }
    /* There is memory where somebody uses it, and it is zero then. */
    void make(std::size_t, std::size_t) override {}
    void clear(std::size_t offset, std::size_t bytes) override { std::memset(begin_ + offset, 0, bytes); }
    void move(std::size_t offset, std::size_t bytes, device::Device &user) override
    {
        const auto skipped = static_cast<std::size_t>(begin_ - static_cast<std::byte *>(memory_.host_address()));
        const device::Allocation::Part part{skipped + offset, bytes};
        const auto queue = gpu_.make_queue();
        memory_.advise(device::Advice::preferred_location, user, part);
        memory_.prefetch(user, *queue, part);
        queue->finish();
    }

private:
    static std::byte *aligned(void *memory)
    {
        const auto address = reinterpret_cast<std::uintptr_t>(memory);
        return reinterpret_cast<std::byte *>((address + page_bytes - 1) / page_bytes * page_bytes);
    }

    device::Device &gpu_;
    device::Allocation memory_;
    std::byte *const begin_;
    const std::size_t bytes_;
};

class HostAlone final : public Ground {
public:
    explicit HostAlone(std::size_t bytes) : bytes_(bytes)
    {
        memory_ = mmap(nullptr, bytes + page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                       -1, 0);
        if (memory_ == MAP_FAILED)
            throw device::OutOfMemory("there are no addresses for a window of " + std::to_string(bytes) + " bytes");
        const auto address = reinterpret_cast<std::uintptr_t>(memory_);
        begin_ = reinterpret_cast<std::byte *>((address + page_bytes - 1) / page_bytes * page_bytes);
    }
    ~HostAlone() override { munmap(memory_, bytes_ + page_bytes); }

    std::byte *begin() override { return begin_; }
    std::size_t bytes() const override { return bytes_; }
    std::size_t unit() const override { return page_bytes; }
    void make(std::size_t, std::size_t) override {}
    void clear(std::size_t offset, std::size_t bytes) override { std::memset(begin_ + offset, 0, bytes); }

private:
    void *memory_ = nullptr;
    std::byte *begin_ = nullptr;
    const std::size_t bytes_;
};

std::size_t whole_pages(std::size_t bytes)
{
    return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

} // namespace

std::unique_ptr<Ground> make_managed(const std::vector<device::Device *> &gpus, std::size_t bytes)
{
    return std::make_unique<Managed>(gpus, whole_pages(bytes));
}

std::unique_ptr<Ground> make_host_alone(std::size_t bytes)
{
    return std::make_unique<HostAlone>(whole_pages(bytes));
}

} // namespace ptsched::arena
