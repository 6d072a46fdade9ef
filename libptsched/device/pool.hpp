/* SPDX-License-Identifier: MIT */
/* Memory that is kept for the next one of the same size, since drivers take long to give and take it. */
#ifndef PTSCHED_DEVICE_POOL_HPP
#define PTSCHED_DEVICE_POOL_HPP

#include "device.hpp"

#include <mutex>
#include <unordered_map>

namespace ptsched::device {

class Pool {
public:
    using Allocate = std::function<Address(std::size_t bytes)>;
    using Free = std::function<void(Address)>;

    Pool(Allocate allocate, Free free) : allocate_(std::move(allocate)), free_(std::move(free)) {}
    ~Pool() { drain(); }
    Pool(const Pool &) = delete;
    Pool &operator=(const Pool &) = delete;

    Address take(std::size_t bytes)
    {
        std::size_t size = rounded(bytes);
        std::unique_lock lock(mutex_);
        if (auto &kept = kept_[size]; !kept.empty()) {
            Address address = kept.back();
            kept.pop_back();
            return address;
        }
        lock.unlock();
        try {
            return allocate_(size);
        } catch (const Error &) {
            drain();
            return allocate_(size);
        }
    }

    void give(Address address, std::size_t bytes) noexcept
    {
        std::lock_guard lock(mutex_);
        try {
            kept_[rounded(bytes)].push_back(address);
        } catch (const std::bad_alloc &) {
            free_(address);
        }
    }

private:
    static std::size_t rounded(std::size_t bytes) { return (bytes + 255) / 256 * 256 + (bytes ? 0 : 256); }

    void drain()
    {
        std::lock_guard lock(mutex_);
        for (auto &[size, kept] : kept_)
            for (Address address : kept)
                free_(address);
        kept_.clear();
    }

    Allocate allocate_;
    Free free_;
    std::mutex mutex_;
    std::unordered_map<std::size_t, std::vector<Address>> kept_;
};

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_POOL_HPP */
