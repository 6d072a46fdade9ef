/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_DEVICE_INSIDE_RESIDENTS_HPP
#define PTSCHED_DEVICE_INSIDE_RESIDENTS_HPP

#include <ptsched/base/mutex.hpp>
#include <ptsched/device/datablock.hpp>
#include <ptsched/device/residents.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <vector>

namespace ptsched::device {

/* A datablock's copy in the list of its device. */
struct Resident {
    explicit Resident(Datablock &block) : owner(block) {}

    Datablock &owner;
    std::atomic<std::uint64_t> last_used{0};
    Resident *older = nullptr, *newer = nullptr; /* the list's */
};

/* Lets in anybody, or one alone. */
class Gate {
public:
    void enter()
    {
        inside_.fetch_add(1);
        if (closed_.load())
            enter_later();
    }
    void leave()
    {
        if (inside_.fetch_sub(1) == 1 && closed_.load())
            wake();
    }
    /* Nobody gets in until open(); blocks until everybody who is inside has left. */
    void close();
    void open();

private:
    void enter_later();
    void wake();

    std::atomic<unsigned> inside_{0};
    std::atomic<bool> closed_{false};
    Mutex mutex_;
    std::condition_variable changed_;
};

/* What the insides know of residents. */
class ResidentsImpl final : public Residents {
public:
    explicit ResidentsImpl(Device &device) : device_(device) {}

    Device &device() const { return device_; }
    bool make_room(std::size_t bytes);
    void add(Resident &resident);
    void remove(Resident &resident);
    /* Two at once may get the same time: that does not matter. */
    void touch(Resident &resident)
    {
        std::uint64_t now = clock_.load(std::memory_order_relaxed) + 1;
        clock_.store(now, std::memory_order_relaxed);
        resident.last_used.store(now, std::memory_order_relaxed);
    }

    /* For who keeps copies from being evicted, see Access. */
    Gate gate;

private:
    std::vector<std::weak_ptr<Datablock>> oldest_first();

    Device &device_;
    std::atomic<std::uint64_t> clock_{0};
    SmallMutex mutex_; /* of the list; after a datablock's */
    Resident *newest_ PTSCHED_GUARDED_BY(mutex_) = nullptr;
};

inline ResidentsImpl &impl(Residents &residents)
{
    return static_cast<ResidentsImpl &>(residents);
}

/* The device whose memory it uses: itself, unless its residents are another's. */
inline Device &home_of(Device &device)
{
    Residents *residents = device.residents();
    return residents ? impl(*residents).device() : device;
}
inline const Device &home_of(const Device &device)
{
    /* No device is constant; who asks only compares them. */
    return home_of(const_cast<Device &>(device));
}

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_INSIDE_RESIDENTS_HPP */
