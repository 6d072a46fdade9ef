/* SPDX-License-Identifier: MIT */
#ifndef PTSCHED_PTASK_UNLOCKED_HPP
#define PTSCHED_PTASK_UNLOCKED_HPP

#include <mutex>

namespace ptsched::ptask {

/* Without the lock meanwhile: drivers take their time. It is held again where an exception is caught outside. */
class Unlocked {
public:
    explicit Unlocked(std::unique_lock<std::mutex> &lock) : lock_(lock) { lock_.unlock(); }
    ~Unlocked() { lock_.lock(); }
    Unlocked(const Unlocked &) = delete;
    Unlocked &operator=(const Unlocked &) = delete;

private:
    std::unique_lock<std::mutex> &lock_;
};

} // namespace ptsched::ptask

#endif /* PTSCHED_PTASK_UNLOCKED_HPP */
