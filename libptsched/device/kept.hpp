/* SPDX-License-Identifier: MIT */
/* All that keeps memory for later, so that trim() finds it. */
#ifndef PTSCHED_DEVICE_KEPT_HPP
#define PTSCHED_DEVICE_KEPT_HPP

#include <cstddef>

namespace ptsched::device {

class Keeper {
public:
    constexpr Keeper() = default;
    Keeper(const Keeper &) = delete;
    Keeper &operator=(const Keeper &) = delete;
    /* Gives back all that nobody uses; in bytes. Any thread may call it. */
    virtual std::size_t trim() = 0;
    /* Of all keepers that are known. */
    static std::size_t trim_all();

protected:
    /* Some live longer than all else, and have no destructor that would run: who is known to others leaves before. */
    ~Keeper() = default;
    void become_known();
    /* Waits for trim_all(). */
    void leave();

private:
    Keeper *next_ = nullptr;
};

} // namespace ptsched::device

#endif /* PTSCHED_DEVICE_KEPT_HPP */
