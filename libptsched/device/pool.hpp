/* SPDX-License-Identifier: MIT */
/* Memory that is kept for the next one of the same size, since drivers take long to give and take it. */
#ifndef PTSCHED_DEVICE_POOL_HPP
#define PTSCHED_DEVICE_POOL_HPP

#include "device.hpp"
#include "mutex.hpp"

#include <mutex>
#include <unordered_map>

namespace ptsched::device {

class Pool {
public:
    /* Zero if there is not as much. */
    using Allocate = std::function<Address(std::size_t bytes)>;
    using Free = std::function<void(Address)>;

    Pool(Allocate allocate, Free free) : allocate_(std::move(allocate)), free_(std::move(free)) {}
    ~Pool() { drain(); }
    Pool(const Pool &) = delete;
    Pool &operator=(const Pool &) = delete;

    /* Zero if there is not as much. */
    Address take(std::size_t bytes);
    void give(Address address, std::size_t bytes) noexcept;
    /* No more is taken from the driver while that much is. */
    void limit(std::size_t bytes);

private:
    using Kept = std::vector<Address>;

    static std::size_t rounded(std::size_t bytes) { return align_up(bytes ? bytes : 1); }
    Kept &kept(std::size_t size);
    Address allocate(std::size_t size);
    void drain();

    Allocate allocate_;
    Free free_;
    std::mutex drain_mutex_; /* who finds nothing to give back waits for what another thread is giving back */
    SmallMutex mutex_;       /* protects what follows, but is not held while the driver is called */
    std::unordered_map<std::size_t, Kept> kept_;
    std::size_t last_size_ = 0; /* often the next one, too */
    Kept *last_ = nullptr;
    std::size_t taken_ = 0; /* from the driver */
    std::size_t limit_ = SIZE_MAX;
};

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_POOL_HPP */
